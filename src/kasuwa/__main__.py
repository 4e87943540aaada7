"""The command. Each subcommand says in one line what is wrong, never in a stack."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, TypeVar

import asyncpg
import msgspec
import typer

from kasuwa import app, listen, supervise
from kasuwa.core.merchant import MerchantSettings, check_settings
from kasuwa.core.secrets import Vault
from kasuwa.db import embedded, merchants, migrate
from kasuwa.doctor import examine
from kasuwa.ledger.audit import audit as audit_books
from kasuwa.listen import CannotListen
from kasuwa.observe import log
from kasuwa.settings import Settings, SettingsError, loopback_allowed, read_settings, secret_key_of
from kasuwa.supervise import CannotServe
from kasuwa.work.egress import url_fault

T = TypeVar("T")

command = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)
merchant_command = typer.Typer(no_args_is_help=True, help="Add and change merchants.")
command.add_typer(merchant_command, name="merchant")

DataOption = Annotated[Path | None, typer.Option("--data", help="Data directory (KASUWA_DATA).")]

MOST_NAME = 200

CURL = """curl -X PUT http://{host}:{port}/disburse -H 'mid: GP0000001' -H 'key: 123456789' \\
  -d '{{"action":"transfer","amount":"1500.00","bankcode":"058","accountnumber":"0000000000","orderRef":"first"}}'"""


@contextmanager
def one_line_errors() -> Iterator[None]:
    """What people should see of an error they can mend: its line, on standard error, and exit code 1."""
    try:
        yield
    except (CannotServe, CannotListen, SettingsError, migrate.MigrationError, embedded.EmbeddedError) as error:
        sys.exit(f"kasuwa: {error}")
    except merchants.UnknownMerchant as error:
        sys.exit(f"kasuwa: no merchant has the mid {error}")
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError, ValueError) as error:
        # A ValueError is the driver's word for an address that it cannot read.
        sys.exit(f"kasuwa: the database cannot be used: {supervise.one_line(error)}")


@command.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on (KASUWA_HOST, 127.0.0.1).")] = None,
    port: Annotated[int | None, typer.Option(help="Port of the API (KASUWA_PORT, 8080).")] = None,
    console_port: Annotated[int | None, typer.Option(help="Port of the console (KASUWA_CONSOLE_PORT, 8081).")] = None,
    data: DataOption = None,
    workers: Annotated[int | None, typer.Option(help="API processes (KASUWA_WORKERS, 1).")] = None,
) -> None:
    """Run the service: API processes, a job worker and, unless KASUWA_DATABASE_URL is set, its own PostgreSQL."""
    with one_line_errors():
        settings = read_settings(
            os.environ, host=host, port=port, console_port=console_port, data=data, workers=workers
        )
        supervise.check_port(settings.host, settings.port)
        secret_key_of(settings)
        with supervise.open_database(settings) as (dsn, cluster):
            supervise.prepare(settings, dsn)
            supervise.Supervisor(settings, dsn, cluster).run(lambda: announce(settings))


def announce(settings: Settings) -> None:
    typer.echo(f"Kasuwa ({settings.environment}) listens on http://{settings.host}:{settings.port}")
    if settings.environment == "test":
        typer.echo("Demo merchant: mid GP0000001, key 123456789. Try:\n")
        typer.echo(CURL.format(host=settings.host, port=settings.port))
    typer.echo("\nCtrl-C stops it.")


# --- commands that touch a database -------------------------------------------------------------------------


def with_database(data: Path | None, work: Callable[[Settings, str], Awaitable[T]]) -> T:
    """Run something on the database that `serve` would use, also while it runs."""
    with one_line_errors():
        settings = read_settings(os.environ, data=data)
        with supervise.open_database(settings) as (dsn, _):
            return asyncio.run(work(settings, dsn))  # type: ignore[arg-type]


def with_connection(data: Path | None, work: Callable[[Any, Vault, Settings], Awaitable[T]]) -> T:
    async def run(settings: Settings, dsn: str) -> T:
        connection = await asyncpg.connect(dsn, timeout=5)
        try:
            if await migrate.schema_version(connection) == 0:
                raise CannotServe("this database is empty: run `kasuwa migrate` first")
            vault = await migrate.open_vault(connection, secret_key_of(settings))
            return await work(connection, vault, settings)
        finally:
            await connection.close()

    return with_database(data, run)


@command.command(name="migrate")
def migrate_command(data: DataOption = None) -> None:
    """Bring the database's schema up to date."""
    applied = with_database(data, app.prepare)
    typer.echo("\n".join(f"applied {name}" for name in applied) or "nothing to do: the schema is up to date")


