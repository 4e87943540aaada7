"""Reads lists of transactions. Never writes; every WHERE has the merchant_id.

Each list is read from an index in its own order, a window at a time, and stops as soon as the page is full. The limits
in the text are part of how PostgreSQL plans: with a parameter it would sort all transactions of a merchant.
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from kasuwa.core.decision import Merchant
from kasuwa.core.fields import DEFAULT_LIMIT
from kasuwa.core.money import format_minor
from kasuwa.core.payers import hash_customer
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.core.transactions import FAILED, TRANSACTION_KINDS, transaction_key
from kasuwa.methods.transactions.model import (
    FIRST_PAGE,
    LARGE_AMOUNT,
    MAX_WINDOWS,
    WINDOW,
    Cursor,
    Filters,
    Stream,
    decode_cursor,
    filters_of,
)
from kasuwa.methods.transactions.wire import TransactionsReply, TransactionsRequest, TransactionSummary

# --- the streams ------------------------------------------------------------------------------------------------

# $1 merchant, $2 earliest time, $3 to $5 the place to continue after, $6 how many to return. Of a stream in which every
# transaction matches, $7 is the one filter. Otherwise $7 kind, $8 status, $9 currency, $10 and $11 amounts, $12
# customer, $13 method, $14 part of a reference, $15 keys.
COLUMNS = """
    t.key, t.merchant_id, t.kind, t.txn_ref, t.order_ref, t.currency, t.amount, t.fee, t.vat, t.duty, t.status,
    t.message, t.detail, t.created_at, t.final_at, t.seq
"""
# The filters are sub-selects, which PostgreSQL evaluates once and does not fold into the plan. Otherwise a plan made
# for the values at hand looks cheaper, and planning each request takes longer than running it.
KIND, STATUS, CURRENCY, CUSTOMER, METHOD, PART = (f"(select ${number}::text)" for number in (7, 8, 9, 12, 13, 14))
LEAST, MOST = "(select $10::bigint)", "(select $11::bigint)"
SINCE = "(select $2::timestamptz)"
PLACE = "((select $3::timestamptz), (select $4::bigint), (select $5::bytea))"
AFTER = f"t.created_at >= {SINCE} and (t.created_at, t.seq, t.key) < {PLACE}"
NEWEST_FIRST = "order by created_at desc, seq desc, key desc"
MATCHES = f"""(
    ({KIND} is null or s.kind = {KIND}) and ({STATUS} is null or s.status = {STATUS})
    and ({CURRENCY} is null or s.currency = {CURRENCY}) and ({LEAST} is null or s.amount >= {LEAST})
    and ({MOST} is null or s.amount <= {MOST})
    and ({CUSTOMER} is null or s.kind = 'payment' and s.detail ->> 'customer' = {CUSTOMER})
    and ({METHOD} is null or s.kind = 'payment' and s.detail ->> 'method' = {METHOD})
    and ({PART} is null or strpos(lower(s.txn_ref), {PART}) > 0 or strpos(lower(s.order_ref), {PART}) > 0))
"""
OF_MERCHANT = f"select {COLUMNS} from transaction t where t.merchant_id = $1"
IN_WINDOW = f"and {AFTER} {NEWEST_FIRST} limit {WINDOW}"

OF_KIND = f"{OF_MERCHANT} and t.kind = {KIND} {IN_WINDOW}"
# Payments, transfers and all others have an index each. The kinds are literals and each part has its limit, so that
# PostgreSQL merges the indexes and reads only what it needs. OTHERS must equal the condition of its index
# (0026_other_kinds.sql).
OTHERS = "t.kind <> all ('{payment,transfer}')"
PAYMENTS_IN_WINDOW = f"{OF_MERCHANT} and t.kind = 'payment' {IN_WINDOW}"
TRANSFERS_IN_WINDOW = f"{OF_MERCHANT} and t.kind = 'transfer' {IN_WINDOW}"
OTHERS_IN_WINDOW = f"{OF_MERCHANT} and {OTHERS} {IN_WINDOW}"
OF_ALL_KINDS = f"""
    select t.* from (({PAYMENTS_IN_WINDOW}) union all ({TRANSFERS_IN_WINDOW}) union all ({OTHERS_IN_WINDOW})) t
    where t.merchant_id = $1 {NEWEST_FIRST} limit {WINDOW}
