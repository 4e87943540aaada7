"""What can be done with a transaction from its page, as a table: each row is an action of the API and the fields it
asks for. A row whose slice is not there is not offered."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kasuwa.console.forms import Ask
from kasuwa.console.visit import Visit
from kasuwa.core.money import format_minor
from kasuwa.core.transactions import SUCCESSFUL, Transaction


class Offer(msgspec.Struct, frozen=True):
    """Something that can be done with transactions of a kind and status."""

    name: str
    label: str
    kind: str
    status: str
    method: str
    action: str
    reference: str
    asks: tuple[Ask, ...] = ()

    def request(self, row: Transaction, said: Callable[[str], str]) -> Mapping[str, Any]:
        told = {ask.name: said(ask.name) for ask in self.asks}
        return {"action": self.action, self.reference: row.txn_ref} | {n: v for n, v in told.items() if v}

    def suggested(self, row: Transaction, name: str) -> str:
        return format_minor(row.amount) if name == "amount" else ""


OFFERS = (
    Offer(
        name="refund",
        label="Refund",
        kind="payment",
        status=SUCCESSFUL,
        method="payment",
        action="refund",
        reference="txnRef",
        asks=(
            Ask("amount", "Amount", "Whole or part; never above what was charged.", "decimal", required=True),
            Ask("comment", "Comment", "Kept with the refund."),
        ),
    ),
)


def offers_for(visit: Visit, row: Transaction) -> list[Offer]:
    """What can be done with it, as far as the visitor's role allows it."""
    fitting = [offer for offer in OFFERS if (offer.kind, offer.status) == (row.kind, row.status)]
    return [offer for offer in fitting if may_take(visit, offer)]


def may_take(visit: Visit, offer: Offer) -> bool:
    action = visit.parts.find_action(offer.method, {"action": offer.action})
    return action is not None and visit.may(action)
