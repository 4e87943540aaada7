"""The first page of a merchant: what it has, what moved today and in thirty days."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from starlette.responses import Response

from kasuwa.console import store
from kasuwa.console.charts import Bar, bars
from kasuwa.console.days import days_since
from kasuwa.console.store import Day, Filter
from kasuwa.console.visit import Visit
from kasuwa.core.calendar import lagos_day
from kasuwa.core.transactions import FAILED, SUCCESSFUL
from kasuwa.methods.resources.store import show_wallet
from kasuwa.methods.resources.wire import WalletRequest

DAYS_SHOWN = 30
LATEST = 6


class Sum(msgspec.Struct):
    """What succeeded, and how much of all that ended did."""

    currency: str
    amount: int = 0
    good: int = 0
    failed: int = 0
    open: int = 0

    @property
    def rate(self) -> str:
        """Of what has ended; what is open says nothing yet."""
        ended = self.good + self.failed
        return f"{self.good * 1000 // ended / 10:.1f} %" if ended else "–"


def summed(days: list[Day]) -> list[Sum]:
    found: dict[str, Sum] = {}
    for line in days:
        total = found.setdefault(line.currency, Sum(line.currency))
        if line.status == SUCCESSFUL:
            total.amount += line.amount
            total.good += line.count
        elif line.status == FAILED:
            total.failed += line.count
        else:
            total.open += line.count
    return [found[currency] for currency in sorted(found)]


def by_day(days: list[Day], first: Any) -> list[Bar]:
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
        days = await days_since(reader, merchant, first, clock, visit.parts.tallies)
        latest = await store.list_transactions(reader, merchant, Filter(), most=LATEST)
        trouble = await store.endpoint_trouble(reader, merchant)
    drawn = by_day(days, first)
    return visit.show(
        "overview.html",
        now=clock.now,
        today=summed([line for line in days if line.day == today]),
        month=summed(days),
        chart=bars(f"Transactions a day, {DAYS_SHOWN} days to {today:%d %B}", drawn),
        drawn=[bar for bar in drawn if bar.good or bar.rest],
        wallets=wallets.data,
        latest=latest,
        trouble=trouble,
    )
