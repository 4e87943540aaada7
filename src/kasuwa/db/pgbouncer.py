"""Detects connection poolers such as PgBouncer in a mode that does not work with this service.

A pooler in session mode gives each client a server connection of its own, and works. In transaction or statement mode
it gives consecutive transactions of one client to different server connections. What this service keeps on a session
is then lost or another client's: prepared statements, its role, its settings, advisory locks. It is refused.
"""

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import asyncpg

SELECT_BACKEND_PID = "select pg_backend_pid()"
# Errors that occur when a prepared statement is on another server connection.
PREPARED_STATEMENT_ERRORS = (asyncpg.InvalidSQLStatementNameError, asyncpg.DuplicatePreparedStatementError)
REFUSED_PARAMETER = "startup parameter"
# No merchant has this number.
NO_MERCHANT = -1


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
    """A connection that knows the process id of its PostgreSQL backend, and the merchant that its session chose.

    Behind a pooler the driver's own id is made up by the pooler and matches no backend."""

    __slots__ = ("_chosen_merchant", "backend_pid")

    backend_pid: int
    _chosen_merchant: int | None

    def get_server_pid(self) -> int:
        return self.backend_pid

    def has_chosen(self, merchant_id: int | None) -> bool:
        """Tells whether this session shows the rows of a merchant, or of all for None (merchant_rows.py)."""
        # A new session shows those of none.
        return getattr(self, "_chosen_merchant", NO_MERCHANT) == merchant_id

    def record_choice(self, merchant_id: int | None) -> None:
        self._chosen_merchant = merchant_id


async def connect_session(server: str, server_settings: dict[str, str] | None = None, **options: Any) -> Any:
    """Connects like asyncpg.connect. If a pooler rejects startup settings, sets them on the session instead."""
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
            # A value may be a list, which `set` would take for one name.
            changes = (f"select set_config('{name}', '{value}', false)" for name, value in missing.items())
            await connection.execute("; ".join(changes))
        connection.backend_pid = await connection.fetchval(SELECT_BACKEND_PID)
    except BaseException as error:
        # The caller never gets this connection, so nothing else would close it.
        connection.terminate()
        if isinstance(error, PREPARED_STATEMENT_ERRORS):
            raise TransactionPooling from None
        raise
    return connection


async def refuse_transaction_pooling(server: str) -> None:
    """Raises TransactionPooling unless two clients of this address each keep a server connection of their own.

    If they share connections, both clients see the same backend or one of them sees two. An address with several
    servers is not probed: the driver would wait for those that are down."""
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
    """Opens a connection that creates no named prepared statements."""
    connection = await asyncpg.connect(server, statement_cache_size=0, timeout=5, command_timeout=5)
    try:
        yield connection
    finally:
        await connection.close(timeout=5)
