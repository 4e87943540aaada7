"""What merchants keep, as a table of records: where each is listed and shown in the API, and what can be done with it.

A row whose slice is not there has no page; a new slice's pages are a new row.
"""

import msgspec

from kasuwa.console.forms import ActionForm, FormField

FREQUENCIES = ("every_month", "every_four_weeks", "every_week", "every_day", "annualized")
YES_NO = ("no", "yes")


class RecordKind(msgspec.Struct, frozen=True):
    """`name` is the word in the address, `one` what a single one is called. `lists` and `shows` are actions; without
    the first a record is found by its reference, without the second it is shown as it is listed. `beside` are other
    lists of a record; `state` names the field that says where it stands, `lister` the method of its list where that is
    another."""

    name: str
    label: str
    singular: str
    method: str
    key_field: str
    columns: tuple[str, ...]
    selector: str = "action"
    list_action: str = ""
    list_method: str = ""
    view_action: str = ""
    state_field: str = "state"
    create_forms: tuple[ActionForm, ...] = ()
    update_forms: tuple[ActionForm, ...] = ()
    related_lists: tuple[tuple[str, str], ...] = ()
    empty_text: str = ""

    @property
    def required_action(self) -> tuple[str, str]:
        """An action without which there is no such page."""
        return self.method, self.view_action or self.list_action


INTEREST = (
    FormField("interestSettings.interestRate", "Interest rate in percent", input_mode="decimal", required=True),
    FormField("interestSettings.interestFrequency", "per", options=FREQUENCIES),
)
PERIOD = FormField(
    "period", "Period", "Instalments of a loan, months of savings.", "numeric", required=True, value_type="whole"
)
TAX = (
    FormField("tax_applied", "Tax on interest", options=YES_NO, value_type="flag"),
    FormField("tax_rate", "Tax rate in percent", input_mode="decimal"),
)
AMOUNT = FormField("amount", "Amount", input_mode="decimal", required=True)

CLIENTS = RecordKind(
    name="clients",
    label="Clients",
    singular="Client",
    method="clients",
    key_field="client_id",
    state_field="status",
    columns=("client_id", "firstname", "lastname", "phone", "status", "bvn_verified"),
    list_action="list",
    view_action="view",
    empty_text="A client is a customer who may borrow and save.",
    create_forms=(
        ActionForm(
            "create",
            "Add a client",
            "create",
            (
                FormField("data.firstname", "First name", required=True),
                FormField("data.lastname", "Last name", required=True),
                FormField("data.phone", "Phone", input_mode="tel"),
                FormField("data.email", "Email", input_type="email"),
                FormField("data.dob", "Date of birth", input_type="date"),
                FormField("data.gender", "Gender", options=("female", "male", "other")),
                FormField("data.bvn", "BVN", input_mode="numeric"),
                FormField("data.bankAccount.account_number", "Account number", input_mode="numeric"),
                FormField("data.bankAccount.bank_code", "Bank code", input_mode="numeric"),
                FormField("verify_bvn", "Compare with the BVN register", options=YES_NO, value_type="flag"),
                FormField("status", "Status", options=("pending_approval", "inactive", "active")),
            ),
        ),
    ),
    update_forms=(
        ActionForm(
            "status",
            "Change status",
            "update",
            (FormField("status", "Status", options=("active", "inactive", "rejected", "exited", "blacklisted")),),
        ),
    ),
)