"""
# Their order is that of `failed_transaction`, so that the page ends the reading.
FAILURES = f"""
    select t.* from (
        select f.* from failed_transaction f
        where f.merchant_id = $1 and f.created_at >= {SINCE} and (f.created_at, f.seq, f.key) < {PLACE}
        order by f.created_at desc, f.seq desc, f.key desc limit {WINDOW}) f
    cross join lateral (
        select {COLUMNS} from transaction t where t.merchant_id = $1 and t.key = f.key offset 0) t
    order by f.created_at desc, f.seq desc, f.key desc
"""
# The conditions must equal those of the indexes (0025_lists.sql), else PostgreSQL does not use them.
FOREIGN = f"{OF_MERCHANT} and t.currency <> 'NGN'"
IN_CURRENCY = f"{FOREIGN} and t.currency = {CURRENCY} {IN_WINDOW}"
OF_LARGE_AMOUNT = f"{OF_MERCHANT} and t.amount >= {LARGE_AMOUNT} {IN_WINDOW}"
PAYMENTS = f"{OF_MERCHANT} and t.kind = 'payment'"
BY_METHOD = f"{PAYMENTS} and t.detail ->> 'method' = {METHOD} {IN_WINDOW}"
NAMED = f"{PAYMENTS} and t.detail ->> 'customer' <> ''"
OF_CUSTOMER = f"{NAMED} and t.detail ->> 'customer' = {CUSTOMER} {IN_WINDOW}"
# Every open transaction has a job that is not a delivery.
OPEN = f"""
    select {COLUMNS} from transaction t
    where t.merchant_id = $1 and {AFTER} and t.key in (
        select j.subject from scheduled_job j where j.merchant_id = $1 and j.lane <> 'webhook')
    {NEWEST_FIRST}
"""
BY_KEYS = f"{OF_MERCHANT} and t.key = any($15) and {AFTER} {NEWEST_FIRST}"

# What a page shows of a transaction, as one text: fifteen columns of fifty rows take longer to decode than to read.
# Texts of others may have any character, so they are at the end, with the length of the first.
SEPARATOR = "\x1f"
LINE = """
    concat_ws(chr(31), status, currency, kind, amount, fee, vat, duty, created_at at time zone 'UTC',
        coalesce((final_at at time zone 'UTC')::text, ''), seq,
        case when kind = 'payment' then detail ->> 'method' else '' end, txn_ref, length(order_ref),
        order_ref || left(message, 200)) as line, key
"""

# A page of a stream in which every transaction matches. The limit of the stream is in its text; that of the page ends
# the reading.
FIRST_ONES = "s where s.merchant_id = $1 limit $6"
ONLY = "(select $7::text)"
ALL_EXACT = f"select {LINE} from ({OF_ALL_KINDS}) {FIRST_ONES}"
KIND_EXACT = f"select {LINE} from ({OF_MERCHANT} and t.kind = {ONLY} {IN_WINDOW}) {FIRST_ONES}"
FAILED_EXACT = f"select {LINE} from ({FAILURES}) {FIRST_ONES}"
FOREIGN_EXACT = f"select {LINE} from ({FOREIGN} and t.currency = {ONLY} {IN_WINDOW}) {FIRST_ONES}"
LARGE_EXACT = f"select {LINE} from ({OF_LARGE_AMOUNT}) {FIRST_ONES}"
METHOD_EXACT = f"select {LINE} from ({PAYMENTS} and t.detail ->> 'method' = {ONLY} {IN_WINDOW}) {FIRST_ONES}"
CUSTOMER_EXACT = f"select {LINE} from ({NAMED} and t.detail ->> 'customer' = {ONLY} {IN_WINDOW}) {FIRST_ONES}"

# The matching transactions of a window, and its last one: the next window begins after it. A window function with a
# condition on its result, and not a limit: PostgreSQL stops reading as early, and the number can be a parameter.
NUMBERED = "select s.*, row_number() over () as number"
CHOSEN = f"""
    s) c where c.merchant_id = $1 and (c.fits or c.number = {WINDOW})) r
    where r.merchant_id = $1 and r.place <= $6 {NEWEST_FIRST}
