"""Savings, standing orders, thrift plans and shares in the table of record kinds."""

from collections.abc import Mapping
from typing import Any, get_args

import msgspec

from kasuwa.console.kit.forms import ActionForm, FormField
from kasuwa.console.records.kind import RecordKind, RelatedList
from kasuwa.console.records.lending import AMOUNT, CLIENT, FREQUENCIES, INTEREST, PERIOD, TAX
from kasuwa.methods.investments.wire import SavingsState

ROLLOVER = FormField(
    "rollover",
    "At the end of a term",
    "Of a fixed deposit: none: it matures; principal: a new term without the interest; all: with it.",
    options=("none", "principal", "all"),
)


def has_waiting_reactivation(row: Mapping[str, Any]) -> bool:
    return "waiting_reactivation" in row


def is_fixed(row: Mapping[str, Any]) -> bool:
    """Returns whether savings are a fixed deposit."""
    return "term_days" in row


SAVINGS = RecordKind(
    name="savings",
    label="Savings",
    singular="Savings account",
    method="investments",
    key_field="savings_id",
    columns=("savings_id", "client_id", "state", "balance", "accrued_interest", "matures_at"),
    title_fields=("name",),
    hidden_fields=("name",),
    filters=(
        FormField("client_id", "Client", refers_to="clients"),
        FormField("state", "State", options=get_args(SavingsState)),
    ),
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
                    "client_id", "Client", required=True, refers_to="clients", hint="Choose by name, or enter the id."
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
        ActionForm(
            "reactivate",
            "Ask for reactivation",
            "reactivate_savings",
            (FormField("reason", "Reason", "How the client was identified, for example.", required=True),),
            allowed_states=("dormant",),
        ),
        ActionForm(
            "decide",
            "Decide the reactivation",
            "decide_reactivation",
            (FormField("status", "Decision", options=("approve", "reject")),),
            is_possible=has_waiting_reactivation,
        ),
    ),
)

STANDING_ORDERS = RecordKind(
    name="standing-orders",
    label="Standing orders",
    singular="Standing order",
    method="investments",
    key_field="order_id",
    columns=("order_id", "client_id", "state", "to", "amount", "frequency", "next_date", "paid"),
    filters=(
        FormField("client_id", "Client", refers_to="clients"),
        FormField("savings_id", "Savings account that pays"),
        FormField("state", "State", options=("active", "paused", "ended", "cancelled")),
    ),
    list_action="list_standing_orders",
    empty_text="A standing order pays from savings on a schedule: other savings, a loan or a thrift plan.",
    create_forms=(
        ActionForm(
            "create",
            "Create a standing order",
            "standing_order",
            (
                FormField("from", "From", "The savings account that pays.", required=True),
                FormField("to", "To", "A savings account, a loan or a thrift plan of the client.", required=True),
                AMOUNT,
                FormField(
                    "frequency", "How often", options=("every_month", "every_four_weeks", "every_week", "every_day")
                ),
                FormField("from_date", "First payment", input_type="date", required=True),
            ),
        ),
    ),
    update_forms=tuple(
        ActionForm(
            change,
            f"{change.capitalize()}",
            "change_standing_order",
            (),
            fixed_values=(("change", change),),
            allowed_states=states,
            consequence=consequence,
        )
        for change, states, consequence in (
            ("pause", ("active",), ""),
            ("resume", ("paused",), ""),
            ("cancel", ("active", "paused"), "it ends for good."),
        )
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
    related_lists=(RelatedList("Members", "subscriptions"),),
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

SHARE_NUMBER = FormField("shares", "Shares", input_mode="numeric", required=True, value_type="whole")
PAY_BY = FormField("payment_method", "Paid by", "wallet: you have the money already.", options=("wallet", "savings"))
SAVINGS_FIELD = FormField("savings_id", "Savings account", "Of the member, for dividends. Only for the first shares.")

SHARES = RecordKind(
    name="shares",
    label="Shares",
    singular="Class of shares",
    method="investments",
    key_field="class_id",
    columns=("class_id", "name", "price", "members", "shares", "capital"),
    title_fields=("name",),
    hidden_fields=("name",),
    list_action="list_share_classes",
    related_lists=(
        RelatedList("Members", "list_shareholders"),
        RelatedList("Redemptions", "list_redemptions"),
        RelatedList("Dividends", "list_dividends"),
    ),
    empty_text="Members of a society buy shares, vote by them and get dividends on them.",
    create_forms=(
        ActionForm(
            "create",
            "Create a class of shares",
            "create_share_class",
            (
                FormField("name", "Name", required=True),
                FormField("price", "Price of a share", input_mode="decimal", required=True),
                FormField("votes", "What has a vote", options=("member", "share")),
                FormField("tax_rate", "Tax on dividends in percent", input_mode="decimal"),
            ),
        ),
    ),
    update_forms=(
        ActionForm("buy", "Sell shares", "buy_shares", (CLIENT, SHARE_NUMBER, PAY_BY, SAVINGS_FIELD)),
        ActionForm(
            "transfer",
            "Transfer shares",
            "transfer_shares",
            (
                CLIENT,
                FormField("to_client_id", "To", "Choose by name, or enter the id.", required=True, refers_to="clients"),
                SHARE_NUMBER,
                SAVINGS_FIELD,
            ),
        ),
        ActionForm("redeem", "Redeem shares", "redeem_shares", (CLIENT, SHARE_NUMBER)),
        ActionForm(
            "approve",
            "Approve a redemption",
            "approve_redemption",
            (FormField("redemption_id", "Redemption", required=True),),
            consequence="the shares are paid into the member's savings.",
        ),
        ActionForm(
            "reject",
            "Reject a redemption",
            "reject_redemption",
            (FormField("redemption_id", "Redemption", required=True),),
            consequence="the member keeps the shares.",
        ),
        ActionForm(
            "dividend",
            "Declare a dividend",
            "declare_dividend",
            (
                FormField("rate", "Percent of the price", input_mode="decimal", required=True),
                FormField("record_date", "Shares as of", input_type="date", required=True),
            ),
            consequence="every member is paid, and the sum leaves the wallet.",
        ),
    ),
)
