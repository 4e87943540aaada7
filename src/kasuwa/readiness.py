"""Whether a process can do its work now: what /readyz says, and what the metrics know of its connections."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from kasuwa.db import migrate, presence
from kasuwa.db.clock import DatabaseClock
from kasuwa.db.connections import Pool
from kasuwa.db.writer import Writer
from kasuwa.observe.metrics import CLOCK_JUMPS, CLOCK_SKEW_SECONDS, POOL_SIZE, POOL_TIMEOUTS, POOL_USED, Metrics
from kasuwa.settings import Settings

ANSWER_SECONDS = 3.0


class ReadinessServices(Protocol):
    """What readiness looks at, of what a process is made of (app.House)."""

    settings: Settings
    reader: Pool
    pools: list[Pool]
    writer: Writer


class Readiness:
    """`await readiness()` is what keeps this deployment from serving, in words, or None. Every pool is asked for a
    connection, the writer for what became of its last batch, the database for its schema and for the parts beside."""

    def __init__(self, parts: ReadinessServices) -> None:
        self._parts = parts
        self._wanted = {presence.WORKER_LOCK_ID: "no job worker is running"}
        if parts.settings.console == "on":
            self._wanted[presence.CONSOLE_LOCK_ID] = "the console is not listening"

    async def __call__(self) -> str | None:
        return (
            self._parts.writer.find_problem()
            or await find_pool_problem(self._parts.pools)
            or await self._check_database()
        )

    async def _check_database(self) -> str | None:
        try:
            async with asyncio.timeout(ANSWER_SECONDS), self._parts.reader.acquire() as connection:
                version = await migrate.schema_version(connection)
                present = await presence.find_present_parts(connection)
        except Exception as error:
            return f"the database does not answer ({type(error).__name__})"
        # A newer one is fine: whoever upgrades migrates first, and we serve until we are replaced.
        if version < migrate.newest_known_version():
            return f"the schema is at migration {version}, this version needs {migrate.newest_known_version()}"
        return next((trouble for lock, trouble in self._wanted.items() if lock not in present), None)


async def find_pool_problem(pools: Sequence[Pool]) -> str | None:
    """What keeps any of these pools from being used; all are asked at once."""
    found = await asyncio.gather(*(pool.find_problem() for pool in pools))
    return next((trouble for trouble in found if trouble is not None), None)


def watch_clock(clock: DatabaseClock, meter: Metrics) -> None:
    """Have the metrics follow how far this process's clock is from the database's, and every jump of either."""
    counted: Counter[str] = Counter()

    def look() -> None:
        meter.gauge(CLOCK_SKEW_SECONDS, clock.skew_seconds, meter.process_name)
        for whose, jumps in clock.jumps.items():
            if jumps > counted[whose]:
                meter.count(CLOCK_JUMPS, whose, by=jumps - counted[whose])
                counted[whose] = jumps

    meter.add_collector(look)


def watch_pool(pool: Pool, meter: Metrics) -> None:
    """Have the metrics follow a pool. Its own count begins anew with each process, the metrics' does not."""
    counted = 0

    def look() -> None:
        nonlocal counted
        meter.gauge(POOL_SIZE, pool.size, meter.process_name, pool.name)
        meter.gauge(POOL_USED, pool.used_count, meter.process_name, pool.name)
        if pool.timeout_count > counted:
            meter.count(POOL_TIMEOUTS, pool.name, by=pool.timeout_count - counted)
            counted = pool.timeout_count

    meter.add_collector(look)
