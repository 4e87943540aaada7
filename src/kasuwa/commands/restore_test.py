"""`kasuwa restore-test`: checks a restored backup, and records the result in the audit trail of the running system."""

import os
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.boot import supervise
from kasuwa.boot.composition import get_closes_directory
from kasuwa.commands.database import (
    one_line_errors,
    open_copy,
    record_audit_entry,
    require_database,
    run_with_connection,
)
from kasuwa.commands.directory_option import DataOption
from kasuwa.core.vault import Vault
from kasuwa.evidence.reads import RESTORE_TESTED
from kasuwa.evidence.restored import RestoreResult, check_restored
from kasuwa.methods.coded_tables import CODED_TABLES
from kasuwa.privacy import vault_keys
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import Settings, read_settings

RestoredArgument = Annotated[
    str, typer.Argument(help="Data directory of the restored copy, or the URL of its database (postgresql://…).")
]
NoteOption = Annotated[str, typer.Option("--note", help="For instance which backup was restored, and by whom.")]


def check_restore(restored: RestoredArgument, note: NoteOption = "", data: DataOption = None) -> None:
    """Check a restored backup, and record the result in the audit trail.

    The copy must open with its key, keep the laws of the books, and have the published closes of its time. It is not
    changed. The exit code is 1 if it fails, and that is recorded too. `kasuwa evidence` lists the results."""
    # Both databases are opened outside of the event loop: starting an embedded one runs a loop of its own.
    with one_line_errors():
        settings = read_settings(os.environ, data=data)
        require_database(settings)
        copy = settings_of_copy(restored, settings)
        with supervise.open_database(copy) as (dsn, _):

            async def work(connection: Any, vault: Vault, _: Settings) -> RestoreResult:
                result = await check_copy(dsn, copy, settings)
                await record(connection, result, restored, note)
                return result

            result = run_with_connection(data, work)
    typer.echo(f"restored up to {result.newest_posting_at or 'no posting'}: {result.postings} postings")
    typer.echo(f"{result.closes} closes, checked in {result.seconds} s")
    if result.faults:
        typer.echo("\n".join(result.faults))
        raise typer.Exit(1)
    typer.echo("the restored books are right")


def settings_of_copy(restored: str, settings: Settings) -> Settings:
    """Returns the settings of the copy: those of the running system with another database, or with a data directory
    that has one. Its logins are then the embedded ones, whatever the running system was given."""
    if "://" in restored:
        return msgspec.structs.replace(settings, database_url=restored)
    directory = Path(restored)
    if not directory.is_dir():
        sys.exit(f"kasuwa: there is no directory {restored}")
    copy = msgspec.structs.replace(
        settings, data=directory, database_url=None, database_owner_url=None, database_reader_url=None
    )
    if not supervise.has_database(copy):
        sys.exit(f"kasuwa: there is no database in {restored}")
    return copy


async def check_copy(dsn: str, copy: Settings, settings: Settings) -> RestoreResult:
    began = time.monotonic()
    async with open_copy(dsn, copy) as connection:
        vault = await vault_keys.open_vault(connection, load_secret_key(copy, may_create=False))
        result = await check_restored(connection, vault, CODED_TABLES, get_closes_directory(settings))
    return msgspec.structs.replace(result, seconds=round(time.monotonic() - began, 1))


async def record(connection: Any, result: RestoreResult, restored: str, note: str) -> None:
    """Records the result. The password of a URL is left out."""
    subject = restored.rpartition("@")[2] if "://" in restored else restored
    shown = msgspec.json.encode({**msgspec.to_builtins(result), "faults": result.faults[:20], "note": note}).decode()
    await record_audit_entry(connection, OPERATOR_CHAIN_ID, RESTORE_TESTED, subject, after=shown)
