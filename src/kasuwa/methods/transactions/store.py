"""Reads lists of transactions. Never writes; every WHERE has the merchant_id.

Each list is read from an index in its own order, a window at a time, and stops as soon as the page is full. The limits
in the text are part of how PostgreSQL plans: with a parameter it would sort all transactions of a merchant. PostgreSQL
also renders the lines of a page (wire/json_rows.py), and pages of several requests are read by one statement.
"""

from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from kasuwa.core.batched_query import Requests, batched_query
from kasuwa.core.decision import Merchant
from kasuwa.core.reading import ActionReader, Reader, merchant_read
from kasuwa.core.references import KEY_BYTES, key_mask, mask_key
from kasuwa.ledger.open_transactions import open_keys
from kasuwa.methods.transactions.model import (
    ABOVE_ALL,
    FIRST_PLACE,
    LARGE_AMOUNT,
    MAX_WINDOWS,
    WINDOW,
    Cursor,
    Filters,
    Place,
    Stream,
    decode_cursor,
    make_filters,
)
from kasuwa.methods.transactions.wire import TransactionsReply, TransactionsRequest, TransactionSummary
from kasuwa.transactions.payers import hash_customer
from kasuwa.transactions.transactions import ORDER_KEYED_KINDS, transaction_key
from kasuwa.wire.fields import DEFAULT_LIMIT
from kasuwa.wire.json_rows import (
    encoded_list,
    json_amount,
    json_nullable,
    json_text,
    json_time,
    json_word,
    render_object,
)

# --- the streams ------------------------------------------------------------------------------------------------

# The requests of a statement, a row `u` for each: `since` the earliest time, `at`, `seq` and `key` the place to
# continue after, `size` how many transactions to show, and the filters.
REQUESTS = Requests(
    (
        ("merchant", "bigint"),
        ("since", "timestamptz"),
        ("at", "timestamptz"),
        ("seq", "bigint"),
        ("key", "bytea"),
        ("size", "bigint"),
        ("kind", "text"),
        ("status", "text"),
        ("currency", "text"),
        ("least", "bigint"),
        ("most", "bigint"),
        ("customer", "text"),
        ("method", "text"),
        ("part", "text"),
        ("keys", "text"),
    ),
    has_one_plan=True,
)
COLUMNS = """
    t.merchant_id, t.key, t.kind, t.txn_ref, t.order_ref, t.currency, t.amount, t.fee, t.vat, t.duty, t.status,
    t.message, t.detail, t.created_at, t.final_at, t.seq
"""
NEWEST_FIRST = "order by created_at desc, seq desc, key desc"
OF_MERCHANT = f"select {COLUMNS} from transaction t where t.merchant_id = u.merchant"
AFTER_PLACE = "t.created_at >= u.since and (t.created_at, t.seq, t.key) < (u.at, u.seq, u.key)"
IN_WINDOW = f"and {AFTER_PLACE} {NEWEST_FIRST} limit {WINDOW}"

# Payments, transfers and all others have an index each. The kinds are literals and each part has its limit, so that
# PostgreSQL merges the indexes and reads only what it needs. The condition of the others must equal that of their index
# (0001_baseline.sql).
PAYMENTS = f"{OF_MERCHANT} and t.kind = 'payment'"
TRANSFERS = f"{OF_MERCHANT} and t.kind = 'transfer'"
OTHERS = f"{OF_MERCHANT} and t.kind <> all ('{{payment,transfer}}')"
ALL = f"""
    (({PAYMENTS} {IN_WINDOW}) union all ({TRANSFERS} {IN_WINDOW}) union all ({OTHERS} {IN_WINDOW}))
    {NEWEST_FIRST} limit {WINDOW}
"""
OF_KIND = f"{OF_MERCHANT} and t.kind = u.kind {IN_WINDOW}"
FAILED = f"select {COLUMNS} from failed_transaction t where t.merchant_id = u.merchant {IN_WINDOW}"
# The conditions must equal those of the indexes (0001_baseline.sql), else PostgreSQL does not use them.
FOREIGN = f"{OF_MERCHANT} and t.currency <> 'NGN' and t.currency = u.currency {IN_WINDOW}"
LARGE = f"{OF_MERCHANT} and t.amount >= {LARGE_AMOUNT} {IN_WINDOW}"
# On tables with row-level security PostgreSQL does not conclude from the condition that all rows have the same value:
# they are in the order of the index only if that value is in the order too.
METHOD, CUSTOMER = "t.detail ->> 'method'", "t.detail ->> 'customer'"
BY_INDEX = f"and {AFTER_PLACE} order by {{}} desc, created_at desc, seq desc, key desc limit {WINDOW}"
BY_METHOD = f"{PAYMENTS} and {METHOD} = u.method {BY_INDEX.format(METHOD)}"
OF_CUSTOMER = f"{PAYMENTS} and {CUSTOMER} <> '' and {CUSTOMER} = u.customer {BY_INDEX.format(CUSTOMER)}"
OPEN = f"{OF_MERCHANT} and t.key in ({open_keys('u.merchant')}) {IN_WINDOW}"
BY_KEYS = (
    f"{OF_MERCHANT} and t.key in (select decode(k, 'hex') from unnest(string_to_array(u.keys, ',')) k) {IN_WINDOW}"
)

