"""Reads statements of account. Never writes; every WHERE has the merchant_id.

Postings are numbered without gaps and never change, so that a statement is read in pieces without a snapshot: the
numbers at which it begins and ends are found once.
"""

from datetime import datetime
from typing import NamedTuple

import msgspec

from kasuwa.core.batched_query import Requests, batched_query
from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.reading import ActionReader, KeyReader, Reader, RequestReader, Snapshot, merchant_read
from kasuwa.core.references import row_key
from kasuwa.ledger import chart
from kasuwa.ledger.posting_kinds import title_sql
from kasuwa.methods.statements.files.store import PIECE, PIECE_MOVEMENTS, Piece
from kasuwa.methods.statements.links import encode_link
from kasuwa.methods.statements.model import (
    CLASSES,
    LINK_AAD,
    LINK_LIFETIME,
    LINK_OWNER,
    MAX_PDF_MOVEMENTS,
    MAX_POSTINGS_SUMMED,
    TOO_LONG_FOR_PDF,
    UNKNOWN_ACCOUNT,
    Movement,
    Source,
    StatementAccount,
    StatementTerms,
    Total,
    classify_movement,
    make_period,
)
from kasuwa.methods.statements.proofs.store import find_page, prove
from kasuwa.methods.statements.wire import StatementMovement, StatementReply, StatementRequest, StatementTotal
from kasuwa.wire.fields import DEFAULT_LIMIT
from kasuwa.wire.json_rows import encoded_list, json_amount, json_text, json_time, render_object

# --- the account ------------------------------------------------------------------------------------------------

CARD = "select short_id, currency, mask from virtual_card where merchant_id = $1 and key = $2"
SAVINGS = "select savings_id from savings where merchant_id = $1 and key = $2"
LOAN = "select loan_id from loan where merchant_id = $1 and key = $2"
BENEFICIARY = "select ref_code, name from beneficiary where merchant_id = $1 and key = $2"


def find_wallet(currency: str) -> StatementAccount:
    source = Source.WALLET if currency == "NGN" else Source.OWNED
    return StatementAccount("wallet", source, chart.wallet(currency), currency, f"Wallet in {currency}")


async def find_account(
    account: str, name: str, currency: str, merchant_id: int, reader: Reader
) -> StatementAccount | None:
    """Returns the account that a request names, or None."""
    match account:
        case "wallet":
            return find_wallet(currency)
        case "card":
            row = await reader.fetchrow(CARD, merchant_id, row_key(merchant_id, "card", name))
            return row and StatementAccount(account, Source.OWNED, chart.card(row[0], row[1]), row[1], f"Card {row[2]}")
        case "savings":
            row = await reader.fetchrow(SAVINGS, merchant_id, row_key(merchant_id, "savings", name))
            return row and StatementAccount(account, Source.PRODUCT, row[0], "NGN", f"Savings {row[0]}")
        case "loan":
            row = await reader.fetchrow(LOAN, merchant_id, row_key(merchant_id, "loan", name))
            return row and StatementAccount(account, Source.PRODUCT, row[0], "NGN", f"Loan {row[0]}")
        case _:
            row = await reader.fetchrow(BENEFICIARY, merchant_id, row_key(merchant_id, "beneficiary", name))
            owner = f"beneficiary:{name}:{currency}"
            return row and StatementAccount(
                "beneficiary", Source.OWNED, owner, currency, f"Beneficiary {row[0]}, {row[1]}"
            )


# --- the period -------------------------------------------------------------------------------------------------