@command.command()
def audit(data: DataOption = None) -> None:
    """Check the laws of the books over the whole database; exit code 1 and the place where one is broken."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[str]:
        return await audit_books(connection)

    broken = with_connection(data, work)
    if broken:
        typer.echo("\n".join(broken))
        raise typer.Exit(1)
    typer.echo("the books are right")


@command.command()
def doctor(data: DataOption = None) -> None:
    """Say what is wrong with this deployment, and how to mend it."""
    with one_line_errors():
        findings = examine(read_settings(os.environ, data=data))
    typer.echo("\n".join(str(finding) for finding in findings))
    if any(finding.wrong for finding in findings):
        raise typer.Exit(1)


# --- events ---------------------------------------------------------------------------------------------------

ServerOption = Annotated[str, typer.Option("--server", help="Address of a running server.")]
MidOption = Annotated[str, typer.Option("--mid", envvar="KASUWA_MID", help="As which merchant.")]
KeyOption = Annotated[str, typer.Option("--key", envvar="KASUWA_KEY", help="Its key.")]
ForwardOption = Annotated[str | None, typer.Option("--forward-to", help="A local application to forward to, signed.")]


@command.command(name="listen")
def listen_command(
    forward_to: ForwardOption = None,
    server: ServerOption = "http://127.0.0.1:8080",
    mid: MidOption = "GP0000001",
    key: KeyOption = app.DEMO_KEY,
) -> None:
    """Print a merchant's events as they happen, and forward them, signed, to a local application."""
    with one_line_errors(), contextlib.suppress(KeyboardInterrupt):
        listen.listen(listen.Account(server, mid, key), forward_to, typer.echo)


@command.command(name="trigger")
def trigger_command(
    reference: str,
    forward_to: ForwardOption = None,
    server: ServerOption = "http://127.0.0.1:8080",
    mid: MidOption = "GP0000001",
    key: KeyOption = app.DEMO_KEY,
) -> None:
    """Send the event of a reference again, to the merchant's endpoint or to a local application."""
    with one_line_errors():
        typer.echo(listen.trigger(listen.Account(server, mid, key), reference, forward_to))


# --- merchants --------------------------------------------------------------------------------------------------


@merchant_command.command(name="add")
def add_merchant(name: str, data: DataOption = None) -> None:
    """Add a merchant with empty books; its key is shown this once."""
    if not name.strip() or not name.isprintable() or len(name) > MOST_NAME:
        sys.exit(f"kasuwa: a merchant's name has 1 to {MOST_NAME} printable characters")

    async def work(connection: Any, vault: Vault, settings: Settings) -> tuple[int, str, str]:
        return await merchants.add_merchant(connection, vault, name)

    _, mid, key = with_connection(data, work)
    typer.echo(f"mid {mid}\nkey {key}")


@merchant_command.command(name="roll-key")
def roll_key(
    mid: str,
    overlap_hours: Annotated[float, typer.Option(help="How long the old key still works, at most 168.")] = 24.0,
    data: DataOption = None,
) -> None:
    """Give a merchant a new key, shown this once; the old one works until the overlap ends."""
    if not 0 <= overlap_hours <= merchants.MOST_OVERLAP / timedelta(hours=1):
        sys.exit("kasuwa: --overlap-hours must be between 0 and 168")
    overlap = timedelta(hours=overlap_hours)

    async def work(connection: Any, vault: Vault, settings: Settings) -> str:
        return await merchants.roll_key(connection, vault, mid, overlap)

    typer.echo(f"key {with_connection(data, work)}")


@merchant_command.command(name="set")
def set_merchant(
    mid: str,
    webhook_url: Annotated[str | None, typer.Option(help="Where events are sent; empty switches them off.")] = None,
    webhook_order: Annotated[str | None, typer.Option(help="loose, or strict: an object's events in order.")] = None,
    http_codes: Annotated[str | None, typer.Option(help="compat or strict.")] = None,
    tariff: Annotated[str | None, typer.Option(help="JSON laid over the default tariff.")] = None,
    limits: Annotated[str | None, typer.Option(help='JSON such as {"NGN": ["1.00", "500000.00"]}.')] = None,
    rate: Annotated[str | None, typer.Option(help="Requests a second and burst, such as 100,200.")] = None,
    data: DataOption = None,
) -> None:
    """Change a merchant's settings."""
    changes = read_changes(
        webhook_url=webhook_url,
        webhook_order=webhook_order,
        http_codes=http_codes,
        tariff=tariff,
        limits=limits,
        rate=rate,
    )

    async def work(connection: Any, vault: Vault, settings: Settings) -> MerchantSettings:
        if webhook_url:
            allowed = loopback_allowed(settings)
            fault = url_fault(webhook_url, environment=settings.environment, loopback_allowed=allowed)
            if fault is not None:
                raise CannotServe(f"--webhook-url: {fault}")

        def change(kept: MerchantSettings) -> MerchantSettings:
            return msgspec.structs.replace(kept, **changes)

        return await merchants.change_settings(connection, mid, change, endpoint_set=webhook_url is not None)

    typer.echo(msgspec.json.encode(with_connection(data, work)).decode())


def read_changes(**said: str | None) -> dict[str, Any]:
    """The settings given, read and checked as a whole before anything is kept."""
    given = {name: value for name, value in said.items() if value is not None}
    try:
        for name in ("tariff", "limits"):
            if name in given:
                given[name] = msgspec.json.decode(given[name])
        if "rate" in given:
            given["rate"] = [int(part) for part in given["rate"].split(",")]  # type: ignore[assignment]
        checked = msgspec.convert(given, MerchantSettings)
        check_settings(checked)
    except (ValueError, msgspec.MsgspecError) as error:
        sys.exit(f"kasuwa: {supervise.one_line(error)}")
    return {name: getattr(checked, name) for name in given}


def main() -> None:
    log.set_up(json_lines=False)
    command()


if __name__ == "__main__":
    main()
