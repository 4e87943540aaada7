"""Reads statements of account. Never writes; every WHERE has the merchant_id.

Postings are numbered without gaps and never change, so that a statement is read in pieces without a snapshot: the
numbers at which it begins and ends are found once.
"""

from collections.abc import AsyncIterator
from datetime import datetime

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.fields import DEFAULT_LIMIT
from kasuwa.core.links import encode_link
from kasuwa.core.money import format_minor
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.core.references import row_key
from kasuwa.ledger import chart
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
    class_of,
    period_of,
)
from kasuwa.methods.statements.proofs.store import find_page, prove
from kasuwa.methods.statements.wire import StatementMovement, StatementReply, StatementRequest, StatementTotal

# --- the account ------------------------------------------------------------------------------------------------

CARD = "select short_id, currency, mask from virtual_card where merchant_id = $1 and key = $2"
SAVINGS = "select savings_id from savings where merchant_id = $1 and key = $2"
LOAN = "select loan_id from loan where merchant_id = $1 and key = $2"
BENEFICIARY = "select ref_code, name from beneficiary where merchant_id = $1 and key = $2"


async def find_account(
    account: str, name: str, currency: str, merchant_id: int, reader: Reader
) -> StatementAccount | None:
    """Returns the account that a request names, or None."""
    match account:
        case "wallet":
            source = Source.WALLET if currency == "NGN" else Source.OWNED
            return StatementAccount(source, chart.wallet(currency), currency, f"Wallet in {currency}")
        case "card":
            row = await reader.fetchrow(CARD, merchant_id, row_key(merchant_id, "card", name))
            return row and StatementAccount(Source.OWNED, chart.card(row[0], row[1]), row[1], f"Card {row[2]}")
        case "savings":
            row = await reader.fetchrow(SAVINGS, merchant_id, row_key(merchant_id, "savings", name))
            return row and StatementAccount(Source.PRODUCT, row[0], "NGN", f"Savings {row[0]}")
        case "loan":
            row = await reader.fetchrow(LOAN, merchant_id, row_key(merchant_id, "loan", name))
            return row and StatementAccount(Source.PRODUCT, row[0], "NGN", f"Loan {row[0]}")
        case _:
            row = await reader.fetchrow(BENEFICIARY, merchant_id, row_key(merchant_id, "beneficiary", name))
            owner = f"beneficiary:{name}:{currency}"
            return row and StatementAccount(Source.OWNED, owner, currency, f"Beneficiary {row[0]}, {row[1]}")


# --- the period -------------------------------------------------------------------------------------------------

# Postings of processes whose clocks differ may be out of order by so much. The first posting at or after a time is
# looked for among all that could be: a binary search finds one of them, another the first that could be.
DISORDER = "interval '5 seconds'"
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

# $1 merchant, $2 name of the account or id of the product, $3 first posting, $4 the one after the last, $5 and $6 the
# number and side (n) to continue after, $7 how many. A movement has the columns of `model.Movement`.
CREDITED = "select seq, 1 as n, at, reference, kind, debit as other, credit as own, amount, credit_after as balance"
DEBITED = "select seq, 0 as n, at, reference, kind, credit as other, debit as own, -amount, debit_after"
# The conditions must equal those of the indexes (0025_lists.sql, 0016_paid_ahead.sql, 0009_loans.sql).
OWNED_CREDIT = """credit = $2 and (starts_with(credit, 'card:') or starts_with(credit, 'beneficiary:')
    or (starts_with(credit, 'wallet:') and credit <> 'wallet:main:NGN'))"""
OWNED_DEBIT = """debit = $2 and (starts_with(debit, 'card:') or starts_with(debit, 'beneficiary:')
    or (starts_with(debit, 'wallet:') and debit <> 'wallet:main:NGN'))"""
# A loan has several accounts, so that the balance of the whole is summed up. What a client has paid too much
# (loan_credit) lowers what is owed.
OF_PRODUCT = f"""
    {CREDITED} from posting where merchant_id = $1 and starts_with(credit, 'loan_') and split_part(credit, ':', 2) = $2
    union all {DEBITED} from posting
        where merchant_id = $1 and starts_with(debit, 'loan_') and split_part(debit, ':', 2) = $2
    union all {CREDITED} from posting
        where merchant_id = $1 and starts_with(credit, 'savings:') and split_part(credit, ':', 2) = $2
    union all {DEBITED} from posting
        where merchant_id = $1 and starts_with(debit, 'savings:') and split_part(debit, ':', 2) = $2
"""
SIGNED = "case when starts_with(own, 'loan_credit:') then -amount else amount end"

