"""Database reads of the transfers that wait for approval. No writes, and merchant_id is in every WHERE."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from kasuwa.console.merchant.wire import PageRequest, WaitingLine, WaitingReply
from kasuwa.core.calendar import EARLIEST, utc_text
from kasuwa.core.decision import Merchant
from kasuwa.core.reading import Reader, ReplyReader
from kasuwa.methods.disburse.payout_model import APPROVAL_DETAIL_DECODER

# Bulks that the page lists. It says so if there are more.
MAX_BULKS = 100
# Transfers that the list of the API reference names.
MAX_LISTED = 500


class WaitingTransfer(msgspec.Struct, frozen=True):
    """A transfer that waits for approval, as pages list it."""

    key: bytes
    txn_ref: str
    order_ref: str
    batch_ref: str | None
    amount: int  # in minor units
    created_at: datetime
    expires_at: datetime
    bank_code: str
    account_number: str
    sender_name: str
    narration: str
    requested_by: str
    reasons: list[str]


class WaitingBulk(msgspec.Struct, frozen=True):
    """A bulk with the orders that still wait."""

    batch_ref: str
    count: int
    total: int  # in minor units
    largest: int
    beneficiaries: int  # different accounts
    created_at: datetime
    expires_at: datetime  # the first of its orders
    requested_by: str
    reasons: list[str]


class WaitingSums(msgspec.Struct, frozen=True):
    """Numbers and sums of transfers that wait: single ones, and orders of bulks."""

    single_count: int
    single_total: int
    bulk_count: int  # bulks, not orders
    order_count: int
    order_total: int


TRANSFERS = """
    select a.key, a.txn_ref, a.order_ref, a.batch_ref, a.amount, a.created_at, a.expires_at,
        t.detail ->> 'bank_code', t.detail ->> 'account_number', coalesce(t.detail ->> 'sender_name', ''),
        coalesce(t.detail ->> 'narration', ''), a.detail
    from transfer_approval a join transaction t on t.merchant_id = a.merchant_id and t.txn_ref = a.txn_ref
    where a.merchant_id = $1 and a.state = 'waiting' and {condition}
