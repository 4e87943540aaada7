"""Reads clients. Never writes; every WHERE has the merchant_id."""

from typing import Any

from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.people import NATIONAL_NUMBERS
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.methods.clients.model import UNKNOWN_CLIENT, Client, client_key
from kasuwa.methods.clients.rules.manage_client import hash_bvn, hash_email, hash_phone, show_client
from kasuwa.methods.clients.wire import ClientReply, ListReply, ListRequest, ViewRequest

COLUMNS = """
    select key, merchant_id, client_id, number, status, bvn_verified, open_accounts, bvn_hash, bvn_mask, bvn_sealed,
        detail, created_at, changed_at, erased_at, detail_sealed, phone_hash, email_hash, bvn_check_sealed
    from client
"""
BY_KEY = f"{COLUMNS} where key = $1 and merchant_id = $2"
# A filter that the request does not have is null.
MATCHING = """
    merchant_id = $1 and ($2::bytea[] is null or phone_hash = any($2)) and ($3::bytea is null or email_hash = $3)
    and ($4::bytea is null or bvn_hash = $4) and ($5::text is null or status = $5)
"""
NEWEST_FIRST = f"{COLUMNS} where {MATCHING} order by number desc offset $6 limit $7"
COUNT = f"select count(*) from client where {MATCHING}"


async def find_client(merchant_id: int, client_id: str, reader: Reader) -> Client | None:
    row = await reader.fetchrow(BY_KEY, client_key(merchant_id, client_id), merchant_id)
    return None if row is None else Client(*row)


async def view_client(request: ViewRequest, merchant: Merchant, reader: ActionReader) -> ClientReply | Refusal:
    client = await find_client(merchant.merchant_id, request.client_id, reader)
    if client is None:
        return UNKNOWN_CLIENT
    return ClientReply(message="Client found", data=show_client(client, reader.unseal))


def filters_of(request: ListRequest, merchant: Merchant, reader: ActionReader) -> tuple[Any, ...]:
    """Returns the parameters of `MATCHING`. A national phone number matches in every known country."""
    merchant_id = merchant.merchant_id
    phones = request.phone and {
        hash_phone(reader.digest, merchant_id, request.phone, (code,)) for code in NATIONAL_NUMBERS
    }
    return (
        merchant_id,
        None if phones is None else sorted(phones),
        None if request.email is None else hash_email(reader.digest, merchant_id, request.email),
        None if request.bvn is None else hash_bvn(reader.digest, merchant_id, request.bvn),
        request.status,
    )


async def list_clients(request: ListRequest, merchant: Merchant, reader: ActionReader) -> ListReply:
    offset, limit = request.offset_and_limit
    filters = filters_of(request, merchant, reader)
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(NEWEST_FIRST, *filters, offset, limit)
        [[total]] = await snapshot.fetch(COUNT, *filters)
    clients = await reader.make_lines(lambda row: show_client(Client(*row), reader.unseal), rows, at_once=5)
    return ListReply(data=clients, total=total, offset=offset, limit=limit)