LOANS = RecordKind(
    name="loans",
    label="Loans",
    singular="Loan",
    method="loans",
    key_field="loan_id",
    columns=("loan_id", "client_id", "state", "amount", "period", "disbursed_at"),
    list_action="list",
    view_action="view",
    related_lists=(("Statement", "statement"),),
    empty_text="A loan begins with a request for an active client.",
    create_forms=(
        ActionForm(
            "request",
            "Request a loan",
            "request",
            (FormField("client_id", "Client", required=True), AMOUNT, PERIOD, *INTEREST, *TAX),
        ),
    ),
    update_forms=(
        ActionForm(
            "approve",
            "Approve and pay out",
            "process",
            allowed_states=("pending_approval", "approved"),
            fixed_values=(("status", "approve"),),
        ),
        ActionForm(
            "reject", "Reject", "process", allowed_states=("pending_approval",), fixed_values=(("status", "reject"),)
        ),
        ActionForm(
            "cancel",
            "Cancel",
            "process",
            allowed_states=("pending_approval", "approved"),
            fixed_values=(("status", "cancel"),),
        ),
        ActionForm(
            "repay",
            "Record a repayment",
            "repay",
            (FormField("amount", "Amount", "Empty: what is due up to today, else the next instalment.", "decimal"),),
            allowed_states=("active", "active_in_arrears"),
            fixed_values=(("payment_method", "wallet"),),
        ),
    ),
)

SAVINGS = RecordKind(
    name="savings",
    label="Savings",
    singular="Savings account",
    method="investments",
    key_field="savings_id",
    columns=("savings_id", "client_id", "name", "state", "balance", "accrued_interest", "matures_at"),
    list_action="list_savings",
    view_action="view_savings",
    empty_text="A savings account belongs to a client.",
    create_forms=(
        ActionForm(
            "create",
            "Open a savings account",
            "create_savings",
            (
                FormField("name", "Name", required=True),
                FormField("client_id", "Client", required=True),
                PERIOD,
                *INTEREST,
                *TAX,
            ),
        ),
    ),
    update_forms=(
        ActionForm(
            "deposit", "Deposit from the wallet", "deposit", (AMOUNT,), fixed_values=(("payment_method", "wallet"),)
        ),
        ActionForm(
            "cashout",
            "Cash out",
            "cashout",
            (AMOUNT, FormField("method", "How", options=("cash", "transfer", "cashcode"))),
            allowed_states=("active", "matured"),
            copied_fields=("client_id",),
        ),
    ),
)

THRIFT = RecordKind(
    name="thrift",
    label="Thrift",
    singular="Thrift plan",
    method="investments",
    key_field="thrift_id",
    columns=("thrift_id", "name", "amount", "frequency", "members", "member_required", "state", "next_date"),
    list_action="list_plans",
    related_lists=(("Members", "subscriptions"),),
    empty_text="Members of a plan pay in together and are paid out in turn.",
    create_forms=(
        ActionForm(
            "create",
            "Make a plan",
            "create_plan",
            (
                FormField("name", "Name", required=True),
                AMOUNT,
                FormField("start_date", "Begins", input_type="date", required=True),
                FormField("member_required", "Members", input_mode="numeric", required=True),
                FormField("frequency", "Every", options=FREQUENCIES[:-1]),
            ),
        ),
    ),
    update_forms=(
        ActionForm(
            "subscribe",
            "Add a member",
            "subscribe",
            (FormField("savings_id", "Savings account", required=True),),
            allowed_states=("open",),
        ),
        ActionForm("cancel", "Cancel the plan", "cancel_plan", allowed_states=("open",)),
    ),
)

RECURRENTS = RecordKind(
    name="recurrents",
    label="Recurrent",
    singular="Recurrent payment",
    method="resources",
    selector="inquire",
    key_field="id",
    columns=("id", "state", "amount", "currency", "frequency", "next_charge", "paid", "email"),
    list_action="recurrents",
    view_action="recurrent",
    empty_text="They begin with a card payment that says is_recurring.",
    update_forms=(
        ActionForm("stop", "Stop", "recurrent", allowed_states=("active",), fixed_values=(("status", "stop"),)),
        ActionForm(
            "start",
            "Start again",
            "recurrent",
            allowed_states=("stopped", "paused"),
            fixed_values=(("status", "start"),),
        ),
    ),
)

INSTALLMENTS = RecordKind(
    name="instalments",
    label="Instalments",
    singular="Instalment plan",
    method="resources",
    selector="inquire",
    key_field="id",
    columns=("id", "state", "total", "currency", "email"),
    list_action="installments",
    empty_text="They begin with a card or token payment that carries an installment.",
)

