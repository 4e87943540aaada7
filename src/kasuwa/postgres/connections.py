"""Opens every connection and pool of the service, with their timeouts.

There are the writer's connections, whose plans are pinned, pools for reads, for operators, for the worker's claims and
for metrics, the webhook sender's connection, and a few that hold an advisory lock. On the client side every call has a
deadline, and so has every use of a pooled connection (backend_connection.py). On the server side every wait for a lock
ends by `lock_timeout`. A transaction whose process was stopped, or whose machine is gone, ends by
`idle_in_transaction_session_timeout` or the keepalive settings and releases its locks.
"""

import asyncio
import math
import time
from typing import Any

import asyncpg
import structlog

from kasuwa.postgres.backend_connection import BackendConnection
from kasuwa.postgres.connection_pool import Connection, Pool
from kasuwa.postgres.layout import find_layout
from kasuwa.postgres.merchant_rows import READER_SEARCH_PATH
from kasuwa.postgres.primary import CONNECT_SECONDS, connect_to_primary


class DatabaseUnreachable(Exception):
    """The database did not answer in time. Nothing was written, unless `is_outcome_unknown`."""

    def __init__(self, *, is_outcome_unknown: bool) -> None:
        super().__init__("the database cannot be reached")
        self.is_outcome_unknown = is_outcome_unknown


log = structlog.get_logger("kasuwa.postgres")

CONNECTION_ERRORS = (
    asyncpg.ConnectionDoesNotExistError,
    asyncpg.ConnectionFailureError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.LockNotAvailableError,  # another session held the lock; nothing was done
    asyncpg.TooManyConnectionsError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # raised when the connection is cut while in use
    asyncpg.exceptions.ReadOnlySQLTransactionError,
    ConnectionError,
    asyncio.TimeoutError,
    OSError,
)


def is_connection_error(error: BaseException) -> bool:
    """Returns whether an error means that the server cannot be reached, rather than that it rejects the statement.

    A value that cannot be encoded (an integer beyond bigint) is an InterfaceError too, but also a ValueError."""
    return isinstance(error, CONNECTION_ERRORS) and not isinstance(error, ValueError)


# How long a statement may take before it counts as lost. The writer's are shorter than a submission's timeout.
STATEMENT_SECONDS = 6.0
WRITE_SECONDS = 5.0
# How long after that the server ends it.
ABANDONED_SECONDS = 1.0

# The pause between two attempts of a process that starts while the database is away doubles up to the longest.
FIRST_WAIT_SECONDS = 0.1
LONGEST_WAIT_SECONDS = 1.0
WAIT_LOG_SECONDS = 60.0

# Options of the driver by which a statement stays prepared, however old and however long it is.
KEEP_STATEMENTS = {"max_cached_statement_lifetime": 0, "max_cacheable_statement_size": 0}

# Settings of every connection. With the TCP settings the server notices a client that is gone, as KEEPALIVE_OPTIONS of
# primary.py does for the other direction. PostgreSQL ignores them on Unix sockets.
COMMON_SETTINGS = {
    "tcp_keepalives_idle": "2",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "8000",
    "lock_timeout": "4s",
    "idle_in_transaction_session_timeout": "5s",
}

# How long a batch waits for a merchant that another session has locked before it goes on without it.
MERCHANT_LOCK_SECONDS = 0.2

# Of statements that find rows by key: index scans are always right.
KEYED_SETTINGS = {
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_bitmapscan": "off",
    "enable_material": "off",
    "enable_memoize": "off",
    "jit": "off",
}
# For a statement prepared on an empty table the planner picks a hash join over a sequential scan, and keeps that plan
# while the table grows (see also bulk_sql.locate_row_sql).
WRITER_SETTINGS = {
    **KEYED_SETTINGS,
    "application_name": "kasuwa writer",
    "plan_cache_mode": "force_generic_plan",
    "default_transaction_isolation": "read committed",
    "synchronous_commit": "on",
    "lock_timeout": f"{int(MERCHANT_LOCK_SECONDS * 1000)}ms",
    # A backend that is late is terminated (writer_session.py). A commit is not to be cancelled while it waits for its
    # standby: the server would report it as done.
    "statement_timeout": "0",
    # Merchants are locked only while a batch is decided. A process that holds them longer was stopped.
    "idle_in_transaction_session_timeout": "2s",
}

# A claim reads the first due jobs of a long backlog in the order of an index. Without statistics of a backlog that has
# just come up, the planner would sort all of it.
CLAIM_SETTINGS = {
    **KEYED_SETTINGS,
    "application_name": "kasuwa worker",
    "enable_sort": "off",
    "enable_incremental_sort": "off",
}

READER_SETTINGS = {"application_name": "kasuwa reader", "jit": "off", "default_transaction_read_only": "on"}
# Of connections with the reader's login, which see the rows of one merchant (merchant_rows.py).
LIST_SETTINGS = {**READER_SETTINGS, "application_name": "kasuwa lists", "search_path": READER_SEARCH_PATH}

APPLICATION_ROLE = "kasuwa_application"


def settings_of_session(settings: dict[str, str], statement_seconds: float) -> dict[str, str]:
    """Returns the settings of a session. The server ends a statement soon after its client gave it up: a connection
    that is aborted does not tell it."""
    abandoned_after = f"{int((statement_seconds + ABANDONED_SECONDS) * 1000)}ms"
    return {**COMMON_SETTINGS, "statement_timeout": abandoned_after, **settings}