"""
IN_ORDER = "and (a.created_at, a.key) > ($2::timestamptz, $3::bytea) order by a.created_at, a.key limit $4"
PAGE = f"{TRANSFERS.format(condition='true')} {IN_ORDER}"
PAGE_OF_SINGLES = f"{TRANSFERS.format(condition='a.batch_ref is null')} {IN_ORDER}"
ONE = f"{TRANSFERS.format(condition='a.txn_ref = $2')} limit 1"
# Transfers that wait among which a search looks: the oldest. One of a bulk is found by the bulk's page too.
MAX_SEARCHED = 5_000
# $5: words, each of which is in what the page shows of a transfer; $6: an amount, or 0. Of its maker, the first element
# is the name of a key, or whoever signed in: the others are nobody's to search.
PAGE_OF_FOUND = TRANSFERS.format(
    condition=f"""a.key in (
            select key from transfer_approval where merchant_id = $1 and state = 'waiting'
            order by created_at, key limit {MAX_SEARCHED})
        and (a.amount = $6::bigint or (
            select bool_and(position(lower(word) in lower(concat_ws(' ', a.txn_ref, a.order_ref, a.batch_ref,
                t.detail ->> 'account_number', t.detail ->> 'sender_name', t.detail ->> 'narration',
                a.detail #>> '{{maker,0}}'))) > 0)
            from unnest($5::text[]) u (word)))"""
)
PAGE_OF_BULK = f"{TRANSFERS.format(condition='a.batch_ref = $5')} {IN_ORDER}"
SUMS = """
    select count(*) filter (where batch_ref is null),
        coalesce(sum(amount) filter (where batch_ref is null), 0)::bigint, count(distinct batch_ref),
        count(*) filter (where batch_ref is not null),
        coalesce(sum(amount) filter (where batch_ref is not null), 0)::bigint
    from transfer_approval where merchant_id = $1 and state = 'waiting'
"""
BULKS = """
    select a.batch_ref, count(*), sum(a.amount)::bigint, max(a.amount),
        count(distinct (t.detail ->> 'bank_code', t.detail ->> 'account_number')), min(a.created_at),
        min(a.expires_at), (array_agg(a.detail::text order by a.key))[1]
    from transfer_approval a join transaction t on t.merchant_id = a.merchant_id and t.txn_ref = a.txn_ref
    where a.merchant_id = $1 and a.state = 'waiting' and a.batch_ref is not null
        and ($2::text is null or a.batch_ref = $2)
    group by a.batch_ref order by min(a.created_at), a.batch_ref limit $3
"""

Place = tuple[datetime, bytes]
FIRST_PLACE: Place = (EARLIEST, b"")


def read_transfer(row: tuple[object, ...]) -> WaitingTransfer:
    *known, detail = tuple(row)
    decoded = APPROVAL_DETAIL_DECODER.decode(str(detail))
    values: tuple[Any, ...] = (*known, decoded.maker.label, decoded.reasons)
    return WaitingTransfer(*values)


async def find_transfer(reader: Reader, merchant: Merchant, txn_ref: str) -> WaitingTransfer | None:
    """Returns a transfer, or None if it does not wait."""
    row = await reader.fetchrow(ONE, merchant.merchant_id, txn_ref)
    return None if row is None else read_transfer(row)


async def list_singles(reader: Reader, merchant: Merchant, after: Place, limit: int) -> list[WaitingTransfer]:
    """Returns transfers that wait and are of no bulk, oldest first, after a place in that order."""
    rows = await reader.fetch(PAGE_OF_SINGLES, merchant.merchant_id, *after, limit)
    return [read_transfer(row) for row in rows]


async def list_orders(
    reader: Reader, merchant: Merchant, batch_ref: str, after: Place, limit: int
) -> list[WaitingTransfer]:
    """Returns the orders of a bulk that wait, oldest first, after a place in that order."""
    rows = await reader.fetch(PAGE_OF_BULK, merchant.merchant_id, *after, limit, batch_ref)
    return [read_transfer(row) for row in rows]


async def find_waiting(
    reader: Reader, merchant: Merchant, words: Sequence[str], amount: int, limit: int
) -> list[WaitingTransfer]:
    """Returns the transfers that wait and have all of some words in a reference, account, narration, sender or maker,
    or that are of an amount, oldest first."""
    statement = f"{PAGE_OF_FOUND} {IN_ORDER}"
    rows = await reader.fetch(statement, merchant.merchant_id, *FIRST_PLACE, limit, list(words), amount)
    return [read_transfer(row) for row in rows]


async def iterate_waiting(reader: Reader, merchant: Merchant, page_size: int) -> AsyncIterator[list[WaitingTransfer]]:
    """Yields all transfers that wait, also those of bulks, in pages."""
    after = FIRST_PLACE
    while rows := await reader.fetch(PAGE, merchant.merchant_id, *after, page_size):
        page = [read_transfer(row) for row in rows]
        yield page
        after = (page[-1].created_at, page[-1].key)


async def list_bulks(reader: Reader, merchant: Merchant) -> list[WaitingBulk]:
    """Returns the bulks with orders that wait, oldest first, at most MAX_BULKS."""
    return await fetch_bulks(reader, merchant, None)


async def find_bulk(reader: Reader, merchant: Merchant, batch_ref: str) -> WaitingBulk | None:
    """Returns a bulk, or None if none of its orders waits."""
    return next(iter(await fetch_bulks(reader, merchant, batch_ref)), None)


async def fetch_bulks(reader: Reader, merchant: Merchant, batch_ref: str | None) -> list[WaitingBulk]:
    bulks = []
    for *known, detail in await reader.fetch(BULKS, merchant.merchant_id, batch_ref, MAX_BULKS):
        decoded = APPROVAL_DETAIL_DECODER.decode(detail)
        values = (*known, decoded.maker.label, decoded.reasons)
        bulks.append(WaitingBulk(*values))
    return bulks


async def read_sums(reader: Reader, merchant: Merchant) -> WaitingSums:
    return WaitingSums(*await reader.fetchrow(SUMS, merchant.merchant_id))


async def list_waiting(request: PageRequest, merchant: Merchant, reader: ReplyReader) -> WaitingReply:
    """Returns the references of the transfers that wait for approval, newest first."""
    async with reader.snapshot() as connection:
        rows = await connection.fetch(PAGE, merchant.merchant_id, *FIRST_PLACE, MAX_LISTED)
    waiting = [read_transfer(row) for row in rows]
    lines = [
        WaitingLine(txn_ref=one.txn_ref, requested_by=one.requested_by, created_at=utc_text(one.created_at))
        for one in reversed(waiting)
    ]
    return WaitingReply(data=lines)
