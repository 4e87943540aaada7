"""How tickets are shown, and how their buyers are erased."""

from collections.abc import Callable, Sequence

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.money import format_minor
from kasuwa.methods.checkout.model import PayLink, link_url
from kasuwa.methods.tickets.model import PERSON_DECODER, Ticket, TicketKind, TicketPerson, code_aad, person_aad
from kasuwa.methods.tickets.ticket_codes import format_ticket_code
from kasuwa.methods.tickets.wire import TicketKindRecord, TicketLinkRecord, TicketRecord

Unsealer = Callable[[int, str, bytes], bytes]


def read_code(ticket: Ticket, unseal: Unsealer) -> str:
    return unseal(ticket.merchant_id, code_aad(ticket.reference), bytes(ticket.code_sealed)).decode()


def read_person(ticket: Ticket, unseal: Unsealer) -> TicketPerson:
    """Returns the buyer of a ticket, without data if unknown or erased."""
    if ticket.person_sealed is None:
        return TicketPerson()
    plain = unseal(ticket.merchant_id, person_aad(ticket.reference), bytes(ticket.person_sealed))
    return PERSON_DECODER.decode(plain)


def show_ticket(ticket: Ticket, kind_name: str, title: str, unseal: Unsealer) -> TicketRecord:
    person = read_person(ticket, unseal)
    return TicketRecord(
        code=format_ticket_code(read_code(ticket, unseal)),
        state=ticket.state,  # type: ignore[arg-type]
        link_id=ticket.link_id,
        title=title,
        ticket=kind_name,
        name=person.name or None,
        email=person.email or None,
        phone=person.phone or None,
        txn_ref=ticket.payment_ref,
        checkout_ref=ticket.checkout_ref,
        created_at=utc_text(ticket.created_at),
        used_at=None if ticket.used_at is None else utc_text(ticket.used_at),
    )


def show_kind(kind: TicketKind) -> TicketKindRecord:
    return TicketKindRecord(
        name=kind.name,
        amount=format_minor(kind.amount),
        quantity=kind.quantity,
        sold=kind.sold,
        reserved=kind.reserved,
        used=kind.used,
    )


def show_ticket_link(link: PayLink, kinds: Sequence[TicketKind], public_url: str) -> TicketLinkRecord:
    return TicketLinkRecord(
        link_id=link.link_id,
        link=link_url(public_url, link.slug),
        title=link.title,
        currency=link.currency,
        type="one_time",
        status=link.state,  # type: ignore[arg-type]
        ticket_data=[show_kind(kind) for kind in kinds],
    )


def erase_buyer(ticket: Ticket) -> Ticket:
    """Returns the ticket without the data of its buyer. It stays valid."""
    return msgspec.structs.replace(ticket, person_sealed=None)
