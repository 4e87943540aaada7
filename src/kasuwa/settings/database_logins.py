"""The addresses of the database, one for each login: of the application, of the owner and of the reader.

The application's is KASUWA_DATABASE_URL, or that of the embedded database. If another login is not given, the
application's does its work.
"""

from urllib.parse import urlsplit

import asyncpg

from kasuwa.postgres.connection_pool import Connection
from kasuwa.postgres.connections import connect_as_owner
from kasuwa.postgres.embedded import embedded
from kasuwa.postgres.logins import APPLICATION_LOGIN, OWNER_LOGIN, READER_LOGIN, Logins, can_read, is_owner
from kasuwa.settings.settings import Settings
from kasuwa.settings.values import SettingsError

OWNER_SETTING, READER_SETTING = "KASUWA_DATABASE_OWNER_URL", "KASUWA_DATABASE_READER_URL"
DATABASE = "kasuwa"
SETTINGS = {"application_name": "kasuwa logins"}


class LoginError(Exception):
    """A login cannot be used. The text says in one line why, and what to do."""


def check_urls(settings: Settings) -> None:
    """Raises SettingsError if a login is given for the embedded database, which has its own."""
    for name, value in (
        (OWNER_SETTING, settings.database_owner_url),
        (READER_SETTING, settings.database_reader_url),
    ):
        if value is not None and settings.database_url is None:
            raise SettingsError(f"{name} needs KASUWA_DATABASE_URL: the embedded database has logins of its own")


def embedded_url(cluster: embedded.Cluster) -> str:
    """Returns the address of the embedded database for the application."""
    return cluster.dsn_for(DATABASE, APPLICATION_LOGIN)


def owner_url(settings: Settings, dsn: str) -> str:
    """Returns the owner's address. `dsn` is the application's."""
    if settings.database_url is None:
        return with_login(dsn, OWNER_LOGIN)
    return settings.database_owner_url or dsn


def reader_url(settings: Settings, dsn: str) -> str:
    """Returns the reader's address. `dsn` is the application's."""
    if settings.database_url is None:
        return with_login(dsn, READER_LOGIN)
    return settings.database_reader_url or dsn


def with_login(dsn: str, login: str) -> str:
    parts = urlsplit(dsn)
    return parts._replace(netloc=f"{login}@{parts.netloc.rpartition('@')[2]}").geturl()


async def ask_login(url: str, setting: str) -> str:
    """Returns the name of the login that an address has. Raises LoginError if it cannot connect."""
    try:
        connection = await connect_as_owner(url, SETTINGS)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError, ValueError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise LoginError(f"the login of {setting} cannot connect: {why}") from None
    try:
        return str(await connection.fetchval("select session_user"))
    finally:
        await connection.close()


async def find_logins(settings: Settings, dsn: str, owner: Connection) -> Logins:
    """Returns the names of the application's and the reader's logins. Raises LoginError if two are the same."""
    names = {"the owner": str(await owner.fetchval("select session_user"))}
    if owner_url(settings, dsn) != dsn:
        names["KASUWA_DATABASE_URL"] = await ask_login(dsn, "KASUWA_DATABASE_URL")
    if reader_url(settings, dsn) != dsn:
        names[READER_SETTING] = await ask_login(reader_url(settings, dsn), READER_SETTING)
    if len(set(names.values())) < len(names):
        raise LoginError(f"each login must be another: {', '.join(f'{key} has {name}' for key, name in names.items())}")
    return Logins(names.get("KASUWA_DATABASE_URL", ""), names.get(READER_SETTING, ""))


async def check_rights(settings: Settings, dsn: str) -> None:
    """Raises LoginError if the reader has not been granted its rights. For processes that cannot grant them."""
    if reader_url(settings, dsn) == dsn:
        return
    name = await ask_login(reader_url(settings, dsn), READER_SETTING)
    connection = await connect_as_owner(dsn, SETTINGS)
    try:
        if not await can_read(connection, name):
            raise LoginError(
                f"the login {name} of {READER_SETTING} has no rights yet: run `kasuwa migrate` with {OWNER_SETTING}"
            )
    finally:
        await connection.close()


async def may_migrate(settings: Settings, connection: Connection) -> bool:
    """Tells whether the owner's address is known: it is given, or the only login owns the tables."""
    return settings.database_url is None or settings.database_owner_url is not None or await is_owner(connection)
