"""Admits the holder of a ticket, once. Contract: resources#ticket-use"""

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, NeedsMore, Refusal, Row
from kasuwa.core.token_index import TokenIndexEntry, own_token_key
from kasuwa.methods.checkout.model import PayLink, link_key
from kasuwa.methods.payment.model import KIND, Payment, payment_key
from kasuwa.methods.tickets.model import (
    TICKET,
    UNKNOWN_TICKET,
    USED,
    VOID,
    Ticket,
    TicketKind,
    code_token,
    ticket_key,
    ticket_kind_key,
)
from kasuwa.methods.tickets.rules.records import show_ticket
from kasuwa.methods.tickets.wire import TicketReply, TicketUseRequest
from kasuwa.transactions.transactions import Transaction, transaction_key

TICKET_VOID = Refusal(INVALID_REQUEST, "The ticket is void: its payment was refunded")
OTHER_LINK = Refusal(INVALID_REQUEST, "The ticket was sold by another of your links")
BEING_REFUNDED = Refusal(INVALID_REQUEST, "The ticket is being refunded")
# Contract: resources#ticket-disputes
DISPUTED = Refusal(
    INVALID_REQUEST, "The payment of the ticket is disputed: its buyer has the money back, or may get it"
)


def need_use(request: TicketUseRequest, merchant: Merchant) -> Needs:
    """The ticket is found by a keyed hash, which only the decision can make: it asks for the rows itself."""
    return Needs()


def decide_use(
    request: TicketUseRequest, context: Context, loaded_rows: LoadedRows
) -> Decision[TicketReply] | Refusal | NeedsMore:
    """Marks a valid ticket as used. A used one is refused with the time of its use."""
    ticket = find_ticket(request.code, context, loaded_rows)
    if not isinstance(ticket, Ticket):
        return ticket
    if request.link_id not in (None, ticket.link_id):
        return OTHER_LINK
    merchant_id = ticket.merchant_id
    rows: tuple[tuple[type[Row], bytes], ...] = (
        (Payment, payment_key(merchant_id, ticket.payment_ref)),
        (Transaction, transaction_key(merchant_id, KIND, ticket.payment_ref)),
        (TicketKind, ticket_kind_key(merchant_id, ticket.link_id, ticket.place)),
        (PayLink, link_key(merchant_id, ticket.link_id)),
    )
    if not all(loaded_rows.is_loaded(key) for _, key in rows):
        return NeedsMore(Needs(rows))
    if ticket.state == VOID:
        return TICKET_VOID
    if ticket.state == USED:
        return refuse_used(ticket)
    payment, row = loaded_rows.get(Payment, rows[0][1]), loaded_rows.get(Transaction, rows[1][1])
    kind, link = loaded_rows.get(TicketKind, rows[2][1]), loaded_rows.get(PayLink, rows[3][1])
    assert payment is not None, "a ticket has a payment"
    assert row is not None, "a payment has a transaction"
    assert kind is not None, "a ticket has a kind"
    assert link is not None, "a ticket has a link"
    # The price, without a fee that the payer bore.
    if payment.refunded + payment.refunding >= row.amount:
        return BEING_REFUNDED
    if payment.refunded + payment.refunding + payment.disputed >= row.amount:
        return DISPUTED
    used = msgspec.structs.replace(ticket, state=USED, used_at=context.now, changed_at=context.now)
    record = show_ticket(used, kind.name, link.title, context.vault.unseal)
    counted = msgspec.structs.replace(kind, used=kind.used + 1)
    return Decision(reply=TicketReply(message="Admitted", data=record), rows=(used, counted))


def refuse_used(ticket: Ticket) -> Refusal:
    at = "" if ticket.used_at is None else f", at {utc_text(ticket.used_at)}"
    return Refusal(INVALID_REQUEST, f"The ticket was used already{at}")


def find_ticket(code: str, context: Context, rows: LoadedRows) -> Ticket | Refusal | NeedsMore:
    """Returns the ticket of a code."""
    merchant_id = context.merchant.merchant_id
    index_key = own_token_key(context, TICKET, code_token(merchant_id, code))
    if not rows.is_loaded(index_key):
        return NeedsMore(Needs(((TokenIndexEntry, index_key),)))
    entry = rows.get(TokenIndexEntry, index_key)
    if entry is None:
        return UNKNOWN_TICKET
    key = ticket_key(merchant_id, entry.reference)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((Ticket, key),)))
    return rows.get(Ticket, key) or UNKNOWN_TICKET
