"""The connections that a writer commits with, and the recovery of commits whose answer was lost.

Every commit has a deadline as a whole (`connections.WRITE_SECONDS`), whatever the driver does for it. One that is not
answered in time counts as interrupted, like one whose connection broke: the connection is aborted, the PostgreSQL
backend that ran it is terminated, and the batch's commit mark is looked up on a new connection.
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

from kasuwa.engine.batch import BatchState, Result
from kasuwa.engine.batch_write import build_write
from kasuwa.engine.journal import CommitMarkRow
from kasuwa.engine.statement_shapes import StatementShapes
from kasuwa.postgres import connections
from kasuwa.postgres.backend_connection import BackendConnection
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connections import DatabaseUnreachable
from kasuwa.postgres.layout import ONE_SERVER, Layout
from kasuwa.postgres.primary import CONNECT_SECONDS

RETRY_SECONDS = 0.1
# How many prepared statements each connection keeps: those that write (statement_shapes.py) and those that read each
# table by key.
CACHED_STATEMENTS = 400

# Identifies the backend of a connection. The process id alone is not enough: the system may reuse it.
SELECT_BACKEND = "select pid, backend_start from pg_stat_activity where pid = pg_backend_pid()"
END_BACKEND = "select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and backend_start = $2"
IS_ALIVE = "select exists (select 1 from pg_stat_activity where pid = $1 and backend_start = $2)"
# The mark is written again rather than only read: after a crash it may not be on the synchronous standby yet, and this
# commit waits for the standby.
CONFIRM_COMMIT_MARK = "update commit_mark set mark = mark where merchant_id = $1 and mark = $2 returning true"

# Called after every commit: whether it was locked, how many submissions it held, how many seconds it took.
CommitObserver = Callable[[bool, int, float], None]

log = structlog.get_logger("kasuwa.engine")


class VersionConflict(Exception):
    """A merchant's row did not have the expected version: another session wrote in between."""


class Backend(msgspec.Struct, frozen=True):
    """A PostgreSQL backend process."""

    pid: int
    started_at: datetime


class CommitInterrupted(Exception):
    """The connection broke or did not answer in time while COMMIT was running in `backend`."""

    def __init__(self, mark: CommitMarkRow, backend: Backend) -> None:
        super().__init__(mark.mark.hex())
        self.mark = mark
        self.backend = backend


class DecidedBatch(msgspec.Struct):
    """A batch that is decided and not yet committed."""

    state: BatchState
    results: list[Result]


