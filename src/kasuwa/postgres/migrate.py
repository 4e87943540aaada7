"""Applies migrations: numbered SQL files, in order, each once, under one advisory lock.

Several processes may start at once: the first applies them and the others find them applied. A database with a
migration that this version does not know is left alone.

Processes that an upgrade replaces may still be serving. So a migration must keep what they read and write (new columns
have defaults). Requests queue behind a migration that waits for a table lock, so it waits only briefly and then
retries.
"""

import asyncio
import os
import time
from importlib.resources import files

import asyncpg
import msgspec
import structlog

from kasuwa.core.vault import make_test_root, wrap_root
from kasuwa.postgres.advisory_locks import AdvisoryLock
from kasuwa.postgres.connection_pool import Connection
from kasuwa.postgres.connections import APPLICATION_ROLE
from kasuwa.postgres.logins import (
    LOCK_TIMEOUT,
    MAX_TRIES,
    PAUSE_SECONDS,
    LockNeverFree,
    Logins,
    grant_application,
    grant_rights,
)

MIN_POSTGRES_VERSION = 15
# How long a process waits for another one that migrates, and how often it asks. Building an index may take minutes.
LOCK_WAIT_SECONDS = 1800.0
LOCK_POLL_SECONDS = 0.1
# How long one question for the lock may take.
LOCK_SECONDS = 10.0
LOCKED = (
    "another process has been preparing this database for too long: find who holds the advisory lock in pg_locks, "
    "end it and run this again"
)
# What the database has if no login is named beside the owner.
NO_OTHER_LOGINS = Logins()


log = structlog.get_logger("kasuwa.migrate")


class MigrationError(Exception):
    """The database cannot be used as it is. The message says in one line what is wrong and how to fix it."""


class Migration(msgspec.Struct, frozen=True):
    version: int
    name: str
    sql: str


MIGRATIONS = files("kasuwa") / "postgres" / "migrations"


def known_migrations() -> list[Migration]:
    names = sorted(entry.name for entry in MIGRATIONS.iterdir() if entry.name.endswith(".sql"))
    return [Migration(int(name[:4]), name, (MIGRATIONS / name).read_text()) for name in names]


def newest_known_version() -> int:
    return known_migrations()[-1].version


async def schema_version(connection: Connection) -> int:
    """Returns the number of the newest applied migration, 0 for an empty database."""
    if await connection.fetchval("select to_regclass('public.migration')") is None:
        return 0
    version = await connection.fetchval("select coalesce(max(version), 0) from migration")
    assert isinstance(version, int)
    return version


async def migrate(
    connection: Connection, environment: str, secret_key: bytes, logins: Logins = NO_OTHER_LOGINS
) -> list[str]:
    """Brings the schema and the rights of the logins up to date, as the owner. Returns the names of the applied
    migrations."""
    await check_server(connection)
    await lock_migrations(connection)
    try:
        applied = await apply_pending(connection)
        await prepare_roles(connection, may_create=not logins.application)
        await grant_rights(connection, logins)
        await prepare_deployment(connection, environment, secret_key)
        return applied
    except LockNeverFree as error:
        raise MigrationError(NEVER_FREE.format(f"the rights of {error}")) from None
    finally:
        await connection.execute("select pg_advisory_unlock($1)", AdvisoryLock.MIGRATION)


async def lock_migrations(connection: Connection, wait_seconds: float = LOCK_WAIT_SECONDS) -> None:
    """Takes AdvisoryLock.MIGRATION for this session. Raises MigrationError if another one holds it for too long.

    It asks again and again rather than wait in the database: an answer that is lost would not be missed otherwise."""
    until = time.monotonic() + wait_seconds
    while not await connection.fetchval(
        "select pg_try_advisory_lock($1)", AdvisoryLock.MIGRATION, timeout=LOCK_SECONDS
    ):
        if time.monotonic() > until:
            raise MigrationError(LOCKED)
        await asyncio.sleep(LOCK_POLL_SECONDS)


async def apply_pending(connection: Connection) -> list[str]:
    """Applies the migrations that this database lacks. Returns their names. The caller holds AdvisoryLock.MIGRATION."""
    await connection.execute(
        "create table if not exists migration (version bigint primary key, name text not null,"
        " applied_at timestamptz not null default now())"
    )
    pending = await pending_migrations(connection)
    return [await apply_migration(connection, migration) for migration in pending]