# --- pages ------------------------------------------------------------------------------------------------------

CHARGED = "case when s.status = 'failed' then 0 else s.{} end"
LINE = render_object(
    TransactionSummary,
    txn_ref=json_word("s.txn_ref"),
    order_ref=json_text("s.order_ref"),
    kind=json_word("s.kind"),
    txn_status=json_word("s.status"),
    currency=json_word("s.currency"),
    amount=json_amount("s.amount"),
    fee=json_amount(CHARGED.format("fee")),
    vat=json_amount(CHARGED.format("vat")),
    duty=json_amount(CHARGED.format("duty")),
    method=json_nullable(json_word("case when s.kind = 'payment' then nullif(s.detail ->> 'method', '') end")),
    message=json_text("case when octet_length(s.message) > 200 then left(s.message, 200) else s.message end"),
    date_created=json_time("s.created_at"),
    date_ended=json_nullable(json_time("s.final_at")),
)
# What separates a line from the one before it.
LINE_START = f',{{"{msgspec.structs.fields(TransactionSummary)[0].encode_name}":'
MATCHES = """
    (u.kind is null or s.kind = u.kind) and (u.status is null or s.status = u.status)
    and (u.currency is null or s.currency = u.currency)
    and (u.least is null or s.amount >= u.least) and (u.most is null or s.amount <= u.most)
    and (u.customer is null or s.kind = 'payment' and s.detail ->> 'customer' = u.customer)
    and (u.method is null or s.kind = 'payment' and s.detail ->> 'method' = u.method)
    and (u.part is null or strpos(lower(s.txn_ref), u.part) > 0 or strpos(lower(s.order_ref), u.part) > 0)
"""
# A statement is PAGE, the requests, LINES, a stream, WINDOW_END, the same stream and NEXT_WINDOW. It reads one matching
# transaction more than a page shows: then others follow. `cut_lines` leaves that one out, which takes less time than
# arrays of lines. If there are too few, it also finds the place at which the next window begins; null if there is none.
PAGE = f"""
    select u.n, {merchant_read("p.first_merchant", "p.last_merchant", "e.merchant_id")} as merchant,
        p.lines, p.found, p.page_end, e.place
    from
"""
LINES = f"""
    cross join lateral (
        select min(merchant_id) as first_merchant, max(merchant_id) as last_merchant,
            string_agg(line, ',') as lines, count(*) as found,
            case when count(*) > u.size then
                row((array_agg(created_at))[u.size], (array_agg(seq))[u.size], (array_agg(key))[u.size]) end as page_end
        from (select {LINE} as line, s.merchant_id, s.created_at, s.seq, s.key from (
"""
WINDOW_END = f"""
    ) s where {MATCHES} limit u.size + 1) l) p
    left join lateral (select w.merchant_id, row(w.created_at, w.seq, w.key) as place from (
"""
NEXT_WINDOW = f") w where p.page_end is null offset {WINDOW - 1} limit 1) e on true"
ALL_PAGE = batched_query(PAGE, REQUESTS, f"{LINES} {ALL} {WINDOW_END} {ALL} {NEXT_WINDOW}")
KIND_PAGE = batched_query(PAGE, REQUESTS, f"{LINES} {OF_KIND} {WINDOW_END} {OF_KIND} {NEXT_WINDOW}")
FAILED_PAGE = batched_query(PAGE, REQUESTS, f"{LINES} {FAILED} {WINDOW_END} {FAILED} {NEXT_WINDOW}")
FOREIGN_PAGE = batched_query(PAGE, REQUESTS, f"{LINES} {FOREIGN} {WINDOW_END} {FOREIGN} {NEXT_WINDOW}")
LARGE_PAGE = batched_query(PAGE, REQUESTS, f"{LINES} {LARGE} {WINDOW_END} {LARGE} {NEXT_WINDOW}")
METHOD_PAGE = batched_query(PAGE, REQUESTS, f"{LINES} {BY_METHOD} {WINDOW_END} {BY_METHOD} {NEXT_WINDOW}")
CUSTOMER_PAGE = batched_query(PAGE, REQUESTS, f"{LINES} {OF_CUSTOMER} {WINDOW_END} {OF_CUSTOMER} {NEXT_WINDOW}")
OPEN_PAGE = batched_query(PAGE, REQUESTS, f"{LINES} {OPEN} {WINDOW_END} {OPEN} {NEXT_WINDOW}")
KEYS_PAGE = batched_query(PAGE, REQUESTS, f"{LINES} {BY_KEYS} {WINDOW_END} {BY_KEYS} {NEXT_WINDOW}")


