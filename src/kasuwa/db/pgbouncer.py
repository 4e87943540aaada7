"""Connection poolers such as PgBouncer between us and PostgreSQL.

A pooler in session mode gives each client a server connection of its own, and works. In transaction or statement mode
it gives consecutive transactions of one client to different server connections. What this service keeps on a session
is then lost or another client's: prepared statements, its role, its settings, advisory locks. It is refused.
"""

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import asyncpg

SELECT_BACKEND_PID = "select pg_backend_pid()"
# Errors of prepared statements that another server connection has, or has not.
PREPARED_STATEMENT_ERRORS = (asyncpg.InvalidSQLStatementNameError, asyncpg.DuplicatePreparedStatementError)
REFUSED_PARAMETER = "startup parameter"


class TransactionPooling(Exception):
    """The address leads to a pooler that shares server connections between clients."""

    def __init__(self) -> None:
        super().__init__(
            "KASUWA_DATABASE_URL leads to a connection pooler in transaction or statement mode (PgBouncer's "
            "pool_mode): set pool_mode = session, or connect to PostgreSQL directly"
        )


if TYPE_CHECKING:
    DriverConnection = asyncpg.Connection[asyncpg.Record]
else:  # the driver itself is not generic
    DriverConnection = asyncpg.Connection


class BackendConnection(DriverConnection):
    """A connection that knows the process that serves it. The driver's own number is the pooler's invention where there
    is one, and whoever asks PostgreSQL whether that process still lives would be told wrongly."""

    __slots__ = ("backend_pid",)

    backend_pid: int

    def get_server_pid(self) -> int:
        return self.backend_pid


async def connect_session(server: str, server_settings: dict[str, str] | None = None, **options: Any) -> Any:
    """Connects as asyncpg.connect does. A pooler refuses most settings when a connection begins: they are set then
    on the session."""
    options = {**options, "connection_class": BackendConnection}
    try:
        connection = await asyncpg.connect(server, server_settings=server_settings, **options)
    except asyncpg.ProtocolViolationError as error:
        if REFUSED_PARAMETER not in str(error):
            raise
        connection = await asyncpg.connect(server, **options)
        missing = server_settings or {}
    else:
        missing = {}
    try:
        if missing:
            await connection.execute("; ".join(f"set {name} = '{value}'" for name, value in missing.items()))
        connection.backend_pid = await connection.fetchval(SELECT_BACKEND_PID)
    except BaseException as error:
        # Whatever went wrong, nobody else knows of this connection: it would stay open for good.
        connection.terminate()
        if isinstance(error, PREPARED_STATEMENT_ERRORS):
            raise TransactionPooling from None
        raise
    return connection


async def refuse_transaction_pooling(server: str) -> None:
    """Raises TransactionPooling unless two clients of this address keep a server connection each. Whatever a pooler's
    order is, a shared connection shows: either both clients see the same process, or one of them sees two. An address
    of several servers is not probed: the driver would wait for those that are down."""
    if "," in server:
        return
    async with open_probe(server) as one, open_probe(server) as other:
        try:
            seen_by_one = [await one.fetchval(SELECT_BACKEND_PID) for _ in range(3)]
            seen_by_other = await other.fetchval(SELECT_BACKEND_PID)
            seen_by_one.append(await one.fetchval(SELECT_BACKEND_PID))
        except PREPARED_STATEMENT_ERRORS:
            raise TransactionPooling from None
    if len(set(seen_by_one)) > 1 or seen_by_other in seen_by_one:
        raise TransactionPooling


@contextlib.asynccontextmanager
async def open_probe(server: str) -> AsyncIterator[Any]:
    """A connection that leaves no prepared statement behind."""
    connection = await asyncpg.connect(server, statement_cache_size=0, timeout=5, command_timeout=5)
    try:
        yield connection
    finally:
        await connection.close(timeout=5)
