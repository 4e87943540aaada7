"""A connection pool that detects nested acquisition.

Tasks that hold a connection and wait for a second one of the same pool can deadlock: as many of them as the pool has
connections suffice. So the pool knows what the current task holds. A nested acquire is a bug: it raises NestedAcquire
if RAISE_ON_NESTED_ACQUIRE is set in the environment, as in tests, and is logged otherwise. Every wait for a connection
has a timeout, and so has every use of one.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import asyncpg
import structlog

from kasuwa.concurrency.exhaustion import ACQUIRE_SECONDS, PoolExhausted
from kasuwa.core.batched_query import BatchedQuery

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Connection = asyncpg.Connection[Any] | PoolConnectionProxy[Any]
    DriverPool = asyncpg.Pool[Any]
else:  # the driver itself is not generic
    Connection = asyncpg.Connection
    DriverPool = asyncpg.Pool

# How long a connection may take to become usable again after its statement timed out. Then it is closed.
RELEASE_SECONDS = 1.0
PROBE_SECONDS = 2.0
# How long a connection may be used before it is aborted: for the longest export, and never without an end.
USE_SECONDS = 300.0
# How long closing a pool waits for its connections. Then those that are left are aborted.
CLOSE_SECONDS = 5.0

log = structlog.get_logger("kasuwa.postgres")


class QueryRunner(Protocol):
    """The interface that connections and pools share. Each statement is its own transaction."""

    async def fetch(self, query: str, *args: Any) -> list[Any]: ...

    async def fetchrow(self, query: str, *args: Any) -> Any: ...

    async def fetchval(self, query: str, *args: Any) -> Any: ...

    async def execute(self, query: str, *args: Any) -> Any: ...


class NestedAcquire(Exception):
    """Raised when a task acquires a connection while it holds one of the same pool."""


class HeldConnection:
    """A connection in use. Tasks started while it is held inherit it in their context, even after its release."""

    __slots__ = ("is_held", "pool")

    def __init__(self, pool: "Pool") -> None:
        self.pool = pool
        self.is_held = True


HELD_CONNECTIONS: ContextVar[tuple[HeldConnection, ...]] = ContextVar("held connections", default=())


class ConnectionSource:
    """Runs each statement on a connection of its own, which `acquire` yields."""

    __slots__ = ()

    def acquire(self) -> AbstractAsyncContextManager[Any]:
        raise NotImplementedError

    async def fetch(self, query: str, *args: Any) -> list[Any]:
        async with self.acquire() as connection:
            rows: list[Any] = await connection.fetch(query, *args)
        return rows

    async def fetchrow(self, query: str, *args: Any) -> Any:
        async with self.acquire() as connection:
            return await connection.fetchrow(query, *args)

    async def fetchval(self, query: str, *args: Any) -> Any:
        async with self.acquire() as connection:
            return await connection.fetchval(query, *args)

    async def execute(self, query: str, *args: Any) -> Any:
        async with self.acquire() as connection:
            return await connection.execute(query, *args)

    async def fetch_requests(self, query: BatchedQuery, requests: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Runs a batched query for several requests."""
        async with self.acquire() as connection:
            rows: list[Any] = await connection.fetch_requests(query, requests)
        return rows


class Pool(ConnectionSource):
    """A pool of `size` connections. `timeout_count` counts waits that ended without a connection."""

    def __init__(
        self,
        name: str,
        driver: DriverPool,
        size: int,
        acquire_seconds: float = ACQUIRE_SECONDS,
        connect_seconds: float = ACQUIRE_SECONDS,
    ) -> None:
        self.name = name
        self.size = size
        self.acquire_seconds = acquire_seconds
        self.connect_seconds = connect_seconds
        self.used_count = 0
        self.timeout_count = 0
        self._driver = driver
        self._reported_places: set[str] = set()

    def acquire(self, *, seconds: float | None = None) -> "AcquireContext":
        """Returns a context manager that yields a connection. It raises PoolExhausted if none is free in time.

        A connection that must be opened first may take longer than one that is waited for."""
        if seconds is None:
            opens_one = not self._driver.get_idle_size() and self._driver.get_size() < self.size
            seconds = max(self.acquire_seconds, self.connect_seconds) if opens_one else self.acquire_seconds
        return AcquireContext(self, self._driver, seconds)

    async def find_problem(self) -> str | None:
        """Returns why the pool cannot be used now, or None. Used by the readiness check."""
        try:
            async with self.acquire(seconds=PROBE_SECONDS) as connection:
                await connection.fetchval("select 1", timeout=PROBE_SECONDS)
        except PoolExhausted:
            return f"all {self.size} connections of the pool {self.name} are in use"
        except Exception as error:
            return f"the database does not answer ({self.name}: {type(error).__name__})"
        return None

    async def close(self) -> None:
        """Closes the connections, as soon as each is released. The driver aborts those that are left after a while."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._driver.close()

    def report_nested_acquire(self) -> None:
        place = find_caller()
        if os.environ.get("RAISE_ON_NESTED_ACQUIRE"):
            raise NestedAcquire(f"{self.name} at {place}")
        if place not in self._reported_places:
            self._reported_places.add(place)
            log.error("a connection was taken under one of the same pool", pool=self.name, place=place)


class AcquireContext:
    """One use of a connection, from `async with` to its end."""

    _connection: Any

    __slots__ = ("_connection", "_driver", "_end_operation", "_hold", "_outer_holds", "_pool", "_seconds")

    def __init__(self, pool: Pool, driver: DriverPool, seconds: float) -> None:
        self._pool = pool
        self._driver = driver
        self._seconds = seconds

    async def __aenter__(self) -> Connection:
        pool, before = self._pool, HELD_CONNECTIONS.get()
        for hold in before:
            if hold.is_held and hold.pool is pool:
                pool.report_nested_acquire()
        try:
            held: Any = await self._driver.acquire(timeout=self._seconds)
        except TimeoutError:
            if pool.used_count < pool.size:
                raise
            pool.timeout_count += 1
            raise PoolExhausted(f"no connection of the pool {pool.name} is free") from None
        pool.used_count += 1
        self._connection, self._end_operation = held, held.end_operation
        held.start_operation(USE_SECONDS)
        self._outer_holds, self._hold = before, HeldConnection(pool)
        HELD_CONNECTIONS.set((*before, self._hold))
        connection: Connection = held
        return connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._hold.is_held = False
        self._end_operation()
        HELD_CONNECTIONS.set(self._outer_holds)
        try:
            # The driver closes a connection that cannot be released in time. Its results are already known.
            with contextlib.suppress(Exception):
                await self._driver.release(self._connection, timeout=RELEASE_SECONDS)
        finally:
            self._pool.used_count -= 1


def find_caller() -> str:
    """Returns file and line of the code outside this module that acquired a connection."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return f"{frame.f_code.co_filename.rpartition('kasuwa/')[2]}:{frame.f_lineno}"
