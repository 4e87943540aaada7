"""How long calls of vendors took, by rail, operation and hour: counted in memory, and written every few seconds.

A call is counted in the first class of DURATIONS that it fits, so that percentiles are known within a class. What a
process has counted since it wrote last is lost if it dies.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from kasuwa.core.reading import Reader
from kasuwa.postgres.connection_pool import Connection

# The classes, in milliseconds: a class has the calls that took at most so long, and longer than the one before.
DURATIONS = (25, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000, 1500, 2000, 3000, 4000, 5000, 7500, 10_000, 60_000)
KEPT_DAYS = 90

ADD = """
    insert into rail_timing (hour, rail, operation, is_answered, duration_ms, calls)
    select date_trunc('hour', now()), u.rail, u.operation, u.is_answered, u.duration_ms, u.calls
    from unnest($1::text[], $2::text[], $3::boolean[], $4::int[], $5::bigint[])
        u (rail, operation, is_answered, duration_ms, calls)
    on conflict (rail, operation, hour, is_answered, duration_ms)
        do update set calls = rail_timing.calls + excluded.calls
"""
DELETE_OLD = "delete from rail_timing where hour < now() - make_interval(days => $1)"
SELECT_TIMINGS = """
    select rail, operation, hour, is_answered, duration_ms, calls from rail_timing
    where hour >= $1 and hour < $2
"""


class CallClass(msgspec.Struct, frozen=True, order=True):
    """The calls that are counted as one."""

    rail: str
    operation: str  # such as POST /transfer
    is_answered: bool
    duration_ms: int


class CallTimings:
    """The calls of one process that are not written yet."""

    def __init__(self) -> None:
        self._calls: Counter[CallClass] = Counter()

    def add(self, rail: str, operation: str, is_answered: bool, seconds: float) -> None:
        place = min(bisect_left(DURATIONS, seconds * 1000), len(DURATIONS) - 1)
        self._calls[CallClass(rail, operation, is_answered, DURATIONS[place])] += 1

    def take(self) -> Mapping[CallClass, int]:
        """Returns what was counted since the last time."""
        taken, self._calls = self._calls, Counter()
        return taken

    def give_back(self, taken: Mapping[CallClass, int]) -> None:
        """Adds what could not be written."""
        self._calls.update(taken)


async def store_timings(connection: Connection, timings: CallTimings) -> None:
    """Adds what was counted to the table, and deletes what is too old. On failure it stays counted."""
    taken = timings.take()
    if not taken:
        return
    columns = zip(
        *((one.rail, one.operation, one.is_answered, one.duration_ms, n) for one, n in sorted(taken.items())),
        strict=True,
    )
    try:
        await connection.execute(ADD, *map(list, columns))
    except BaseException:
        timings.give_back(taken)
        raise
    await connection.execute(DELETE_OLD, KEPT_DAYS)


class CallCount(msgspec.Struct, frozen=True):
    """A row of the table."""

    rail: str
    operation: str
    hour: datetime
    is_answered: bool
    duration_ms: int
    calls: int


async def list_timings(reader: Reader, since: datetime, until: datetime) -> list[CallCount]:
    return [CallCount(*row) for row in await reader.fetch(SELECT_TIMINGS, since, until)]


class CallFigures(msgspec.Struct, frozen=True):
    """Sums of calls. Durations are those of calls that were answered, as the end of their class."""

    calls: int
    answered: int
    p50: int | None
    p95: int | None


def sum_calls(counts: Iterable[CallCount]) -> CallFigures:
    """Returns the figures of calls together."""
    answered, calls = Counter[int](), 0
    for count in counts:
        calls += count.calls
        if count.is_answered:
            answered[count.duration_ms] += count.calls
    return CallFigures(calls, answered.total(), find_percentile(answered, 50), find_percentile(answered, 95))


def find_percentile(durations: Mapping[int, int], percent: int) -> int | None:
    """Returns the duration that so many percent of the calls do not exceed. None without calls."""
    needed, counted = sum(durations.values()) * percent, 0
    for duration in sorted(durations):
        counted += durations[duration]
        if counted * 100 >= needed:
            return duration
    return None
