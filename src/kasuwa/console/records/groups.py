"""Groups of borrowers in the table of record kinds."""

from collections.abc import Mapping
from typing import Any

from kasuwa.console.kit.forms import ActionForm, FormField
from kasuwa.console.records.kind import RecordKind
from kasuwa.console.records.lending import FIRST_DUE, INTEREST, PERIOD, PRODUCT, PRODUCT_PERIOD, TAX

# Members of a loan that the form has room for. The API takes more.
FORM_MEMBERS = 10
CLIENTS = "Email addresses, numbers or ids of clients, with commas between them."
GROUP_LOAN = FormField("group_loan_id", "Loan of the group", "Its id.", required=True)

DISBURSEMENT = FormField(
    "disbursement",
    "Paid out",
    "each: a transfer to each member. one: a transfer to the leader.",
    options=("each", "one"),
)


def member_fields(number: int) -> tuple[FormField, ...]:
    """Returns the fields of one member's loan, in one row."""
    place = f"loans.{number}"
    return (
        FormField(f"{place}.client_id", "Member: email, number or id", group=place, refers_to="clients"),
        FormField(f"{place}.amount", "Amount", input_mode="decimal", group=place),
    )


def describe_group(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the loans of a group with one line for each member."""
    if "loans" not in row:
        return {}
    lines = [
        {
            "group_loan_id": one["group_loan_id"],
            "client_id": line["client_id"],
            "loan_id": line["loan_id"],
            "amount": line["amount"],
            "state": line["state"],
            "txnRef": one.get("txnRef", ""),
        }
        for one in row["loans"]
        for line in one["loans"]
    ]
    return {"loans": lines}


def has_loans(row: Mapping[str, Any]) -> bool:
    return bool(row.get("loans"))


GROUPS = RecordKind(
    name="groups",
    label="Groups",
    singular="Group",
    method="loans",
    key_field="group_id",
    columns=("group_id", "name", "state", "leader", "member_count", "loan_count", "dateCreated"),
    title_fields=("name",),
    hidden_fields=("name", "standing"),
    describe=describe_group,
    filters=(
        FormField("state", "State", options=("active", "closed")),
        FormField("client_id", "Client", refers_to="clients"),
    ),
    list_action="list_groups",
    view_action="view_group",
    empty_text="The members of a group borrow together and answer for each other.",
    create_forms=(
        ActionForm(
            "create",
            "Make a group",
            "create_group",
            (
                FormField("name", "Name", required=True),
                FormField("members", "Members", CLIENTS, required=True, value_type="words", refers_to="clients"),
                FormField("leader", "Leader", "One of the members.", required=True, refers_to="clients"),
            ),
        ),
    ),
    update_forms=(
        ActionForm(
            "change",
            "Change the group",
            "update_group",
            (
                FormField("name", "New name"),
                FormField("add", "Clients who join", CLIENTS, value_type="words", refers_to="clients"),
                FormField("remove", "Members who leave", CLIENTS, value_type="words", refers_to="clients"),
                FormField("leader", "New leader", "One of the members.", refers_to="clients"),
            ),
            allowed_states=("active",),
        ),
        ActionForm(
            "request-loan",
            "Request a loan",
            "request_group_loan",
            (
                *(field for number in range(FORM_MEMBERS) for field in member_fields(number)),
                PERIOD,
                *INTEREST,
                *TAX,
                DISBURSEMENT,
            ),
            allowed_states=("active",),
        ),
        ActionForm(
            "request-product-loan",
            "Request a loan of a product",
            "request_group_loan",
            (
                PRODUCT,
                *(field for number in range(FORM_MEMBERS) for field in member_fields(number)),
                PRODUCT_PERIOD,
                FIRST_DUE,
                DISBURSEMENT,
            ),
            allowed_states=("active",),
        ),
        *(
            ActionForm(
                f"{status}-loan",
                label,
                "process_group_loan",
                (GROUP_LOAN, *((FormField("loan_id", "Only this member's", "Leave empty for all."),) if part else ())),
                is_possible=has_loans,
                fixed_values=(("status", status),),
                consequence=consequence,
            )
            for status, label, part, consequence in (
                ("approve", "Approve a loan and pay it out", False, ""),
                ("reject", "Reject a loan", True, "it is closed and cannot be approved any more."),
                ("cancel", "Cancel a loan", True, "it is closed and cannot be approved any more."),
            )
        ),
        ActionForm(
            "close",
            "Close the group",
            "update_group",
            allowed_states=("active",),
            fixed_values=(("close", True),),
            consequence="all members leave it, and it cannot be opened again.",
        ),
    ),
)
