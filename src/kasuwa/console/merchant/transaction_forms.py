"""The table of forms on a transaction's page. Each row runs an API action, and is shown only if that is deployed."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kasuwa.console.kit.forms import FormField, build_request
from kasuwa.console.kit.values import group_thousands
from kasuwa.console.kit.visit import Visit
from kasuwa.console.merchant.payment_view import PaymentView
from kasuwa.core.money import format_minor
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction


class TransactionForm(msgspec.Struct, frozen=True):
    """A form that runs an API action on transactions of one kind and status."""

    name: str  # last part of the form's path
    label: str
    transaction_kind: str
    transaction_status: str
    method: str
    action: str
    reference_field: str  # request field that takes the transaction's txnRef
    fields: tuple[FormField, ...] = ()
    has_preview: bool = False  # the action has a dry run, which is made before the user confirms

    def build_request(self, row: Transaction, read_text: Callable[[str], str]) -> Mapping[str, Any]:
        return {"action": self.action, self.reference_field: row.txn_ref, **build_request(self.fields, read_text)}

    def default_value(self, payment: PaymentView, name: str) -> str:
        return format_minor(payment.remaining) if name == "amount" else ""

    def confirmation(self, row: Transaction, request: Mapping[str, Any]) -> tuple[str, str, str]:
        """Returns the question, the consequence and the label of the button with which the user confirms."""
        amount = f"{row.currency} {group_thousands(format_amount(str(request.get('amount', ''))))}"
        consequence = f"{amount} of the payment {row.txn_ref} goes back to the payer. A refund cannot be undone."
        return f"{self.label} {amount}?", consequence, f"{self.label} {amount}"


def format_amount(text: str) -> str:
    """Returns a valid amount with two decimals."""
    whole, _, cents = text.partition(".")
    return f"{whole}.{cents:0<2}"


TRANSACTION_FORMS = (
    TransactionForm(
        name="refund",
        label="Refund",
        transaction_kind="payment",
        transaction_status=SUCCESSFUL,
        method="payment",
        action="refund",
        reference_field="txnRef",
        fields=(
            FormField("amount", "Amount", "", "decimal", required=True),
            FormField("comment", "Comment", "Stored with the refund."),
        ),
        has_preview=True,
    ),
)


def list_available_forms(visit: Visit, row: Transaction, payment: PaymentView | None) -> list[TransactionForm]:
    """Returns the forms that fit the transaction and are allowed for the user's role."""
    if payment is None or not payment.can_be_refunded:
        return []
    matching = [
        form for form in TRANSACTION_FORMS if (form.transaction_kind, form.transaction_status) == (row.kind, row.status)
    ]
    return [form for form in matching if is_form_allowed(visit, form)]


def is_form_allowed(visit: Visit, form: TransactionForm) -> bool:
    action = visit.services.find_action(form.method, {"action": form.action})
    return action is not None and visit.is_allowed(form.method, action)
