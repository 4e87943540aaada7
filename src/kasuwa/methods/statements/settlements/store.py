"""Reads settlements: sums that are kept, and the journal behind them. Never writes; every WHERE has the merchant_id.

Both are read from one snapshot, so that the figures are those of the journal, wherever the mark of the sums is.
"""

from datetime import date, datetime, timedelta
from typing import Any

import msgspec

from kasuwa.core.calendar import lagos_day, lagos_moment
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.core.references import row_key
from kasuwa.ledger import chart
from kasuwa.ledger.settlement_lines import LINE, SUM_LINES
from kasuwa.merchants.merchant_settings import MAX_SETTLEMENT_DAYS
from kasuwa.methods.statements.settlements.model import (
    BACKWARDS,
    DEFAULT_DAYS,
    LINES,
    MAX_DAYS,
    MAX_POSTINGS_SUMMED,
    PAID_OUT,
    SETTLED_CURRENCIES,
    SETTLEMENT_OF_MERCHANT,
    TOO_MANY_POSTINGS,
    UNKNOWN_SETTLEMENT,
    DaySettlement,
    LineTotal,
)
from kasuwa.methods.statements.settlements.wire import (
    SettlementDetail,
    SettlementLine,
    SettlementReply,
    SettlementRequest,
    SettlementsReply,
    SettlementsRequest,
    SettlementSummary,
)
from kasuwa.methods.statements.store import DISORDER_SECONDS, business_now, find_period
from kasuwa.transactions.settlements import parse_settlement_id, settlement_id

MARK = "select posting_seq from settlement_sum_mark where merchant_id = $1"
KEPT_SUMS = """
    select day, currency, line, reference, amount, count from settlement_sum
    where merchant_id = $1 and day >= $2 and day <= $3
"""
NEW_SUMS = f"""
    with summed as (select * from posting where merchant_id = $1 and seq >= $2 and seq < $3)
    select day, currency, line, reference, amount, count from ({SUM_LINES}) s
"""
BATCHES = "select key, fee, vat, split, reserved from settlement_batch where merchant_id = $1 and key = any($2)"
ARRIVING = """
    select key, amount from settlement_batch
    where merchant_id = $1 and key = any($2) and state <> 'done' and amount > 0
"""
# Settlements of a later day of which nothing was left for the wallet. No posting records them.
EMPTY_BATCHES = """
    select key, fee, vat, split, reserved from settlement_batch
    where merchant_id = $1 and key = any($2) and amount = 0 and state = 'done'
"""


async def list_settlements(
    request: SettlementsRequest, merchant: Merchant, reader: ActionReader
) -> SettlementsReply | Refusal:
    offset, limit = request.offset_and_limit
    async with reader.snapshot() as snapshot:
        today = lagos_day(await business_now(merchant.merchant_id, snapshot))
        last = today if request.last_day is None else request.last_day.plain()
        first = last - timedelta(days=DEFAULT_DAYS) if request.first_day is None else request.first_day.plain()
        if not 0 <= (last - first).days <= MAX_DAYS:
            return BACKWARDS
        currency = None if request.currency is None else str(request.currency)
        days = await read_days(merchant.merchant_id, first, last, currency, snapshot)
    if isinstance(days, Refusal):
        return days
    settlements = sorted(days.settlements.values(), key=lambda one: (one.day, one.currency), reverse=True)
    lines = [SettlementSummary(**format_summary(one, today)) for one in settlements[offset : offset + limit]]
    return SettlementsReply(data=lines, total=len(settlements), offset=offset, limit=limit)


async def show_settlement(
    request: SettlementRequest, merchant: Merchant, reader: ActionReader
) -> SettlementReply | Refusal:
    named = parse_settlement_id(request.settlement_id)
    if named is None:
        return UNKNOWN_SETTLEMENT
    day, currency = named
    async with reader.snapshot() as snapshot:
        today = lagos_day(await business_now(merchant.merchant_id, snapshot))
        days = await read_days(merchant.merchant_id, day, day, currency, snapshot)
    if isinstance(days, Refusal):
        return days
    settlement = days.settlements.get((day, currency))
    if settlement is None:
        return UNKNOWN_SETTLEMENT
    lines = [
        SettlementLine(kind=name, amount=format_minor(total.amount), count=total.count)  # type: ignore[arg-type]
        for name in (*LINES, PAID_OUT)
        if (total := settlement.lines.get(name)) is not None
    ]
    return SettlementReply(
        data=SettlementDetail(**format_summary(settlement, today), lines=lines, payouts=days.payouts)
    )


