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

from kasuwa.db.pooled import Connection, Pool
from kasuwa.db.primary import CONNECT_SECONDS, connect_to_primary

__all__ = ["Connection", "Pool"]

LOST = (
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


def is_lost(error: BaseException) -> bool:
    """Whether an error means "the server is gone or going", not "the server says no". A value that cannot be
    sent at all (an integer beyond bigint) is an InterfaceError too, but a ValueError besides."""
    return isinstance(error, LOST) and not isinstance(error, ValueError)


# In seconds: how long a statement may take before it counts as lost. Writes have their own bound (writer.py).
STATEMENT_SECONDS = 6.0
WRITE_SECONDS = 5.0

# Sent with every connection. The first group lets the server notice a client that is gone, as `WATCHFUL` of primary.py
# lets us notice a server that is gone; PostgreSQL ignores it on a socket file.
EVERYWHERE = {
    "tcp_keepalives_idle": "2",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "8000",
    "lock_timeout": "4s",
    "idle_in_transaction_session_timeout": "5s",
}

# How long a batch waits for a book that another session has locked, before it goes on without that merchant.
BOOK_LOCK_SECONDS = 0.2

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
    "lock_timeout": f"{int(BOOK_LOCK_SECONDS * 1000)}ms",
    # It holds books only for as long as it takes to decide on them: who sits on them longer was stopped.
    "idle_in_transaction_session_timeout": "2s",
}

READER_SETTINGS = {"application_name": "kasuwa reader", "jit": "off", "default_transaction_read_only": "on"}

APPLICATION_ROLE = "kasuwa_application"


async def connect(
    dsn: str, settings: dict[str, str], *, seconds: float = STATEMENT_SECONDS, within: float = CONNECT_SECONDS
) -> Connection:
    """A connection of the application's role whose statements each have `seconds`. Raises TimeoutError where it is
    not there `within` so many seconds."""
    connection = await connect_as_owner(dsn, settings, seconds=seconds, within=within)
    try:
        async with asyncio.timeout(within):
            await take_role(connection)
    except BaseException:
        connection.terminate()
        raise
    return connection


async def connect_as_owner(
    dsn: str, settings: dict[str, str], *, seconds: float | None = STATEMENT_SECONDS, within: float = CONNECT_SECONDS
) -> Connection:
    """As `connect`, with the rights of the login itself."""
    return await connect_to_primary(
        dsn, server_settings={**EVERYWHERE, **settings}, command_timeout=seconds, timeout=within
    )


async def take_role(connection: Connection) -> None:
    """Step down to the role that cannot change postings, events and notices, where migrations could make it."""
    allowed = await connection.fetchval(
        "select exists (select 1 from pg_roles where rolname = $1 and pg_has_role(oid, 'member'))",
        APPLICATION_ROLE,
    )
    if allowed:
        await connection.execute(f"set role {APPLICATION_ROLE}")


async def keep_session(connection: Connection) -> None:
    """Nothing to undo: our reads leave no session state, and the usual RESET would drop the role and cost a
    round trip after every read."""


async def open_pool(
    name: str, dsn: str, settings: dict[str, str], *, most: int, least: int = 0, seconds: float = STATEMENT_SECONDS
) -> Pool:
    """`name` is what the pool is called in /readyz, the log and the metrics."""
    connect: Any = connect_to_primary  # the driver's types want every option of its own spelled out
    around: dict[str, Any] = {"init": take_role, "reset": keep_session, "server_settings": {**EVERYWHERE, **settings}}
    driver = await asyncpg.create_pool(
        dsn, connect=connect, min_size=least, max_size=most, command_timeout=seconds, **around
    )
    return Pool(name, driver, most)


async def open_readers(dsn: str, *, most: int = 8) -> Pool:
    return await open_pool("readers", dsn, READER_SETTINGS, least=1, most=most)


async def open_console_readers(dsn: str) -> Pool:
    """For the lists of the console: their filters come and go, so each call is planned for its own values; and a
    question that takes too long is given up, rather than held against the payments beside it."""
    settings = {"application_name": "kasuwa console", "plan_cache_mode": "force_custom_plan"}
    settings = {**READER_SETTINGS, **settings, "statement_timeout": "15000"}
    return await open_pool("console readers", dsn, settings, least=1, most=8, seconds=20)


async def open_operators(dsn: str) -> Pool:
    """For what operators and the test environment do beside the writer: merchants, leases."""
    return await open_pool("operators", dsn, {"application_name": "kasuwa operator"}, most=8, seconds=15)


async def open_claims(dsn: str) -> Pool:
    """For the worker's lanes: a claim is short, so few connections serve them all."""
    return await open_pool("claims", dsn, {"application_name": "kasuwa worker"}, most=3)


async def open_scrapes(dsn: str) -> Pool:
    """For what /metrics asks of the database."""
    return await open_pool("metrics", dsn, {"application_name": "kasuwa metrics"}, most=1, seconds=3)
