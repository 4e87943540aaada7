"""`kasuwa evidence`: writes what an auditor asks for to a directory, signed."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from kasuwa import __version__
from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.boot.composition import get_closes_directory
from kasuwa.commands.audit import KeyOption, read_key
from kasuwa.commands.database import record_audit_entry, run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.core.vault import Vault
from kasuwa.evidence.collect import Deployment, ScanFailed
from kasuwa.evidence.package import MANIFEST, DirectoryTaken, Package, make_evidence
from kasuwa.methods.sealed_columns import SEALED_PLACES
from kasuwa.settings.close_key import require_close_key
from kasuwa.settings.secret_key import SECRET_FILE, is_secret_in_data
from kasuwa.settings.settings import Settings

OutOption = Annotated[Path, typer.Option("--out", help="Directory to write. It must not exist, or be empty.")]
LogsOption = Annotated[
    list[Path] | None,
    typer.Option("--logs", help="A log to search for card data, or a directory of logs. Compressed ones (.gz) too."),
]


def make(out: OutOption, logs: LogsOption = None, key: KeyOption = None, data: DataOption = None) -> None:
    """Write what an auditor asks for to a directory, and sign it.

    Keys and their ages, users and their last sign-in, decisions of two persons, the verification of books and closes, a
    search of the database and of logs for card data, retention, dependencies and tests of restores. No key or password
    is in it. `kasuwa verify` checks it. The exit code is 1 if something needs attention, which is printed."""
    former = [read_key(text) for text in key or ()]

    async def work(connection: Any, vault: Vault, settings: Settings) -> Package:
        deployment = describe_deployment(settings, vault, logs or [], former)
        now = await connection.fetchval("select now()")
        package = await make_evidence(connection, deployment, out, now)
        await record_audit_entry(connection, OPERATOR_CHAIN_ID, "made evidence", str(out))
        return package

    try:
        package = run_with_connection(data, work)
    except (DirectoryTaken, ScanFailed) as error:
        sys.exit(f"kasuwa: {error}")
    typer.echo(f"{len(package.files)} files are in {package.directory}; check them with:")
    typer.echo(f"kasuwa verify {package.directory / MANIFEST} --key KEY")
    if package.problems:
        typer.echo("\n".join(["needs attention:", *package.problems]))
        raise typer.Exit(1)


def describe_deployment(settings: Settings, vault: Vault, logs: list[Path], former: list[bytes]) -> Deployment:
    """Returns what the evidence is made from. Logs in the data directory are searched too."""
    path = settings.data / SECRET_FILE if is_secret_in_data(settings) else None
    own = sorted(settings.data.glob("*.log")) if settings.data.is_dir() else []
    return Deployment(
        environment=settings.environment,
        version=__version__,
        key=require_close_key(settings),
        secret_source=describe_secret_source(settings),
        secret_path=path,
        closes_directory=get_closes_directory(settings),
        logs=[*own, *logs],
        places=SEALED_PLACES,
        vault=vault,
        former_keys=former,
    )


def describe_secret_source(settings: Settings) -> str:
    """Returns where the key-encryption key comes from."""
    if settings.secret_key_command is not None:
        return "KASUWA_SECRET_KEY_COMMAND"
    return "file in the data directory" if is_secret_in_data(settings) else "KASUWA_SECRET_KEY"
