"""Connections of every kind, and what all of them have in common: each wait on one of them ends.

Kinds: the writer's, whose plans are pinned; pools for plain reads, for operators and for the worker's claims
(pooled.py); the courier's; and the few that hold an advisory lock. On the client's side every statement has a deadline
(`command_timeout`). On the server's side every wait for a lock ends by `lock_timeout`, and a transaction whose process
does nothing (it was stopped, or its machine is gone) ends by `idle_in_transaction_session_timeout` or by the keepalive
settings, so that it does not hold its locks against others.
"""

import asyncio
from typing import Any

import asyncpg

from kasuwa.db.connection_pool import Connection, Pool
from kasuwa.db.primary import CONNECT_SECONDS, connect_to_primary

__all__ = ["Connection", "Pool"]

CONNECTION_ERRORS = (
    asyncpg.ConnectionDoesNotExistError,
    asyncpg.ConnectionFailureError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.LockNotAvailableError,  # nothing was done: another session holds what this one waited for
    asyncpg.TooManyConnectionsError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # used in the very moment in which it was cut
    asyncpg.exceptions.ReadOnlySQLTransactionError,
    ConnectionError,
    asyncio.TimeoutError,
    OSError,
)


def is_connection_error(error: BaseException) -> bool:
    """Whether an error means "the server is gone or going", not "the server says no". A value that cannot be
    sent at all (an integer beyond bigint) is an InterfaceError too, but a ValueError besides."""
    return isinstance(error, CONNECTION_ERRORS) and not isinstance(error, ValueError)


# In seconds: how long a statement may take before it counts as lost. Writes have their own bound (writer.py).
STATEMENT_SECONDS = 6.0
WRITE_SECONDS = 5.0

# Sent with every connection. The first group lets the server notice a client that is gone, as `WATCHFUL` of primary.py
# lets us notice a server that is gone; PostgreSQL ignores it on a socket file.
COMMON_SETTINGS = {
    "tcp_keepalives_idle": "2",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "8000",
    "lock_timeout": "4s",
    "idle_in_transaction_session_timeout": "5s",
}

# How long a batch waits for a book that another session has locked, before it goes on without that merchant.
MERCHANT_LOCK_SECONDS = 0.2

# The planner is a trap for statements prepared on an empty table: it picks a hash join over a sequential scan
# and keeps it while the table grows. The writer's statements find rows by key, so index scans are always right.
# (rows.py does the rest: a join is written so that it can only go through the index.)
WRITER_SETTINGS = {
    "application_name": "kasuwa writer",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_bitmapscan": "off",
    "enable_material": "off",
    "enable_memoize": "off",
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
    "default_transaction_isolation": "read committed",
    "synchronous_commit": "on",
    "lock_timeout": f"{int(MERCHANT_LOCK_SECONDS * 1000)}ms",
    # It holds books only for as long as it takes to decide on them: who sits on them longer was stopped.
    "idle_in_transaction_session_timeout": "2s",
}

READER_SETTINGS = {"application_name": "kasuwa reader", "jit": "off", "default_transaction_read_only": "on"}

APPLICATION_ROLE = "kasuwa_application"


async def connect(
    dsn: str,
    settings: dict[str, str],
    *,
    statement_seconds: float = STATEMENT_SECONDS,
    connect_seconds: float = CONNECT_SECONDS,
) -> Connection:
    """A connection of the application's role whose statements each have `seconds`. Raises TimeoutError where it is
    not there `within` so many seconds."""
    connection = await connect_as_owner(
        dsn, settings, statement_seconds=statement_seconds, connect_seconds=connect_seconds
    )
    try:
        async with asyncio.timeout(connect_seconds):
            await set_application_role(connection)
    except BaseException:
        connection.terminate()
        raise
    return connection


async def connect_as_owner(
    dsn: str,
    settings: dict[str, str],
    *,
    statement_seconds: float | None = STATEMENT_SECONDS,
    connect_seconds: float = CONNECT_SECONDS,
) -> Connection:
    """As `connect`, with the rights of the login itself."""
    return await connect_to_primary(
        dsn, server_settings={**COMMON_SETTINGS, **settings}, command_timeout=statement_seconds, timeout=connect_seconds
    )


async def set_application_role(connection: Connection) -> None:
    """Step down to the role that cannot change postings, events and notices, where migrations could make it."""
    allowed = await connection.fetchval(
        "select exists (select 1 from pg_roles where rolname = $1 and pg_has_role(oid, 'member'))",
        APPLICATION_ROLE,
    )
    if allowed:
        await connection.execute(f"set role {APPLICATION_ROLE}")


async def skip_reset(connection: Connection) -> None:
    """Nothing to undo: our reads leave no session state, and the usual RESET would drop the role and cost a
    round trip after every read."""


async def open_pool(
    name: str,
    dsn: str,
    settings: dict[str, str],
    *,
    max_size: int,
    min_size: int = 0,
    statement_seconds: float = STATEMENT_SECONDS,
) -> Pool:
    """`name` is what the pool is called in /readyz, the log and the metrics."""
    connect: Any = connect_to_primary  # the driver's types want every option of its own spelled out
    around: dict[str, Any] = {
        "init": set_application_role,
        "reset": skip_reset,
        "server_settings": {**COMMON_SETTINGS, **settings},
    }
    driver = await asyncpg.create_pool(
        dsn, connect=connect, min_size=min_size, max_size=max_size, command_timeout=statement_seconds, **around
    )
    return Pool(name, driver, max_size)


async def open_reader_pool(dsn: str, *, max_size: int = 8) -> Pool:
    return await open_pool("readers", dsn, READER_SETTINGS, min_size=1, max_size=max_size)


async def open_console_pool(dsn: str) -> Pool:
    """For the lists of the console: their filters come and go, so each call is planned for its own values; and a
    question that takes too long is given up, rather than held against the payments beside it."""
    settings = {"application_name": "kasuwa console", "plan_cache_mode": "force_custom_plan"}
    settings = {**READER_SETTINGS, **settings, "statement_timeout": "15000"}
    return await open_pool("console readers", dsn, settings, min_size=1, max_size=8, statement_seconds=20)


async def open_operator_pool(dsn: str) -> Pool:
    """For what operators and the test environment do beside the writer: merchants, leases."""
    return await open_pool("operators", dsn, {"application_name": "kasuwa operator"}, max_size=8, statement_seconds=15)


async def open_claim_pool(dsn: str) -> Pool:
    """For the worker's lanes: a claim is short, so few connections serve them all."""
    return await open_pool("claims", dsn, {"application_name": "kasuwa worker"}, max_size=3)


async def open_metrics_pool(dsn: str) -> Pool:
    """For what /metrics asks of the database."""
    return await open_pool("metrics", dsn, {"application_name": "kasuwa metrics"}, max_size=1, statement_seconds=3)
