"""The operator's home page: volume, success by rail, and what needs attention."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

import msgspec
from starlette.responses import Response

from kasuwa.audit import invariant_results
from kasuwa.console.kit.charts import CHART_PATTERNS, draw_bar_chart
from kasuwa.console.kit.figures import classify_flow, group_by_bar, percentage, sum_by_currency
from kasuwa.console.kit.periods import PRESETS, bar_starts, read_period
from kasuwa.console.kit.visit import Visit
from kasuwa.console.merchant.overview import FLOW_TITLES, compare, make_money_chart, make_outcome_chart
from kasuwa.console.operator import home_reads
from kasuwa.core.calendar import lagos_day
from kasuwa.projections.daily_totals import DailyTotal, read_totals_of_all
from kasuwa.rails.watch import records
from kasuwa.rails.watch.records import RailBalance
from kasuwa.reconciliation.suspense import MoneyInSuspense, list_suspense
from kasuwa.terms.conversion import HOME
from kasuwa.transactions.transactions import SUCCESSFUL

SHOWN_ENDPOINTS = 5
SHOWN_NOTICES = 5
# Receipts that are counted, and days whose average tells what a day takes of a float.
MAX_RECEIPTS = 500
FLOAT_DAYS = 7
# The name of transactions that need no rail, such as repayments from the wallet.
NO_RAIL = "without a rail"


class RailFigures(msgspec.Struct):
    """Final transactions of one rail in a period."""

    name: str
    successful: int = 0
    failed: int = 0
    is_paused: bool = False

    @property
    def success_rate(self) -> str:
        return percentage(self.successful, self.successful + self.failed)


def sum_by_rail(totals: Iterable[DailyTotal], paused: set[str]) -> list[RailFigures]:
    """Returns the figures of each rail that had transactions, or is paused: the busiest first."""
    by_rail = {name: RailFigures(name, is_paused=True) for name in paused}
    for total in totals:
        name = total.rail or NO_RAIL
        rail = by_rail.setdefault(name, RailFigures(name))
        if total.status == SUCCESSFUL:
            rail.successful += total.count
        else:
            rail.failed += total.count
    return sorted(by_rail.values(), key=lambda rail: (-rail.successful - rail.failed, rail.name))


class ShortFloat(msgspec.Struct, frozen=True):
    """A balance of ours with a vendor that will not last the day. Amounts are in minor units."""

    rail: str
    currency: str
    amount: int
    expected: int  # what the rest of the day takes, as the days before did


def find_short_floats(balances: Iterable[RailBalance], totals: Iterable[DailyTotal], today: date) -> list[ShortFloat]:
    """Returns the balances that are below what the rest of today takes: the average of the days before without what
    today took already. Those below the least of the settings are among them."""
    before, spent = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for total in totals:
        if total.status == SUCCESSFUL and classify_flow(total.kind) == "out":
            (spent if total.day == today else before)[total.rail, total.currency] += total.amount
    short = []
    for balance in balances:
        key = balance.rail, balance.currency
        expected = max(0, before[key] // FLOAT_DAYS - spent[key])
        if balance.is_low or balance.amount < expected:
            short.append(ShortFloat(balance.rail, balance.currency, balance.amount, expected))
    return short


def sum_receipts(receipts: Iterable[MoneyInSuspense]) -> dict[str, int]:
    """Returns the sum of money in suspense by currency."""
    sums: Counter[str] = Counter()
    for receipt in receipts:
        sums[receipt.currency] += receipt.amount
    return dict(sorted(sums.items()))


async def show_home(visit: Visit) -> Response:
    now = datetime.now(UTC)
    period = read_period(visit.query, lagos_day(now))
    async with visit.snapshot() as reader:
        all_totals = await read_totals_of_all(reader, period.before.first, period.last)
        counts = await home_reads.read_counts(reader)
        late = await home_reads.list_late_jobs(reader)
        endpoints = await home_reads.list_failing_endpoints(reader, SHOWN_ENDPOINTS)
        notices = await home_reads.list_newest_notices(reader, SHOWN_NOTICES)
        health = await records.list_health(reader)
        stuck = await home_reads.list_stuck_orders(reader)
        balances = await records.list_balances(reader)
        receipts = await list_suspense(reader, MAX_RECEIPTS)
        today = lagos_day(now)
        recent = await read_totals_of_all(reader, today - timedelta(days=FLOAT_DAYS), today)
        checks = await invariant_results.list_results(reader)
    totals = [total for total in all_totals if period.contains(total.day)]
    figures = sum_by_currency(totals)
    before = sum_by_currency(total for total in all_totals if not period.contains(total.day))
    main = next(iter(figures), HOME)
    bars = group_by_bar(bar_starts(period), main, totals, ())
    return visit.render(
        "operator_home.html",
        now=now,
        period=period,
        presets=PRESETS,
        figures=[(figure, compare(figure, before.get(figure.currency))) for figure in figures.values()],
        flow_titles=FLOW_TITLES,
        main_currency=main,
        patterns=CHART_PATTERNS,
        money_chart=draw_bar_chart(make_money_chart(bars, period, main)),
        outcome_chart=draw_bar_chart(make_outcome_chart(bars, period)),
        rails=sum_by_rail(totals, {row.rail for row in health if row.is_paused}),
        counts=counts,
        late=late,
        endpoints=endpoints,
        stuck=stuck,
        short=find_short_floats(balances, recent, today),
        receipts=receipts,
        receipt_sums=sum_receipts(receipts),
        max_receipts=MAX_RECEIPTS,
        notices=notices,
        broken=[check for check in checks if check.violations],
        last_check=max((check.checked_at for check in checks), default=None),
        search="",
    )
