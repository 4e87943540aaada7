"""What can be done with a transaction from its page, as a table: each row is an action of the API and the fields it
asks for. A row whose slice is not there is not offered."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kasuwa.console.forms import FormField
from kasuwa.console.visit import Visit
from kasuwa.core.money import format_minor
from kasuwa.core.transactions import SUCCESSFUL, Transaction


class TransactionForm(msgspec.Struct, frozen=True):
    """Something that can be done with transactions of a kind and status."""

    name: str
    label: str
    transaction_kind: str
    transaction_status: str
    method: str
    action: str
    reference_field: str
    fields: tuple[FormField, ...] = ()

    def build_request(self, row: Transaction, said: Callable[[str], str]) -> Mapping[str, Any]:
        told = {ask.name: said(ask.name) for ask in self.fields}
        return {"action": self.action, self.reference_field: row.txn_ref} | {n: v for n, v in told.items() if v}

    def default_value(self, row: Transaction, name: str) -> str:
        return format_minor(row.amount) if name == "amount" else ""


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
            FormField("amount", "Amount", "Whole or part; never above what was charged.", "decimal", required=True),
            FormField("comment", "Comment", "Kept with the refund."),
        ),
    ),
)


def list_available_forms(visit: Visit, row: Transaction) -> list[TransactionForm]:
    """What can be done with it, as far as the visitor's role allows it."""
    fitting = [
        offer
        for offer in TRANSACTION_FORMS
        if (offer.transaction_kind, offer.transaction_status) == (row.kind, row.status)
    ]
    return [offer for offer in fitting if is_form_allowed(visit, offer)]


def is_form_allowed(visit: Visit, offer: TransactionForm) -> bool:
    action = visit.services.find_action(offer.method, {"action": offer.action})
    return action is not None and visit.is_allowed(action)