# Postings of processes whose clocks differ may be out of order by so much. The first posting at or after a time is
# looked for among all that could be: a binary search finds one of them, another the first that could be.
DISORDER_SECONDS = 5
DISORDER = f"interval '{DISORDER_SECONDS} seconds'"
FIRST_POSTING = f"""
    with recursive narrowed (low, high, bound) as (
        select 1::bigint, last_posting_seq + 1, b.bound from merchant_state
        cross join unnest(array[$2::timestamptz, $2::timestamptz - {DISORDER}]) as b (bound) where merchant_id = $1
        union all
        select case when p.at >= n.bound then n.low else p.seq + 1 end,
            case when p.at >= n.bound then (n.low + n.high) / 2 else n.high end, n.bound
        from narrowed n cross join lateral (
            select at, seq from posting where merchant_id = $1 and seq >= (n.low + n.high) / 2 order by seq limit 1) p
        where n.low < n.high),
    found as (select min(low) as earliest, max(low) as latest from narrowed where low >= high)
    select coalesce((
        select seq from posting where merchant_id = $1 and seq >= (select earliest from found)
            and seq < (select latest from found) and at >= $2::timestamptz order by seq limit 1), latest)
    from found
"""
CLOCK = """
    select coalesce(clock_fixed_at, now() + clock_offset_us * interval '1 microsecond') from merchant_state
    where merchant_id = $1
"""


class Period(msgspec.Struct, frozen=True):
    """The postings of a statement: from the first number to the one before the last."""

    first: int
    end: int


async def find_period(merchant_id: int, since: datetime, until: datetime, reader: Reader) -> Period:
    [[first]] = await reader.fetch(FIRST_POSTING, merchant_id, since)
    [[end]] = await reader.fetch(FIRST_POSTING, merchant_id, until)
    return Period(first, max(first, end))


async def business_now(merchant_id: int, reader: Reader) -> datetime:
    [[now]] = await reader.fetch(CLOCK, merchant_id)
    assert isinstance(now, datetime)
    return now


# --- movements --------------------------------------------------------------------------------------------------

# The statements that a query reads, a row `u` for each: `first` the first posting and `ending` the one after the last,
# `seq` and `side` the movement to continue after, `size` how many movements to read.
REQUESTS = Requests(
    (
        ("merchant", "bigint"),
        ("account", "text"),
        ("first", "bigint"),
        ("ending", "bigint"),
        ("seq", "bigint"),
        ("side", "bigint"),
        ("size", "bigint"),
    ),
    has_one_plan=True,
)
# A movement has the columns of `model.Movement`; `own` is the account that it moves.
CREDITED = f"""
    select merchant_id, seq, 1 as side, at, reference, {title_sql()} as kind, debit as other, amount,
        credit_after as balance, credit as own
    from posting where merchant_id = u.merchant and
"""
DEBITED = f"""
    select merchant_id, seq, 0 as side, at, reference, {title_sql()} as kind, credit as other, -amount,
        debit_after, debit
    from posting where merchant_id = u.merchant and
"""
# The conditions must equal those of the indexes (0001_baseline.sql).
OWNED_CREDIT = """credit = u.account and (starts_with(credit, 'card:') or starts_with(credit, 'beneficiary:')
    or (starts_with(credit, 'wallet:') and credit <> 'wallet:main:NGN'))"""
OWNED_DEBIT = """debit = u.account and (starts_with(debit, 'card:') or starts_with(debit, 'beneficiary:')
    or (starts_with(debit, 'wallet:') and debit <> 'wallet:main:NGN'))"""
# A loan has several accounts, so that the balance of the whole is summed up. What a client has paid too much
# (loan_credit) lowers what is owed.
OF_PRODUCT = f"""
    {CREDITED} starts_with(credit, 'loan_') and split_part(credit, ':', 2) = u.account
    union all {DEBITED} starts_with(debit, 'loan_') and split_part(debit, ':', 2) = u.account
    union all {CREDITED} starts_with(credit, 'savings:') and split_part(credit, ':', 2) = u.account
    union all {DEBITED} starts_with(debit, 'savings:') and split_part(debit, ':', 2) = u.account
"""
SIGNED = "case when starts_with(own, 'loan_credit:') then -amount else amount end"

