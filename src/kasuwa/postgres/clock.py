"""The clock that timestamps are taken from: the database's time, as this process measured it.

A process's wall clock may jump, and the clocks of two machines differ. So the wall clock is compared with the
database's when the writer connects and every few seconds. In between, time advances with the monotonic clock, which
does not jump. While both agree, the process's clock is used, so that processes of one machine agree to the microsecond.
Otherwise the database's is used. Jumps of either are logged and counted (docs/decisions/0024).
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

import structlog

from kasuwa.postgres import connections
from kasuwa.postgres.connection_pool import QueryRunner

# Clocks that differ by less than this agree. It is more than the error of a slow measurement.
MAX_AGREED_SKEW_SECONDS = 0.5
# A larger change between two measurements is a jump: the clock was set, not slewed.
JUMP_SECONDS = 5.0
MEASURE_SECONDS = 10.0
# A measurement that took longer than this is discarded as too inexact.
MAX_ROUND_TRIP_SECONDS = 1.0

DATABASE_CLOCK = "select extract(epoch from clock_timestamp())::float8"

log = structlog.get_logger("kasuwa.postgres")


class DatabaseClock:
    """The database's time. Tests may pass their own wall and monotonic clocks."""

    def __init__(self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        self._monotonic = monotonic
        # Each offset is a clock minus the monotonic clock: this process's and the database's when last measured, the
        # one in use, and the one that was used first.
        self._process_offset = wall() - monotonic()
        self._database_offset: float | None = None
        self._used_offset = self._first_offset = self._process_offset
        self.jumps: Counter[str] = Counter()

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._monotonic() + self._used_offset, UTC)

    def earliest_now(self) -> datetime:
        """Returns the earliest time that any known clock shows: what has expired by then has expired for certain.

        The clocks are the process's, the database's, and one that has run on unchanged since the process started."""
        monotonic = self._monotonic()
        return datetime.fromtimestamp(min(self._wall(), monotonic + min(self._used_offset, self._first_offset)), UTC)

    @property
    def skew_seconds(self) -> float:
        """Seconds by which this process's clock is ahead of the database's. 0 before the first measurement."""
        if self._database_offset is None:
            return 0.0
        return self._wall() - self._monotonic() - self._database_offset

    async def measure(self, connection: QueryRunner) -> None:
        """Compares the clocks with one statement. Raises what the connection raises."""
        started = self._monotonic()
        answered = await connection.fetchval(DATABASE_CLOCK)
        took = self._monotonic() - started
        if took > MAX_ROUND_TRIP_SECONDS and self._database_offset is not None:
            return
        self._update(self._wall() - self._monotonic(), answered - (started + took / 2))

    def _update(self, process: float, database: float) -> None:
        self._report_jump("process", process - self._process_offset)
        self._process_offset = process
        is_first = self._database_offset is None
        if self._database_offset is not None:
            self._report_jump("database", database - self._database_offset)
        self._database_offset = database
        self._used_offset = process if abs(process - database) < MAX_AGREED_SKEW_SECONDS else database
        if is_first:
            self._first_offset = self._used_offset

    def _report_jump(self, whose: str, seconds: float) -> None:
        if abs(seconds) >= JUMP_SECONDS:
            self.jumps[whose] += 1
            log.warning("a clock jumped", clock=whose, seconds=round(seconds, 3))

    async def keep_measuring(self, connection: QueryRunner) -> None:
        while True:
            await asyncio.sleep(MEASURE_SECONDS)
            try:
                await self.measure(connection)
            except Exception as error:
                if not connections.is_connection_error(error):
                    log.error("the clocks were not compared", error=type(error).__name__)