CARDS = RecordKind(
    name="cards",
    label="Cards",
    singular="Virtual card",
    method="virtualcard",
    key_field="reference",
    state_field="status",
    columns=("reference", "maskedpan", "balance", "currency", "status", "expiration", "created_at"),
    list_action="cards",
    list_method="console",
    view_action="get",
    related_lists=(("Transactions", "transactions"),),
    empty_text="A card is paid with like any other, out of a balance that you fund.",
    create_forms=(
        ActionForm(
            "create",
            "Create a card",
            "create",
            (
                FormField("billing.name", "Name on the card", required=True),
                FormField("billing.address", "Address", required=True),
                FormField("billing.city", "City", required=True),
                FormField("billing.state", "State", required=True),
                FormField("billing.postal_code", "Postal code", required=True),
                AMOUNT,
                FormField("currency", "Currency", options=("NGN", "USD")),
            ),
        ),
    ),
    update_forms=(
        ActionForm("fund", "Fund", "fund", (AMOUNT,), allowed_states=("active",)),
        ActionForm("withdraw", "Withdraw", "withdraw", (AMOUNT,), allowed_states=("active", "blocked")),
        ActionForm("block", "Block", "block", allowed_states=("active",)),
        ActionForm("unblock", "Unblock", "unblock", allowed_states=("blocked",)),
        ActionForm("terminate", "Terminate", "terminate", allowed_states=("active", "blocked")),
    ),
)

CASHCODES = RecordKind(
    name="cashcodes",
    label="Cashcodes",
    singular="Cashcode",
    method="cashcode",
    key_field="orderRef",
    columns=("orderRef", "state", "amount", "channel", "expires_at"),
    view_action="verify",
    empty_text="Enter the orderRef that the cashcode was generated with.",
    create_forms=(
        ActionForm(
            "generate",
            "Generate a cashcode",
            "generate",
            (
                AMOUNT,
                FormField(
                    "pin",
                    "PIN",
                    "Four digits; whoever draws the cash enters it.",
                    "numeric",
                    required=True,
                    input_type="password",
                ),
                FormField("channel", "Channel", options=("ATM", "POS", "WEB")),
                FormField("orderRef", "Your reference", required=True),
                FormField("life_time", "Minutes until it expires", input_mode="numeric"),
            ),
        ),
    ),
    update_forms=(ActionForm("cancel", "Cancel", "cancel", allowed_states=("active",)),),
)

BENEFICIARIES = RecordKind(
    name="beneficiaries",
    label="Beneficiaries",
    singular="Beneficiary",
    method="console",
    key_field="ref_code",
    columns=("ref_code", "name", "bank_code", "account_number", "created_at"),
    list_action="beneficiaries",
    empty_text="Somebody who gets a part of split payments; their ref_code goes into a payment's split.",
    create_forms=(
        ActionForm(
            "create",
            "Add a beneficiary",
            "beneficiary",
            (
                FormField("name", "Name", required=True),
                FormField("bankcode", "Bank code", input_mode="numeric", required=True),
                FormField("accountnumber", "Account number", input_mode="numeric", required=True),
            ),
        ),
    ),
)

BILLS = RecordKind(
    name="bills",
    label="Bills",
    singular="Bill",
    method="bills",
    key_field="txnRef",
    state_field="txnStatus",
    columns=("txnRef",),
    view_action="verify",
    empty_text="Enter the orderRef or txnRef of a bill that was paid.",
    create_forms=(
        ActionForm(
            "pay",
            "Pay a bill",
            "pay",
            (
                FormField("paycode", "Paycode", "From the catalogue: bills pull in the API reference.", required=True),
                FormField("reference", "Customer reference", "A meter or smartcard number, a phone.", required=True),
                AMOUNT,
                FormField("orderRef", "Your reference", required=True),
            ),
        ),
    ),
)

RECORD_KINDS = (CARDS, BILLS, CASHCODES, RECURRENTS, INSTALLMENTS, BENEFICIARIES, CLIENTS, LOANS, SAVINGS, THRIFT)