WALLET_MOVEMENTS = f"""
    select merchant_id, seq, case when credit = u.account then 1 else 0 end as side, at, reference,
        {title_sql()} as kind, case when credit = u.account then debit else credit end as other,
        case when credit = u.account then amount else -amount end as amount,
        case when credit = u.account then credit_after else debit_after end as balance
    from posting where merchant_id = u.merchant and (credit = u.account or debit = u.account)
"""
NEXT = "seq >= greatest(u.first, u.seq + 1) and seq < u.ending order by seq limit u.size"
WALLET_NEXT = f"{WALLET_MOVEMENTS} and {NEXT}"
OWNED_NEXT = (
    f"(({CREDITED} {OWNED_CREDIT} and {NEXT}) union all ({DEBITED} {OWNED_DEBIT} and {NEXT})) order by seq limit u.size"
)
PRODUCT_NEXT = f"""
    select merchant_id, seq, side, at, reference, kind, other, {SIGNED} as amount, balance_after as balance from (
        select m.*, (sum({SIGNED}) over (order by seq, side))::bigint as balance_after from ({OF_PRODUCT}) m) m
    where seq >= u.first and seq < u.ending and (seq, side) > (u.seq, u.side) order by seq, side limit u.size
"""
ROWS = "select m.seq, m.side, m.at, m.reference, m.kind, m.other, m.amount, m.balance from"
IN_ORDER = "order by m.seq, m.side, u.n"
WALLET_ROWS = batched_query(ROWS, REQUESTS, f"cross join lateral ({WALLET_NEXT}) m {IN_ORDER}")
OWNED_ROWS = batched_query(ROWS, REQUESTS, f"cross join lateral ({OWNED_NEXT}) m {IN_ORDER}")
PRODUCT_ROWS = batched_query(ROWS, REQUESTS, f"cross join lateral ({PRODUCT_NEXT}) m {IN_ORDER}")


class Place(msgspec.Struct, frozen=True):
    """The number and side of a movement that the next piece continues after."""

    seq: int = 0
    side: int = 0


async def list_movements(
    account: StatementAccount, period: Period, after: Place, limit: int, merchant_id: int, reader: RequestReader
) -> list[Movement]:
    """Returns movements of a period in their order."""
    requests = [make_request_row(account, period, after, limit, merchant_id)]
    match account.source:
        case Source.WALLET:
            rows = await reader.fetch_requests(WALLET_ROWS, requests)
        case Source.OWNED:
            rows = await reader.fetch_requests(OWNED_ROWS, requests)
        case Source.PRODUCT:
            rows = await reader.fetch_requests(PRODUCT_ROWS, requests)
    return [Movement(*row) for row in rows]


def make_request_row(
    account: StatementAccount, period: Period, after: Place, size: int, merchant_id: int
) -> tuple[int | str, ...]:
    """Returns a row of REQUESTS."""
    return merchant_id, account.name, period.first, period.end, after.seq, after.side, size


# --- files ------------------------------------------------------------------------------------------------------

MOVED = f"with m as materialized ({ROWS}"
WALLET_PIECE = batched_query(MOVED, REQUESTS, f"cross join lateral ({WALLET_NEXT}) m {IN_ORDER}) {PIECE}")
OWNED_PIECE = batched_query(MOVED, REQUESTS, f"cross join lateral ({OWNED_NEXT}) m {IN_ORDER}) {PIECE}")
PRODUCT_PIECE = batched_query(MOVED, REQUESTS, f"cross join lateral ({PRODUCT_NEXT}) m {IN_ORDER}) {PIECE}")


async def read_piece(
    account: StatementAccount, period: Period, after: Place, merchant_id: int, reader: RequestReader
) -> Piece:
    """Returns the next lines of a CSV file. The reader need not be a snapshot."""
    requests = [make_request_row(account, period, after, PIECE_MOVEMENTS, merchant_id)]
    match account.source:
        case Source.WALLET:
            [piece] = await reader.fetch_requests(WALLET_PIECE, requests)
        case Source.OWNED:
            [piece] = await reader.fetch_requests(OWNED_PIECE, requests)
        case Source.PRODUCT:
            [piece] = await reader.fetch_requests(PRODUCT_PIECE, requests)
    return Piece(*piece)


# --- balances and totals ----------------------------------------------------------------------------------------

