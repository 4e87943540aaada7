"""Tickets: the kinds that a link sells, and the tickets that were sold. Contract: resources#tickets

    valid ──> used    admitted once
          └─> void    its payment was refunded in full

A kind counts what was sold and what attempts to pay have reserved, so that it is never oversold.
"""

from datetime import datetime
from typing import ClassVar

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Refusal, Row
from kasuwa.core.references import first_number, row_key

VALID, USED, VOID = "valid", "used", "void"

# The kind of a link that sells tickets, the source of its checkouts (transactions/checkouts.py), and the kind of the
# tokens that find a ticket by its code (core/token_index.py).
TICKET = "ticket"

MAX_KINDS = 20
# Tickets of one purchase. Contract: resources#tickets
MAX_TICKETS = 20
# Tickets that may be sold of a kind, also if no quantity was set.
MAX_QUANTITY = 1_000_000

UNKNOWN_TICKET = Refusal(INVALID_REQUEST, "Invalid Ticket Code")


class TicketKind(Row):
    """One kind of ticket of a link."""

    table: ClassVar[str] = "ticket_kind"
    mutable_columns: ClassVar[tuple[str, ...]] = ("sold", "reserved", "used")

    link_id: str
    place: int  # in the link's list of kinds, from 0
    name: str
    amount: int  # of one ticket, in minor units
    quantity: int | None  # that may be sold; None for no limit
    sold: int
    reserved: int  # by attempts to pay that have not ended
    used: int

    @property
    def is_open(self) -> bool:
        return False

    @property
    def left(self) -> int:
        return (MAX_QUANTITY if self.quantity is None else self.quantity) - self.sold - self.reserved


class Ticket(Row):
    """One ticket that was sold. The token index finds it by its code."""

    table: ClassVar[str] = "ticket"
    mutable_columns: ClassVar[tuple[str, ...]] = ("state", "person_sealed", "used_at", "changed_at")

    link_id: str
    place: int  # of its kind
    checkout_ref: str
    payment_ref: str
    number: int  # within its purchase, from 1
    state: str
    code_sealed: bytes  # the encrypted code
    person_sealed: bytes | None  # an encrypted TicketPerson; None if unknown or erased
    created_at: datetime
    used_at: datetime | None
    changed_at: datetime

    @property
    def is_open(self) -> bool:
        return False

    @property
    def reference(self) -> str:
        return ticket_reference(self.checkout_ref, self.number)


class TicketPerson(msgspec.Struct, frozen=True, omit_defaults=True):
    """The person who bought a ticket."""

    name: str = ""
    email: str = ""
    phone: str = ""

    def __repr__(self) -> str:
        return "TicketPerson(…)"


PERSON_DECODER: "msgspec.json.Decoder[TicketPerson]" = msgspec.json.Decoder(TicketPerson)


def ticket_kind_key(merchant_id: int, link_id: str, place: int) -> bytes:
    return row_key(merchant_id, "ticket kind", f"{link_id} {place}")


def ticket_reference(checkout_ref: str, number: int) -> str:
    return f"{checkout_ref} {number}"


def ticket_key(merchant_id: int, reference: str) -> bytes:
    return row_key(merchant_id, "ticket", reference)


def code_token(merchant_id: int, code: str) -> str:
    """Returns the token by which the token index finds a ticket. Another merchant's equal code is another token."""
    return f"{first_number(merchant_id)} {code}"


def code_aad(reference: str) -> str:
    return f"ticket.code_sealed {reference}"


def person_aad(reference: str) -> str:
    return f"ticket.person_sealed {reference}"
