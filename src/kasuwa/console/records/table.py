"""The table of record kinds: which API actions list, show, create and change each kind of record of a merchant.

records.py makes the pages of every row. A kind whose API method is not deployed has no pages.
"""

from collections.abc import Mapping
from typing import Any, get_args

import msgspec

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
from kasuwa.console.records.kind import YES_NO, RecordKind
from kasuwa.console.records.sales import CHECKOUTS, CUSTOMERS, INVOICES, TICKETS
from kasuwa.methods.clients.wire import ClientStatus
from kasuwa.methods.loans.wire import LoanState
from kasuwa.methods.virtualcard.wire import MAX_VELOCITY_RULES

FREQUENCIES = ("every_month", "every_four_weeks", "every_week", "every_day", "annualized")


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
ROLLOVER = FormField(
    "rollover",
    "At the end of a term",
    "Of a fixed deposit: none: it matures; principal: a new term without the interest; all: with it.",
    options=("none", "principal", "all"),
)


def is_fixed(row: Mapping[str, Any]) -> bool:
    """Returns whether savings are a fixed deposit."""
    return "term_days" in row


CLIENT = FormField("client_id", "Client", "Choose by name, or enter the id.", required=True, people="clients")
AMOUNT = FormField("amount", "Amount", input_mode="decimal", required=True)

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

LOANS = RecordKind(
    name="loans",
    label="Loans",
    singular="Loan",
    method="loans",
    key_field="loan_id",
    columns=("loan_id", "client_id", "state", "amount", "period", "disbursed_at"),
    filters=(
        FormField("state", "State", options=get_args(LoanState)),
        FormField("client_id", "Client's id"),
    ),
    list_action="list",
    view_action="view",
    related_lists=(("Statement", "statement"),),
    empty_text="Request a loan for an active client.",
    create_forms=(
        ActionForm(
            "request",
            "Request a loan",
            "request",
            (
                FormField(
                    "client_id", "Client", required=True, people="clients", hint="Choose by name, or enter the id."
                ),
                AMOUNT,
                PERIOD,
                *INTEREST,
                *TAX,
            ),
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
            "reject",
            "Reject",
            "process",
            allowed_states=("pending_approval",),
            fixed_values=(("status", "reject"),),
            consequence="the loan is closed and cannot be approved any more.",
        ),
        ActionForm(
            "cancel",
            "Cancel",
            "process",
            allowed_states=("pending_approval", "approved"),
            fixed_values=(("status", "cancel"),),
            consequence="the loan is closed and cannot be approved any more.",
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
        ActionForm(
            "reverse",
            "Reverse a repayment",
            "reverse",
            (
                FormField("txnRef", "Repayment", "Its txnRef, which the statement shows as origin.", required=True),
                FormField("reason", "Reason", "Why it was not honored.", required=True),
            ),
            allowed_states=("active", "active_in_arrears", "closed_repaid", "closed_written_off"),
            consequence="the loan is what it would be without the repayment: its amount is owed again.",
        ),
    ),
)

SAVINGS = RecordKind(
    name="savings",
    label="Savings",
    singular="Savings account",
    method="investments",
    key_field="savings_id",
    columns=("savings_id", "client_id", "state", "balance", "accrued_interest", "matures_at"),
    title_fields=("name",),
    hidden_fields=("name",),
    filters=(FormField("client_id", "Client's id"),),
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
                FormField(
                    "client_id", "Client", required=True, people="clients", hint="Choose by name, or enter the id."
                ),
                msgspec.structs.replace(PERIOD, hint="Months. Leave it empty for a fixed deposit.", required=False),
                FormField(
                    "term_days", "Fixed for", "Days of the term of a fixed deposit.", "numeric", value_type="whole"
                ),
                ROLLOVER,
                *INTEREST,
                *TAX,
            ),
        ),
    ),
    update_forms=(
        ActionForm(
            "rollover",
            "Change the rollover",
            "set_rollover",
            (ROLLOVER,),
            allowed_states=("pending", "active"),
            is_possible=is_fixed,
        ),
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
    columns=("thrift_id", "state", "amount", "frequency", "members", "member_required", "next_date"),
    title_fields=("name",),
    hidden_fields=("name",),
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
        ActionForm(
            "cancel",
            "Cancel the plan",
            "cancel_plan",
            allowed_states=("open",),
            consequence="nobody can join it any more.",
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

CASHCODES = RecordKind(
    name="cashcodes",
    label="Cashcodes",
    singular="Cashcode",
    method="cashcode",
    key_field="orderRef",
    columns=("orderRef", "state", "amount", "channel", "expires_at"),
    hidden_fields=("txnStatus",),
    view_action="verify",
    empty_text="Enter your reference of the cashcode.",
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
    columns=("txnRef",),
    view_action="verify",
    empty_text="Enter the reference of a bill that was paid, yours or ours.",
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
    PAYLINKS,
    TICKETS,
    CHECKOUTS,
    DISPUTES,
    SETTLEMENTS,
    CARDS,
    BILLS,
    CASHCODES,
    RECURRENTS,
    INSTALLMENTS,
    ACCOUNTS,
    BENEFICIARIES,
    CLIENTS,
    LOANS,
    SAVINGS,
    THRIFT,
)