# The balances before a posting, each with the merchant of the postings that it was read from.
LAST = "order by seq desc limit 1"
WALLET_BALANCES = f"""
    left join lateral (select merchant_id, balance from ({WALLET_MOVEMENTS} and seq < u.first {LAST}) m) b on true
    left join lateral (select merchant_id, balance from ({WALLET_MOVEMENTS} and seq < u.ending {LAST}) m) e on true
"""
OWNED_BALANCES = f"""
    left join lateral (select merchant_id, balance from (({CREDITED} {OWNED_CREDIT} and seq < u.first {LAST})
        union all ({DEBITED} {OWNED_DEBIT} and seq < u.first {LAST})) m {LAST}) b on true
    left join lateral (select merchant_id, balance from (({CREDITED} {OWNED_CREDIT} and seq < u.ending {LAST})
        union all ({DEBITED} {OWNED_DEBIT} and seq < u.ending {LAST})) m {LAST}) e on true
"""
# Both look at the same postings: if these are of several merchants, the least and the greatest differ.
PRODUCT_BALANCES = f"""
    cross join lateral (
        select min(merchant_id) as merchant_id, (sum({SIGNED}) filter (where seq < u.first))::bigint as balance
        from ({OF_PRODUCT}) m where seq < u.ending) b
    cross join lateral (select max(merchant_id) as merchant_id, sum({SIGNED})::bigint as balance
        from ({OF_PRODUCT}) m where seq < u.ending) e
"""
BALANCES = "coalesce(b.balance, 0) as opening, coalesce(e.balance, 0) as closing"
ENDS = f"select {BALANCES} from"
WALLET_ENDS = batched_query(ENDS, REQUESTS, WALLET_BALANCES)
OWNED_ENDS = batched_query(ENDS, REQUESTS, OWNED_BALANCES)
PRODUCT_ENDS = batched_query(ENDS, REQUESTS, PRODUCT_BALANCES)


async def read_balances(
    account: StatementAccount, period: Period, merchant_id: int, reader: RequestReader
) -> tuple[int, int]:
    """Returns the balances before and after a period."""
    requests = [make_request_row(account, period, Place(), 0, merchant_id)]
    match account.source:
        case Source.WALLET:
            [row] = await reader.fetch_requests(WALLET_ENDS, requests)
        case Source.OWNED:
            [row] = await reader.fetch_requests(OWNED_ENDS, requests)
        case Source.PRODUCT:
            [row] = await reader.fetch_requests(PRODUCT_ENDS, requests)
    opening, closing = row
    return opening, closing


# The two first words of an account's name say what it is.
SORT_OF_OTHER = "split_part(other, ':', 1) || ':' || split_part(other, ':', 2)"
SUMMED = "sum(amount)::bigint, count(*)"
IN_PERIOD = "seq >= u.first and seq < u.ending"
# Only the columns of the period are used. A plan for the numbers at hand pays for itself here.
PERIOD = "(select $1::bigint as merchant, $2::text as account, $3::bigint as first, $4::bigint as ending) u"
WALLET_TOTALS = f"""
    select kind, {SORT_OF_OTHER}, {SUMMED} from {PERIOD} cross join lateral ({WALLET_MOVEMENTS} and {IN_PERIOD}) m
    group by 1, 2, amount > 0
"""
OWNED_TOTALS = f"""
    select kind, {SORT_OF_OTHER}, {SUMMED} from {PERIOD} cross join lateral (
        {CREDITED} {OWNED_CREDIT} and {IN_PERIOD} union all {DEBITED} {OWNED_DEBIT} and {IN_PERIOD}) m
    group by 1, 2, amount > 0
"""
PRODUCT_TOTALS = f"""
    select kind, {SORT_OF_OTHER}, sum({SIGNED})::bigint, count(*) from {PERIOD} cross join lateral ({OF_PRODUCT}) m
    where {IN_PERIOD} group by 1, 2, {SIGNED} > 0
"""


async def read_totals(
    account: StatementAccount, period: Period, merchant_id: int, reader: Reader
) -> list[StatementTotal]:
    """Returns the movements of a period by class."""
    parameters = (merchant_id, account.name, period.first, period.end)
    match account.source:
        case Source.WALLET:
            rows = await reader.fetch(WALLET_TOTALS, *parameters)
        case Source.OWNED:
            rows = await reader.fetch(OWNED_TOTALS, *parameters)
        case Source.PRODUCT:
            rows = await reader.fetch(PRODUCT_TOTALS, *parameters)
    totals: dict[str, Total] = {}
    for kind, other, amount, count in rows:
        add_to_total(totals, classify_movement(kind, other, amount), amount, count)
    return show_totals(totals)


