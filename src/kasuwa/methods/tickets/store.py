"""Reads tickets. Never writes; every WHERE has the merchant_id."""

from typing import Any

from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.core.token_index import space_key, token_digest
from kasuwa.methods.checkout.model import UNKNOWN_LINK, PayLink, link_key
from kasuwa.methods.tickets.model import TICKET, UNKNOWN_TICKET, Ticket, TicketKind, code_token
from kasuwa.methods.tickets.rules.records import show_ticket, show_ticket_link
from kasuwa.methods.tickets.wire import (
    TicketCodeRequest,
    TicketLinkRecord,
    TicketLinksReply,
    TicketLinksRequest,
    TicketRecord,
    TicketReply,
    TicketSalesReply,
    TicketSalesRequest,
)

TICKET_COLUMNS = ", ".join(f"t.{name}" for name in Ticket.__struct_fields__)
KIND_COLUMNS = ", ".join(TicketKind.__struct_fields__)
LINK_COLUMNS = ", ".join(PayLink.__struct_fields__)

LINK = f"select {LINK_COLUMNS} from pay_link where merchant_id = $1 and key = $2 and kind = '{TICKET}'"
KINDS = f"select {KIND_COLUMNS} from ticket_kind where merchant_id = $1 and link_id = $2 order by place, key"
TICKETS = f"""
    select {TICKET_COLUMNS} from ticket t where t.merchant_id = $1 and t.link_id = $2
    order by t.created_at desc, t.checkout_ref desc, t.number, t.key offset $3 limit $4
"""
COUNT = "select count(*) from ticket where merchant_id = $1 and link_id = $2"
OF_PURCHASE = f"""
    select {TICKET_COLUMNS}, k.name from ticket t
    join ticket_kind k on k.merchant_id = t.merchant_id and k.link_id = t.link_id and k.place = t.place
    where t.merchant_id = $1 and t.checkout_ref = $2 order by t.number, t.key
"""
OF_PAYMENTS = f"""
    select {TICKET_COLUMNS} from ticket t where t.merchant_id = $1 and t.payment_ref = any($2)
    order by t.payment_ref, t.number, t.key
"""
LINKS = f"""
    select {LINK_COLUMNS} from pay_link where merchant_id = $1 and kind = '{TICKET}'
    order by created_at desc, seq desc, key desc offset $2 limit $3
"""
LINK_COUNT = f"select count(*) from pay_link where merchant_id = $1 and kind = '{TICKET}'"
KINDS_OF_LINKS = f"""
    select {KIND_COLUMNS} from ticket_kind where merchant_id = $1 and link_id = any($2) order by link_id, place, key
"""
INDEX_ENTRY = "select reference from token_index where merchant_id = $1 and key = $2"


async def find_kinds(merchant_id: int, link_id: str, reader: Reader) -> list[TicketKind]:
    return [TicketKind(*row) for row in await reader.fetch(KINDS, merchant_id, link_id)]


async def list_purchase(merchant_id: int, checkout_ref: str, reader: Reader) -> list[tuple[Ticket, str]]:
    """Returns the tickets of a checkout, each with the name of its kind."""
    rows = [tuple(row) for row in await reader.fetch(OF_PURCHASE, merchant_id, checkout_ref)]
    return [(Ticket(*row[:-1]), row[-1]) for row in rows]


async def list_tickets_of_payments(merchant_id: int, payment_refs: list[str], reader: Reader) -> list[Ticket]:
    return [Ticket(*row) for row in await reader.fetch(OF_PAYMENTS, merchant_id, payment_refs)]


async def list_ticket_links(request: TicketLinksRequest, merchant: Merchant, reader: ActionReader) -> TicketLinksReply:
    merchant_id = merchant.merchant_id
    offset, limit = request.offset_and_limit
    async with reader.snapshot() as snapshot:
        links = [PayLink(*row) for row in await snapshot.fetch(LINKS, merchant_id, offset, limit)]
        rows = await snapshot.fetch(KINDS_OF_LINKS, merchant_id, [link.link_id for link in links])
        [[total]] = await snapshot.fetch(LINK_COUNT, merchant_id)
    kinds: dict[str, list[TicketKind]] = {link.link_id: [] for link in links}
    for row in rows:
        kind = TicketKind(*row)
        kinds[kind.link_id].append(kind)

    def show(link: PayLink) -> TicketLinkRecord:
        return show_ticket_link(link, kinds[link.link_id], reader.public_url)

    lines = await reader.make_lines(show, links)
    return TicketLinksReply(data=lines, total=total, offset=offset, limit=limit)


async def show_sales(
    request: TicketSalesRequest, merchant: Merchant, reader: ActionReader
) -> TicketSalesReply | Refusal:
    merchant_id = merchant.merchant_id
    offset, limit = request.offset_and_limit
    async with reader.snapshot() as snapshot:
        link_row = await snapshot.fetchrow(LINK, merchant_id, link_key(merchant_id, request.link_id))
        if link_row is None:
            return UNKNOWN_LINK
        kinds = await find_kinds(merchant_id, request.link_id, snapshot)
        rows = await snapshot.fetch(TICKETS, merchant_id, request.link_id, offset, limit)
        [[total]] = await snapshot.fetch(COUNT, merchant_id, request.link_id)
    link, names = PayLink(*link_row), {kind.place: kind.name for kind in kinds}

    def show(row: Any) -> TicketRecord:
        ticket = Ticket(*row)
        return show_ticket(ticket, names[ticket.place], link.title, reader.unseal)

    sale = show_ticket_link(link, kinds, reader.public_url)
    lines = await reader.make_lines(show, rows, at_once=10)
    return TicketSalesReply(sale=sale, data=lines, total=total, offset=offset, limit=limit)


async def show_by_code(request: TicketCodeRequest, merchant: Merchant, reader: ActionReader) -> TicketReply | Refusal:
    merchant_id = merchant.merchant_id
    key = space_key(merchant.token_space, token_digest(reader.digest, TICKET, code_token(merchant_id, request.code)))
    async with reader.snapshot() as snapshot:
        entry = await snapshot.fetchrow(INDEX_ENTRY, merchant_id, key)
        if entry is None:
            return UNKNOWN_TICKET
        checkout_ref, _, number = str(entry[0]).rpartition(" ")
        purchase = await list_purchase(merchant_id, checkout_ref, snapshot)
        [(ticket, name)] = [line for line in purchase if line[0].number == int(number)]
        link = await snapshot.fetchrow(LINK, merchant_id, link_key(merchant_id, ticket.link_id))
    return TicketReply(message="Ticket", data=show_ticket(ticket, name, PayLink(*link).title, reader.unseal))