async def pending_migrations(connection: Connection) -> list[Migration]:
    """Returns the migrations that this database lacks, in order. Raises MigrationError if it has a newer one."""
    version = await schema_version(connection)
    if version > newest_known_version():
        raise MigrationError(
            f"this database is at migration {version}, newer than this kasuwa knows ({newest_known_version()}): "
            "run the version that made it, or a later one"
        )
    return [migration for migration in known_migrations() if migration.version > version]


async def find_pending(connection: Connection, environment: str) -> list[str]:
    """Returns the names of the migrations that `migrate` would apply. Changes nothing. Raises MigrationError if it
    would refuse the database."""
    await check_server(connection)
    pending = await pending_migrations(connection)
    if await connection.fetchval("select to_regclass('public.deployment')") is not None:
        check_environment(await connection.fetchval("select environment from deployment"), environment)
    return [migration.name for migration in pending]


def check_environment(database_environment: str | None, environment: str) -> None:
    if database_environment not in (None, environment):
        raise MigrationError(f"this database belongs to the {database_environment} environment, not {environment}")


async def check_server(connection: Connection) -> None:
    major = connection.get_server_version().major
    if major < MIN_POSTGRES_VERSION:
        raise MigrationError(f"PostgreSQL {major} is too old: kasuwa needs {MIN_POSTGRES_VERSION} or later")


NEVER_FREE = (
    "{} cannot be applied, for a transaction holds on to what it changes: "
    "find it in pg_stat_activity, end it and run this again"
)


async def apply_migration(connection: Connection, migration: Migration, *, tries: int = MAX_TRIES) -> str:
    for number in range(tries):
        try:
            await try_migration(connection, migration)
            return migration.name
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
            log.info("a migration gives way", migration=migration.name, tries=number + 1)
        await asyncio.sleep(PAUSE_SECONDS)
    raise MigrationError(NEVER_FREE.format(migration.name))


async def try_migration(connection: Connection, migration: Migration) -> None:
    async with connection.transaction():
        await connection.execute(f"set local lock_timeout = '{LOCK_TIMEOUT}'")
        await connection.execute(migration.sql)
        await connection.execute(
            "insert into migration (version, name) values ($1, $2)", migration.version, migration.name
        )


# A login that a superuser has granted the role to may not grant it itself.
IS_MEMBER = """
    select exists (
        select 1 from pg_auth_members m join pg_roles r on r.oid = m.roleid join pg_roles u on u.oid = m.member
        where r.rolname = $1 and u.rolname = current_user
    )
"""


async def prepare_roles(connection: Connection, *, may_create: bool) -> None:
    """Prepares the role by which a login that also owns the tables gives up its rights over append-only ones.

    It is created only if that login serves too. One that exists gets its rights anyway: processes that were started
    with the login of the owner use it until they end. Without the right to create it, only triggers protect append-only
    tables."""
    try:
        async with connection.transaction():
            if not await connection.fetchval("select 1 from pg_roles where rolname = $1", APPLICATION_ROLE):
                if not may_create:
                    return
                await connection.execute(f"create role {APPLICATION_ROLE} nologin")
            if may_create and not await connection.fetchval(IS_MEMBER, APPLICATION_ROLE):
                await connection.execute(f"grant {APPLICATION_ROLE} to current_user")
            await grant_application(connection, APPLICATION_ROLE)
    except (asyncpg.InsufficientPrivilegeError, asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError):
        # Not permitted, or another database of the cluster has just created it. `kasuwa doctor` reports whether the
        # role is in use.
        return


INSERT_DEPLOYMENT = "insert into deployment (environment, wrapped_root) values ($1, $2) on conflict do nothing"
INSERT_FIRST_KEYS = """
    insert into data_key (purpose, version, created_at, active_from, moves_from, refuses_from, moved_at, finished_at)
    select p.purpose, 1, d.created_at, d.created_at, d.created_at, d.created_at, d.created_at, d.created_at
    from deployment d, (values ('seal'), ('index')) p (purpose) on conflict do nothing
"""


async def prepare_deployment(connection: Connection, environment: str, secret_key: bytes) -> None:
    root = make_test_root(secret_key) if environment == "test" else os.urandom(32)
    wrapped = wrap_root(secret_key, root, os.urandom(12))
    await connection.execute(INSERT_DEPLOYMENT, environment, wrapped)
    await connection.execute(INSERT_FIRST_KEYS)
    check_environment(await connection.fetchval("select environment from deployment"), environment)