def add_to_total(totals: dict[str, Total], name: str, amount: int, count: int = 1) -> None:
    total = totals.setdefault(name, Total())
    total.amount += amount
    total.count += count


def show_totals(totals: dict[str, Total]) -> list[StatementTotal]:
    return [
        StatementTotal(kind=name, amount=format_minor(totals[name].amount), count=totals[name].count)  # type: ignore[arg-type]
        for name in CLASSES
        if name in totals
    ]


# --- pages ------------------------------------------------------------------------------------------------------

LINE = render_object(
    StatementMovement,
    date_created=json_time("m.at"),
    kind=json_text("m.kind"),
    reference=json_text("m.reference"),
    counterparty=json_text("m.other"),
    amount=json_amount("m.amount"),
    balance=json_amount("m.balance"),
)
# A page has one movement less than were read: the last one tells that others follow.
PAGE = f"""
    select min(merchant_id) as first_merchant, max(merchant_id) as last_merchant,
    array_to_string((array_agg(line))[:u.size - 1], ',') as lines,
    (array_agg(seq))[u.size - 1] as seq, (array_agg(side))[u.size - 1] as side, count(*) = u.size as has_more
    from (select {LINE} as line, m.merchant_id, m.seq, m.side from
"""
COLUMNS = f"""
    select u.n, {merchant_read("b.merchant_id", "e.merchant_id", "p.first_merchant", "p.last_merchant")} as merchant,
    {BALANCES}, p.lines, p.seq, p.side, p.has_more from
"""
WALLET_PAGE = batched_query(COLUMNS, REQUESTS, f"{WALLET_BALANCES} cross join lateral ({PAGE} ({WALLET_NEXT}) m) l) p")
OWNED_PAGE = batched_query(COLUMNS, REQUESTS, f"{OWNED_BALANCES} cross join lateral ({PAGE} ({OWNED_NEXT}) m) l) p")
PRODUCT_PAGE = batched_query(
    COLUMNS, REQUESTS, f"{PRODUCT_BALANCES} cross join lateral ({PAGE} ({PRODUCT_NEXT}) m) l) p"
)


class Page(NamedTuple):
    """A page, as the database returns it for one request."""

    request: int
    merchant_id: int
    opening: int
    closing: int
    lines: str | None  # JSON objects with commas between them; None if there are none
    seq: int | None  # of the last one that is shown, if the page is full
    side: int | None
    has_more: bool  # whether others follow


async def read_page(
    account: StatementAccount, period: Period, after: Place, limit: int, merchant_id: int, reader: KeyReader
) -> Page:
    """Returns the movements that follow a place, with the balances of the whole period."""
    parameters = make_request_row(account, period, after, limit + 1, merchant_id)
    match account.source:
        case Source.WALLET:
            return Page(*await reader.fetch_row_batched(WALLET_PAGE, *parameters))
        case Source.OWNED:
            return Page(*await reader.fetch_row_batched(OWNED_PAGE, *parameters))
        case Source.PRODUCT:
            return Page(*await reader.fetch_row_batched(PRODUCT_PAGE, *parameters))


# --- the reply --------------------------------------------------------------------------------------------------


