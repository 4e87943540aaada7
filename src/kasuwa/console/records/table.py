"""The table of record kinds: which API actions list, show, create and change each kind of record of a merchant.

records.py makes the pages of every row. A kind whose API method is not deployed has no pages.
"""

from collections.abc import Mapping
from typing import Any, get_args

from kasuwa.console.kit.forms import ActionForm, FormField
from kasuwa.console.records.collections import (
    ACCOUNTS,
    BENEFICIARIES,
    DISPUTES,
    INSTALLMENTS,
    PAYLINKS,
    RECURRENTS,
    SETTLEMENTS,
)
from kasuwa.console.records.groups import GROUPS
from kasuwa.console.records.kind import YES_NO, RecordKind, RelatedList
from kasuwa.console.records.lending import AMOUNT, LOANS
from kasuwa.console.records.products import PRODUCTS
from kasuwa.console.records.sales import CHECKOUTS, CUSTOMERS, INVOICES, MAILS, TICKETS
from kasuwa.console.records.saving import SAVINGS, SHARES, STANDING_ORDERS, THRIFT
from kasuwa.methods.clients.wire import ClientStatus
from kasuwa.methods.virtualcard.dispute_model import STATES
from kasuwa.methods.virtualcard.wire import MAX_VELOCITY_RULES

CLIENTS = RecordKind(
    name="clients",
    label="Clients",
    singular="Client",
    method="clients",
    key_field="client_id",
    state_field="status",
    columns=("client_id", "status", "phone", "email", "bvn_verified", "dateCreated"),
    title_fields=("firstname", "lastname"),
    hidden_fields=("firstname", "lastname"),
    filters=(
        FormField("status", "Status", options=get_args(ClientStatus)),
        FormField("email", "Whole email address", input_type="email"),
        FormField("phone", "Whole phone number", input_mode="tel"),
    ),
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


def velocity_fields(number: int) -> tuple[FormField, ...]:
    """Returns the fields of one rule of a card's velocity, in one row."""
    place = f"limits.velocity.{number}"
    return (
        FormField(f"{place}.count", "Most purchases", input_mode="numeric", value_type="whole", group=place),
        FormField(f"{place}.amount", "Most in all", input_mode="decimal", group=place),
        FormField(f"{place}.hours", "Within hours", input_mode="numeric", value_type="whole", group=place),
    )


CARDS = RecordKind(
    name="cards",
    label="Cards",
    singular="Virtual card",
    method="virtualcard",
    key_field="reference",
    state_field="status",
    columns=("reference", "name_on_card", "status", "balance", "expiration", "created_at"),
    title_fields=("maskedpan",),
    hidden_fields=("maskedpan", "cardpan", "cvv", "card_owner"),
    list_action="cards",
    list_method="console",
    view_action="get",
    related_lists=(
        RelatedList(
            "Transactions",
            "transactions",
            ("narration", "amount", "fee", "effect", "dateCreated", "status", "declineReason", "txnRef", "currency"),
        ),
        RelatedList(
            "Disputes",
            "disputes",
            ("dispute_id", "txnRef", "state", "reason", "amount", "outcome", "filed_at", "currency"),
        ),
    ),
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
        ActionForm(
            "reveal",
            "Reveal number and CVV",
            "get",
            allowed_states=("active", "blocked"),
            fixed_values=(("reveal", True),),
            reply_template="card_revealed.html",
        ),
        ActionForm("fund", "Fund", "fund", (AMOUNT,), allowed_states=("active",)),
        ActionForm("withdraw", "Withdraw", "withdraw", (AMOUNT,), allowed_states=("active", "blocked")),
        ActionForm(
            "limits",
            "Save limits",
            "limits",
            (
                FormField("limits.per_transaction", "Limit per purchase", "Empty: no limit.", "decimal"),
                FormField("limits.per_day", "Limit per day", input_mode="decimal"),
                FormField("limits.per_month", "Limit per month", input_mode="decimal"),
                FormField(
                    "limits.categories",
                    "Shop categories",
                    "Codes of four digits with commas between them. Empty: all shops.",
                    value_type="words",
                ),
                FormField("limits.blocked_categories", "Blocked shop categories", value_type="words"),
                FormField(
                    "limits.merchants",
                    "Shops",
                    "Names or identifiers with semicolons between them. Empty: all shops.",
                    value_type="names",
                ),
                FormField("limits.blocked_merchants", "Blocked shops", value_type="names"),
                FormField(
                    "limits.countries",
                    "Countries",
                    "Codes of two letters with commas between them. Empty: all countries.",
                    value_type="words",
                ),
                FormField(
                    "limits.channels", "Channels", "Some of online, contactless, atm. Empty: all.", value_type="words"
                ),
                FormField("limits.single_use", "One purchase only", options=YES_NO, value_type="flag"),
                FormField("limits.from_date", "Usable from", input_type="date", group="days"),
                FormField("limits.to_date", "Usable until", input_type="date", group="days"),
                *(field for number in range(MAX_VELOCITY_RULES) for field in velocity_fields(number)),
            ),
            allowed_states=("active", "blocked"),
            fixed_values=(("limits", {}),),
            is_prefilled=True,
        ),
        ActionForm(
            "dispute",
            "Dispute a purchase",
            "dispute",
            (
                FormField("id", "Purchase", "Its reference, from the transactions.", required=True),
                FormField("reason", "Reason", "Such as fraudulent, not received, or duplicate.", required=True),
                FormField("amount", "Amount", "Empty: all that was not refunded.", "decimal"),
                FormField("evidence.explanation", "What happened"),
            ),
            file_list="evidence.files",
        ),
        ActionForm("block", "Block", "block", allowed_states=("active",)),
        ActionForm("unblock", "Unblock", "unblock", allowed_states=("blocked",)),
        ActionForm(
            "terminate",
            "Terminate",
            "terminate",
            allowed_states=("active", "blocked"),
            consequence="it can never pay again, and its balance goes back to the wallet. This cannot be undone.",
        ),
    ),
)


