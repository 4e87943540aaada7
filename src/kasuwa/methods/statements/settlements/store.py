"""Reads settlements from the journal. Never writes; every WHERE has the merchant_id."""

from datetime import date, timedelta
from typing import Any

from kasuwa.core.calendar import lagos_day, lagos_moment
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.core.references import row_key
from kasuwa.core.settlements import parse_settlement_id, settlement_id
from kasuwa.methods.statements.settlements.model import (
    BACKWARDS,
    DEFAULT_DAYS,
    LINES,
    MAX_DAYS,
    MAX_POSTINGS_SUMMED,
    PAID_OUT,
    TOO_MANY_POSTINGS,
    UNKNOWN_SETTLEMENT,
    DaySettlement,
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
from kasuwa.methods.statements.store import business_now, find_period

# The line of a posting on a wallet. `other` is the account on its other side. Postings of a payment have its reference,
# which has no bars; those of transfers, bills and disputes have.
LINE = """
    case when kind = 'payment' and other like 'rail:%' then 'gross'
        when kind = 'settlement' and other like 'settling:%' then 'settled'
        when kind = 'reserve' or kind = 'reserve released' then 'reserve'
        when reference like 'GP|DS|%' or other like 'receivable:disputes:%' then 'disputes'
        when kind = 'refund' then 'refunds'
        when other like 'income:collection:%' then 'fee'
        when other like 'tax:vat:%' and reference not like '%|%' then 'vat'
        when other like 'beneficiary:%' then 'split'
        when reference like 'GP|PO|%' and amount < 0 and other like 'rail:bank:%' then 'paid_out' end
"""
ON_WALLET = """
    select at, reference, kind, split_part(debit, ':', 3) as currency,
        case when credit like 'wallet:%' then debit else credit end as other,
        case when credit like 'wallet:%' then amount else -amount end as amount
    from posting where merchant_id = $1 and seq >= $2 and seq < $3
        and (credit like 'wallet:main:%' or debit like 'wallet:main:%')
"""
# A settlement of a later day is named by its reference: its batch has the lines.
SUMS = f"""
    select day, currency, line, case when line in ('settled', 'paid_out') then reference else '' end,
        sum(amount)::bigint, count(*)
    from (select (at at time zone 'Africa/Lagos')::date as day, currency, reference, amount, {LINE} as line
        from ({ON_WALLET}) w) m
    where line is not null and ($4::text is null or currency = $4) group by 1, 2, 3, 4
"""
BATCHES = "select key, fee, vat, split, reserved from settlement_batch where merchant_id = $1 and key = any($2)"


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
        found = await read_days(merchant.merchant_id, first, last, currency, snapshot)
    if isinstance(found, Refusal):
        return found
    settlements = sorted(found.settlements.values(), key=lambda one: (one.day, one.currency), reverse=True)
    lines = [SettlementSummary(**summary_of(one, today)) for one in settlements[offset : offset + limit]]
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
        found = await read_days(merchant.merchant_id, day, day, currency, snapshot)
    if isinstance(found, Refusal):
        return found
    settlement = found.settlements.get((day, currency))
    if settlement is None:
        return UNKNOWN_SETTLEMENT
    lines = [
        SettlementLine(kind=name, amount=format_minor(total.amount), count=total.count)  # type: ignore[arg-type]
        for name in (*LINES, PAID_OUT)
        if (total := settlement.lines.get(name)) is not None
    ]
    return SettlementReply(data=SettlementDetail(**summary_of(settlement, today), lines=lines, payouts=found.payouts))


class FoundDays:
    """The settlements of some days, and the references of their payouts."""

    def __init__(self) -> None:
        self.settlements: dict[tuple[date, str], DaySettlement] = {}
        self.payouts: list[str] = []

    def of(self, day: date, currency: str) -> DaySettlement:
        return self.settlements.setdefault((day, currency), DaySettlement(day, currency, {}))


async def read_days(
    merchant_id: int, first: date, last: date, currency: str | None, reader: Reader
) -> FoundDays | Refusal:
    """Returns the settlements of the days from the first to the last."""
    until = lagos_moment(last + timedelta(days=1), 0)
    period = await find_period(merchant_id, lagos_moment(first, 0), until, reader)
    if period.end - period.first > MAX_POSTINGS_SUMMED:
        return TOO_MANY_POSTINGS
    rows = await reader.fetch(SUMS, merchant_id, period.first, period.end, currency)
    keys = {
        reference: row_key(merchant_id, "gathering", reference) for _, _, line, reference, _, _ in rows if reference
    }
    batches = {bytes(key): lines for key, *lines in await reader.fetch(BATCHES, merchant_id, list(keys.values()))}
    found = FoundDays()
    for day, of, line, reference, amount, count in rows:
        if not first <= day <= last:
            continue  # clocks of processes differ by moments
        settlement = found.of(day, of)
        if line == "settled":
            add_batch(settlement, amount, batches.get(keys[reference], [0, 0, 0, 0]))
        else:
            settlement.add(line, amount, count)
        if line == PAID_OUT:
            found.payouts.append(reference)
    found.payouts.sort()
    return found


def add_batch(settlement: DaySettlement, amount: int, deductions: list[Any]) -> None:
    """Adds a settlement of a later day: what reached the wallet, and what was deducted before."""
    settlement.add("gross", amount + sum(deductions), 1)
    for name, part in zip(("fee", "vat", "split", "reserve"), deductions, strict=True):
        if part:
            settlement.add(name, -part, 1)


def summary_of(settlement: DaySettlement, today: date) -> dict[str, Any]:
    return {
        "settlement_id": settlement_id(settlement.day, settlement.currency),
        "day": settlement.day.isoformat(),
        "currency": settlement.currency,
        "state": "open" if settlement.day >= today else "settled",
        **{line: format_minor(settlement.amount(line)) for line in LINES},
        "net": format_minor(settlement.net),
        "paid_out": format_minor(settlement.amount(PAID_OUT)),
    }