"""
PLACED = f"select c.*, row_number() over () as place from ({NUMBERED}, {MATCHES} as fits"
SHOWN = f"{LINE}, fits, number"
ALL_PAGE = f"select {SHOWN} from ({PLACED} from ({OF_ALL_KINDS}) {CHOSEN}"
KIND_PAGE = f"select {SHOWN} from ({PLACED} from ({OF_KIND}) {CHOSEN}"
FAILED_PAGE = f"select {SHOWN} from ({PLACED} from ({FAILURES}) {CHOSEN}"
FOREIGN_PAGE = f"select {SHOWN} from ({PLACED} from ({IN_CURRENCY}) {CHOSEN}"
LARGE_PAGE = f"select {SHOWN} from ({PLACED} from ({OF_LARGE_AMOUNT}) {CHOSEN}"
METHOD_PAGE = f"select {SHOWN} from ({PLACED} from ({BY_METHOD}) {CHOSEN}"
CUSTOMER_PAGE = f"select {SHOWN} from ({PLACED} from ({OF_CUSTOMER}) {CHOSEN}"
OPEN_PAGE = f"select {SHOWN} from ({PLACED} from ({OPEN}) {CHOSEN}"
KEYS_PAGE = f"select {SHOWN} from ({PLACED} from ({BY_KEYS}) {CHOSEN}"


async def fetch_exact(reader: Reader, merchant_id: int, filters: Filters, after: Cursor, limit: int) -> list[Any]:
    """Returns the first transactions after a place, of filters that are exact."""
    parameters = (merchant_id, filters.since, *after, limit)
    match filters.stream:
        case Stream.KIND:
            return await reader.fetch(KIND_EXACT, *parameters, filters.kind)
        case Stream.FAILED:
            return await reader.fetch(FAILED_EXACT, *parameters)
        case Stream.FOREIGN:
            return await reader.fetch(FOREIGN_EXACT, *parameters, filters.currency)
        case Stream.LARGE:
            return await reader.fetch(LARGE_EXACT, *parameters)
        case Stream.METHOD:
            return await reader.fetch(METHOD_EXACT, *parameters, filters.method)
        case Stream.CUSTOMER:
            return await reader.fetch(CUSTOMER_EXACT, *parameters, filters.customer)
        case _:
            return await reader.fetch(ALL_EXACT, *parameters)


async def fetch_page(reader: Reader, merchant_id: int, filters: Filters, after: Cursor, limit: int) -> list[Any]:
    """Returns the first matching transactions of the window that follows a place, and the last one of the window."""
    parameters = (merchant_id, filters.since, *after, limit, *filters.conditions)
    match filters.stream:
        case Stream.ALL:
            return await reader.fetch(ALL_PAGE, *parameters)
        case Stream.KIND:
            return await reader.fetch(KIND_PAGE, *parameters)
        case Stream.FAILED:
            return await reader.fetch(FAILED_PAGE, *parameters)
        case Stream.FOREIGN:
            return await reader.fetch(FOREIGN_PAGE, *parameters)
        case Stream.LARGE:
            return await reader.fetch(LARGE_PAGE, *parameters)
        case Stream.METHOD:
            return await reader.fetch(METHOD_PAGE, *parameters)
        case Stream.CUSTOMER:
            return await reader.fetch(CUSTOMER_PAGE, *parameters)
        case Stream.OPEN:
            return await reader.fetch(OPEN_PAGE, *parameters)
        case Stream.KEYS:
            return await reader.fetch(KEYS_PAGE, *parameters, list(filters.keys or ()))


# Places of columns in a row.
TEXT, KEY, FITS, NUMBER = 0, 1, 2, 3

# --- the list ---------------------------------------------------------------------------------------------------

CUSTOMER_HASH = "select encode(email_hash, 'hex') from customer where merchant_id = $1 and customer_id = $2"
# The transactions that have a whole reference, the newest of each sort. That of a dispute finds its payment.
WHOLE_REFERENCE = f"""
    select key from transaction where merchant_id = $1 and txn_ref = $2
    union select key from transaction where merchant_id = $1 and key = any($3)
    union (select key from transaction where merchant_id = $1 and order_ref = $2 and kind = 'payment'
        order by created_at desc, seq desc, key desc limit {WINDOW})
    union (select key from transaction where merchant_id = $1 and order_ref = $2 and kind in ('repayment', 'deposit')
        limit {WINDOW})
    union select t.key from dispute d join transaction t on t.merchant_id = d.merchant_id and t.txn_ref = d.txn_ref
        where d.merchant_id = $1 and d.dispute_id = $2