def describe_card_dispute(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what the card got in the currency of the card, and the card by a name of its own: the other reference is
    that of the purchase. The other amounts are in the currency of the shop."""
    return {"card_reference": row["reference"], "credited": f"{row['card_currency']} {row['credited']}"}


CARD_DISPUTES = RecordKind(
    name="card-disputes",
    label="Card disputes",
    singular="Card dispute",
    method="virtualcard",
    key_field="dispute_id",
    columns=("dispute_id", "state", "amount", "currency", "reason", "txnRef", "filed_at"),
    describe=describe_card_dispute,
    hidden_fields=("card_currency", "reference"),
    filters=(FormField("state", "State", options=STATES),),
    list_action="disputes",
    view_action="view_dispute",
    empty_text="The holder of a virtual card disputes a purchase. Do it on the card's page.",
    update_forms=(
        ActionForm(
            "withdraw",
            "Withdraw",
            "withdraw_dispute",
            allowed_states=("submitted",),
            consequence="the shop keeps the money. The purchase may be disputed again.",
        ),
    ),
)

CASHCODES = RecordKind(
    name="cashcodes",
    label="Cashcodes",
    singular="Cashcode",
    method="cashcode",
    key_field="orderRef",
    columns=("orderRef", "state", "amount", "paid", "channel", "created_at", "expires_at"),
    hidden_fields=("txnStatus",),
    list_action="cashcodes",
    list_method="console",
    view_action="verify",
    empty_text="A cashcode is a number of ten digits with which somebody draws cash without a card.",
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
    update_forms=(
        ActionForm(
            "cancel",
            "Cancel",
            "cancel",
            allowed_states=("active",),
            consequence="it can no longer be redeemed, and the amount goes back to the wallet.",
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
    columns=("txnRef", "txnStatus", "amount", "biller", "item", "customer", "orderRef", "created_at"),
    list_action="bills",
    list_method="console",
    view_action="verify",
    empty_text="Choose a category above to pay the first bill.",
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
    CUSTOMERS,
    INVOICES,
    MAILS,
    PAYLINKS,
    TICKETS,
    CHECKOUTS,
    DISPUTES,
    SETTLEMENTS,
    CARDS,
    CARD_DISPUTES,
    BILLS,
    CASHCODES,
    RECURRENTS,
    INSTALLMENTS,
    ACCOUNTS,
    BENEFICIARIES,
    CLIENTS,
    LOANS,
    PRODUCTS,
    GROUPS,
    SAVINGS,
    STANDING_ORDERS,
    THRIFT,
    SHARES,
)
