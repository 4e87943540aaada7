"""What `kasuwa doctor` finds about the logins of the database: it tries what each login must not be able to do."""

from typing import Any

import asyncpg

from kasuwa.doctor.findings import Finding, passed, problem
from kasuwa.postgres import connections
from kasuwa.postgres.login_probes import find_application_powers, find_owner, find_reader_powers
from kasuwa.postgres.logins import is_owner
from kasuwa.settings.database_logins import OWNER_SETTING, READER_SETTING, reader_url
from kasuwa.settings.settings import Settings

SEE = "docs/operating.md, Logins"
MIGRATE = f"run `kasuwa migrate` with {OWNER_SETTING}; if it stays, the login has rights that were granted elsewhere"
# With parts of tables on several servers, the driver's first look-up of types takes seconds.
STATEMENT_SECONDS = 60.0
# So many of the rights that a login must not have are named.
MAX_NAMED = 5


async def examine_logins(settings: Settings, dsn: str, connection: Any) -> list[Finding]:
    """`connection` is the application's."""
    return [
        *await examine_owner(settings, connection),
        *await examine_application(settings, connection),
        await examine_reader(settings, dsn),
    ]


async def examine_owner(settings: Settings, connection: Any) -> list[Finding]:
    """The superuser that created an embedded database owns it. An owner that is given should be an ordinary login."""
    name, is_superuser = await find_owner(connection)
    if settings.database_url is None or settings.environment == "test" or not is_superuser:
        return []
    mend = f"let an ordinary login own the database and its tables (`alter table … owner to`): {SEE}"
    return [problem(f"the owner of the tables, {name}, is a superuser", mend)]


async def examine_application(settings: Settings, connection: Any) -> list[Finding]:
    if await is_owner(connection):
        return [*separate_owner(settings), await examine_role(connection)]
    return [describe("the application's login", await find_application_powers(connection), APPLICATION_PROMISE)]


APPLICATION_PROMISE = "cannot change the schema or the journal, nor become the owner"
READER_PROMISE = "cannot write, and sees the rows of one merchant at a time"


def separate_owner(settings: Settings) -> list[Finding]:
    what = "one login owns the tables and serves: whoever can run SQL as it can undo every protection"
    if settings.environment == "live":
        return [problem(what, f"give the owner's address in {OWNER_SETTING} and another in KASUWA_DATABASE_URL: {SEE}")]
    return [passed("one login owns the tables and serves, as is usual in test")]


async def examine_role(connection: Any) -> Finding:
    """Finds the role by which a login that also owns the tables gives up its rights."""
    await connections.set_application_role(connection)
    role = await connection.fetchval("select current_user")
    await connection.execute("reset role")
    if role != connections.APPLICATION_ROLE:
        mend = f"let a superuser `create role {connections.APPLICATION_ROLE}` and grant it to us, then `kasuwa migrate`"
        return problem("the journal is guarded by triggers alone: no role of lesser rights", mend)
    return passed("the service runs as a role that cannot change the journal")


async def examine_reader(settings: Settings, dsn: str) -> Finding:
    url = reader_url(settings, dsn)
    if url == dsn:
        what = "lists and pages are read by the login that serves: a query without its merchant would show all rows"
        if settings.environment == "live":
            return problem(what, f"give the address of a login that only reads in {READER_SETTING}: {SEE}")
        return passed("lists and pages are read by the login that serves, as is usual in test")
    try:
        settings_of_session = {"application_name": "kasuwa doctor"}
        connection = await connections.connect_as_owner(url, settings_of_session, statement_seconds=STATEMENT_SECONDS)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError, ValueError) as error:
        return problem(f"the reader's login cannot connect: {error or type(error).__name__}", f"check {READER_SETTING}")
    try:
        return describe("the reader's login", await find_reader_powers(connection), READER_PROMISE)
    except asyncpg.InsufficientPrivilegeError as error:
        return problem(f"the reader's login lacks a right: {error}", f"run `kasuwa migrate` with {OWNER_SETTING}")
    finally:
        await connection.close()


def describe(login: str, powers: list[str], promise: str) -> Finding:
    if not powers:
        return passed(f"{login} {promise}")
    more = f" and {len(powers) - MAX_NAMED} more" if len(powers) > MAX_NAMED else ""
    return problem(f"{login} can {', '.join(powers[:MAX_NAMED])}{more}", MIGRATE)