class Page(NamedTuple):
    """A page, as the database returns it for one request."""

    request: int
    merchant_id: int
    lines: str | None  # JSON objects with commas between them; None if none was found
    found: int  # number of lines: one more than those shown, if others follow
    page_end: tuple[datetime, int, bytes] | None  # of the last one shown, if others follow
    window_end: tuple[datetime, int, bytes] | None  # if the page has too few, and the window may be followed by others


def cut_lines(lines: str) -> str:
    """Returns the lines without the last one. No value in a line contains the beginning of one: its quotes are
    escaped."""
    return lines[: lines.rindex(LINE_START)]


async def fetch_page(reader: ActionReader, merchant_id: int, filters: Filters, after: Place, size: int) -> Page:
    """Returns the first matching transactions of the window that follows a place."""
    parameters = (merchant_id, filters.since, *after, size, *filters.conditions)
    match filters.stream:
        case Stream.ALL:
            row = await reader.fetch_page_batched(ALL_PAGE, *parameters)
        case Stream.KIND:
            row = await reader.fetch_page_batched(KIND_PAGE, *parameters)
        case Stream.FAILED:
            row = await reader.fetch_page_batched(FAILED_PAGE, *parameters)
        case Stream.FOREIGN:
            row = await reader.fetch_page_batched(FOREIGN_PAGE, *parameters)
        case Stream.LARGE:
            row = await reader.fetch_page_batched(LARGE_PAGE, *parameters)
        case Stream.METHOD:
            row = await reader.fetch_page_batched(METHOD_PAGE, *parameters)
        case Stream.CUSTOMER:
            row = await reader.fetch_page_batched(CUSTOMER_PAGE, *parameters)
        case Stream.OPEN:
            row = await reader.fetch_page_batched(OPEN_PAGE, *parameters)
        case Stream.KEYS:
            row = await reader.fetch_page_batched(KEYS_PAGE, *parameters)
    return Page(*row)


# --- the list ---------------------------------------------------------------------------------------------------

CUSTOMER_HASH = batched_query(
    "select u.n, c.merchant_id, encode(c.email_hash, 'hex') from",
    Requests((("merchant", "bigint"), ("id", "text"))),
    "join customer c on c.merchant_id = u.merchant and c.customer_id = u.id",
)
SEQUENCE_NUMBER = batched_query(
    "select u.n, t.merchant_id, t.seq from",
    Requests((("merchant", "bigint"), ("key", "bytea"))),
    "join transaction t on t.merchant_id = u.merchant and t.key = u.key",
)
# The transactions that have a whole reference, the newest of each sort. That of a dispute finds its payment. `keys` are
# the keys that transactions with this order reference have, one after the other: one for each of ORDER_KEYED_KINDS.
KEYS = ", ".join(f"substring(u.keys, {1 + n * KEY_BYTES}, {KEY_BYTES})" for n in range(len(ORDER_KEYED_KINDS)))
WHOLE_REFERENCE = batched_query(
    f"select u.n, {merchant_read('k.first_merchant', 'k.last_merchant')} as merchant, k.keys from",
    Requests((("merchant", "bigint"), ("reference", "text"), ("keys", "bytea")), has_one_plan=True),
    f"""
    cross join lateral (select min(merchant_id) as first_merchant, max(merchant_id) as last_merchant,
            string_agg(encode(key, 'hex'), ',') as keys from (
        select merchant_id, key from transaction where merchant_id = u.merchant and txn_ref = u.reference
        union all select merchant_id, key from transaction
            where merchant_id = u.merchant and key = any (array[{KEYS}])
        union all (select merchant_id, key from transaction
            where merchant_id = u.merchant and order_ref = u.reference and kind = 'payment'
            order by created_at desc, seq desc, key desc limit {WINDOW})
        union all (select merchant_id, key from transaction
            where merchant_id = u.merchant and order_ref = u.reference and kind in ('repayment', 'deposit')
            limit {WINDOW})
        union all select t.merchant_id, t.key from dispute d join transaction t
            on t.merchant_id = d.merchant_id and t.txn_ref = d.txn_ref
            where d.merchant_id = u.merchant and d.dispute_id = u.reference) f) k
    """,
)
# No customer has this hash.
NO_CUSTOMER = "-"


