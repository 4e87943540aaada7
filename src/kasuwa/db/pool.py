"""Connections: one kind for the writer, whose plans are pinned, and a pool for plain reads."""

import asyncio
from typing import TYPE_CHECKING, Any

import asyncpg

from kasuwa.db.primary import connect_to_primary

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Connection = asyncpg.Connection[Any] | PoolConnectionProxy[Any]
    Pool = asyncpg.Pool[Any]
else:  # the driver itself is not generic
    Connection = asyncpg.Connection
    Pool = asyncpg.Pool

LOST = (
    asyncpg.ConnectionDoesNotExistError,
    asyncpg.ConnectionFailureError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
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
}

READER_SETTINGS = {"application_name": "kasuwa reader", "jit": "off", "default_transaction_read_only": "on"}

APPLICATION_ROLE = "kasuwa_application"


async def connect(dsn: str, settings: dict[str, str]) -> Connection:
    connection = await connect_to_primary(dsn, server_settings=settings)
    await take_role(connection)
    return connection


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


async def open_pool(dsn: str, settings: dict[str, str], **options: Any) -> Pool:
    connect: Any = connect_to_primary  # the driver's types want every option of its own spelled out
    around: dict[str, Any] = {"init": take_role, "reset": keep_session, "server_settings": settings}
    return await asyncpg.create_pool(dsn, connect=connect, **around, **options)


async def open_readers(dsn: str, *, most: int = 8) -> Pool:
    return await open_pool(dsn, READER_SETTINGS, min_size=1, max_size=most, command_timeout=10)


async def open_console_readers(dsn: str) -> Pool:
    """For the lists of the console: their filters come and go, so each call is planned for its own values; and a
    question that takes too long is given up, rather than held against the payments beside it."""
    settings = {"application_name": "kasuwa console", "plan_cache_mode": "force_custom_plan"}
    settings = {**READER_SETTINGS, **settings, "statement_timeout": "15000"}
    return await open_pool(dsn, settings, min_size=1, max_size=8, command_timeout=30)


async def open_operators(dsn: str) -> Pool:
    """For what operators and the test environment do beside the writer: merchants, leases."""
    return await open_on_use(dsn, "kasuwa operator", most=8)


async def open_claims(dsn: str) -> Pool:
    """For the worker's lanes: a claim is short, so few connections serve them all."""
    return await open_on_use(dsn, "kasuwa worker", most=3)


async def open_on_use(dsn: str, name: str, *, most: int) -> Pool:
    return await open_pool(dsn, {"application_name": name}, min_size=0, max_size=most)
