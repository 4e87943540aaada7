"""Helpers of commands that use the database: open it, record audit entries, print known errors as one line."""

import asyncio
import os
import pwd
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import asyncpg

from kasuwa.audit.close_task import PublishError
from kasuwa.authority import audit_trail
from kasuwa.boot import supervise
from kasuwa.boot.ports import PortError
from kasuwa.boot.supervise import ServeError
from kasuwa.commands.listening import ListenError
from kasuwa.core.decision import AuditEntry
from kasuwa.core.vault import Vault
from kasuwa.merchants import merchants
from kasuwa.observe import log
from kasuwa.observe.metrics import Metrics
from kasuwa.postgres import migrate
from kasuwa.postgres.backend_connection import BackendConnection
from kasuwa.postgres.connections import DatabaseUnreachable
from kasuwa.postgres.embedded.account import EmbeddedError
from kasuwa.postgres.pgbouncer import TransactionPooling
from kasuwa.postgres.primary import connect_to_primary
from kasuwa.privacy import vault_keys
from kasuwa.settings.database_logins import LoginError, owner_url
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import Settings, read_settings
from kasuwa.settings.values import SettingsError

if TYPE_CHECKING:  # app takes most of a second to import, so commands import it only when they need it
    from kasuwa.boot.composition import Services

T = TypeVar("T")

# Environment variable in which sudo names the invoking user. It is trusted for root only.
SUDO_USER_VARIABLE = "SUDO_USER"

# How long a command waits for a connection. No client waits for it, so it is more patient than the service.
CONNECT_SECONDS = 30.0


def system_user() -> str:
    """Returns the name of the system user who runs the command. Through sudo also the invoking user."""
    uid = os.getuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        name = f"uid {uid}"
    before = os.environ.get(SUDO_USER_VARIABLE, "") if uid == 0 else ""
    return f"{before} as {name}" if before and before != name and before.isprintable() else name


def make_audit_entry(action: str, subject: str, before: str = "", after: str = "") -> AuditEntry:
    """Builds the audit entry of a command, with the system user and this host."""
    return AuditEntry(f"command:{system_user()}", action, subject, socket.gethostname(), before, after)


async def record_audit_entry(
    connection: Any, chain: int, action: str, subject: str, before: str = "", after: str = ""
) -> None:
    """Appends an audit entry. Call it inside the transaction of the change that it describes."""
    await audit_trail.append_entry(connection, chain, make_audit_entry(action, subject, before, after))


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turns known errors into one line on standard error and exit code 1. Log lines go there too, as text."""
    log.configure_logging(Metrics(), json_lines=False)
    try:
        yield
    except (ServeError, ListenError, PortError, SettingsError, migrate.MigrationError, EmbeddedError) as error:
        sys.exit(f"kasuwa: {error}")
    except (LoginError, TransactionPooling, PublishError) as error:
        sys.exit(f"kasuwa: {error}")
    except DatabaseUnreachable as error:
        outcome = (
            "the outcome is unknown: check before you try again" if error.is_outcome_unknown else "nothing was changed"
        )
        sys.exit(f"kasuwa: {error}; {outcome}")
    except merchants.UnknownMerchant as error:
        sys.exit(f"kasuwa: no merchant has the mid {error}")
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError, ValueError) as error:
        # The driver raises ValueError for a database URL that it cannot parse.
        sys.exit(f"kasuwa: the database cannot be used: {supervise.one_line(error)}")


def run_with_database(
    data: Path | None, work: Callable[[Settings, str], Awaitable[T]], *, may_create: bool = False
) -> T:
    """Runs `work` on the database that `serve` uses, also while it is running. Exits with one line on a known error.

    Without `may_create` a data directory without a database is refused, and nothing is created in it."""
    with one_line_errors():
        settings = read_settings(os.environ, data=data)
        if not may_create:
            require_database(settings)
        with supervise.open_database(settings) as (dsn, _):
            return asyncio.run(work(settings, dsn))  # type: ignore[arg-type]


def require_database(settings: Settings) -> None:
    """Raises ServeError if the embedded database has not been created."""
    if not supervise.has_database(settings):
        raise ServeError(
            f"there is no database in {settings.data}: start one with `kasuwa serve`, "
            "or choose another directory with --data or KASUWA_DATA"
        )


async def connect_patiently(dsn: str) -> BackendConnection:
    """Connects to the primary. Raises TimeoutError after CONNECT_SECONDS."""
    return await connect_to_primary(dsn, timeout=CONNECT_SECONDS)


def run_with_connection(
    data: Path | None, work: Callable[[Any, Vault, Settings], Awaitable[T]], *, as_owner: bool = False
) -> T:
    """Runs `work` with a connection to the primary and the vault. Exits if the database has no schema.

    The login is the application's, or with `as_owner` the one that owns the tables, if it is known."""

    async def run(settings: Settings, dsn: str) -> T:
        connection = await connect_patiently(owner_url(settings, dsn) if as_owner else dsn)
        try:
            await require_schema(connection)
            vault = await vault_keys.open_vault(connection, load_secret_key(settings, may_create=False))
            return await work(connection, vault, settings)
        finally:
            await connection.close()

    return run_with_database(data, run)


def run_with_services(data: Path | None, work: Callable[["Services"], Awaitable[T]]) -> T:
    """Runs `work` with started services, for commands that decide through rules and the writer."""

    async def run(settings: Settings, dsn: str) -> T:
        connection = await connect_patiently(dsn)
        try:
            await require_schema(connection)
        finally:
            await connection.close()
        return await work_with_services(settings, dsn, work)

    return run_with_database(data, run)


async def work_with_services(settings: Settings, dsn: str, work: Callable[["Services"], Awaitable[T]]) -> T:
    """Starts services on a database that has a schema, and runs `work` with them."""
    from kasuwa.boot.composition import Services

    load_secret_key(settings, may_create=False)
    services = await Services.build(settings, dsn)
    for pool in services.pools:
        pool.acquire_seconds = CONNECT_SECONDS
    services.writer.start()
    try:
        return await work(services)
    finally:
        await services.close()


@asynccontextmanager
async def open_copy(dsn: str, settings: Settings) -> AsyncIterator[Any]:
    """Yields a connection to another database than the running one. Raises ServeError if it has no schema, and
    MigrationError if the key does not open it."""
    connection = await connect_patiently(dsn)
    try:
        await require_schema(connection)
        await vault_keys.open_vault(connection, load_secret_key(settings, may_create=False))
        yield connection
    finally:
        await connection.close()


async def require_schema(connection: Any) -> None:
    """Raises ServeError if the database has no schema yet."""
    if await migrate.schema_version(connection) == 0:
        raise ServeError("this database is empty: run `kasuwa migrate` first")
