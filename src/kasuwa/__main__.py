"""Runs and administers a Kasuwa deployment. Every error is reported in one line."""

import asyncio
import contextlib
import importlib
import os
import sys
from typing import Annotated, Any, TypeVar

import typer

from kasuwa import listen, supervise
from kasuwa.commands.database import (
    DataOption,
    one_line_errors,
    record_audit_entry,
    run_with_connection,
    run_with_database,
)
from kasuwa.core.vault import Vault
from kasuwa.db.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.doctor import examine
from kasuwa.ledger.invariants import check_invariants as audit_books
from kasuwa.observe import log
from kasuwa.observe.metrics import Metrics
from kasuwa.settings import DEMO_KEY, DEMO_MID, Settings, console_address, local_url, read_settings, secret_key_of

T = TypeVar("T")

command = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)
# Groups of subcommands, each in the file of that name below commands/.
GROUPS = ("merchant", "bills", "client", "loan", "rates", "split", "twin", "user")

CURL = """curl -X PUT http://{host}:{port}/disburse -H 'mid: {mid}' -H 'key: {key}' \\
  -d '{{"action":"transfer","amount":"1500.00","bankcode":"058","accountnumber":"0000000000","orderRef":"first"}}'"""


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
        if settings.console == "on":
            supervise.check_port(settings.console_host, settings.console_port, "--console-port")
        if settings.metrics_port is not None:
            supervise.check_port(settings.metrics_host, settings.metrics_port, "KASUWA_METRICS_PORT")
        secret_key_of(settings)
        with supervise.open_database(settings) as (dsn, cluster):
            supervise.prepare(settings, dsn)
            supervise.Supervisor(settings, dsn, cluster).run(lambda: announce(settings, dsn))


def announce(settings: Settings, dsn: str) -> None:
    typer.echo(f"Kasuwa ({settings.environment}) listens on http://{settings.host}:{settings.port}")
    if settings.environment == "test":
        typer.echo(f"Demo merchant: mid {DEMO_MID}, key {DEMO_KEY}. Try:\n")
        typer.echo(CURL.format(host=settings.host, port=settings.port, mid=DEMO_MID, key=DEMO_KEY))
    if settings.console == "on":
        announce_console(settings, dsn)
    if settings.metrics_port is not None:
        typer.echo(f"\nMetrics: {local_url(settings.metrics_host, settings.metrics_port)}/metrics")
    typer.echo("\nCtrl-C stops it.")


def announce_console(settings: Settings, dsn: str) -> None:
    """Prints the console's address and, in test, a sign-in link for each demo user without a password."""
    from kasuwa.commands import user

    typer.echo(f"\nConsole: {console_address(settings)}")
    if settings.environment == "test":
        for email, token in asyncio.run(user.make_demo_links(dsn)):
            typer.echo(f"  sign in once as {email}: {console_address(settings)}/link/{token}")


@command.command(name="migrate")
def migrate_command(data: DataOption = None) -> None:
    """Bring the database's schema up to date."""
    from kasuwa.prepare import prepare

    applied = run_with_database(data, prepare)

    async def work(connection: Any, vault: Vault, settings: Settings) -> None:
        await record_audit_entry(connection, OPERATOR_CHAIN_ID, "applied migrations", ", ".join(applied))

    if applied:
        run_with_connection(data, work)
    typer.echo("\n".join(f"applied {name}" for name in applied) or "nothing to do: the schema is up to date")


@command.command()
def audit(data: DataOption = None) -> None:
    """Check the laws of the books over the whole database; exit code 1 and the place where one is broken."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[str]:
        return await audit_books(connection)

    broken = run_with_connection(data, work)
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
    if any(finding.is_problem for finding in findings):
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
    mid: MidOption = DEMO_MID,
    key: KeyOption = DEMO_KEY,
) -> None:
    """Print a merchant's events as they happen, and forward them, signed, to a local application."""
    with one_line_errors(), contextlib.suppress(KeyboardInterrupt):
        listen.listen(listen.MerchantClient(server, mid, key), forward_to, typer.echo)


@command.command(name="trigger")
def trigger_command(
    reference: str,
    forward_to: ForwardOption = None,
    server: ServerOption = "http://127.0.0.1:8080",
    mid: MidOption = DEMO_MID,
    key: KeyOption = DEMO_KEY,
) -> None:
    """Send the event of a reference again, to the merchant's endpoint or to a local application."""
    with one_line_errors():
        typer.echo(listen.trigger(listen.MerchantClient(server, mid, key), reference, forward_to))


def main() -> None:
    log.configure_logging(Metrics(), json_lines=False)
    for name in groups_for(sys.argv[1:]):
        command.add_typer(importlib.import_module(f"kasuwa.commands.{name}").command, name=name)
    command()


def groups_for(words: list[str]) -> tuple[str, ...]:
    """Returns the groups to import: the one that is called, none for a plain command, otherwise all, for the help.
    Each takes time to import."""
    plain = {known.name or known.callback.__name__ for known in command.registered_commands if known.callback}
    if words and words[0] in plain:
        return ()
    return tuple(name for name in GROUPS if words[:1] == [name]) or GROUPS


if __name__ == "__main__":
    main()