class WriterSession:
    """A connection that writes, and one that reads while a commit runs on the other.

    `is_failing` is set when the database cannot be reached, and cleared by the next success. `succeeded_at` is the time
    of the last success on the monotonic clock."""

    def __init__(
        self,
        dsn: str,
        clock: DatabaseClock,
        on_commit: CommitObserver,
        statement_seconds: float = connections.WRITE_SECONDS,
        layout: Layout = ONE_SERVER,
    ) -> None:
        self._dsn = dsn
        self.layout = layout
        self._shapes = StatementShapes(layout.write, can_widen=layout.can_widen)
        self._clock = clock
        self._on_commit = on_commit
        self._statement_seconds = statement_seconds
        self._write_connection: BackendConnection | None = None
        self._read_connection: BackendConnection | None = None
        self._backend: Backend | None = None
        self._warned = False
        self.is_failing = False
        self.succeeded_at = 0.0

    async def write_connection(self) -> BackendConnection:
        """Returns the connection that writes, opening it if needed. No transaction is open on it between batches."""
        if self._write_connection is None or self._write_connection.is_closed():
            async with self._flag_failure(), asyncio.timeout(CONNECT_SECONDS):
                connection = await connections.connect_as_owner(
                    self._dsn,
                    connections.WRITER_SETTINGS,
                    statement_seconds=self._statement_seconds,
                    cached_statements=CACHED_STATEMENTS,
                )
                try:
                    [serving] = await connection.fetch(SELECT_BACKEND)
                    self._backend = Backend(*serving)
                    await self._clock.measure(connection)
                    await connections.set_application_role(connection)
                except BaseException:
                    connection.terminate()
                    raise
            self._write_connection = connection
            self._write_connection.add_log_listener(self._note_warning)
        return self._write_connection

    def _note_warning(self, connection: Any, message: Any) -> None:
        """Notes that a statement warned: a commit that does may not have reached its synchronous standby."""
        if message.severity_en == "WARNING":
            self._warned = True

    async def read_connection(self) -> BackendConnection:
        """Returns the connection that reads for a batch while the previous batch is being committed."""
        if self._read_connection is None or self._read_connection.is_closed():
            async with self._flag_failure():
                self._read_connection = await connections.connect(
                    self._dsn,
                    connections.WRITER_SETTINGS,
                    statement_seconds=self._statement_seconds,
                    cached_statements=CACHED_STATEMENTS,
                )
        return self._read_connection

    @contextlib.asynccontextmanager
    async def _flag_failure(self) -> Any:
        try:
            yield
        except Exception:
            self.is_failing = True
            raise

    def disconnect(self) -> None:
        for connection in (self._write_connection, self._read_connection):
            if connection is not None:
                with contextlib.suppress(Exception):
                    connection.terminate()
        self._write_connection = self._read_connection = None

    async def probe(self) -> None:
        """Clears `is_failing` if the database can be written to again. Raises nothing."""
        try:
            connection = await self.write_connection()
            if await connection.fetchval("show transaction_read_only") == "off":
                self._note_success()
        except Exception:
            self.disconnect()

    def _note_success(self) -> None:
        self.is_failing = False
        self.succeeded_at = time.monotonic()

    async def begin(self, *statements: str) -> BackendConnection:
        """Opens a transaction and returns its connection. Rolls back one that a failed statement left open."""
        await self.rollback()
        connection = await self.write_connection()
        await self.layout.run_in_order(connection, "begin", *statements)
        return connection

    async def transaction_connection(self) -> BackendConnection:
        """Returns the connection in the transaction that `begin` opened.

        Raises ConnectionDoesNotExistError if it was lost: on a new connection nothing would be locked, and each
        statement would commit by itself."""
        connection = self._write_connection
        if connection is None or connection.is_closed() or not connection.is_in_transaction():
            raise asyncpg.ConnectionDoesNotExistError("the connection was lost, and its transaction with it")
        return connection

    async def rollback(self) -> None:
        """Ends a transaction that a failed statement left open. Closes the connection if that fails."""
        connection = self._write_connection
        if connection is None or connection.is_closed() or not connection.is_in_transaction():
            return
        try:
            await connection.execute("rollback")
        except Exception:
            self.disconnect()

    # --- committing -------------------------------------------------------------------------------------------

    async def commit(self, decided: DecidedBatch, *, is_locked: bool) -> None:
        """Writes a decided batch and commits it.

        A batch decided from the cache is one statement, which is its own transaction, unless the layout needs
        settings before it. A locked batch is written in the transaction that `begin` opened. Raises VersionConflict,
        CommitInterrupted, DatabaseUnreachable or what the driver raises."""
        started_at, state = time.perf_counter(), decided.state
        mark = CommitMarkRow(min(state.merchant_states), os.urandom(16), state.wall_time)
        parts, rows = build_write(state, mark, self.layout.encode_rows)
        statement = self._shapes.choose(parts)
        rows = statement.arrange(parts, rows)
        lock_settings = self.layout.lock_settings(connections.MERCHANT_LOCK_SECONDS)
        if lock_settings and not is_locked:
            await self.begin(*lock_settings)
        in_transaction = is_locked or bool(lock_settings)
        connection = await (self.transaction_connection() if in_transaction else self.write_connection())
        self._warned = False
        with connection.operation(self._statement_seconds):
            try:
                named = self.layout.write_values(mark.merchant_id)
                await connection.fetch(statement.text, *rows, len(state.merchant_states), *named)
            except asyncpg.DivisionByZeroError:
                raise VersionConflict from None
            except Exception as error:
                if (
                    not in_transaction
                    and state.written_merchants
                    and connections.is_connection_error(error)
                    and not isinstance(error, asyncpg.LockNotAvailableError)
                ):
                    raise self._make_interrupted(mark) from None
                raise
            if in_transaction:
                await self._commit_transaction(connection, mark, state)
        if self._warned:
            raise DatabaseUnreachable(is_outcome_unknown=True)
        self._note_success()
        self._report(is_locked, len(decided.results), time.perf_counter() - started_at)

    def _report(self, locked: bool, size: int, seconds: float) -> None:
        """Calls the commit observer. The commit is durable by now and an exception would make the writer run the batch
        again, so whatever the observer raises is only logged."""
        try:
            self._on_commit(locked, size, seconds)
        except Exception as error:
            log.error("the listener of commits failed", error=type(error).__name__)

    async def _commit_transaction(self, connection: BackendConnection, mark: CommitMarkRow, state: BatchState) -> None:
        try:
            await connection.execute("commit")
        except Exception:
            if not state.written_merchants:
                raise
            raise self._make_interrupted(mark) from None

    def _make_interrupted(self, mark: CommitMarkRow) -> CommitInterrupted:
        self.is_failing = True
        assert self._backend is not None, "set when the connection was opened"
        return CommitInterrupted(mark, self._backend)

    async def was_committed(self, lost: CommitInterrupted, deadline: float) -> bool | None:
        """Returns whether an interrupted COMMIT succeeded, or None if the database cannot say before the deadline.

        Terminates the backend first: while it lives, it may still commit."""
        while time.monotonic() < deadline:
            self.disconnect()
            with contextlib.suppress(Exception):  # any failure is retried until the deadline
                async with asyncio.timeout(deadline - time.monotonic()):
                    marked = await self._find_mark(lost)
                if marked is not None and not self._warned:
                    self._note_success()
                    return marked
            await asyncio.sleep(RETRY_SECONDS)
        return None

    async def _find_mark(self, lost: CommitInterrupted) -> bool:
        await self._end_backend(lost.backend)
        connection = await self.write_connection()
        self._warned = False
        await self.layout.fence_merchant(connection, lost.mark.merchant_id)
        return bool(await connection.fetchval(CONFIRM_COMMIT_MARK, lost.mark.merchant_id, lost.mark.mark))

    async def _end_backend(self, backend: Backend) -> None:
        """Terminates a backend and waits until it is gone. Uses the login role: the application role may not do it."""
        connection = await connections.connect_as_owner(self._dsn, connections.WRITER_SETTINGS)
        try:
            await connection.execute(END_BACKEND, backend.pid, backend.started_at)
            while await connection.fetchval(IS_ALIVE, backend.pid, backend.started_at):
                await asyncio.sleep(RETRY_SECONDS)
        finally:
            connection.terminate()
