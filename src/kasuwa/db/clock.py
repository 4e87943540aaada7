"""The time that everything in the database is written by: the database's own, as this process measured it.

A process's wall clock may jump, and two machines' clocks differ. So the wall clock is compared with the database's when
the writer connects and every few seconds after; in between, time goes on by the monotonic clock, which does not jump.
While the two agree the process's own clock is used, so that all processes of one machine agree to the microsecond, else
the database's. A jump of either is logged and counted (docs/decisions/0024).
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

import structlog

from kasuwa.db import connections
from kasuwa.db.connection_pool import QueryRunner

# Clocks that differ by less than this agree. It is above what a slow answer adds to a measurement.
MAX_AGREED_SKEW_SECONDS = 0.5
# A clock that gained or lost as much between two measurements was set, not corrected.
JUMP_SECONDS = 5.0
MEASURE_SECONDS = 10.0
# A measurement that took longer than this says too little.
MAX_ROUND_TRIP_SECONDS = 1.0

DATABASE_CLOCK = "select extract(epoch from clock_timestamp())::float8"

log = structlog.get_logger("kasuwa.db")


class DatabaseClock:
    """`now()` is the database's time. The two sources of time can be given, for tests."""

    def __init__(self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        self._monotonic = monotonic
        # Each is how far a clock is ahead of the monotonic one: this process's when it was last looked at, the
        # database's when it was last measured, the one that is used, and the one that was used first.
        self._process = wall() - monotonic()
        self._database: float | None = None
        self._used = self._first = self._process
        self.jumps: Counter[str] = Counter()

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._monotonic() + self._used, UTC)

    def earliest_now(self) -> datetime:
        """The earliest time that any clock tells: what is over by this one is surely over. Besides the process's and
        the database's there is a third, which started with the process and was never set since."""
        monotonic = self._monotonic()
        return datetime.fromtimestamp(min(self._wall(), monotonic + min(self._used, self._first)), UTC)

    @property
    def skew_seconds(self) -> float:
        """How far this process's clock is ahead of the database's; 0 until that was measured."""
        if self._database is None:
            return 0.0
        return self._wall() - self._monotonic() - self._database

    async def measure(self, connection: QueryRunner) -> None:
        """Compare the clocks. One statement; what it raises is the connection's."""
        sent = self._monotonic()
        told = await connection.fetchval(DATABASE_CLOCK)
        took = self._monotonic() - sent
        if took > MAX_ROUND_TRIP_SECONDS and self._database is not None:
            return
        self._learn(self._wall() - self._monotonic(), told - (sent + took / 2))

    def _learn(self, process: float, database: float) -> None:
        self._note_jump("process", process - self._process)
        self._process = process
        is_first = self._database is None
        if self._database is not None:
            self._note_jump("database", database - self._database)
        self._database = database
        self._used = process if abs(process - database) < MAX_AGREED_SKEW_SECONDS else database
        if is_first:
            self._first = self._used

    def _note_jump(self, whose: str, seconds: float) -> None:
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