WALLET_MOVEMENTS = """
    select seq, case when credit = $2 then 1 else 0 end, at, reference, kind,
        case when credit = $2 then debit else credit end, case when credit = $2 then amount else -amount end,
        case when credit = $2 then credit_after else debit_after end
    from posting
    where merchant_id = $1 and seq >= greatest($3, $5 + 1 + 0 * $6::bigint) and seq < $4 and (credit = $2 or debit = $2)
    order by seq limit $7
"""
OWNED_IN_PERIOD = "seq >= greatest($3, $5 + 1 + 0 * $6::bigint) and seq < $4"
OWNED_MOVEMENTS = f"""
    select seq, n, at, reference, kind, other, amount, balance from (
        ({CREDITED} from posting where merchant_id = $1 and {OWNED_CREDIT} and {OWNED_IN_PERIOD} order by seq limit $7)
        union all ({DEBITED} from posting where merchant_id = $1 and {OWNED_DEBIT} and {OWNED_IN_PERIOD}
            order by seq limit $7)) m
    order by seq limit $7
"""
PRODUCT_MOVEMENTS = f"""
    select seq, n, at, reference, kind, other, {SIGNED}, total from (
        select m.*, (sum({SIGNED}) over (order by seq, n))::bigint as total from ({OF_PRODUCT}) m) t
    where seq >= $3 and seq < $4 and (seq, n) > ($5, $6) order by seq, n limit $7
"""


class Place(msgspec.Struct, frozen=True):
    """The number and side of a movement that the next piece continues after."""

    seq: int = 0
    side: int = 0


async def list_movements(
    account: StatementAccount, period: Period, after: Place, limit: int, merchant_id: int, reader: Reader
) -> list[Movement]:
    """Returns movements of a period in their order."""
    parameters = (merchant_id, account.name, period.first, period.end, after.seq, after.side, limit)
    match account.source:
        case Source.WALLET:
            rows = await reader.fetch(WALLET_MOVEMENTS, *parameters)
        case Source.OWNED:
            rows = await reader.fetch(OWNED_MOVEMENTS, *parameters)
        case Source.PRODUCT:
            rows = await reader.fetch(PRODUCT_MOVEMENTS, *parameters)
    return [Movement(*row) for row in rows]


# Rows that one statement of a file reads.
FILE_BATCH = 1_000


async def stream_movements(
    account: StatementAccount, period: Period, merchant_id: int, reader: Reader
) -> AsyncIterator[list[Movement]]:
    """Yields all movements of a period, in batches. The reader need not be a snapshot."""
    after = Place()
    while True:
        batch = await list_movements(account, period, after, FILE_BATCH, merchant_id, reader)
        if batch:
            yield batch
        if len(batch) < FILE_BATCH:
            return
        after = Place(batch[-1].seq, batch[-1].side)


# --- balances and totals ----------------------------------------------------------------------------------------

# The balance before posting $3.
WALLET_BALANCE = """
    select case when credit = $2 then credit_after else debit_after end from posting
    where merchant_id = $1 and seq < $3 and (credit = $2 or debit = $2) order by seq desc limit 1
"""
OWNED_BALANCE = f"""
    select balance from (
        ({CREDITED} from posting where merchant_id = $1 and {OWNED_CREDIT} and seq < $3 order by seq desc limit 1)
        union all ({DEBITED} from posting where merchant_id = $1 and {OWNED_DEBIT} and seq < $3
            order by seq desc limit 1)) m
    order by seq desc limit 1
"""
PRODUCT_BALANCE = f"select coalesce(sum({SIGNED}), 0)::bigint from ({OF_PRODUCT}) m where seq < $3"


async def read_balance(account: StatementAccount, seq: int, merchant_id: int, reader: Reader) -> int:
    """Returns the balance before a posting."""
    parameters = (merchant_id, account.name, seq)
    match account.source:
        case Source.WALLET:
            row = await reader.fetchrow(WALLET_BALANCE, *parameters)
        case Source.OWNED:
            row = await reader.fetchrow(OWNED_BALANCE, *parameters)
        case Source.PRODUCT:
            row = await reader.fetchrow(PRODUCT_BALANCE, *parameters)
    return 0 if row is None else int(row[0])