"""
# No customer has this hash.
NO_CUSTOMER = "-"


async def list_transactions(
    request: TransactionsRequest, merchant: Merchant, reader: ActionReader
) -> TransactionsReply:
    limit = request.limit or DEFAULT_LIMIT
    after = FIRST_PAGE if request.cursor is None else decode_cursor(request.cursor) or FIRST_PAGE
    if request.customer is None and request.reference is None:
        filters = filters_of(request, None, None)
        if filters.is_exact:
            place = upper_bound(filters, after)
            return reply_page(await fetch_exact(reader, merchant.merchant_id, filters, place, limit + 1), limit, None)
    async with reader.snapshot() as snapshot:
        customer = await find_customer_hash(request, merchant, reader, snapshot)
        keys = await find_whole_reference(request, merchant, snapshot)
        filters = filters_of(request, customer, keys)
        rows, end = await scan_windows(snapshot, merchant.merchant_id, filters, after, limit)
    return reply_page(rows, limit, end)


def upper_bound(filters: Filters, after: Cursor) -> Cursor:
    """Returns the place to continue after. There must be a single bound, or the index is read from the looser one."""
    return min(after, Cursor(filters.until, 0, b""))


async def scan_windows(
    reader: Reader, merchant_id: int, filters: Filters, after: Cursor, limit: int
) -> tuple[list[Any], Cursor | None]:
    """Returns the rows of a page and one more if there are so many, and the place at which a short page stopped; None
    if it reached the end."""
    place, rows = upper_bound(filters, after), list[Any]()
    for _ in range(MAX_WINDOWS):
        found = await fetch_page(reader, merchant_id, filters, place, limit + 1 - len(rows))
        rows += [row for row in found if row[FITS]]
        if len(rows) > limit or not found or found[-1][NUMBER] < WINDOW:
            return rows, None
        place = cursor_of(found[-1])
    return rows, place


async def find_customer_hash(
    request: TransactionsRequest, merchant: Merchant, reader: ActionReader, snapshot: Reader
) -> str | None:
    """Returns the hash of the customer that a request names, NO_CUSTOMER if there is none, or None without a name."""
    if request.customer is None:
        return None
    if "@" in request.customer:
        return hash_customer(reader.digest, merchant.merchant_id, request.customer).hex()
    row = await snapshot.fetchrow(CUSTOMER_HASH, merchant.merchant_id, request.customer)
    return NO_CUSTOMER if row is None or row[0] is None else str(row[0])


async def find_whole_reference(
    request: TransactionsRequest, merchant: Merchant, reader: Reader
) -> tuple[bytes, ...] | None:
    """Returns the keys of the transactions that have the reference of a request as a whole, or None if none has."""
    if request.reference is None:
        return None
    wanted = [transaction_key(merchant.merchant_id, kind, request.reference) for kind in TRANSACTION_KINDS]
    rows = await reader.fetch(WHOLE_REFERENCE, merchant.merchant_id, request.reference, wanted)
    return tuple(bytes(row[0]) for row in rows) or None


def reply_page(rows: list[Any], limit: int, end: Cursor | None) -> TransactionsReply:
    """Returns a page. `end` is the place at which a short page stopped."""
    if len(rows) > limit:
        rows = rows[:limit]
        end = cursor_of(rows[-1])
    return TransactionsReply(data=[summary_of(row) for row in rows], next_cursor=None if end is None else end.encode())


@lru_cache(maxsize=1024)
def format_charge(minor: str) -> str:
    """Formats a charge. Cached, because most transactions of a page have the same charges."""
    return format_minor(int(minor))


def format_moment(text: str) -> str:
    """Formats a time of PostgreSQL in UTC, such as `2026-01-05 09:30:00.1`, like `calendar.utc_text`."""
    return f"{text[:10]}T{text[11:19]}.{text[20:23]:0<3}Z"


def cursor_of(row: Any) -> Cursor:
    parts = row[TEXT].split(SEPARATOR, 10)
    return Cursor(datetime.fromisoformat(parts[7]).replace(tzinfo=UTC), int(parts[9]), bytes(row[KEY]))


def summary_of(row: Any) -> TransactionSummary:
    parts = row[TEXT].split(SEPARATOR, 13)
    status, currency, kind, amount, fee, vat, duty, created, ended, _, method, txn_ref, length, texts = parts
    if status == FAILED:
        fee = vat = duty = "0"
    order_length, created_text = int(length), format_moment(created)
    return TransactionSummary(
        txn_ref=txn_ref,
        order_ref=texts[:order_length],
        kind=kind,
        txn_status=status,
        currency=currency,
        amount=format_minor(int(amount)),
        fee=format_charge(fee),
        vat=format_charge(vat),
        duty=format_charge(duty),
        method=method or None,
        message=texts[order_length:],
        date_created=created_text,
        date_ended=(created_text if ended == created else format_moment(ended)) if ended else None,
    )
