"""Detects connection poolers such as PgBouncer in a mode that does not work with this service.

A pooler in session mode gives each client a server connection of its own, and works. In transaction or statement mode
it gives consecutive transactions of one client to different server connections. What this service keeps on a session
is then lost or another client's: prepared statements, its role, its settings, advisory locks. It is refused.
"""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import asyncpg

SELECT_BACKEND_PID = "select pg_backend_pid()"
# Errors that occur when a prepared statement is on another server connection.
PREPARED_STATEMENT_ERRORS = (asyncpg.InvalidSQLStatementNameError, asyncpg.DuplicatePreparedStatementError)
# Part of the error of a pooler that rejects settings of a new connection.
REFUSED_PARAMETER = "startup parameter"


class TransactionPooling(Exception):
    """The address leads to a pooler that shares server connections between clients."""

    def __init__(self) -> None:
        super().__init__(
            "KASUWA_DATABASE_URL leads to a connection pooler in transaction or statement mode (PgBouncer's "
            "pool_mode): set pool_mode = session, or connect to PostgreSQL directly"
        )


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