# The two first words of an account's name say what it is.
SORT_OF_OTHER = "split_part(other, ':', 1) || ':' || split_part(other, ':', 2)"
SUMMED = "sum(amount)::bigint, count(*)"
WALLET_TOTALS = f"""
    select kind, {SORT_OF_OTHER}, {SUMMED} from (
        select kind, case when credit = $2 then debit else credit end as other,
            case when credit = $2 then amount else -amount end as amount
        from posting where merchant_id = $1 and seq >= $3 and seq < $4 and (credit = $2 or debit = $2)) m
    group by 1, 2, amount > 0
"""
OWNED_TOTALS = f"""
    select kind, {SORT_OF_OTHER}, {SUMMED} from (
        {CREDITED} from posting where merchant_id = $1 and {OWNED_CREDIT} and seq >= $3 and seq < $4
        union all {DEBITED} from posting where merchant_id = $1 and {OWNED_DEBIT} and seq >= $3 and seq < $4) m
    group by 1, 2, amount > 0
"""
PRODUCT_TOTALS = f"""
    select kind, {SORT_OF_OTHER}, sum({SIGNED})::bigint, count(*) from ({OF_PRODUCT}) m
    where seq >= $3 and seq < $4 group by 1, 2, {SIGNED} > 0
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
        add_to_total(totals, class_of(kind, other, amount), amount, count)
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


# --- the reply --------------------------------------------------------------------------------------------------


async def show_statement(
    request: StatementRequest, merchant: Merchant, reader: ActionReader
) -> StatementReply | Refusal:
    merchant_id, currency = merchant.merchant_id, str(request.currency or "NGN")
    async with reader.snapshot() as snapshot:
        account = await find_account(request.account, request.id or "", currency, merchant_id, snapshot)
        if account is None:
            return UNKNOWN_ACCOUNT
        if request.cursor is None:
            period = await find_period(merchant_id, *period_of(request.first_day, request.last_day), snapshot)
        else:
            period = read_cursor(request.cursor)[0]
        opening = await read_balance(account, period.first, merchant_id, snapshot)
        closing = await read_balance(account, period.end, merchant_id, snapshot)
        reply = StatementReply(
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
        if request.format in ("csv", "pdf"):
            return await add_link(reply, request, account, period, merchant_id, reader, snapshot)
        if request.proof:
            await add_proven_page(reply, request, account, period, merchant_id, snapshot)
        else:
            await add_page(reply, request, account, period, merchant_id, snapshot)
    return reply


def read_cursor(cursor: str) -> tuple[Period, Place]:
    """Returns the period that the first page found, so that all pages cover the same postings, and the place."""
    first, end, seq, side = map(int, cursor.split("."))
    return Period(first, max(first, end)), Place(seq, side)


async def add_page(
    reply: StatementReply,
    request: StatementRequest,
    account: StatementAccount,
    period: Period,
    merchant_id: int,
    reader: Reader,
) -> None:
    limit = request.limit or DEFAULT_LIMIT
    after = Place() if request.cursor is None else read_cursor(request.cursor)[1]
    found = await list_movements(account, period, after, limit + 1, merchant_id, reader)
    reply.data = [show_movement(movement) for movement in found[:limit]]
    if len(found) > limit:
        last = found[limit - 1]
        reply.next_cursor = f"{period.first}.{period.end}.{last.seq}.{last.side}"
    if request.cursor is None and period.end - period.first <= MAX_POSTINGS_SUMMED:
        reply.totals = await read_totals(account, period, merchant_id, reader)


async def add_proven_page(
    reply: StatementReply,
    request: StatementRequest,
    account: StatementAccount,
    period: Period,
    merchant_id: int,
    reader: Reader,
) -> None:
    """Adds the movements among the next postings of the merchant, with the proof of those postings."""
    reply.account = account.name
    first = period.first if request.cursor is None else read_cursor(request.cursor)[1].seq + 1
    page = await find_page(first, period.end, request.limit or DEFAULT_LIMIT, merchant_id, reader)
    if page is None:
        return
    covered = Period(page.first, page.last + 1)
    found = await list_movements(account, covered, Place(), 2 * (page.last + 1 - page.first), merchant_id, reader)
    reply.data = [show_movement(movement) for movement in found]
    reply.proof = await prove(page.first, page.last, merchant_id, reader)
    if page.last + 1 < period.end:
        reply.next_cursor = f"{period.first}.{period.end}.{page.last}.1"
    if request.cursor is None and period.end - period.first <= MAX_POSTINGS_SUMMED:
        reply.totals = await read_totals(account, period, merchant_id, reader)


def show_movement(movement: Movement) -> StatementMovement:
    return StatementMovement(
        date_created=utc_text(movement.at),
        kind=movement.kind,
        reference=movement.reference,
        counterparty=movement.counterparty,
        amount=format_minor(movement.amount),
        balance=format_minor(movement.balance),
    )


async def add_link(
    reply: StatementReply,
    request: StatementRequest,
    account: StatementAccount,
    period: Period,
    merchant_id: int,
    reader: ActionReader,
    snapshot: Reader,
) -> StatementReply | Refusal:
    if request.format == "pdf":
        found = await list_movements(account, period, Place(), MAX_PDF_MOVEMENTS + 1, merchant_id, snapshot)
        if len(found) > MAX_PDF_MOVEMENTS:
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
