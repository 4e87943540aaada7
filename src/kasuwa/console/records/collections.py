"""Record kinds of collections: payment links, plans, accounts and beneficiaries, disputes and settlements."""

from calendar import day_name
from collections.abc import Mapping
from typing import Any, get_args

from kasuwa.console.kit.forms import ActionForm, FormField
from kasuwa.console.kit.vocabulary import humanize
from kasuwa.console.records.kind import YES_NO, RecordKind
from kasuwa.core.money import CURRENCIES
from kasuwa.methods.disputes.model import DisputeState
from kasuwa.methods.statements.settlements.model import DEFAULT_DAYS

PAYER_CHOOSES = "Amount chosen by the payer"


def describe_link(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the amount of a payment link in words if it has none."""
    return {"amount": PAYER_CHOOSES} if row["amount"] == "0.00" else {}


def describe_recurrence(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns when a recurrent payment is charged: the meaning of `value` depends on the frequency."""
    number = int(row["value"])
    match row["frequency"]:
        case "daily":
            when = f"at {number:02}:00"
        case "weekly":
            when = f"on {day_name[number - 1]}s"
        case _:
            when = f"on day {number} of the month"
    return {"frequency": f"{humanize(row['frequency'])}, {when}", "value": when}


PAYLINKS = RecordKind(
    name="links",
    label="Payment links",
    singular="Payment link",
    method="resources",
    selector="inquire",
    key_field="link_id",
    state_field="status",
    columns=("link_id", "status", "amount", "received", "payments", "last_payment", "link"),
    title_fields=("title",),
    hidden_fields=("title",),
    list_action="paylink",
    view_action="paylink_detail",
    describe=describe_link,
    empty_text="A payment link is an address that anybody may open to pay you.",
    create_forms=(
        ActionForm(
            "create",
            "Create a payment link",
            "paylink",
            (
                FormField("title", "Title", required=True),
                FormField("description", "Description"),
                FormField("amount", "Amount", "Leave empty to let the payer choose.", "decimal"),
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
    columns=("id", "state", "amount", "frequency", "next_charge", "last_charge", "email"),
    list_action="recurrents",
    view_action="recurrent",
    hidden_fields=("value",),
    describe=describe_recurrence,
    empty_text="A recurrent payment starts with a card payment that has is_recurring.",
    update_forms=(
        ActionForm(
            "stop",
            "Stop",
            "recurrent",
            allowed_states=("active",),
            fixed_values=(("status", "stop"),),
            consequence="the card is not charged any more until you restart it.",
        ),
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
    columns=("id", "state", "total", "email"),
    list_action="installments",
    empty_text="An installment plan starts with a card or token payment that has an installment.",
)

BENEFICIARIES = RecordKind(
    name="beneficiaries",
    label="Beneficiaries",
    singular="Beneficiary",
    method="console",
    key_field="ref_code",
    columns=("ref_code", "bank_code", "account_number", "not_paid_out", "created_at"),
    title_fields=("name",),
    hidden_fields=("name",),
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

ACCOUNTS = RecordKind(
    name="accounts",
    label="Accounts",
    singular="Account",
    method="resources",
    selector="inquire",
    form_selector="request",
    key_field="reference",
    columns=("reference", "state", "accountNumber", "bankName", "last_payment", "dateCreated"),
    title_fields=("accountName",),
    hidden_fields=("accountName",),
    list_action="accounts",
    empty_text="A personalized account is an account number for one customer: every transfer into it is a payment.",
    create_forms=(
        ActionForm(
            "open",
            "Open an account",
            "personalized-accounts",
            (
                FormField("name", "Name", required=True),
                FormField("reference", "Your reference", required=True),
                FormField("email", "Email", input_type="email", required=True),
                FormField("bvn", "BVN", "Of the account's owner.", "numeric"),
            ),
        ),
    ),
    update_forms=(
        ActionForm(
            "close",
            "Close",
            "close_personalized_account",
            allowed_states=("open",),
            consequence="transfers into it are sent back from now on. It cannot be opened again.",
        ),
    ),
)

DISPUTES = RecordKind(
    name="disputes",
    label="Disputes",
    singular="Dispute",
    method="payment",
    key_field="dispute_id",
    columns=("dispute_id", "state", "amount", "reason", "txnRef", "respond_by"),
    filters=(FormField("state", "State", options=get_args(DisputeState)), FormField("txnRef", "Payment")),
    list_action="disputes",
    view_action="dispute",
    empty_text="A dispute is opened by the payer's bank. Answer it before its deadline.",
    update_forms=(
        ActionForm(
            "evidence",
            "Send evidence",
            "dispute_respond",
            (
                FormField("evidence.explanation", "Why the payment is valid", required=True),
                FormField("evidence.product_description", "What was sold"),
                FormField("evidence.customer_name", "Customer's name"),
                FormField("evidence.customer_email", "Customer's email", input_type="email"),
                FormField("evidence.service_date", "Delivered on", input_type="date"),
                FormField("evidence.tracking_number", "Tracking number"),
            ),
            allowed_states=("needs_response",),
            file_list="evidence.files",
        ),
        ActionForm(
            "accept",
            "Accept the dispute",
            "dispute_respond",
            allowed_states=("needs_response",),
            fixed_values=(("accept", True),),
            consequence="the amount and the dispute fee are taken from the wallet. This cannot be undone.",
        ),
    ),
)

SETTLEMENTS = RecordKind(
    name="settlements",
    label="Settlements",
    singular="Settlement",
    method="resources",
    selector="inquire",
    key_field="settlement_id",
    columns=("settlement_id", "state", "net", "day", "gross", "fee", "vat", "refunds", "disputes"),
    filters=(
        FormField("from", "From", input_type="date"),
        FormField("to", "To", input_type="date"),
        FormField("currency", "Currency", options=CURRENCIES),
    ),
    list_action="settlements",
    view_action="settlement",
    empty_title=f"None in the last {DEFAULT_DAYS} days",
    empty_text="A settlement is what collections did to the wallet on one day. Choose earlier days above.",
)
