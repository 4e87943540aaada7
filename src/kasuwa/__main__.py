"""Runs and administers a Kasuwa deployment. Every error is reported in one line."""

import contextlib
import importlib
import os
import sys
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from kasuwa import listen, supervise
from kasuwa.commands import announcement
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
from kasuwa.ports import reserve_ports
from kasuwa.settings import DEMO_KEY, DEMO_MID, Settings, read_settings, secret_key_of

T = TypeVar("T")

command = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)
# Groups of subcommands, each in the file of that name below commands/.
GROUPS = ("merchant", "bills", "client", "loan", "rates", "split", "user")


@command.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on (KASUWA_HOST, 127.0.0.1).")] = None,
    port: Annotated[int | None, typer.Option(help="Port of the API (KASUWA_PORT, 8080).")] = None,
    console_port: Annotated[int | None, typer.Option(help="Port of the console (KASUWA_CONSOLE_PORT, 8081).")] = None,
    data: DataOption = None,
    workers: Annotated[int | None, typer.Option(help="API processes (KASUWA_WORKERS, 1).")] = None,
    ready_file: Annotated[
        Path | None, typer.Option(help="File to write when ready: one line of JSON. Removed at the end.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print that line of JSON instead of text.")] = False,
) -> None:
    """Run the service: API processes, a job worker and, unless KASUWA_DATABASE_URL is set, its own PostgreSQL.

    With port 0 it listens on a free port, and says which when it is ready."""
    with one_line_errors(), contextlib.ExitStack() as at_end:
        given = read_settings(os.environ, host=host, port=port, console_port=console_port, data=data, workers=workers)
        ready = announcement.ReadyFile(ready_file) if ready_file is not None else None
        if ready is not None:
            ready.prepare()
        settings = at_end.enter_context(reserve_ports(given))
        secret_key_of(settings)
        dsn, cluster = at_end.enter_context(supervise.open_database(settings))
        supervise.prepare(settings, dsn)

        def announce() -> None:
            made = announcement.make_announcement(settings, dsn)
            at_end.enter_context(announcement.published(made, settings, ready, as_json=json))

        supervise.Supervisor(settings, dsn, cluster).run(announce)


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
