"""Loans in the table of record kinds, and the fields that loans and savings share."""

from collections.abc import Mapping
from typing import Any, get_args

from kasuwa.console.kit.forms import ActionForm, FormField
from kasuwa.console.records.kind import YES_NO, RecordKind, RelatedList
from kasuwa.methods.loans.wire import LoanState

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
PRODUCT_PERIOD = FormField(
    "period", "Installments", "Leave empty for those of the product.", "numeric", value_type="whole"
)
FIRST_DUE = FormField("grace.first_due", "First due date", "Leave empty for one interval.", input_type="date")
TAX = (
    FormField("tax_applied", "Tax on interest", options=YES_NO, value_type="flag"),
    FormField("tax_rate", "Tax rate in percent", input_mode="decimal"),
)

PRODUCT = FormField(
    "product_id", "Product", "Choose by name, or enter the code.", required=True, refers_to="loan-products"
)
CLIENT = FormField("client_id", "Client", "Choose by name, or enter the id.", required=True, refers_to="clients")
AMOUNT = FormField("amount", "Amount", input_mode="decimal", required=True)


def has_waiting_write_off(row: Mapping[str, Any]) -> bool:
    return "waiting_write_off" in row


def describe_loan(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns of a loan in the list what is owed, and the date of the next installment."""
    if "next_due" not in row:
        return {}
    return {"outstanding": row["outstanding"]["total"], "next_due": (row["next_due"] or {}).get("due")}


SECURABLE = ("pending_approval", "approved", "active", "active_in_arrears")
GUARANTEE = FormField("guarantee_id", "Guarantee", "Its id.", required=True)


def has_guarantees(row: Mapping[str, Any]) -> bool:
    return bool(row.get("guarantees"))


def is_collected(row: Mapping[str, Any]) -> bool:
    return row.get("auto_repay", {}).get("state") in ("active", "paused")


def has_collateral(row: Mapping[str, Any]) -> bool:
    return bool(row.get("collateral"))


LOANS = RecordKind(
    name="loans",
    label="Loans",
    singular="Loan",
    method="loans",
    key_field="loan_id",
    columns=("loan_id", "client_id", "state", "amount", "outstanding", "overdue", "next_due"),
    describe=describe_loan,
    hidden_fields=("schedules", "auto_repay"),
    filters=(
        FormField("state", "State", options=get_args(LoanState)),
        FormField("product_id", "Product", refers_to="loan-products"),
        FormField("client_id", "Client", refers_to="clients"),
    ),
    list_action="list",
    view_action="view",
    related_lists=(RelatedList("Statement", "statement"), RelatedList("Attempts to collect", "collections")),
    empty_text="Request a loan for an active client.",
    create_forms=(
        ActionForm(
            "request-product",
            "Request a loan of a product",
            "request",
            (
                PRODUCT,
                FormField(
                    "client_id", "Client", required=True, refers_to="clients", hint="Choose by name, or enter the id."
                ),
                FormField("amount", "Amount", "Leave empty for that of the product.", "decimal"),
                PRODUCT_PERIOD,
                FIRST_DUE,
            ),
        ),
        ActionForm(
            "request",
            "Request a loan",
            "request",
            (
                FormField(
                    "client_id", "Client", required=True, refers_to="clients", hint="Choose by name, or enter the id."
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
            "auto-repay",
            "Collect automatically",
            "auto_repay",
            (
                FormField(
                    "source",
                    "From",
                    "token: a saved card. savings: of the client. wallet: money that you have received already.",
                    options=("savings", "token", "wallet"),
                ),
                FormField("savings_id", "Savings account", "For savings alone."),
                FormField("token", "Token of the card", "For a card alone."),
                FormField("at", "Hour", "From 0 to 23, in Lagos. Leave empty for 9.", "numeric"),
                FormField(
                    "retry",
                    "Days of retries",
                    "Days after a due date, with commas between them. Leave empty for 1, 3, 7.",
                    value_type="words",
                ),
            ),
            allowed_states=SECURABLE,
        ),
        ActionForm(
            "stop-auto-repay",
            "Stop collecting automatically",
            "stop_auto_repay",
            is_possible=is_collected,
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
        ActionForm(
            "charge",
            "Make a charge",
            "charge",
            (
                FormField("name", "Name", "What the charge is called.", required=True),
                AMOUNT,
                FormField("vat", "VAT", "Percent of the charge, on top of it. Leave empty for none.", "decimal"),
                FormField("due", "Day", "As YYYY-MM-DD. Leave empty for today."),
            ),
            allowed_states=("active", "active_in_arrears"),
        ),
        ActionForm(
            "waive",
            "Waive",
            "waive",
            (
                FormField("charge_id", "Charge", "Its id in the list of charges. Or choose one of the next two."),
                FormField("penalty", "Penalties", options=YES_NO, value_type="flag"),
                FormField("interest", "Interest that is due", options=YES_NO, value_type="flag"),
                FormField("amount", "Amount", "Leave empty to waive all that is owed of it.", "decimal"),
                FormField("reason", "Reason", "Why it is waived."),
            ),
            allowed_states=("active", "active_in_arrears"),
            consequence="what is waived is not owed any more.",
        ),
        ActionForm(
            "reschedule",
            "Reschedule",
            "reschedule",
            (
                FormField("from", "From", "As YYYY-MM-DD. Leave empty for today.", input_type="date"),
                FormField("extra_installments", "More installments", input_mode="numeric", value_type="whole"),
                FormField("interestRate", "New interest rate", "Leave empty to keep it.", "decimal"),
                FormField("grace.principal", "Installments without principal", "", "numeric", value_type="whole"),
                FormField("grace.interest", "Of these without interest", "", "numeric", value_type="whole"),
                FormField("capitalize_arrears", "Capitalize the arrears", options=YES_NO, value_type="flag"),
                FormField("first_due", "First due date", "Leave empty to keep the dates.", input_type="date"),
                FormField("reason", "Reason", "Why it is rescheduled.", required=True),
            ),
            allowed_states=("active", "active_in_arrears"),
            consequence="its installments that are not due yet are made anew. The schedule of today stays readable.",
            has_preview=True,
        ),
        ActionForm(
            "top-up",
            "Top up",
            "top_up",
            (
                FormField("amount", "Amount of the new loan", "More than the payoff.", "decimal", required=True),
                FormField(
                    "period", "Installments", "Leave empty for as many as were agreed.", "numeric", value_type="whole"
                ),
            ),
            allowed_states=("active", "active_in_arrears"),
            consequence="a new loan pays it off, and the rest is paid out to the client's bank account.",
            has_preview=True,
        ),
        ActionForm(
            "write-off",
            "Write off",
            "write_off",
            (
                FormField(
                    "parts",
                    "Parts",
                    "Leave empty to write off the whole loan. Or of penalty, interest, tax, principal or charge what"
                    " is due.",
                    value_type="words",
                ),
                FormField("reason", "Reason", "Why it will not be paid.", required=True),
            ),
            allowed_states=("active", "active_in_arrears"),
            consequence="what is written off is not asked for any more. Another person may have to approve it first.",
        ),
        ActionForm(
            "approve-write-off",
            "Approve the write-off",
            "decide_write_off",
            is_possible=has_waiting_write_off,
            fixed_values=(("status", "approve"),),
            consequence="what is written off is not asked for any more.",
        ),
        ActionForm(
            "reject-write-off",
            "Reject the write-off",
            "decide_write_off",
            is_possible=has_waiting_write_off,
            fixed_values=(("status", "reject"),),
        ),
        ActionForm(
            "guarantee",
            "Add a guarantee",
            "guarantee",
            (
                FormField(
                    "client_id", "Guarantor", "Choose by name, or enter the id.", required=True, refers_to="clients"
                ),
                FormField("savings_id", "Savings account", "Of the guarantor.", required=True),
                AMOUNT,
            ),
            allowed_states=SECURABLE,
        ),
        ActionForm(
            "call-guarantee",
            "Call the guarantees",
            "call_guarantee",
            (FormField("amount", "Amount", "Leave empty to take what is due and held.", "decimal"),),
            allowed_states=("active_in_arrears", "closed_written_off"),
            consequence="it is taken out of the guarantors' savings, and the client owes it to them.",
        ),
        ActionForm(
            "pay-guarantor",
            "Pay a guarantor back",
            "pay_guarantor",
            (
                GUARANTEE,
                AMOUNT,
                FormField(
                    "payment_method",
                    "How",
                    "wallet: you have the money already. waived: the guarantor gives it up.",
                    options=("wallet", "waived"),
                ),
            ),
            is_possible=has_guarantees,
        ),
        ActionForm(
            "release-guarantee",
            "Release a guarantee",
            "release_guarantee",
            (GUARANTEE,),
            is_possible=has_guarantees,
            consequence="the savings are free again, whatever becomes of the loan.",
        ),
        ActionForm(
            "collateral",
            "Add collateral",
            "collateral",
            (
                FormField("description", "Description", required=True),
                FormField("value", "Value", input_mode="decimal", required=True),
            ),
            allowed_states=SECURABLE,
        ),
        ActionForm(
            "return-collateral",
            "Return collateral",
            "return_collateral",
            (FormField("collateral_id", "Collateral", "Its id.", required=True),),
            is_possible=has_collateral,
        ),
    ),
)
