"""A link that sells tickets, in memory, for the pure tests: its purchases and payments run as in the writer."""

from typing import Any

import msgspec

from kasuwa.core.action import Write
from kasuwa.core.decision import Decision
from kasuwa.methods.checkout.actions import PURPOSES
from kasuwa.methods.tickets.actions import OPEN_TICKET_PURCHASE, RESOURCES
from kasuwa.methods.tickets.model import Ticket, TicketKind, ticket_kind_key
from kasuwa.methods.tickets.payer_model import OpenTicketPurchase
from kasuwa.methods.tickets.rules.records import read_code
from kasuwa.methods.tickets.rules.sell import TICKET_SOURCE
from kasuwa.transactions.checkouts import Checkout
from kasuwa.wire.decoding import decode
from tests.methods.invoices.in_memory_invoices import OpenedCheckout
from tests.methods.payment.in_memory_payments import InMemoryPayments
from tests.rule_context import VAULT

MAKE, USE = RESOURCES[0], RESOURCES[-1]
KINDS = [{"name": "Regular", "amount": "500.00", "quantity": 3}, {"name": "Table", "amount": "2000.00"}]


class InMemoryTickets:
    def __init__(self, **fields: Any) -> None:
        self.payments = InMemoryPayments(purposes=PURPOSES, has_webhook=True, funds=1_000_000)
        self.payments.sources[TICKET_SOURCE.name] = TICKET_SOURCE
        self.made = self.put(MAKE, **{"title": "Jazz Night", "ticket_data": KINDS, **fields})
        self.link_id = self.made.reply.data.link_id if isinstance(self.made, Decision) else ""

    def put(self, action: Any, **fields: Any) -> Any:
        """Requests an action. Returns the decision, the refusal, or the tuple of field errors."""
        request = decode(action.request, msgspec.json.encode(fields), action.rules, self.payments.merchant)
        return request if isinstance(request, tuple) else self.run(action, request)

    def run(self, action: Write, request: Any) -> Any:
        needs = action.needs(request, self.payments.merchant)
        return self.payments.decide(needs, lambda given, seen: action.decide(request, given, seen))

    def kind(self, place: int = 0) -> TicketKind:
        row = self.payments.rows[ticket_kind_key(self.payments.merchant.merchant_id, self.link_id, place)]
        assert isinstance(row, TicketKind)
        return row

    def counts(self, place: int = 0) -> tuple[int, int, int]:
        kind = self.kind(place)
        return kind.sold, kind.reserved, kind.used

    def try_choose(self, *chosen: tuple[int, int]) -> Any:
        request = OpenTicketPurchase(
            reference=self.link_id,
            page_token=f"{self.payments.decisions:048x}",
            chosen=chosen,
            fullname="Ada Obi",
            email="ada@example.com",
        )
        return self.run(OPEN_TICKET_PURCHASE, request)

    def choose(self, *chosen: tuple[int, int]) -> OpenedCheckout:
        """Opens the checkout of some tickets, given as pairs of place and quantity."""
        decision = self.try_choose(*chosen)
        assert isinstance(decision, Decision), decision
        [checkout] = [row for row in decision.rows if isinstance(row, Checkout)]
        return OpenedCheckout(self.payments, checkout.txn_ref)

    def tickets(self) -> list[Ticket]:
        found = [row for row in self.payments.rows.values() if isinstance(row, Ticket)]
        return sorted(found, key=lambda ticket: (ticket.checkout_ref, ticket.number))

    def codes(self) -> list[str]:
        return [read_code(ticket, VAULT.unseal) for ticket in self.tickets()]

    def states(self) -> list[str]:
        return [ticket.state for ticket in self.tickets()]

    def use(self, code: str, **fields: Any) -> Any:
        return self.put(USE, code=code, **fields)
