"""Readiness of a process for /readyz, and the metrics of its connection pools and its clock."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from kasuwa.engine.writer import Writer
from kasuwa.jobs import presence
from kasuwa.observe.metrics import CLOCK_JUMPS, CLOCK_SKEW_SECONDS, POOL_SIZE, POOL_TIMEOUTS, POOL_USED, Metrics
from kasuwa.postgres import migrate
from kasuwa.postgres.advisory_locks import AdvisoryLock
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connection_pool import Pool
from kasuwa.settings.settings import Settings

ANSWER_SECONDS = 3.0


class ReadinessServices(Protocol):
    """The services of a process that readiness checks (composition.Services)."""

    settings: Settings
    reader: Pool
    pools: list[Pool]
    writer: Writer


class Readiness:
    """`await readiness()` returns the problem that keeps this deployment from serving, as a sentence, or None.

    It asks every pool for a connection, the writer for the outcome of its last batch, and the database for its schema
    version and for the other processes (jobs/presence.py)."""

    def __init__(self, parts: ReadinessServices) -> None:
        self._parts = parts
        self._wanted = {AdvisoryLock.WORKER: "no job worker is running"}
        if parts.settings.console:
            self._wanted[AdvisoryLock.CONSOLE] = "the console is not listening"

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
        # A newer schema is fine: an upgrade migrates first, and this version serves until it is replaced.
        if version < migrate.newest_known_version():
            return f"the schema is at migration {version}, this version needs {migrate.newest_known_version()}"
        return next((problem for lock, problem in self._wanted.items() if lock not in present), None)


async def find_pool_problem(pools: Sequence[Pool]) -> str | None:
    """Returns the first problem of these pools, or None. Asks all of them at once."""
    problems = await asyncio.gather(*(pool.find_problem() for pool in pools))
    return next((problem for problem in problems if problem is not None), None)


def watch_clock(clock: DatabaseClock, metrics: Metrics) -> None:
    """Registers metrics of the difference between this process's clock and the database's, and of jumps of either."""
    counted: Counter[str] = Counter()

    def collect() -> None:
        metrics.gauge(CLOCK_SKEW_SECONDS, clock.skew_seconds, metrics.process_name)
        for whose, jumps in clock.jumps.items():
            if jumps > counted[whose]:
                metrics.count(CLOCK_JUMPS, whose, by=jumps - counted[whose])
                counted[whose] = jumps

    metrics.add_collector(collect)


def watch_pool(pool: Pool, metrics: Metrics) -> None:
    """Registers metrics of a pool. The pool counts from 0 in each process, so only the increase is added."""
    counted = 0

    def collect() -> None:
        nonlocal counted
        metrics.gauge(POOL_SIZE, pool.size, metrics.process_name, pool.name)
        metrics.gauge(POOL_USED, pool.used_count, metrics.process_name, pool.name)
        if pool.timeout_count > counted:
            metrics.count(POOL_TIMEOUTS, pool.name, by=pool.timeout_count - counted)
            counted = pool.timeout_count

    metrics.add_collector(collect)
