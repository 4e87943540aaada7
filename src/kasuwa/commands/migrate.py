"""`kasuwa migrate`: brings the schema up to date, or says what that would do."""

import os
from typing import Annotated, Any

import typer

from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.boot.supervise import has_database
from kasuwa.commands.database import (
    connect_patiently,
    one_line_errors,
    record_audit_entry,
    run_with_connection,
    run_with_database,
)
from kasuwa.commands.directory_option import DataOption
from kasuwa.core.vault import Vault
from kasuwa.postgres import migrate
from kasuwa.settings.database_logins import owner_url
from kasuwa.settings.settings import Settings, read_settings

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Name the migrations to apply, and change nothing.")]


def migrate_database(dry_run: DryRunOption = False, data: DataOption = None) -> None:
    """Bring the database's schema up to date.

    Creates the database in an empty data directory. Several may run at once."""
    if dry_run:
        typer.echo(plan_migration(data))
        return
    from kasuwa.boot.prepare import prepare

    applied = run_with_database(data, prepare, may_create=True)

    async def work(connection: Any, vault: Vault, settings: Settings) -> None:
        await record_audit_entry(connection, OPERATOR_CHAIN_ID, "applied migrations", ", ".join(applied))

    if applied:
        run_with_connection(data, work)
    typer.echo("\n".join(f"applied {name}" for name in applied) or "nothing to do: the schema is up to date")


def plan_migration(data: DataOption) -> str:
    """Returns what `migrate` would do. Creates and changes nothing."""
    with one_line_errors():
        settings = read_settings(os.environ, data=data)
        if not has_database(settings):
            names = [migration.name for migration in migrate.known_migrations()]
            return "\n".join(
                [f"would create a database in {settings.data}", *(f"would apply {name}" for name in names)]
            )

    async def find(settings: Settings, dsn: str) -> list[str]:
        connection = await connect_patiently(owner_url(settings, dsn))
        try:
            return await migrate.find_pending(connection, settings.environment)
        finally:
            await connection.close()

    pending = run_with_database(data, find)
    return "\n".join(f"would apply {name}" for name in pending) or "nothing to do: the schema is up to date"
