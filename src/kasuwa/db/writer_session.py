"""The connections that a writer commits with, and what became of a commit whose answer was lost.

Every statement has a deadline (`pool.WRITE_SECONDS`). One that gets no answer in time is a lost commit like any other:
the server's process that was committing is ended, and the batch's mark is looked for on a new connection.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import asyncpg
import msgspec
import structlog

from kasuwa.db import connections
from kasuwa.db.batch import BatchState, Result
from kasuwa.db.batch_write import build_write
from kasuwa.db.bulk_sql import statement_sql
from kasuwa.db.clock import DatabaseClock
from kasuwa.db.connections import Connection
from kasuwa.db.journal import CommitMarkRow
from kasuwa.db.primary import CONNECT_SECONDS

RETRY_SECONDS = 0.1

# Which of the server's processes serves a connection; a number alone may be given out again.
SELECT_BACKEND = "select pid, backend_start from pg_stat_activity where pid = pg_backend_pid()"
END_BACKEND = "select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and backend_start = $2"
IS_ALIVE = "select exists (select 1 from pg_stat_activity where pid = $1 and backend_start = $2)"
# Written once more: what was kept through a crash need not be on the synchronous standby yet. This commit waits for it.
CONFIRM_COMMIT_MARK = "update commit_mark set mark = mark where merchant_id = $1 and mark = $2 returning true"

# Hears of every commit: whether it was locked, how many writes it held, and how many seconds it took.
CommitObserver = Callable[[bool, int, float], None]

log = structlog.get_logger("kasuwa.db")


class DatabaseUnreachable(Exception):
    """The database did not answer in time. What was asked did not happen, unless `unsure`."""

    def __init__(self, *, unsure: bool) -> None:
        super().__init__("the database cannot be reached")
        self.is_outcome_unknown = unsure


class VersionConflict(Exception):
    """A book was not at the version it was expected to have: somebody else wrote."""


class Backend(msgspec.Struct, frozen=True):
    """A process of the server."""

    pid: int
    started_at: datetime


class CommitInterrupted(Exception):
    """The connection broke, or said nothing in time, while COMMIT was under way in `backend`."""

    def __init__(self, mark: CommitMarkRow, backend: Backend) -> None:
        super().__init__(mark.mark.hex())
        self.mark = mark
        self.backend = backend


class DecidedBatch(msgspec.Struct):
    """A batch that is decided and not yet committed."""

    state: BatchState
    results: list[Result]


class WriterSession:
    """A connection that writes and one that reads beside it. `is_failing` from the moment in which the database is
    found to be away until something succeeds again."""

    def __init__(
        self,
        dsn: str,
        clock: DatabaseClock,
        on_commit: CommitObserver,
        statement_seconds: float = connections.WRITE_SECONDS,
    ) -> None:
        self._dsn = dsn
        self._clock = clock
        self._heard = on_commit
        self._seconds = statement_seconds
        self._writes: Connection | None = None
        self._reads: Connection | None = None
        self._backend: Backend | None = None
        self._warned = False
        self.is_failing = False

    async def write_connection(self) -> Connection:
        """The connection that writes, with no transaction open between batches."""
        if self._writes is None or self._writes.is_closed():
            async with self._noting_failure(), asyncio.timeout(CONNECT_SECONDS):
                connection = await connections.connect_as_owner(
                    self._dsn, connections.WRITER_SETTINGS, statement_seconds=self._seconds
                )
                try:
                    [serving] = await connection.fetch(SELECT_BACKEND)
                    self._backend = Backend(*serving)
                    await self._clock.measure(connection)
                    await connections.set_application_role(connection)
                except BaseException:
                    connection.terminate()
                    raise
            self._writes = connection
            self._writes.add_log_listener(self._hear)
        return self._writes

    def _hear(self, connection: Any, message: Any) -> None:
        """A commit that only warns may not have reached its synchronous standby: its outcome is not known."""
        if message.severity_en == "WARNING":
            self._warned = True

    async def read_connection(self) -> Connection:
        """The connection that reads for a batch while the one before it is being committed."""
        if self._reads is None or self._reads.is_closed():
            async with self._noting_failure():
                self._reads = await connections.connect(
                    self._dsn, connections.WRITER_SETTINGS, statement_seconds=self._seconds
                )
        return self._reads

    @contextlib.asynccontextmanager
    async def _noting_failure(self) -> Any:
        try:
            yield
        except Exception:
            self.is_failing = True
            raise

    def disconnect(self) -> None:
        for connection in (self._writes, self._reads):
            if connection is not None:
                with contextlib.suppress(Exception):
                    connection.terminate()
        self._writes = self._reads = None

    async def probe(self) -> None:
        """See whether the database can be written to again."""
        try:
            connection = await self.write_connection()
            self.is_failing = await connection.fetchval("show transaction_read_only") != "off"
        except Exception:
            self.disconnect()

    async def begin(self, *more: str) -> Connection:
        """The connection that writes, in a new transaction. One that a failed statement left open is ended first."""
        await self.rollback()
        connection = await self.write_connection()
        await connection.execute("; ".join(("begin", *more)))
        return connection

    async def transaction_connection(self) -> Connection:
        """The connection that writes, in the transaction that `begin` opened. Raises where that connection is lost: on
        a new one nothing would be locked, and each statement would commit by itself."""
        connection = self._writes
        if connection is None or connection.is_closed() or not connection.is_in_transaction():
            raise asyncpg.ConnectionDoesNotExistError("the connection was lost, and its transaction with it")
        return connection

    async def rollback(self) -> None:
        """End what a failed statement left open; a connection that cannot even do that is closed."""
        connection = self._writes
        if connection is None or connection.is_closed() or not connection.is_in_transaction():
            return
        try:
            await connection.execute("rollback")
        except Exception:
            self.disconnect()

    # --- committing -------------------------------------------------------------------------------------------

    async def commit(self, decided: DecidedBatch, *, is_locked: bool) -> None:
        """Write what was decided and commit it, or raise.

        What is decided on memory is one statement, which commits by itself. What was locked is in a transaction
        already."""
        began, desk = time.perf_counter(), decided.state
        mark = CommitMarkRow(min(desk.merchant_states), os.urandom(16), desk.wall_time)
        parts, rows = build_write(desk, mark)
        connection = await (self.transaction_connection() if is_locked else self.write_connection())
        self._warned = False
        try:
            await connection.fetch(statement_sql(parts), *rows, len(desk.merchant_states))
        except asyncpg.DivisionByZeroError:
            raise VersionConflict from None
        except Exception as error:
            if (
                not is_locked
                and desk.written_merchants
                and connections.is_connection_error(error)
                and not isinstance(error, asyncpg.LockNotAvailableError)
            ):
                raise self._lost(mark) from None
            raise
        if is_locked:
            await self._end(connection, mark, desk)
        if self._warned:
            raise DatabaseUnreachable(unsure=True)
        self.is_failing = False
        self._report(is_locked, len(decided.results), time.perf_counter() - began)

    def _report(self, locked: bool, size: int, seconds: float) -> None:
        """Tells the listener of a commit. The commit is durable by now: an exception here would make the writer run the
        batch a second time, so whatever the listener raises is logged and goes no further."""
        try:
            self._heard(locked, size, seconds)
        except Exception as error:
            log.error("the listener of commits failed", error=type(error).__name__)

    async def _end(self, connection: Connection, mark: CommitMarkRow, desk: BatchState) -> None:
        try:
            await connection.execute("commit")
        except Exception:
            if not desk.written_merchants:
                raise
            raise self._lost(mark) from None

    def _lost(self, mark: CommitMarkRow) -> CommitInterrupted:
        self.is_failing = True
        assert self._backend is not None, "it was asked for when the connection was made"
        return CommitInterrupted(mark, self._backend)

    async def was_committed(self, lost: CommitInterrupted, deadline: float) -> bool | None:
        """What became of a COMMIT whose answer was lost; None when the database does not come back to say. While
        the server's process that was committing lives, it may still do so: it is ended first."""
        while time.monotonic() < deadline:
            self.disconnect()
            with contextlib.suppress(Exception):  # whatever it was, it is asked again: somebody waits for the answer
                async with asyncio.timeout(deadline - time.monotonic()):
                    marked = await self._look_for(lost)
                if marked is not None and not self._warned:
                    self.is_failing = False
                    return marked
            await asyncio.sleep(RETRY_SECONDS)
        return None

    async def _look_for(self, lost: CommitInterrupted) -> bool:
        await self._end_backend(lost.backend)
        connection = await self.write_connection()
        self._warned = False
        return bool(await connection.fetchval(CONFIRM_COMMIT_MARK, lost.mark.merchant_id, lost.mark.mark))

    async def _end_backend(self, backend: Backend) -> None:
        """Returns when it is gone. The application's role may not end it, the login it belongs to may."""
        connection = await connections.connect_as_owner(self._dsn, connections.WRITER_SETTINGS)
        try:
            await connection.execute(END_BACKEND, backend.pid, backend.started_at)
            while await connection.fetchval(IS_ALIVE, backend.pid, backend.started_at):
                await asyncio.sleep(RETRY_SECONDS)
        finally:
            connection.terminate()
