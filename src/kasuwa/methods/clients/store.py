"""Reads clients. Never writes; every WHERE has the merchant_id."""

from collections.abc import Iterable
from typing import Any

from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.methods.clients.model import UNKNOWN_CLIENT, Client, client_key
from kasuwa.methods.clients.rules.manage_client import hash_bvn, hash_email, hash_phone, show_client
from kasuwa.methods.clients.wire import ClientReply, ListReply, ListRequest, ViewRequest
from kasuwa.wire.people import NATIONAL_NUMBERS

COLUMNS = """
    select key, merchant_id, client_id, number, status, bvn_verified, open_accounts, bvn_hash, bvn_mask, bvn_sealed,
        created_at, changed_at, erased_at, detail_sealed, phone_hash, email_hash, bvn_check_sealed
    from client
"""
BY_KEY = f"{COLUMNS} where key = $1 and merchant_id = $2"
# A filter that the request does not have is null.
MATCHING = """
    merchant_id = $1 and ($2::bytea[] is null or phone_hash = any($2)) and ($3::bytea[] is null or email_hash = any($3))
    and ($4::bytea[] is null or bvn_hash = any($4)) and ($5::text is null or status = $5)
"""
NEWEST_FIRST = f"{COLUMNS} where {MATCHING} order by number desc offset $6 limit $7"
COUNT = f"select count(*) from client where {MATCHING}"


async def find_client(merchant_id: int, client_id: str, reader: Reader) -> Client | None:
    row = await reader.fetchrow(BY_KEY, client_key(merchant_id, client_id), merchant_id)
    return None if row is None else Client(*row)


BY_KEYS = f"{COLUMNS} where merchant_id = $1 and key = any($2)"


async def find_clients(merchant_id: int, client_ids: Iterable[str], reader: Reader) -> list[Client]:
    """Returns the clients with these ids, in any order."""
    keys = [client_key(merchant_id, client_id) for client_id in client_ids]
    return [Client(*row) for row in await reader.fetch(BY_KEYS, merchant_id, keys)]


async def view_client(request: ViewRequest, merchant: Merchant, reader: ActionReader) -> ClientReply | Refusal:
    client = await find_client(merchant.merchant_id, request.client_id, reader)
    if client is None:
        return UNKNOWN_CLIENT
    return ClientReply(message="Client found", data=show_client(client, reader.unseal))


def make_filters(request: ListRequest, merchant: Merchant, reader: ActionReader) -> tuple[Any, ...]:
    """Returns the parameters of `MATCHING`. A national phone number matches in every known country.

    While the key of the hashes is replaced there are several, and a client has the hash of one of them."""
    merchant_id, phone, email, bvn = merchant.merchant_id, request.phone, request.email, request.bvn
    digests = reader.index_digests
    phones = phone and {
        hash_phone(digest, merchant_id, phone, (code,)) for code in NATIONAL_NUMBERS for digest in digests
    }
    return (
        merchant_id,
        None if phones is None else sorted(phones),
        None if email is None else [hash_email(digest, merchant_id, email) for digest in digests],
        None if bvn is None else [hash_bvn(digest, merchant_id, bvn) for digest in digests],
        request.status,
    )


async def list_clients(request: ListRequest, merchant: Merchant, reader: ActionReader) -> ListReply:
    offset, limit = request.offset_and_limit
    filters = make_filters(request, merchant, reader)
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(NEWEST_FIRST, *filters, offset, limit)
        [[total]] = await snapshot.fetch(COUNT, *filters)
    clients = await reader.make_lines(lambda row: show_client(Client(*row), reader.unseal), rows, at_once=5)
    return ListReply(data=clients, total=total, offset=offset, limit=limit)