async def list_transactions(
    request: TransactionsRequest, merchant: Merchant, reader: ActionReader
) -> TransactionsReply:
    customer = await find_customer_hash(request, merchant, reader)
    keys = await find_whole_reference(request, merchant, reader)
    filters = make_filters(request, customer, keys)
    cursor = None if request.cursor is None else decode_cursor(request.cursor)
    after = FIRST_PLACE if cursor is None else await find_place(cursor, merchant.merchant_id, reader)
    lines, end = await scan_windows(reader, merchant.merchant_id, filters, after, request.limit or DEFAULT_LIMIT)
    return TransactionsReply(
        data=encoded_list(lines), next_cursor=None if end is None else make_cursor(end, merchant.merchant_id).encode()
    )


def make_cursor(place: Place, merchant_id: int) -> Cursor:
    return Cursor(place.at, mask_key(place.key, key_mask(merchant_id)))


async def find_place(cursor: Cursor, merchant_id: int, reader: ActionReader) -> Place:
    """Returns the place of a cursor. If its transaction is unknown, such as one that a restore took back, the list
    continues with all of its time: some come again, and none is left out."""
    key = mask_key(cursor.key, key_mask(merchant_id))
    row = await reader.fetch_page_batched(SEQUENCE_NUMBER, merchant_id, key)
    return Place(cursor.at, ABOVE_ALL if row is None or row[2] is None else row[2], key)


async def scan_windows(
    reader: ActionReader, merchant_id: int, filters: Filters, after: Place, limit: int
) -> tuple[str, Place | None]:
    """Returns the lines of a page, and the place after which the list continues; None if it reached the end."""
    # There must be a single bound, or the index is read from the looser one.
    place = min(after, Place(filters.until, 0, b""))
    count, texts = 0, list[str]()
    for _ in range(MAX_WINDOWS):
        page = await fetch_page(reader, merchant_id, filters, place, limit - count)
        count += page.found
        if page.lines is not None:
            texts.append(page.lines if page.page_end is None else cut_lines(page.lines))
        if page.page_end is not None:
            return ",".join(texts), Place(*page.page_end)
        if page.window_end is None:
            return ",".join(texts), None
        place = Place(*page.window_end)
    return ",".join(texts), place


async def find_customer_hash(request: TransactionsRequest, merchant: Merchant, reader: ActionReader) -> str | None:
    """Returns the hash of the customer that a request names, NO_CUSTOMER if there is none, or None without a name."""
    if request.customer is None:
        return None
    if "@" in request.customer:
        return hash_customer(reader.digest, merchant.merchant_id, request.customer).hex()
    row = await reader.fetch_page_batched(CUSTOMER_HASH, merchant.merchant_id, request.customer)
    return NO_CUSTOMER if row is None or row[2] is None else str(row[2])


async def find_whole_reference(request: TransactionsRequest, merchant: Merchant, reader: ActionReader) -> str | None:
    """Returns the keys of the transactions that have the reference of a request as a whole, or None if none has."""
    if request.reference is None:
        return None
    wanted = b"".join(transaction_key(merchant.merchant_id, kind, request.reference) for kind in ORDER_KEYED_KINDS)
    row = await reader.fetch_page_batched(WHOLE_REFERENCE, merchant.merchant_id, request.reference, wanted)
    return None if row[2] is None else str(row[2])


# --- what lists of the console add ---------------------------------------------------------------------------------

PAYERS = """
    select txn_ref, charged, refunded, disputed, detail, payer_sealed, facts from payment
    where merchant_id = $1 and key = any($2)
"""
DETAILS = "select txn_ref, detail, facts_sealed from transaction where merchant_id = $1 and txn_ref = any($2)"


async def list_payers(merchant_id: int, keys: list[bytes], reader: Reader) -> list[Any]:
    """Returns txnRef, amounts charged, refunded and disputed, detail, payer_sealed and facts of payments."""
    return await reader.fetch(PAYERS, merchant_id, keys)


async def list_details(merchant_id: int, references: list[str], reader: Reader) -> list[Any]:
    """Returns txnRef, detail and the sealed facts of transactions, which only paid transfers have."""
    return await reader.fetch(DETAILS, merchant_id, references)
