"""Daily transaction totals of the overview page, cached per merchant.

A final transaction never changes, and none is written with a creation time more than LATEST_WRITE_DELAY in the past.
The cache therefore keeps the totals of all final transactions created before a moment, and the keys of those that were
still open. Each visit reads only newer transactions and the open keys, so that its cost does not grow with the volume.
"""

from datetime import date, datetime, timedelta

import msgspec

from kasuwa.console import store
from kasuwa.console.store import BusinessClock, DailyTotal
from kasuwa.core.calendar import LAGOS, lagos_day
from kasuwa.core.decision import Merchant
from kasuwa.core.reading import Reader
from kasuwa.core.transactions import FINAL

# A transaction is written within seconds of its creation time. This allows for clock differences between machines.
LATEST_WRITE_DELAY = timedelta(minutes=10)
# A merchant with more open transactions is not cached. The cache is cleared when it holds MAX_CACHED_MERCHANTS.
MAX_OPEN_KEYS = 10_000
MAX_CACHED_MERCHANTS = 2_000


class TotalsSnapshot(msgspec.Struct, frozen=True):
    """Totals of the final transactions created before `covered_until`, and the keys of those that were still open."""

    covered_until: datetime
    final_totals: tuple[DailyTotal, ...] = ()
    open_keys: tuple[bytes, ...] = ()


TotalsCache = dict[int, TotalsSnapshot]


async def read_daily_totals(
    reader: Reader, merchant: Merchant, first: date, clock: BusinessClock, cache: TotalsCache
) -> list[DailyTotal]:
    """Returns the totals of every day since `first`, and updates the cache.

    The cache is not used while business time is moved, because transactions may then be created at any time.
    """
    since, end = day_start(first), clock.now + LATEST_WRITE_DELAY
    if clock.is_moved:
        return await read_totals_between(reader, merchant, since, end)
    known = cache.get(merchant.merchant_id, TotalsSnapshot(since))
    until = max(known.covered_until, clock.now - LATEST_WRITE_DELAY)
    read = await read_totals_between(reader, merchant, max(known.covered_until, since), until)
    if known.open_keys:
        read += await store.list_totals_of_keys(reader, merchant, list(known.open_keys))
    live = await read_totals_between(reader, merchant, until, end)
    snapshot = extend_snapshot(known, until, read, first)
    store_snapshot(cache, merchant.merchant_id, snapshot)
    still_open = [line for line in read if line.status not in FINAL and line.day >= first]
    return [*snapshot.final_totals, *still_open, *live]


async def read_totals_between(reader: Reader, merchant: Merchant, since: datetime, until: datetime) -> list[DailyTotal]:
    first = lagos_day(since)
    days = [first + timedelta(days=n) for n in range((lagos_day(until) - first).days + 1)]
    bounds = [(day, max(since, day_start(day)), min(until, day_start(day + timedelta(days=1)))) for day in days]
    return await store.list_daily_totals(reader, merchant, bounds)


def day_start(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=LAGOS)


def extend_snapshot(known: TotalsSnapshot, until: datetime, read: list[DailyTotal], first: date) -> TotalsSnapshot:
    """Returns a snapshot that includes what was read since. Drops days before `first`.

    The old snapshot is not changed, because a concurrent visit may use it.
    """
    sums: dict[tuple[date, str, str], tuple[int, int]] = {}
    for line in (*known.final_totals, *read):
        if line.status in FINAL and line.day >= first:
            slot = (line.day, line.currency, line.status)
            count, amount = sums.get(slot, (0, 0))
            sums[slot] = (count + line.count, amount + line.amount)
    final_totals = tuple(DailyTotal(*slot, *figures) for slot, figures in sums.items())
    open_keys = tuple(key for line in read if line.day >= first for key in line.keys or ())
    return TotalsSnapshot(until, final_totals, open_keys)


def store_snapshot(cache: TotalsCache, merchant_id: int, snapshot: TotalsSnapshot) -> None:
    """Caches a snapshot, or drops the merchant's if too many transactions are open."""
    if len(cache) >= MAX_CACHED_MERCHANTS:
        cache.clear()
    if len(snapshot.open_keys) <= MAX_OPEN_KEYS:
        cache[merchant_id] = snapshot
    else:
        cache.pop(merchant_id, None)
