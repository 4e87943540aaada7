"""The overview page of a merchant: balances, totals of today and of the last thirty days, latest transactions."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from starlette.responses import Response

from kasuwa.console import store
from kasuwa.console.charts import Bar, draw_bar_chart
from kasuwa.console.daily_totals import read_daily_totals
from kasuwa.console.store import DailyTotal, TransactionFilter
from kasuwa.console.visit import Visit
from kasuwa.core.calendar import lagos_day
from kasuwa.core.transactions import FAILED, SUCCESSFUL
from kasuwa.methods.resources.store import show_wallet
from kasuwa.methods.resources.wire import WalletRequest

DAYS_SHOWN = 30
LATEST_COUNT = 6


class CurrencyTotal(msgspec.Struct):
    """Totals of one currency. `amount` is the sum of successful transactions in minor units, the others are counts."""

    currency: str
    amount: int = 0
    successful: int = 0
    failed: int = 0
    open: int = 0

    @property
    def success_rate(self) -> str:
        """Returns the percentage of final transactions that succeeded. Open ones do not count."""
        final = self.successful + self.failed
        return f"{self.successful * 1000 // final / 10:.1f} %" if final else "–"


def sum_by_currency(days: list[DailyTotal]) -> list[CurrencyTotal]:
    totals: dict[str, CurrencyTotal] = {}
    for line in days:
        total = totals.setdefault(line.currency, CurrencyTotal(line.currency))
        if line.status == SUCCESSFUL:
            total.amount += line.amount
            total.successful += line.count
        elif line.status == FAILED:
            total.failed += line.count
        else:
            total.open += line.count
    return [totals[currency] for currency in sorted(totals)]


def count_by_day(days: list[DailyTotal], first: Any) -> list[Bar]:
    """Returns one bar for each of the days shown, also for days without transactions."""
    counts = {first + timedelta(days=n): [0, 0] for n in range(DAYS_SHOWN)}
    for line in days:
        if line.day in counts:
            counts[line.day][line.status != SUCCESSFUL] += line.count
    return [Bar(day, good, rest) for day, (good, rest) in counts.items()]


async def show_overview(visit: Visit) -> Response:
    merchant = visit.merchant
    async with visit.snapshot() as reader:
        wallets = await show_wallet(WalletRequest(), merchant, reader)
        clock = await store.read_clock(reader, merchant, datetime.now(UTC))
        today = lagos_day(clock.now)
        first = today - timedelta(days=DAYS_SHOWN - 1)
        days = await read_daily_totals(reader, merchant, first, clock, visit.services.totals_cache)
        latest = await store.list_transactions(reader, merchant, TransactionFilter(), limit=LATEST_COUNT)
        endpoint_failure = await store.find_endpoint_failure(reader, merchant)
    bars = count_by_day(days, first)
    return visit.render(
        "overview.html",
        now=clock.now,
        today=sum_by_currency([line for line in days if line.day == today]),
        month=sum_by_currency(days),
        chart=draw_bar_chart(f"Transactions per day, {DAYS_SHOWN} days to {today:%d %B}", bars),
        bars=[bar for bar in bars if bar.successful or bar.other],
        wallets=wallets.data,
        latest=latest,
        endpoint_failure=endpoint_failure,
    )
