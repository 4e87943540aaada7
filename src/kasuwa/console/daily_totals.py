"""What moved on each day: the figures of a merchant's first page, summed once and remembered.

A final transaction never changes, and none is written with a time that is long past. So what was created before a
moment is summed once: what had ended by then is kept as sums, what had not as keys, which are looked at again. Each
visit reads only what came since the last, and a million transactions a month cost as little as a hundred.
"""

from datetime import date, datetime, timedelta

import msgspec

from kasuwa.console import store
from kasuwa.console.store import BusinessClock, DailyTotal
from kasuwa.core.calendar import LAGOS, lagos_day
from kasuwa.core.decision import Merchant
from kasuwa.core.reading import Reader
from kasuwa.core.transactions import FINAL

# A transaction is written within seconds of its own time, whatever the clocks of several machines say: what is older
# than this is all there.
LATEST_WRITE_DELAY = timedelta(minutes=10)
# Who has more open than this is counted afresh each time, and who comes after so many merchants begins a new memory.
MAX_OPEN_KEYS = 10_000
MAX_CACHED_MERCHANTS = 2_000


class TotalsSnapshot(msgspec.Struct, frozen=True):
    """All that was created before `until`: what has ended, summed, and the keys of what had not when last seen."""

    covered_until: datetime
    final_totals: tuple[DailyTotal, ...] = ()
    open_keys: tuple[bytes, ...] = ()


TotalsCache = dict[int, TotalsSnapshot]


async def read_daily_totals(
    reader: Reader, merchant: Merchant, first: date, clock: BusinessClock, tallies: TotalsCache
) -> list[DailyTotal]:
    """The figures of every day from the first on. Where business time is moved, anything may come at any time: then
    nothing is remembered."""
    since, end = day_start(first), clock.now + LATEST_WRITE_DELAY
    if clock.is_moved:
        return await read_totals_between(reader, merchant, since, end)
    known = tallies.get(merchant.merchant_id, TotalsSnapshot(since))
    until = max(known.covered_until, clock.now - LATEST_WRITE_DELAY)
    read = await read_totals_between(reader, merchant, max(known.covered_until, since), until)
    if known.open_keys:
        read += await store.list_totals_of_keys(reader, merchant, list(known.open_keys))
    live = await read_totals_between(reader, merchant, until, end)
    tally = extend_snapshot(known, until, read, first)
    store_snapshot(tallies, merchant.merchant_id, tally)
    still_open = [line for line in read if line.status not in FINAL and line.day >= first]
    return [*tally.final_totals, *still_open, *live]


async def read_totals_between(reader: Reader, merchant: Merchant, since: datetime, until: datetime) -> list[DailyTotal]:
    first = lagos_day(since)
    days = [first + timedelta(days=n) for n in range((lagos_day(until) - first).days + 1)]
    bounds = [(day, max(since, day_start(day)), min(until, day_start(day + timedelta(days=1)))) for day in days]
    return await store.list_daily_totals(reader, merchant, bounds)


def day_start(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=LAGOS)


def extend_snapshot(known: TotalsSnapshot, until: datetime, read: list[DailyTotal], first: date) -> TotalsSnapshot:
    """With what was read since; days before the first are let go. A new one: a visit at the same time has its own."""
    sums: dict[tuple[date, str, str], tuple[int, int]] = {}
    for line in (*known.final_totals, *read):
        if line.status in FINAL and line.day >= first:
            slot = (line.day, line.currency, line.status)
            count, amount = sums.get(slot, (0, 0))
            sums[slot] = (count + line.count, amount + line.amount)
    ended = tuple(DailyTotal(*slot, *figures) for slot, figures in sums.items())
    return TotalsSnapshot(until, ended, tuple(key for line in read if line.day >= first for key in line.keys or ()))


def store_snapshot(tallies: TotalsCache, merchant_id: int, tally: TotalsSnapshot) -> None:
    if len(tallies) >= MAX_CACHED_MERCHANTS:
        tallies.clear()
    if len(tally.open_keys) <= MAX_OPEN_KEYS:
        tallies[merchant_id] = tally
    else:
        tallies.pop(merchant_id, None)