async def connect(
    dsn: str,
    settings: dict[str, str],
    *,
    statement_seconds: float = STATEMENT_SECONDS,
    connect_seconds: float = CONNECT_SECONDS,
    cached_statements: int | None = None,
) -> BackendConnection:
    """Opens a connection with the application role. Raises TimeoutError if that takes longer than `connect_seconds`."""
    async with asyncio.timeout(connect_seconds):
        connection = await connect_as_owner(
            dsn,
            settings,
            statement_seconds=statement_seconds,
            connect_seconds=connect_seconds,
            cached_statements=cached_statements,
        )
        try:
            await set_application_role(connection)
        except BaseException:
            connection.terminate()
            raise
    return connection


async def connect_as_owner(
    dsn: str,
    settings: dict[str, str],
    *,
    statement_seconds: float = STATEMENT_SECONDS,
    connect_seconds: float = CONNECT_SECONDS,
    cached_statements: int | None = None,
) -> BackendConnection:
    """Opens a connection with the rights of the login role. With `cached_statements`, it keeps that many prepared for
    as long as it lives; otherwise a hundred, each for five minutes."""
    cache: dict[str, Any] = {}
    if cached_statements is not None:
        cache = {"statement_cache_size": cached_statements, **KEEP_STATEMENTS}
    return await connect_to_primary(
        dsn,
        server_settings=settings_of_session(settings, statement_seconds),
        command_timeout=statement_seconds,
        timeout=connect_seconds,
        **cache,
    )


async def wait_for_primary(dsn: str) -> None:
    """Returns when the database accepts connections. Raises what says that it will not accept ours.

    A process that starts while the database is away waits here: starting it again and again would cost more, and would
    not find the database sooner."""
    pause, logged_at = FIRST_WAIT_SECONDS, -math.inf
    while True:
        try:
            (await connect_to_primary(dsn)).terminate()
            return
        except Exception as error:
            if not is_connection_error(error):
                raise
            if time.monotonic() - logged_at >= WAIT_LOG_SECONDS:
                logged_at = time.monotonic()
                log.error("the database cannot be reached: waiting for it", error=type(error).__name__)
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_WAIT_SECONDS)


async def set_application_role(connection: Connection) -> None:
    """Switches to the role that cannot change append-only tables, if migrations could create it."""
    await find_layout(connection).prepare_application(connection)
    allowed = await connection.fetchval(
        "select exists (select 1 from pg_roles where rolname = $1 and pg_has_role(oid, 'member'))",
        APPLICATION_ROLE,
    )
    if allowed:
        await connection.execute(f"set role {APPLICATION_ROLE}")


async def skip_reset(connection: Connection) -> None:
    """Does nothing. Reads leave no session state, and the usual RESET would drop the role and cost a round trip."""


async def open_pool(
    name: str,
    dsn: str,
    settings: dict[str, str],
    *,
    max_size: int,
    min_size: int = 0,
    statement_seconds: float = STATEMENT_SECONDS,
) -> Pool:
    """Opens a pool. `name` identifies it in /readyz, the log and the metrics.

    Its connections keep statements of any length prepared, such as that of an audit."""
    connect: Any = connect_to_primary  # the driver's types want every option of its own spelled out
    around: dict[str, Any] = {
        "init": set_application_role,
        "reset": skip_reset,
        "max_cacheable_statement_size": 0,
        "server_settings": settings_of_session(settings, statement_seconds),
    }
    driver = await asyncpg.create_pool(
        dsn, connect=connect, min_size=min_size, max_size=max_size, command_timeout=statement_seconds, **around
    )
    return Pool(name, driver, max_size, connect_seconds=CONNECT_SECONDS)


async def open_reader_pool(dsn: str, *, max_size: int = 8) -> Pool:
    """Opens the pool for look-ups by key, also across merchants."""
    return await open_pool("readers", dsn, READER_SETTINGS, min_size=1, max_size=max_size)


async def open_list_pool(dsn: str) -> Pool:
    """Opens the pool for lists and other reads of one merchant, with the reader's address."""
    return await open_pool("list readers", dsn, LIST_SETTINGS, max_size=8)


async def open_console_pool(dsn: str) -> Pool:
    """Opens the pool for the console's pages, with the reader's address.

    Their filters vary, so each call is planned for its own values. Slow queries are cancelled, so that they do not slow
    down payments."""
    settings = {"application_name": "kasuwa console", "plan_cache_mode": "force_custom_plan"}
    settings = {**LIST_SETTINGS, **settings, "statement_timeout": "15000"}
    return await open_pool("console readers", dsn, settings, min_size=1, max_size=8, statement_seconds=20)


async def open_operator_pool(dsn: str) -> Pool:
    """Opens the pool for operator changes and sandbox leases, which do not go through the writer."""
    return await open_pool("operators", dsn, {"application_name": "kasuwa operator"}, max_size=8, statement_seconds=15)


async def open_claim_pool(dsn: str) -> Pool:
    """Opens the pool for the worker's claims. They are short, so a few connections serve all lanes."""
    return await open_pool("claims", dsn, CLAIM_SETTINGS, max_size=3)


async def open_rail_pool(dsn: str) -> Pool:
    """Opens the pool for what rails announce and list. It has no connection while there is nothing to do."""
    return await open_pool("rails", dsn, {"application_name": "kasuwa worker rails"}, max_size=3)


async def open_metrics_pool(dsn: str) -> Pool:
    """Opens the pool for the queries of /metrics."""
    return await open_pool("metrics", dsn, {"application_name": "kasuwa metrics"}, max_size=1, statement_seconds=3)
