"""Opens the connections of the service, which know their backend, the merchant that their session chose, and the
layout of their database (layout.py).

Every call of a connection has an end. The driver bounds most of what it sends, but not all: it closes the statements
that its cache has no room for without a limit. So each call also has a deadline of ours, and so may an operation of
several calls. A connection that is late is aborted, which ends whatever waits for it, and is never used again
(docs/decisions/0082).
"""

import asyncio
import contextlib
import functools
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import asyncpg
import structlog

from kasuwa.core.batched_query import BatchedQuery
from kasuwa.postgres.distribution.merchant_layout import LAYOUT_SQL, choose_layout
from kasuwa.postgres.layout import ONE_SERVER, Layout
from kasuwa.postgres.pgbouncer import PREPARED_STATEMENT_ERRORS, REFUSED_PARAMETER, TransactionPooling

SELECT_SESSION = f"select pg_backend_pid(), {LAYOUT_SQL}"
# No merchant has this number.
NO_MERCHANT = -1
# How long a statement may take if whoever opens the connection does not say: an index of a large table takes minutes.
PATIENT_SECONDS = 3600.0
# How much longer than its statement a call may take. The driver's own timeout comes first, where it has one.
GRACE_SECONDS = 1.0
# How long a server may take to take leave.
CLOSE_SECONDS = 2.0
# How often the deadlines of a connection in use are checked.
CHECK_SECONDS = 0.25

log = structlog.get_logger("kasuwa.postgres")

if TYPE_CHECKING:
    DriverConnection = asyncpg.Connection[asyncpg.Record]
else:  # the driver itself is not generic
    DriverConnection = asyncpg.Connection


def bounded(call: Callable[..., Awaitable[Any]]) -> Any:
    """Gives a call of the driver a deadline. A connection whose statement timed out is given up too."""

    @functools.wraps(call)
    async def call_in_time(self: "BackendConnection", *args: Any, timeout: float | None = None, **options: Any) -> Any:
        before = self.start_operation((timeout or self.statement_seconds) + GRACE_SECONDS)
        try:
            return await call(self, *args, timeout=timeout, **options)
        except TimeoutError:
            self.terminate()
            raise
        finally:
            self.end_operation(before)

    return call_in_time


class BackendConnection(DriverConnection):
    """A connection that knows the process id of its PostgreSQL backend, the layout of its database, and the
    merchant that its session chose.

    Behind a pooler the driver's own id is made up by the pooler and matches no backend."""

    __slots__ = ("_chosen_merchant", "_ends_at", "_is_timer_set", "backend_pid", "layout", "statement_seconds")

    backend_pid: int
    layout: Layout
    _chosen_merchant: int | None
    # How long a statement may take unless its call says otherwise.
    statement_seconds: float
    # When the running operation is late, on the monotonic clock. Infinite while there is none.
    _ends_at: float
    _is_timer_set: bool

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.statement_seconds = PATIENT_SECONDS  # until `connect_session` sets it
        self.layout = ONE_SERVER
        self._ends_at = math.inf
        self._is_timer_set = False

    def get_server_pid(self) -> int:
        return self.backend_pid

    # --- deadlines --------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def operation(self, seconds: float) -> Iterator[None]:
        """Bounds what is done on this connection in a `with` statement, as a whole."""
        before = self.start_operation(seconds)
        try:
            yield
        finally:
            self.end_operation(before)

    def start_operation(self, seconds: float) -> float:
        """Aborts the connection if `end_operation` is not called in time. Returns what to call it with: the deadline of
        the operation that this one is a part of, which it cannot extend."""
        before = self._ends_at
        self._ends_at = min(before, time.monotonic() + seconds)
        if not self._is_timer_set:
            self._set_timer()
        return before

    def end_operation(self, before: float = math.inf) -> None:
        self._ends_at = before

    def _set_timer(self) -> None:
        """One timer serves all operations of the connection: one for each would cost more than most of them."""
        self._is_timer_set = True
        asyncio.get_running_loop().call_later(CHECK_SECONDS, self._abort_if_late)

    def _abort_if_late(self) -> None:
        self._is_timer_set = False
        if self._ends_at == math.inf or self.is_closed():
            return
        if time.monotonic() > self._ends_at:
            log.debug("a connection did not answer in time and is given up")
            self.terminate()
        else:
            self._set_timer()

    execute = bounded(DriverConnection.execute)
    executemany = bounded(DriverConnection.executemany)
    fetchval = bounded(DriverConnection.fetchval)
    prepare = bounded(DriverConnection.prepare)
    copy_records_to_table = bounded(DriverConnection.copy_records_to_table)
    fetch = bounded(DriverConnection.fetch)
    fetchrow = bounded(DriverConnection.fetchrow)

    async def close(self, *, timeout: float | None = None) -> None:
        """Closes the connection. Does not wait for long: a server that is silent is not told."""
        with self.operation(CLOSE_SECONDS), contextlib.suppress(TimeoutError):
            await super().close(timeout=min(CLOSE_SECONDS, timeout or CLOSE_SECONDS))

    async def _cleanup_stmts(self) -> None:
        """Closes the statements that the driver's cache has no room for. Cursors prepare theirs by no other call."""
        driver: Any = super()
        with self.operation(self.statement_seconds + GRACE_SECONDS):
            await driver._cleanup_stmts()

    # --- queries ----------------------------------------------------------------------------------------------

    async def fetch_requests(self, query: BatchedQuery, requests: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Runs a batched query for several requests."""
        return await self.layout.fetch_requests(self, query, requests)

    def has_chosen(self, merchant_id: int | None) -> bool:
        """Tells whether this session shows the rows of a merchant, or of all for None (merchant_rows.py)."""
        # A new session shows those of none.
        return getattr(self, "_chosen_merchant", NO_MERCHANT) == merchant_id

    def record_choice(self, merchant_id: int | None) -> None:
        self._chosen_merchant = merchant_id


async def connect_session(server: str, server_settings: dict[str, str] | None = None, **options: Any) -> Any:
    """Connects like asyncpg.connect, and always with a timeout of statements. If a pooler rejects startup settings,
    sets them on the session instead."""
    options = {**options, "connection_class": BackendConnection}
    # Cursors know this one alone.
    options["command_timeout"] = options.get("command_timeout") or PATIENT_SECONDS
    try:
        connection = await asyncpg.connect(server, server_settings=server_settings, **options)
    except asyncpg.ProtocolViolationError as error:
        if REFUSED_PARAMETER not in str(error):
            raise
        connection = await asyncpg.connect(server, **options)
        missing = server_settings or {}
    else:
        missing = {}
    connection.statement_seconds = options["command_timeout"]
    try:
        if missing:
            # A value may be a list, which `set` would take for one name.
            changes = (f"select set_config('{name}', '{value}', false)" for name, value in missing.items())
            await connection.execute("; ".join(changes))
        connection.backend_pid, layout = await connection.fetchrow(SELECT_SESSION)
        connection.layout = choose_layout(layout)
        await connection.layout.prepare_session(connection)
    except BaseException as error:
        # The caller never gets this connection, so nothing else would close it.
        connection.terminate()
        if isinstance(error, PREPARED_STATEMENT_ERRORS):
            raise TransactionPooling from None
        raise
    return connection
