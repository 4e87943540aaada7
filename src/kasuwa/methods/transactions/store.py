"""Reads lists of transactions. Never writes; every WHERE has the merchant_id.

Each list is read from an index in its own order, a window at a time, and stops as soon as the page is full. The limits
in the text are part of how PostgreSQL plans: with a parameter it would sort all transactions of a merchant.
"""

from functools import lru_cache
from typing import Any

from kasuwa.core.calendar import utc_text
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

# $1 merchant, $2 kind, $3 status, $4 currency, $5 and $6 amounts, $7 customer, $8 method, $9 part of a reference,
# $10 earliest time, $11 to $13 the place to continue after, $14 how many to return.
COLUMNS = """
    t.key, t.merchant_id, t.kind, t.txn_ref, t.order_ref, t.currency, t.amount, t.fee, t.vat, t.duty, t.status,
    t.message, t.detail, t.created_at, t.final_at, t.seq
"""
# The filters are sub-selects, which PostgreSQL evaluates once and does not fold into the plan. Otherwise a plan made
# for the values at hand looks cheaper, and planning each request takes longer than running it.
KIND, STATUS, CURRENCY, CUSTOMER, METHOD, PART = (f"(select ${number}::text)" for number in (2, 3, 4, 7, 8, 9))
LEAST, MOST = "(select $5::bigint)", "(select $6::bigint)"
SINCE = "(select $10::timestamptz)"
PLACE = "((select $11::timestamptz), (select $12::bigint), (select $13::bytea))"
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
# The kinds are literals and each has its limit, so that PostgreSQL merges their indexes and reads only what it needs.
MERGED_KINDS = " union all ".join(f"({OF_MERCHANT} and t.kind = '{kind}' {IN_WINDOW})" for kind in TRANSACTION_KINDS)
OF_ALL_KINDS = f"select t.* from ({MERGED_KINDS}) t where t.merchant_id = $1 {NEWEST_FIRST} limit {WINDOW}"
FAILURES = f"""
    select t.* from (
        select f.* from failed_transaction f
        where f.merchant_id = $1 and f.created_at >= {SINCE} and (f.created_at, f.seq, f.key) < {PLACE}
        order by f.created_at desc, f.seq desc, f.key desc limit {WINDOW}) f
    cross join lateral (
        select {COLUMNS} from transaction t where t.merchant_id = $1 and t.key = f.key offset 0) t
"""
# The conditions must equal those of the indexes (0025_lists.sql), else PostgreSQL does not use them.
IN_CURRENCY = f"{OF_MERCHANT} and t.currency = {CURRENCY} and t.currency <> 'NGN' {IN_WINDOW}"
OF_LARGE_AMOUNT = f"{OF_MERCHANT} and t.amount >= {LARGE_AMOUNT} {IN_WINDOW}"
BY_METHOD = f"{OF_MERCHANT} and t.kind = 'payment' and t.detail ->> 'method' = {METHOD} {IN_WINDOW}"
OF_CUSTOMER = f"""
    {OF_MERCHANT} and t.kind = 'payment'
        and t.detail ->> 'customer' = {CUSTOMER} and t.detail ->> 'customer' <> '' {IN_WINDOW}
"""
# Every open transaction has a job that is not a delivery.
OPEN = f"""
    select {COLUMNS} from transaction t
    where t.merchant_id = $1 and {AFTER} and t.key in (
        select j.subject from scheduled_job j where j.merchant_id = $1 and j.lane <> 'webhook')
    {NEWEST_FIRST}
"""
BY_KEYS = f"{OF_MERCHANT} and t.key = any($15) and {AFTER} {NEWEST_FIRST}"

SHOWN = """
    key, txn_ref, order_ref, kind, status, currency, amount, fee, vat, duty,
    case when kind = 'payment' then detail ->> 'method' end as method, left(message, 200) as message, created_at,
    final_at, seq, fits, number
"""
# The matching transactions of a window, and its last one: the next window begins after it. A window function with a
# condition on its result, and not a limit: PostgreSQL stops reading as early, and the number can be a parameter.
NUMBERED = "select s.*, row_number() over () as number"
CHOSEN = f"""
    s) c where c.merchant_id = $1 and (c.fits or c.number = {WINDOW})) r
    where r.merchant_id = $1 and r.place <= $14 {NEWEST_FIRST}
"""
PLACED = f"select c.*, row_number() over () as place from ({NUMBERED}, {MATCHES} as fits"
ALL_PAGE = f"select {SHOWN} from ({PLACED} from ({OF_ALL_KINDS}) {CHOSEN}"
KIND_PAGE = f"select {SHOWN} from ({PLACED} from ({OF_KIND}) {CHOSEN}"
FAILED_PAGE = f"select {SHOWN} from ({PLACED} from ({FAILURES}) {CHOSEN}"
FOREIGN_PAGE = f"select {SHOWN} from ({PLACED} from ({IN_CURRENCY}) {CHOSEN}"
LARGE_PAGE = f"select {SHOWN} from ({PLACED} from ({OF_LARGE_AMOUNT}) {CHOSEN}"
METHOD_PAGE = f"select {SHOWN} from ({PLACED} from ({BY_METHOD}) {CHOSEN}"
CUSTOMER_PAGE = f"select {SHOWN} from ({PLACED} from ({OF_CUSTOMER}) {CHOSEN}"
OPEN_PAGE = f"select {SHOWN} from ({PLACED} from ({OPEN}) {CHOSEN}"
KEYS_PAGE = f"select {SHOWN} from ({PLACED} from ({BY_KEYS}) {CHOSEN}"


async def fetch_page(reader: Reader, merchant_id: int, filters: Filters, after: Cursor, limit: int) -> list[Any]:
    """Returns the first matching transactions of the window that follows a place, and the last one of the window."""
    parameters = (merchant_id, *filters.parameters, *after, limit)
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
CREATED_AT, SEQ, FITS, NUMBER = 12, 14, 15, 16

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
            return reply_page(await fetch_page(reader, merchant.merchant_id, filters, place, limit + 1), limit, None)
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
    return TransactionsReply(data=[summary_of(*row) for row in rows], next_cursor=None if end is None else end.encode())


@lru_cache(maxsize=1024)
def format_charge(minor: int) -> str:
    """Like `format_minor`. Cached, because most transactions of a page have the same charges."""
    return format_minor(minor)


def cursor_of(row: Any) -> Cursor:
    return Cursor(row[CREATED_AT], row[SEQ], bytes(row[0]))


def summary_of(*row: Any) -> TransactionSummary:
    _, txn_ref, order_ref, kind, status, currency, amount, fee, vat, duty, method, message, created, ended, *_ = row
    if status == FAILED:
        fee = vat = duty = 0
    created_text = utc_text(created)
    return TransactionSummary(
        txn_ref=txn_ref,
        order_ref=order_ref,
        kind=kind,
        txn_status=status,
        currency=currency,
        amount=format_minor(amount),
        fee=format_charge(fee),
        vat=format_charge(vat),
        duty=format_charge(duty),
        method=method,
        message=message,
        date_created=created_text,
        date_ended=None if ended is None else created_text if ended == created else utc_text(ended),
    )