async def show_statement(
    request: StatementRequest, merchant: Merchant, reader: ActionReader
) -> StatementReply | Refusal:
    merchant_id, currency, limit = merchant.merchant_id, str(request.currency or "NGN"), request.limit or DEFAULT_LIMIT
    is_file = request.format in ("csv", "pdf")
    if request.account == "wallet" and request.cursor is not None and not request.proof and not is_file:
        wallet, (period, after) = find_wallet(currency), read_cursor(request.cursor)
        return show_page(wallet, period, await read_page(wallet, period, after, limit, merchant_id, reader))
    async with reader.snapshot() as snapshot:
        account = await find_account(request.account, request.id or "", currency, merchant_id, snapshot)
        if account is None:
            return UNKNOWN_ACCOUNT
        if request.cursor is None:
            days = make_period(request.first_day, request.last_day)
            period, after = await find_period(merchant_id, *days, snapshot), Place()
        else:
            period, after = read_cursor(request.cursor)
        if is_file:
            return await show_link(request, account, period, merchant_id, reader, snapshot)
        if request.proof:
            reply = await show_proven_page(account, period, after, limit, merchant_id, snapshot)
        else:
            reply = show_page(account, period, await read_page(account, period, after, limit, merchant_id, snapshot))
        if request.cursor is None and period.end - period.first <= MAX_POSTINGS_SUMMED and is_complete(request, reply):
            reply.totals = await read_totals(account, period, merchant_id, snapshot)
    return reply


def read_cursor(cursor: str) -> tuple[Period, Place]:
    """Returns the period that the first page found, so that all pages cover the same postings, and the place."""
    first, end, seq, side = map(int, cursor.split("."))
    return Period(first, max(first, end)), Place(seq, side)


def is_complete(request: StatementRequest, reply: StatementReply) -> bool:
    """Whether a reply has what was asked for: a period without postings has no proof, and then no totals."""
    return not request.proof or reply.proof is not None


def begin_reply(account: StatementAccount, opening: int, closing: int) -> StatementReply:
    return StatementReply(
        message=account.title,
        currency=account.currency,
        opening_balance=format_minor(opening),
        closing_balance=format_minor(closing),
        totals=None,
        data=[],
        next_cursor=None,
        link=None,
        expires=None,
    )


def show_page(account: StatementAccount, period: Period, page: Page) -> StatementReply:
    reply = begin_reply(account, page.opening, page.closing)
    reply.data = encoded_list(page.lines)
    if page.has_more:
        reply.next_cursor = f"{period.first}.{period.end}.{page.seq}.{page.side}"
    return reply


async def show_proven_page(
    account: StatementAccount, period: Period, after: Place, limit: int, merchant_id: int, reader: Snapshot
) -> StatementReply:
    """Returns the movements among the next postings of the merchant, with the proof of those postings."""
    reply = begin_reply(account, *await read_balances(account, period, merchant_id, reader))
    reply.account = account.name
    page = await find_page(max(period.first, after.seq + 1), period.end, limit, merchant_id, reader)
    if page is None:
        return reply
    covered, most = Period(page.first, page.last + 1), 2 * (page.last + 1 - page.first)
    reply.data = encoded_list((await read_page(account, covered, Place(), most, merchant_id, reader)).lines)
    reply.proof = await prove(page.first, page.last, merchant_id, reader)
    if page.last + 1 < period.end:
        reply.next_cursor = f"{period.first}.{period.end}.{page.last}.1"
    return reply


async def show_link(
    request: StatementRequest,
    account: StatementAccount,
    period: Period,
    merchant_id: int,
    reader: ActionReader,
    snapshot: Snapshot,
) -> StatementReply | Refusal:
    reply = begin_reply(account, *await read_balances(account, period, merchant_id, snapshot))
    if request.format == "pdf":
        movements = await list_movements(account, period, Place(), MAX_PDF_MOVEMENTS + 1, merchant_id, snapshot)
        if len(movements) > MAX_PDF_MOVEMENTS:
            return TOO_LONG_FOR_PDF
    expires = await business_now(merchant_id, snapshot) + LINK_LIFETIME
    terms = StatementTerms(
        merchant_id=merchant_id,
        account=request.account,
        id=request.id or "",
        currency=str(request.currency or "NGN"),
        first_day=request.first_day.isoformat(),
        last_day=request.last_day.isoformat(),
        format=request.format or "csv",
        expires=int(expires.timestamp()),
    )
    token = encode_link(reader.seal(LINK_OWNER, LINK_AAD, msgspec.json.encode(terms)))
    reply.link = f"{reader.public_url}/statements/{token}.{terms.format}"
    reply.expires = utc_text(expires)
    return reply
