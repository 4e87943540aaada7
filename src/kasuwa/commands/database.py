"""What every command that touches a database does first: find it, open it, and say in one line what is wrong."""

import asyncio
import os
import pwd
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import asyncpg
import typer

from kasuwa import supervise
from kasuwa.core.decision import AuditEntry
from kasuwa.core.vault import Vault
from kasuwa.db import audit_trail, embedded, merchants, migrate
from kasuwa.db.pgbouncer import TransactionPooling
from kasuwa.db.primary import connect_to_primary
from kasuwa.db.writer import DatabaseUnreachable
from kasuwa.listen import ListenError
from kasuwa.settings import Settings, SettingsError, read_settings, secret_key_of
from kasuwa.supervise import ServeError

if TYPE_CHECKING:  # the whole house takes most of a second to import: commands that need none of it do without
    from kasuwa.composition import Services

T = TypeVar("T")

# The variable in which sudo says who was there before; only root is told so by it.
SUDO_USER_VARIABLE = "SUDO_USER"

DataOption = Annotated[Path | None, typer.Option("--data", help="Data directory (KASUWA_DATA).")]


def system_user() -> str:
    """Who runs this command on this machine; through sudo, who they were before."""
    uid = os.getuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        name = f"uid {uid}"
    before = os.environ.get(SUDO_USER_VARIABLE, "") if uid == 0 else ""
    return f"{before} as {name}" if before and before != name and before.isprintable() else name


def make_audit_entry(action: str, subject: str, before: str = "", after: str = "") -> AuditEntry:
    """The audit entry of what a command does: by the system's user, from this machine."""
    return AuditEntry(f"command:{system_user()}", action, subject, socket.gethostname(), before, after)


async def record_audit_entry(
    connection: Any, chain: int, action: str, subject: str, before: str = "", after: str = ""
) -> None:
    """Into the audit trail of a merchant or of the operator. Call it in the transaction of what it tells of."""
    await audit_trail.append_entry(connection, chain, make_audit_entry(action, subject, before, after))


@contextmanager
def one_line_errors() -> Iterator[None]:
    """What people should see of an error they can mend: its line, on standard error, and exit code 1."""
    try:
        yield
    except (ServeError, ListenError, SettingsError, migrate.MigrationError, embedded.EmbeddedError) as error:
        sys.exit(f"kasuwa: {error}")
    except TransactionPooling as error:
        sys.exit(f"kasuwa: {error}")
    except DatabaseUnreachable as error:
        known = (
            "the outcome is not known: look before you try again" if error.is_outcome_unknown else "nothing was changed"
        )
        sys.exit(f"kasuwa: {error}; {known}")
    except merchants.UnknownMerchant as error:
        sys.exit(f"kasuwa: no merchant has the mid {error}")
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError, ValueError) as error:
        # A ValueError is the driver's word for an address that it cannot read.
        sys.exit(f"kasuwa: the database cannot be used: {supervise.one_line(error)}")


def run_with_database(data: Path | None, work: Callable[[Settings, str], Awaitable[T]]) -> T:
    """Run something on the database that `serve` would use, also while it runs."""
    with one_line_errors():
        settings = read_settings(os.environ, data=data)
        with supervise.open_database(settings) as (dsn, _):
            return asyncio.run(work(settings, dsn))  # type: ignore[arg-type]


def run_with_connection(data: Path | None, work: Callable[[Any, Vault, Settings], Awaitable[T]]) -> T:
    async def run(settings: Settings, dsn: str) -> T:
        connection = await connect_to_primary(dsn)
        try:
            await require_schema(connection)
            vault = await migrate.open_vault(connection, secret_key_of(settings))
            return await work(connection, vault, settings)
        finally:
            await connection.close()

    return run_with_database(data, run)


def run_with_services(data: Path | None, work: Callable[["Services"], Awaitable[T]]) -> T:
    """Run something that writes as requests do: decided by a rule, through a writer like any other's."""
    from kasuwa.composition import Services

    async def run(settings: Settings, dsn: str) -> T:
        connection = await connect_to_primary(dsn)
        try:
            await require_schema(connection)
        finally:
            await connection.close()
        house = await Services.build(settings, dsn)
        house.writer.start()
        try:
            return await work(house)
        finally:
            await house.close()

    return run_with_database(data, run)


async def require_schema(connection: Any) -> None:
    if await migrate.schema_version(connection) == 0:
        raise ServeError("this database is empty: run `kasuwa migrate` first")
