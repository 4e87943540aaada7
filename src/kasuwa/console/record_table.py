"""What merchants keep, as a table of records: where each is listed and shown in the API, and what can be done with it.

A row whose slice is not there has no page; a new slice's pages are a new row.
"""

import msgspec

from kasuwa.console.forms import Ask, Form

FREQUENCIES = ("every_month", "every_four_weeks", "every_week", "every_day", "annualized")
YES_NO = ("no", "yes")


class Records(msgspec.Struct, frozen=True):
    """`name` is the word in the address, `one` what a single one is called. `lists` and `shows` are actions; without
    the first a record is found by its reference, without the second it is shown as it is listed. `beside` are other
    lists of a record; `state` names the field that says where it stands, `lister` the method of its list where that is
    another."""

    name: str
    label: str
    one: str
    method: str
    key: str
    columns: tuple[str, ...]
    selector: str = "action"
    lists: str = ""
    lister: str = ""
    shows: str = ""
    state: str = "state"
    makes: tuple[Form, ...] = ()
    forms: tuple[Form, ...] = ()
    beside: tuple[tuple[str, str], ...] = ()
    empty: str = ""

    @property
    def proof(self) -> tuple[str, str]:
        """An action without which there is no such page."""
        return self.method, self.shows or self.lists


INTEREST = (
    Ask("interestSettings.interestRate", "Interest rate in percent", mode="decimal", required=True),
    Ask("interestSettings.interestFrequency", "per", options=FREQUENCIES),
)
PERIOD = Ask("period", "Period", "Instalments of a loan, months of savings.", "numeric", required=True, kind="whole")
TAX = (
    Ask("tax_applied", "Tax on interest", options=YES_NO, kind="flag"),
    Ask("tax_rate", "Tax rate in percent", mode="decimal"),
)
AMOUNT = Ask("amount", "Amount", mode="decimal", required=True)

CLIENTS = Records(
    name="clients",
    label="Clients",
    one="Client",
    method="clients",
    key="client_id",
    state="status",
    columns=("client_id", "firstname", "lastname", "phone", "status", "bvn_verified"),
    lists="list",
    shows="view",
    empty="A client is a customer who may borrow and save.",
    makes=(
        Form(
            "create",
            "Add a client",
            "create",
            (
                Ask("data.firstname", "First name", required=True),
                Ask("data.lastname", "Last name", required=True),
                Ask("data.phone", "Phone", mode="tel"),
                Ask("data.email", "Email", type="email"),
                Ask("data.dob", "Date of birth", type="date"),
                Ask("data.gender", "Gender", options=("female", "male", "other")),
                Ask("data.bvn", "BVN", mode="numeric"),
                Ask("data.bankAccount.account_number", "Account number", mode="numeric"),
                Ask("data.bankAccount.bank_code", "Bank code", mode="numeric"),
                Ask("verify_bvn", "Compare with the BVN register", options=YES_NO, kind="flag"),
                Ask("status", "Status", options=("pending_approval", "inactive", "active")),
            ),
        ),
    ),
    forms=(
        Form(
            "status",
            "Change status",
            "update",
            (Ask("status", "Status", options=("active", "inactive", "rejected", "exited", "blacklisted")),),
        ),
    ),
)

LOANS = Records(
    name="loans",
    label="Loans",
    one="Loan",
    method="loans",
    key="loan_id",
    columns=("loan_id", "client_id", "state", "amount", "period", "disbursed_at"),
    lists="list",
    shows="view",
    beside=(("Statement", "statement"),),
    empty="A loan begins with a request for an active client.",
    makes=(
        Form(
            "request",
            "Request a loan",
            "request",
            (Ask("client_id", "Client", required=True), AMOUNT, PERIOD, *INTEREST, *TAX),
        ),
    ),
    forms=(
        Form(
            "approve",
            "Approve and pay out",
            "process",
            states=("pending_approval", "approved"),
            fixed=(("status", "approve"),),
        ),
        Form("reject", "Reject", "process", states=("pending_approval",), fixed=(("status", "reject"),)),
        Form("cancel", "Cancel", "process", states=("pending_approval", "approved"), fixed=(("status", "cancel"),)),
        Form(
            "repay",
            "Record a repayment",
            "repay",
            (Ask("amount", "Amount", "Empty: what is due up to today, else the next instalment.", "decimal"),),
            states=("active", "active_in_arrears"),
            fixed=(("payment_method", "wallet"),),
        ),
    ),
)

SAVINGS = Records(
    name="savings",
    label="Savings",
    one="Savings account",
    method="investments",
    key="savings_id",
    columns=("savings_id", "client_id", "name", "state", "balance", "accrued_interest", "matures_at"),
    lists="list_savings",
    shows="view_savings",
    empty="A savings account belongs to a client.",
    makes=(
        Form(
            "create",
            "Open a savings account",
            "create_savings",
            (
                Ask("name", "Name", required=True),
                Ask("client_id", "Client", required=True),
                PERIOD,
                *INTEREST,
                *TAX,
            ),
        ),
    ),
    forms=(
        Form("deposit", "Deposit from the wallet", "deposit", (AMOUNT,), fixed=(("payment_method", "wallet"),)),
        Form(
            "cashout",
            "Cash out",
            "cashout",
            (AMOUNT, Ask("method", "How", options=("cash", "transfer", "cashcode"))),
            states=("active", "matured"),
            copies=("client_id",),
        ),
    ),
)

