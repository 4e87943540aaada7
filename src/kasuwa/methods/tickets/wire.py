"""Requests and replies of `resources` about tickets. Contract: resources#tickets"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from kasuwa.methods.checkout.wire import PaylinkRequest
from kasuwa.methods.tickets.fields import TicketCode, TicketName
from kasuwa.methods.tickets.model import MAX_KINDS
from kasuwa.wire.fields import Amount, NonNegativeInt, Reference
from kasuwa.wire.paging import Paged


class TicketKindFields(msgspec.Struct, kw_only=True):
    """One kind of ticket."""

    name: TicketName
    "Name of the kind, such as `Regular`. Each once."
    amount: Amount
    "Price of one ticket."
    quantity: NonNegativeInt | None = None
    "How many may be sold, 1 to 1,000,000. Absent: no limit."


TicketKinds = Annotated[
    list[TicketKindFields], Meta(min_length=1, max_length=MAX_KINDS, description=f"1 to {MAX_KINDS} kinds of tickets")
]


class TicketLinkRequest(PaylinkRequest, kw_only=True):
    """Makes a link that sells tickets. Its other fields are those of a payment link; `amount` and `frequency` do not
    count, as each kind has its price."""

    ticket_data: TicketKinds
    "The kinds of tickets that are sold."


class TicketUseRequest(msgspec.Struct, kw_only=True):
    """Admits the holder of a ticket. A second request with the same code is refused."""

    code: TicketCode
    "Code of the ticket."
    link_id: Reference | None = None
    "Admits only a ticket that this link sold. Absent: a ticket of any of your links."
    dry_run: bool | None = None
    "Not supported: a request with `true` is refused and admits nobody."


class TicketCodeRequest(msgspec.Struct, kw_only=True):
    """Shows the ticket of a code."""

    code: TicketCode
    "Code of the ticket."


class TicketRecord(msgspec.Struct, kw_only=True):
    """A ticket that was sold."""

    code: str
    "Code of the ticket, in groups of four."
    state: Literal["valid", "used", "void"]
    "`valid`; `used`: its holder was admitted; `void`: its payment was refunded."
    link_id: str
    "The link that sold it."
    title: str
    "Title of that link."
    ticket: str
    "Kind of the ticket."
    name: str | None
    "Name of the person who bought it. Null if unknown or erased."
    email: str | None
    "Email address of that person. Null if unknown or erased."
    phone: str | None
    "Telephone number of that person. Null if unknown or erased."
    txn_ref: str = field(name="txnRef")
    "The payment."
    checkout_ref: str = field(name="checkoutRef")
    "The checkout."
    created_at: str
    "Time of the purchase, in UTC."
    used_at: str | None
    "Time at which its holder was admitted, in UTC. Else null."


class TicketReply(msgspec.Struct, kw_only=True):
    """One ticket."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: TicketRecord
    "The ticket."


class TicketSalesRequest(Paged, kw_only=True):
    """Shows a link that sells tickets, and what it sold."""

    link_id: Reference
    "Identifier of the link."


class TicketKindRecord(msgspec.Struct, kw_only=True):
    """One kind of ticket, with how many were sold."""

    name: str
    "Name of the kind."
    amount: str
    "Price of one ticket."
    quantity: int | None
    "How many may be sold. Null for no limit."
    sold: int
    "How many were sold. Void ones do not count, unless they had been used."
    reserved: int
    "How many payers are paying for now."
    used: int
    "How many were used."


class TicketLinkRecord(msgspec.Struct, kw_only=True):
    """A link that sells tickets."""

    link_id: str
    "Identifier of the link."
    link: str
    "Its address, to give to payers."
    title: str
    "Its title."
    currency: str
    "Currency of the prices."
    type: Literal["one_time"]
    "A ticket is paid once."
    status: Literal["active", "disabled"]
    "Whether tickets can be bought."
    ticket_data: list[TicketKindRecord]
    "The kinds of tickets."


class TicketLinksRequest(Paged, kw_only=True):
    """Lists links that sell tickets, newest first."""


class TicketLinksReply(msgspec.Struct, kw_only=True):
    """One page of links that sell tickets, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[TicketLinkRecord]
    "The links, each with how many of each kind it has sold."
    total: int
    "Number of links on all pages."
    offset: int
    "Number of links that were skipped."
    limit: int
    "Largest number of links on this page. The next page begins at `offset` + `limit`."


class TicketLinkReply(msgspec.Struct, kw_only=True):
    """A new link that sells tickets."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: TicketLinkRecord
    "The link."


class TicketSalesReply(msgspec.Struct, kw_only=True):
    """A link that sells tickets, and one page of what it sold."""

    status: Literal[200] = 200
    "200."
    sale: TicketLinkRecord
    "The link, and how many of each kind it has sold."
    data: list[TicketRecord]
    "The tickets that it sold, newest purchase first."
    total: int
    "Number of tickets on all pages."
    offset: int
    "Number of tickets that were skipped."
    limit: int
    "Largest number of tickets on this page. The next page begins at `offset` + `limit`."