class Arrival(msgspec.Struct, frozen=True):
    """Money that reaches the wallet on a day, in minor units."""

    day: date
    currency: str
    amount: int


async def list_arrivals(merchant_id: int, today: date, days: int, reader: Reader) -> list[Arrival]:
    """Returns the settlements and released reserves that are due from today on and have not reached the wallet yet."""
    keys = {
        row_key(merchant_id, "gathering", f"{kind} merchant {day:%Y%m%d} {currency}"): (day, currency)
        for kind in ("settlement", "reserve")
        for day in (today + timedelta(days=n) for n in range(days))
        for currency in SETTLED_CURRENCIES
    }
    rows = await reader.fetch(ARRIVING, merchant_id, list(keys))
    return [Arrival(*keys[bytes(key)], amount) for key, amount in rows]


class FoundDays:
    """The settlements of some days, and the references of their payouts."""

    def __init__(self) -> None:
        self.settlements: dict[tuple[date, str], DaySettlement] = {}
        self.payouts: list[str] = []

    def of(self, day: date, currency: str) -> DaySettlement:
        return self.settlements.setdefault((day, currency), DaySettlement(day, currency, {}))


# Day, currency, line and reference.
SumKey = tuple[date, str, str, str]


async def read_days(
    merchant_id: int, first: date, last: date, currency: str | None, reader: Reader
) -> FoundDays | Refusal:
    """Returns the settlements of the days from the first to the last. The reader is a snapshot."""
    sums = await read_sums(merchant_id, first, last, reader)
    if isinstance(sums, Refusal):
        return sums
    keys = {reference: row_key(merchant_id, "gathering", reference) for _, _, _, reference in sums if reference}
    batches = {bytes(key): lines for key, *lines in await reader.fetch(BATCHES, merchant_id, list(keys.values()))}
    days = FoundDays()
    for (day, of, line, reference), total in sums.items():
        if currency is not None and of != currency:
            continue
        settlement = days.of(day, of)
        if line == "settled":
            add_batch(settlement, total.amount, batches.get(keys[reference], [0, 0, 0, 0]))
        else:
            settlement.add(line, total.amount, total.count)
        if line == PAID_OUT:
            days.payouts.append(reference)
    for (day, of), deductions in (await read_empty_batches(merchant_id, first, last, currency, reader)).items():
        add_batch(days.of(day, of), 0, deductions)
    days.payouts.sort()
    return days


async def read_empty_batches(
    merchant_id: int, first: date, last: date, currency: str | None, reader: Reader
) -> dict[tuple[date, str], list[Any]]:
    """Returns what was deducted of settlements of a later day that left nothing, by day and currency."""
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    keys = {
        row_key(merchant_id, "gathering", f"{SETTLEMENT_OF_MERCHANT} {day:%Y%m%d} {of}"): (day, of)
        for day in days
        for of in (SETTLED_CURRENCIES if currency is None else (currency,))
    }
    rows = await reader.fetch(EMPTY_BATCHES, merchant_id, list(keys))
    return {keys[bytes(key)]: deductions for key, *deductions in rows}


async def read_sums(merchant_id: int, first: date, last: date, reader: Reader) -> dict[SumKey, LineTotal] | Refusal:
    """Returns the sums of the days that are kept, with the postings behind their mark added."""
    # Each posting counts for the day of its own time, whatever its number.
    until = lagos_moment(last + timedelta(days=1), 0) + timedelta(seconds=DISORDER_SECONDS)
    period = await find_period(merchant_id, lagos_moment(first, 0), until, reader)
    mark = await reader.fetchrow(MARK, merchant_id)
    start = period.first if mark is None else max(period.first, mark[0] + 1)
    if period.end - start > MAX_POSTINGS_SUMMED:
        return TOO_MANY_POSTINGS
    rows = await reader.fetch(KEPT_SUMS, merchant_id, first, last)
    if start < period.end:
        rows = [*rows, *await reader.fetch(NEW_SUMS, merchant_id, start, period.end)]
    sums: dict[SumKey, LineTotal] = {}
    for day, currency, line, reference, amount, count in rows:
        if first <= day <= last:
            total = sums.setdefault((day, currency, line, reference), LineTotal())
            total.amount += amount
            total.count += count
    return sums