THRIFT = Records(
    name="thrift",
    label="Thrift",
    one="Thrift plan",
    method="investments",
    key="thrift_id",
    columns=("thrift_id", "name", "amount", "frequency", "members", "member_required", "state", "next_date"),
    lists="list_plans",
    beside=(("Members", "subscriptions"),),
    empty="Members of a plan pay in together and are paid out in turn.",
    makes=(
        Form(
            "create",
            "Make a plan",
            "create_plan",
            (
                Ask("name", "Name", required=True),
                AMOUNT,
                Ask("start_date", "Begins", type="date", required=True),
                Ask("member_required", "Members", mode="numeric", required=True),
                Ask("frequency", "Every", options=FREQUENCIES[:-1]),
            ),
        ),
    ),
    forms=(
        Form(
            "subscribe",
            "Add a member",
            "subscribe",
            (Ask("savings_id", "Savings account", required=True),),
            states=("open",),
        ),
        Form("cancel", "Cancel the plan", "cancel_plan", states=("open",)),
    ),
)

RECURRENTS = Records(
    name="recurrents",
    label="Recurrent",
    one="Recurrent payment",
    method="resources",
    selector="inquire",
    key="id",
    columns=("id", "state", "amount", "currency", "frequency", "next_charge", "paid", "email"),
    lists="recurrents",
    shows="recurrent",
    empty="They begin with a card payment that says is_recurring.",
    forms=(
        Form("stop", "Stop", "recurrent", states=("active",), fixed=(("status", "stop"),)),
        Form("start", "Start again", "recurrent", states=("stopped", "paused"), fixed=(("status", "start"),)),
    ),
)

INSTALMENTS = Records(
    name="instalments",
    label="Instalments",
    one="Instalment plan",
    method="resources",
    selector="inquire",
    key="id",
    columns=("id", "state", "total", "currency", "email"),
    lists="installments",
    empty="They begin with a card or token payment that carries an installment.",
)

CARDS = Records(
    name="cards",
    label="Cards",
    one="Virtual card",
    method="virtualcard",
    key="reference",
    state="status",
    columns=("reference", "maskedpan", "balance", "currency", "status", "expiration", "created_at"),
    lists="cards",
    lister="console",
    shows="get",
    beside=(("Transactions", "transactions"),),
    empty="A card is paid with like any other, out of a balance that you fund.",
    makes=(
        Form(
            "create",
            "Create a card",
            "create",
            (
                Ask("billing.name", "Name on the card", required=True),
                Ask("billing.address", "Address", required=True),
                Ask("billing.city", "City", required=True),
                Ask("billing.state", "State", required=True),
                Ask("billing.postal_code", "Postal code", required=True),
                AMOUNT,
                Ask("currency", "Currency", options=("NGN", "USD")),
            ),
        ),
    ),
    forms=(
        Form("fund", "Fund", "fund", (AMOUNT,), states=("active",)),
        Form("withdraw", "Withdraw", "withdraw", (AMOUNT,), states=("active", "blocked")),
        Form("block", "Block", "block", states=("active",)),
        Form("unblock", "Unblock", "unblock", states=("blocked",)),
        Form("terminate", "Terminate", "terminate", states=("active", "blocked")),
    ),
)

CASHCODES = Records(
    name="cashcodes",
    label="Cashcodes",
    one="Cashcode",
    method="cashcode",
    key="orderRef",
    columns=("orderRef", "state", "amount", "channel", "expires_at"),
    shows="verify",
    empty="Enter the orderRef that the cashcode was generated with.",
    makes=(
        Form(
            "generate",
            "Generate a cashcode",
            "generate",
            (
                AMOUNT,
                Ask(
                    "pin",
                    "PIN",
                    "Four digits; whoever draws the cash enters it.",
                    "numeric",
                    required=True,
                    type="password",
                ),
                Ask("channel", "Channel", options=("ATM", "POS", "WEB")),
                Ask("orderRef", "Your reference", required=True),
                Ask("life_time", "Minutes until it expires", mode="numeric"),
            ),
        ),
    ),
    forms=(Form("cancel", "Cancel", "cancel", states=("active",)),),
)

BENEFICIARIES = Records(
    name="beneficiaries",
    label="Beneficiaries",
    one="Beneficiary",
    method="console",
    key="ref_code",
    columns=("ref_code", "name", "bank_code", "account_number", "created_at"),
    lists="beneficiaries",
    empty="Somebody who gets a part of split payments; their ref_code goes into a payment's split.",
    makes=(
        Form(
            "create",
            "Add a beneficiary",
            "beneficiary",
            (
                Ask("name", "Name", required=True),
                Ask("bankcode", "Bank code", mode="numeric", required=True),
                Ask("accountnumber", "Account number", mode="numeric", required=True),
            ),
        ),
    ),
)

BILLS = Records(
    name="bills",
    label="Bills",
    one="Bill",
    method="bills",
    key="txnRef",
    state="txnStatus",
    columns=("txnRef",),
    shows="verify",
    empty="Enter the orderRef or txnRef of a bill that was paid.",
    makes=(
        Form(
            "pay",
            "Pay a bill",
            "pay",
            (
                Ask("paycode", "Paycode", "From the catalogue: bills pull in the API reference.", required=True),
                Ask("reference", "Customer reference", "A meter or smartcard number, a phone.", required=True),
                AMOUNT,
                Ask("orderRef", "Your reference", required=True),
            ),
        ),
    ),
)

TABLE = (CARDS, BILLS, CASHCODES, RECURRENTS, INSTALMENTS, BENEFICIARIES, CLIENTS, LOANS, SAVINGS, THRIFT)
