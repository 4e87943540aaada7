"""Plain reads of clients. No writes; merchant_id in every WHERE."""

from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.reading import LineReader, Reader
from kasuwa.methods.clients.decide import UNKNOWN_CLIENT, Client, client_key
from kasuwa.methods.clients.decide_client import show_client
from kasuwa.methods.clients.wire import ClientReply, ListReply, ListRequest, ViewRequest

COLUMNS = """
    select key, merchant_id, client_id, number, status, bvn_verified, open_accounts, bvn_hash, bvn_mask, bvn_sealed,
        detail, created_at, changed_at, erased_at
    from client
"""
BY_KEY = f"{COLUMNS} where key = $1 and merchant_id = $2"
NEWEST_FIRST = f"{COLUMNS} where merchant_id = $1 order by number desc offset $2 limit $3"
COUNT = "select count(*) from client where merchant_id = $1"


async def find_client(merchant_id: int, client_id: str, reader: Reader) -> Client | None:
    row = await reader.fetchrow(BY_KEY, client_key(merchant_id, client_id), merchant_id)
    return None if row is None else Client(*row)


async def view_client(request: ViewRequest, merchant: Merchant, reader: Reader) -> ClientReply | Refusal:
    client = await find_client(merchant.merchant_id, request.client_id, reader)
    if client is None:
        return UNKNOWN_CLIENT
    return ClientReply(message="Client found", data=show_client(client))


async def list_clients(request: ListRequest, merchant: Merchant, reader: LineReader) -> ListReply:
    offset, limit = request.window
    rows = await reader.fetch(NEWEST_FIRST, merchant.merchant_id, offset, limit)
    [[total]] = await reader.fetch(COUNT, merchant.merchant_id)
    lines = await reader.make_lines(lambda row: show_client(Client(*row)), rows, at_once=5)
    return ListReply(data=lines, total=total, offset=offset, limit=limit)
