"""Tickets as pure decisions: sold at most once, admitted once, void after a refund. (Contract: resources#tickets)"""

import msgspec
import pytest

from kasuwa.core.decision import Decision, Refusal
from kasuwa.core.keyring import UnsealError
from kasuwa.methods.checkout.rules.pay_link import LINK_DISABLED
from kasuwa.methods.payment.model import Payment
from kasuwa.methods.tickets.model import UNKNOWN_TICKET, code_aad, person_aad
from kasuwa.methods.tickets.rules import admit, open_sale
from kasuwa.methods.tickets.rules.open_sale import WRONG_TOTAL
from kasuwa.methods.tickets.rules.records import erase_buyer, read_person
from kasuwa.methods.tickets.rules.sell import SOLD_OUT
from tests.methods.payment.in_memory_payments import APPROVED, BEGUN, DECLINED
from tests.methods.tickets.in_memory_tickets import InMemoryTickets
from tests.rule_context import VAULT


def refund(tickets: InMemoryTickets, txn_ref: str, amount: str) -> None:
    begun = tickets.payments.put("refund", txnRef=txn_ref, amount=amount)
    assert isinstance(begun, Decision), begun
    tickets.payments.receive_answer(begun.jobs[0], APPROVED)


def test_a_purchase_issues_a_code_for_each_ticket_in_the_same_decision() -> None:
    tickets = InMemoryTickets()
    checkout = tickets.choose((0, 2), (1, 1))
    assert (checkout.row.amount, checkout.row.source, checkout.row.source_id) == (300_000, "ticket", tickets.link_id)
    assert tickets.counts() == (0, 0, 0)
    paying = checkout.begin("ussd")
    assert (tickets.counts(), tickets.counts(1)) == ((0, 2, 0), (0, 1, 0))
    paying.receive_answer(BEGUN["ussd"])
    decision = paying.receive_answer(APPROVED)
    assert len([row for row in decision.rows if type(row).__name__ == "Ticket"]) == 3
    assert (tickets.counts(), tickets.counts(1)) == ((2, 0, 0), (1, 0, 0))
    assert len(set(tickets.codes())) == 3
    assert [(ticket.place, ticket.number, ticket.payment_ref) for ticket in tickets.tickets()] == [
        (0, 1, paying.txn_ref),
        (0, 2, paying.txn_ref),
        (1, 3, paying.txn_ref),
    ]
    assert read_person(tickets.tickets()[0], VAULT.unseal).name == "Ada Obi"


def test_an_attempt_that_fails_puts_its_tickets_on_sale_again() -> None:
    tickets = InMemoryTickets()
    checkout = tickets.choose((0, 3))
    paying = checkout.begin_card()
    assert tickets.counts() == (0, 3, 0)
    checkout.confirm(paying)
    paying.receive_answer(DECLINED)
    assert tickets.counts() == (0, 0, 0)
    checkout.abandon(checkout.begin_card().txn_ref)
    assert tickets.counts() == (0, 0, 0)
    checkout.pay()
    assert tickets.counts() == (3, 0, 0)


def test_a_total_beyond_the_limits_of_the_merchant_is_refused() -> None:
    tickets = InMemoryTickets(ticket_data=[{"name": "Gold", "amount": "9000000.00"}])
    refused = tickets.try_choose((0, 20))
    assert isinstance(refused, Refusal)
    assert refused.error_code == WRONG_TOTAL.error_code
    assert refused.message.startswith("The total must be ")


def test_the_last_ticket_is_reserved_for_who_begins_to_pay_first() -> None:
    tickets = InMemoryTickets()
    tickets.choose((0, 2)).pay()
    first, second = tickets.choose((0, 1)), tickets.choose((0, 1))
    paying = first.begin("ussd")
    refused = second.try_attempt("ussd")
    assert isinstance(refused, Refusal)
    assert refused == SOLD_OUT.fill(name="Regular", availability="sold out")
    assert refused.message == "Regular: sold out. Nothing was charged"
    assert isinstance(tickets.try_choose((0, 1)), Refusal)
    paying.receive_answer(BEGUN["ussd"])
    paying.receive_answer(APPROVED)
    assert tickets.counts() == (3, 0, 0)
    assert isinstance(second.try_attempt("ussd"), Refusal)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ((), open_sale.NOTHING_CHOSEN),
        (((0, 0),), open_sale.NOTHING_CHOSEN),
        (((0, -1), (1, 2)), open_sale.NOTHING_CHOSEN),
        (((7, 1),), open_sale.NOTHING_CHOSEN),
        (((1, 21),), open_sale.TOO_MANY),
    ],
)
def test_a_choice_that_cannot_be_sold_is_refused(chosen: tuple[tuple[int, int], ...], expected: Refusal) -> None:
    assert InMemoryTickets().try_choose(*chosen) == expected


def test_a_disabled_link_opens_no_purchase_and_an_open_one_can_be_paid() -> None:
    tickets = InMemoryTickets()
    checkout = tickets.choose((0, 1))
    [link] = [row for row in tickets.payments.rows.values() if type(row).__name__ == "PayLink"]
    tickets.payments.rows[link.key] = msgspec.structs.replace(link, state="disabled")
    assert tickets.try_choose((0, 1)) == LINK_DISABLED
    checkout.pay()
    assert tickets.counts() == (1, 0, 0)


