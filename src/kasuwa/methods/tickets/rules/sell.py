"""Sells tickets: reserves them when an attempt to pay begins, and issues them when it succeeds.

The checkout's items name the kinds by their place. A kind is never oversold: sold and reserved tickets together are at
most its quantity, and all decisions of a merchant are made one after another. Contract: resources#tickets
"""

from collections import Counter

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Context, Effects, LoadedRows, Merchant, Needs, NeedsMore, Refusal, Row
from kasuwa.core.token_index import make_token_entry
from kasuwa.methods.payment.model import Payment, payment_key
from kasuwa.methods.tickets.model import (
    TICKET,
    VALID,
    VOID,
    Ticket,
    TicketKind,
    TicketPerson,
    code_aad,
    code_token,
    person_aad,
    ticket_key,
    ticket_kind_key,
    ticket_reference,
)
from kasuwa.methods.tickets.ticket_codes import make_ticket_code
from kasuwa.transactions.checkouts import (
    DETAIL_DECODER,
    Checkout,
    CheckoutDetail,
    CheckoutItem,
    CheckoutSource,
    read_checkout_detail,
)
from kasuwa.transactions.transactions import Transaction

SOLD_OUT = Refusal(INVALID_REQUEST, "{name}: {availability}. Nothing was charged", error_code="tickets_sold_out")


def read_tier_number(item: CheckoutItem) -> int:
    return int(item.reference)


def decode_items(checkout: Checkout) -> tuple[CheckoutItem, ...]:
    return DETAIL_DECODER.decode(checkout.detail).items


def need_kinds(merchant: Merchant, checkout: Checkout) -> Needs:
    """Returns the kinds of a purchase."""
    merchant_id, link_id = merchant.merchant_id, checkout.source_id
    return Needs(
        tuple(
            (TicketKind, ticket_kind_key(merchant_id, link_id, read_tier_number(item)))
            for item in decode_items(checkout)
        )
    )


def load_kind(checkout: Checkout, item: CheckoutItem, rows: LoadedRows) -> TicketKind:
    kind = rows.get(TicketKind, ticket_kind_key(checkout.merchant_id, checkout.source_id, read_tier_number(item)))
    assert kind is not None, "a checkout of tickets names kinds of its link"
    return kind


def reserve_tickets(checkout: Checkout, context: Context, rows: LoadedRows) -> Effects | Refusal:
    """Reserves the tickets of a purchase whose payment begins. Refused if one kind has too few left."""
    kinds: list[Row] = []
    for item in decode_items(checkout):
        kind = load_kind(checkout, item, rows)
        if item.quantity > kind.left:
            return refuse_sold_out(kind)
        kinds.append(msgspec.structs.replace(kind, reserved=kind.reserved + item.quantity))
    return Effects(rows=tuple(kinds))


def refuse_sold_out(kind: TicketKind) -> Refusal:
    availability = f"only {kind.left} left" if kind.left > 0 else "sold out"
    return SOLD_OUT.fill(name=kind.name, availability=availability)


def release_tickets(checkout: Checkout, context: Context, rows: LoadedRows) -> Effects:
    """Gives back what an attempt had reserved that has failed."""
    kinds = tuple(
        msgspec.structs.replace(kind, reserved=kind.reserved - item.quantity)
        for item in decode_items(checkout)
        for kind in (load_kind(checkout, item, rows),)
    )
    return Effects(rows=kinds)


def issue_tickets(checkout: Checkout, paid: Transaction, context: Context, loaded_rows: LoadedRows) -> Effects:
    """Issues one ticket with a code of its own for each that was paid for."""
    detail = read_checkout_detail(checkout, context.vault.unseal)
    rows: list[Row] = []
    number = 0
    for item in detail.items:
        kind = load_kind(checkout, item, loaded_rows)
        rows.append(
            msgspec.structs.replace(kind, sold=kind.sold + item.quantity, reserved=kind.reserved - item.quantity)
        )
        for _ in range(item.quantity):
            number += 1
            rows += make_ticket(checkout, detail, kind.place, number, paid, context)
    return Effects(rows=tuple(rows))


def make_ticket(
    checkout: Checkout, detail: CheckoutDetail, place: int, number: int, paid: Transaction, context: Context
) -> tuple[Row, ...]:
    """Returns a ticket and the entry that finds it by its code."""
    merchant_id, code = checkout.merchant_id, make_ticket_code(context.entropy, number)
    reference = ticket_reference(checkout.txn_ref, number)
    ticket = Ticket(
        key=ticket_key(merchant_id, reference),
        merchant_id=merchant_id,
        link_id=checkout.source_id,
        place=place,
        checkout_ref=checkout.txn_ref,
        payment_ref=paid.txn_ref,
        number=number,
        state=VALID,
        code_sealed=context.seal(code_aad(reference), code.encode()),
        person_sealed=seal_person(TicketPerson(detail.fullname, detail.email, detail.phone), reference, context),
        created_at=context.now,
        used_at=None,
        changed_at=context.now,
    )
    return ticket, make_token_entry(context, TICKET, code_token(merchant_id, code), reference)


def seal_person(person: TicketPerson, reference: str, context: Context) -> bytes | None:
    """Returns the encrypted data of a buyer, or None if nothing is known of them."""
    if person == TicketPerson():
        return None
    return context.seal(person_aad(reference), msgspec.json.encode(person))


# --- refunds --------------------------------------------------------------------------------------------------------


def void_refunded(checkout: Checkout, amount: int, context: Context, rows: LoadedRows) -> Effects | NeedsMore:
    """Voids the tickets of a payment whose whole price was refunded, and puts those that were not used on sale again.

    A refund of a part leaves all tickets as they are. `amount` is what counts for the price, without a fee that the
    payer bore. Contract: resources#ticket-refunds
    """
    merchant_id = checkout.merchant_id
    needed: list[tuple[type[Row], bytes]] = [(Payment, payment_key(merchant_id, checkout.payment_ref))]
    count = sum(item.quantity for item in decode_items(checkout))
    keys = [ticket_key(merchant_id, ticket_reference(checkout.txn_ref, number)) for number in range(1, count + 1)]
    needed += [(Ticket, key) for key in keys]
    if not all(rows.is_loaded(key) for _, key in needed):
        return NeedsMore(Needs(tuple(needed)))
    payment = rows.get(Payment, needed[0][1])
    assert payment is not None, "a paid checkout has a payment"
    if payment.refunded + amount < checkout.amount:
        return Effects()
    tickets = [ticket for key in keys for ticket in (rows.get(Ticket, key),) if ticket and ticket.state == VALID]
    voided = Counter(ticket.place for ticket in tickets)
    kinds = [
        msgspec.structs.replace(kind, sold=kind.sold - voided[kind.place])
        for item in decode_items(checkout)
        for kind in (load_kind(checkout, item, rows),)
        if voided[kind.place]
    ]
    changed = [msgspec.structs.replace(ticket, state=VOID, changed_at=context.now) for ticket in tickets]
    return Effects(rows=(*changed, *kinds))


TICKET_SOURCE = CheckoutSource(
    name=TICKET,
    needs=need_kinds,
    on_attempt=reserve_tickets,
    on_paid=issue_tickets,
    on_attempt_failed=release_tickets,
    on_refund=void_refunded,
)
