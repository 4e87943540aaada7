"""The table of record kinds: which API actions list, show, create and change each kind of record of a merchant.

records.py makes the pages of every row. A kind whose API method is not deployed has no pages.
"""

import msgspec

from kasuwa.console.forms import ActionForm, FormField

FREQUENCIES = ("every_month", "every_four_weeks", "every_week", "every_day", "annualized")
YES_NO = ("no", "yes")


class RecordKind(msgspec.Struct, frozen=True):
    """One kind of record."""

    name: str  # first part of the pages' paths
    label: str  # heading and navigation label
    singular: str
    method: str  # API method of its actions
    key_field: str  # reply field that identifies a record
    columns: tuple[str, ...]  # reply fields that the list shows
    selector: str = "action"  # request field that selects the action
    list_action: str = ""  # empty if records are only found by their reference
    list_method: str = ""  # API method of list_action, if it is another one
    view_action: str = ""  # empty if a record is shown as its list row
    state_field: str = "state"  # reply field with the record's state
    create_forms: tuple[ActionForm, ...] = ()
    update_forms: tuple[ActionForm, ...] = ()
    related_lists: tuple[tuple[str, str], ...] = ()  # title and action of further lists on a record's page
    empty_text: str = ""

    @property
    def required_action(self) -> tuple[str, str]:
        """Returns (method, action) without which the pages of this kind do not exist."""
        return self.method, self.view_action or self.list_action


INTEREST = (
    FormField("interestSettings.interestRate", "Interest rate in percent", input_mode="decimal", required=True),
    FormField("interestSettings.interestFrequency", "Interest period", options=FREQUENCIES),
)
PERIOD = FormField(
    "period",
    "Period",
    "Installments of a loan, months of a savings account.",
    "numeric",
    required=True,
    value_type="whole",
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
    empty_text="A client is a customer who can take out loans and open savings accounts.",
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
                FormField("verify_bvn", "Verify the BVN", options=YES_NO, value_type="flag"),
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
    empty_text="Request a loan for an active client.",
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
            "Approve and disburse",
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
            (
                FormField(
                    "amount",
                    "Amount",
                    "Leave empty to pay what is due by today, or else the next installment.",
                    "decimal",
                ),
            ),
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
            (AMOUNT, FormField("method", "Method", options=("cash", "transfer", "cashcode"))),
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
    empty_text="Members of a thrift plan pay in together and are paid out in turn.",
    create_forms=(
        ActionForm(
            "create",
            "Create a plan",
            "create_plan",
            (
                FormField("name", "Name", required=True),
                AMOUNT,
                FormField("start_date", "Start date", input_type="date", required=True),
                FormField("member_required", "Members", input_mode="numeric", required=True),
                FormField("frequency", "Frequency", options=FREQUENCIES[:-1]),
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

PAYLINKS = RecordKind(
    name="links",
    label="Payment links",
    singular="Payment link",
    method="resources",
    selector="inquire",
    key_field="link_id",
    state_field="status",
    columns=("title", "link", "amount", "currency", "type", "status"),
    list_action="paylink",
    view_action="paylink_detail",
    empty_text="A payment link is an address that anybody may open to pay you.",
    create_forms=(
        ActionForm(
            "create",
            "Create a payment link",
            "paylink",
            (
                FormField("title", "Title", required=True),
                FormField("description", "Description"),
                FormField("amount", "Amount", "Left out, the payer chooses it.", "decimal"),
                FormField("currency", "Currency", options=("NGN", "USD", "GHS", "KES")),
                FormField("type", "Type", options=("one_time", "recurring")),
                FormField("frequency", "Frequency of a recurring link", options=("monthly", "weekly", "daily")),
                FormField("payer_bears_fees", "The payer bears the fee", options=YES_NO, value_type="flag"),
                FormField("accept_number", "Ask for a telephone number", options=YES_NO, value_type="flag"),
                FormField("custom_link", "Last part of the address"),
                FormField("redirect_url", "Address after the payment", input_type="url"),
                FormField("custom_message", "Message after the payment"),
            ),
            selector="request",
        ),
    ),
    update_forms=(
        ActionForm("disable", "Disable", "paylink", allowed_states=("active",), fixed_values=(("status", "disable"),)),
        ActionForm("enable", "Enable", "paylink", allowed_states=("disabled",), fixed_values=(("status", "enable"),)),
    ),
)

RECURRENTS = RecordKind(
    name="recurrents",
    label="Recurrent payments",
    singular="Recurrent payment",
    method="resources",
    selector="inquire",
    key_field="id",
    columns=("id", "state", "amount", "currency", "frequency", "next_charge", "paid", "email"),
    list_action="recurrents",
    view_action="recurrent",
    empty_text="A recurrent payment starts with a card payment that has is_recurring.",
    update_forms=(
        ActionForm("stop", "Stop", "recurrent", allowed_states=("active",), fixed_values=(("status", "stop"),)),
        ActionForm(
            "start",
            "Restart",
            "recurrent",
            allowed_states=("stopped", "paused"),
            fixed_values=(("status", "start"),),
        ),
    ),
)

INSTALLMENTS = RecordKind(
    name="instalments",
    label="Installments",
    singular="Installment plan",
    method="resources",
    selector="inquire",
    key_field="id",
    columns=("id", "state", "total", "currency", "email"),
    list_action="installments",
    empty_text="An installment plan starts with a card or token payment that has an installment.",
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
    empty_text="A virtual card pays like any other card, from a balance that you fund.",
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
                    "Four digits. Needed to withdraw the cash.",
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
    empty_text="A beneficiary receives a share of split payments. Use its ref_code in a payment's split.",
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
                FormField("paycode", "Paycode", "From the catalogue (action pull of the bills method).", required=True),
                FormField(
                    "reference", "Customer reference", "For example a meter, smartcard or phone number.", required=True
                ),
                AMOUNT,
                FormField("orderRef", "Your reference", required=True),
            ),
        ),
    ),
)

RECORD_KINDS = (
    CARDS,
    BILLS,
    CASHCODES,
    PAYLINKS,
    RECURRENTS,
    INSTALLMENTS,
    BENEFICIARIES,
    CLIENTS,
    LOANS,
    SAVINGS,
    THRIFT,
)