def add_batch(settlement: DaySettlement, amount: int, deductions: list[Any]) -> None:
    """Adds a settlement of a later day: what reached the wallet, and what was deducted before."""
    settlement.add("gross", amount + sum(deductions), 1)
    for name, part in zip(("fee", "vat", "split", "reserve"), deductions, strict=True):
        if part:
            settlement.add(name, -part, 1)


def format_summary(settlement: DaySettlement, today: date) -> dict[str, Any]:
    return {
        "settlement_id": settlement_id(settlement.day, settlement.currency),
        "day": settlement.day.isoformat(),
        "currency": settlement.currency,
        "state": "open" if settlement.day >= today else "settled",
        **{line: format_minor(settlement.amount(line)) for line in LINES},
        "net": format_minor(settlement.net),
        "paid_out": format_minor(settlement.amount(PAID_OUT)),
    }


# --- the transactions of a settlement -------------------------------------------------------------------------------

# Money of a later day waits for this long at most: business days, with weekends and holidays between them.
MAX_WAITING = timedelta(days=2 * MAX_SETTLEMENT_DAYS + 14)
HAS_WAITED = "select 1 from account where merchant_id = $1 and name = $2"
# $2, $3: the postings to read; $4: the group to continue after; $5: the day; $6: the wallet; $7: the waiting account.
# The postings of a settlement of a later day are those on the waiting account, besides its own way to the wallet.
TRANSACTIONS = f"""
    select g.key, g.at, g.reference, t.kind, t.order_ref, g.lines::text from (
        select group_seq as key, min(at) as at, min(reference) as reference, json_object_agg(line, amount) as lines
        from (
            select group_seq, min(at) as at, min(reference) as reference, line, sum(amount)::bigint as amount from (
                select p.group_seq, p.at, p.reference, {LINE} as line,
                    case when p.credit in ($6, $7) then p.amount else -p.amount end as amount
                from posting p where p.merchant_id = $1 and p.seq >= $2 and p.seq < $3 and p.group_seq > $4
                    and (p.credit = $7 or p.debit = $7
                        or (p.credit = $6 or p.debit = $6) and (p.at at time zone 'Africa/Lagos')::date = $5)
            ) m where line is not null and line not in ('settled', 'paid_out') group by group_seq, line
        ) l group by group_seq order by key limit $8) g
    left join transaction t on t.merchant_id = $1 and t.txn_ref = g.reference
    order by g.key
"""
LINES_DECODER = msgspec.json.Decoder(dict[str, int])


class SettledTransaction(msgspec.Struct, frozen=True):
    """The lines of a settlement that one transaction has. Amounts are in minor units."""

    number: int  # of its postings in the journal
    at: datetime
    reference: str
    kind: str | None  # None if it is not a transaction, such as a reserve that was released
    order_ref: str | None
    lines: dict[str, int]

    @property
    def net(self) -> int:
        return sum(self.lines.values())

    @property
    def charges(self) -> int:
        """Fee and VAT, which are negative."""
        return self.lines.get("fee", 0) + self.lines.get("vat", 0)

    @property
    def others(self) -> int:
        return self.net - self.charges - self.lines.get("gross", 0)


async def list_transactions(
    merchant_id: int, named: tuple[date, str], waiting: str, after: int, limit: int, reader: Reader
) -> list[SettledTransaction]:
    """Returns the transactions of the settlement of a day and currency, in the order of the journal. `waiting` is the
    account of money that is settled on that day, `after` the number of the last one that is known."""
    day, currency = named
    has_waited = await reader.fetchrow(HAS_WAITED, merchant_id, waiting)
    first = lagos_moment(day, 0) - (timedelta() if has_waited is None else MAX_WAITING)
    until = lagos_moment(day + timedelta(days=1), 0) + timedelta(seconds=DISORDER_SECONDS)
    period = await find_period(merchant_id, first, until, reader)
    start = max(period.first, after + 1)
    parameters = start, period.end, after, day, chart.wallet(currency), waiting, limit
    rows = await reader.fetch(TRANSACTIONS, merchant_id, *parameters)
    return [
        SettledTransaction(number, at, reference, kind, order_ref, LINES_DECODER.decode(lines))
        for number, at, reference, kind, order_ref, lines in rows
    ]