def test_a_code_admits_once() -> None:
    tickets = InMemoryTickets()
    tickets.choose((0, 2)).pay()
    first, second = tickets.codes()
    admitted = tickets.use(first.lower())
    assert (admitted.reply.data.state, admitted.reply.data.ticket, admitted.reply.data.name) == (
        "used",
        "Regular",
        "Ada Obi",
    )
    again = tickets.use(first)
    assert isinstance(again, Refusal)
    assert again.message == "The ticket was used already, at 2026-01-05T09:30:00.123Z"
    assert (tickets.counts(), tickets.states()) == ((2, 0, 1), ["used", "valid"])
    assert isinstance(tickets.use(second), Decision)
    assert tickets.use("2222-2222-2222") == UNKNOWN_TICKET


def test_a_refund_in_full_voids_what_was_not_used_and_frees_the_seats() -> None:
    tickets = InMemoryTickets()
    paying = tickets.choose((0, 3)).pay()
    used, *unused = tickets.codes()
    tickets.use(used)
    refund(tickets, paying.txn_ref, "500.00")
    assert (tickets.states(), tickets.counts()) == (["used", "valid", "valid"], (3, 0, 1))
    refund(tickets, paying.txn_ref, "1000.00")
    assert (tickets.states(), tickets.counts()) == (["used", "void", "void"], (1, 0, 1))
    assert tickets.use(unused[0]) == admit.TICKET_VOID
    tickets.choose((0, 2)).pay()
    assert tickets.counts() == (3, 0, 1)


def test_a_refund_of_the_whole_price_voids_tickets_whose_buyer_bore_the_fee() -> None:
    tickets = InMemoryTickets(payer_bears_fees=True)
    paying = tickets.choose((0, 2)).pay()
    assert paying.payment.charged > 100_000
    one, other = tickets.codes()
    refund(tickets, paying.txn_ref, "999.99")
    assert isinstance(tickets.use(one), Decision)
    begun = tickets.payments.put("refund", txnRef=paying.txn_ref, amount="0.01")
    assert tickets.use(other) == admit.BEING_REFUNDED
    tickets.payments.receive_answer(begun.jobs[0], APPROVED)
    assert (tickets.states(), tickets.use(other)) == (["used", "void"], admit.TICKET_VOID)
    # The fee may go back as well.
    rest = f"{(paying.payment.charged - 100_000) / 100:.2f}"
    refund(tickets, paying.txn_ref, rest)
    assert (tickets.states(), tickets.counts()) == (["used", "void"], (1, 0, 1))


def test_a_ticket_that_is_being_refunded_is_not_admitted() -> None:
    tickets = InMemoryTickets()
    paying = tickets.choose((0, 1)).pay()
    begun = tickets.payments.put("refund", txnRef=paying.txn_ref, amount="500.00")
    [code] = tickets.codes()
    assert tickets.use(code) == admit.BEING_REFUNDED
    tickets.payments.receive_answer(begun.jobs[0], DECLINED)
    assert isinstance(tickets.use(code), Decision)


def test_a_gate_of_another_event_admits_nobody() -> None:
    tickets = InMemoryTickets()
    tickets.choose((0, 1)).pay()
    [code] = tickets.codes()
    assert tickets.use(code, link_id="LK-of-another-event") == admit.OTHER_LINK
    assert tickets.states() == ["valid"]
    assert isinstance(tickets.use(code, link_id=tickets.tickets()[0].link_id), Decision)


def test_a_ticket_that_is_partly_refunded_and_else_disputed_is_not_admitted() -> None:
    tickets = InMemoryTickets()
    paying = tickets.choose((0, 1)).pay()
    [code] = tickets.codes()
    [(key, payment)] = [(key, row) for key, row in tickets.payments.rows.items() if isinstance(row, Payment)]
    assert payment.txn_ref == paying.txn_ref
    part = payment.charged - 30_000
    for changes, outcome in (
        ({"refunding": part, "disputed": 30_000}, admit.DISPUTED),
        ({"refunded": part, "disputed": 30_000}, admit.DISPUTED),
        ({"refunding": part, "disputed": 29_999}, None),
    ):
        tickets.payments.rows[key] = msgspec.structs.replace(payment, **changes)
        used = tickets.use(code)
        assert used == outcome if outcome is not None else isinstance(used, Decision)


def test_a_buyer_is_erased_and_the_ticket_stays_valid() -> None:
    tickets = InMemoryTickets()
    tickets.choose((0, 1)).pay()
    [ticket] = tickets.tickets()
    tickets.payments.rows[ticket.key] = erase_buyer(ticket)
    admitted = tickets.use(tickets.codes()[0])
    assert (admitted.reply.data.state, admitted.reply.data.name, admitted.reply.data.email) == ("used", None, None)


def test_what_is_sealed_in_one_ticket_does_not_open_in_another() -> None:
    tickets = InMemoryTickets()
    tickets.choose((0, 2)).pay()
    first, second = tickets.tickets()
    assert first.person_sealed is not None
    for place, sealed in ((code_aad, first.code_sealed), (person_aad, first.person_sealed)):
        assert VAULT.unseal(first.merchant_id, place(first.reference), sealed)
        with pytest.raises(UnsealError):
            VAULT.unseal(first.merchant_id, place(second.reference), sealed)


def test_the_faults_of_a_link_and_of_its_kinds_are_named_together() -> None:
    names = InMemoryTickets(ticket_data=[{"name": "A", "amount": 5}, {"name": " a", "amount": 5, "quantity": 0}])
    assert [(fault.field, fault.reason) for fault in names.made] == [("ticket_data", "each name once")]
    amounts = InMemoryTickets(ticket_data=[{"name": "A", "amount": "0.50"}], type="recurring")
    assert [fault.field for fault in amounts.made] == ["type"]
    both = InMemoryTickets(ticket_data=[{"name": "A", "amount": "0.50"}])
    assert [fault.field for fault in both.made.field_errors] == ["ticket_data.0.amount"]
