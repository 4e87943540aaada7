"""`kasuwa audit`: checks the books, their chains, the closes and the codes of rows."""

import contextlib
from datetime import UTC, datetime
from typing import Annotated, Any

import asyncpg
import typer

from kasuwa.audit.chain_audit import CHAIN_STATEMENTS
from kasuwa.audit.close_audit import find_close_faults
from kasuwa.audit.invariant_results import record_check
from kasuwa.audit.invariants.ledger import INVARIANTS, describe_violations, find_violations, name_violations
from kasuwa.boot.composition import get_closes_directory
from kasuwa.commands.database import run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.core.vault import Vault
from kasuwa.methods.coded_tables import CODED_TABLES
from kasuwa.privacy.row_code_moves import ROWS_INTACT, find_changed_rows
from kasuwa.settings.close_key import load_close_key
from kasuwa.settings.settings import Settings

KeyOption = Annotated[
    list[str] | None,
    typer.Option("--key", help="A further public key of closes, in hexadecimal: one that was used before."),
]


def audit(key: KeyOption = None, data: DataOption = None) -> None:
    """Check the laws of the books, the chains, the closes and the codes of rows.

    The exit code is 1 if one is broken, and each place where it is broken is printed."""
    former = [read_key(text) for text in key or ()]

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[str]:
        current = load_close_key(settings, may_create=False)
        trusted = former if current is None else [*former, current.public_key().public_bytes_raw()]
        violations = await find_violations(connection)
        violations += await name_violations(connection, await find_changed_rows(connection, vault, CODED_TABLES))
        with contextlib.suppress(
            asyncpg.ReadOnlySQLTransactionError
        ):  # a standby has the same books, and no new result
            sentences = (*(invariant.description for invariant in INVARIANTS), *CHAIN_STATEMENTS, ROWS_INTACT)
            await record_check(connection, sentences, violations, datetime.now(UTC), "kasuwa audit")
        broken = describe_violations(violations)
        return broken + await find_close_faults(connection, get_closes_directory(settings), trusted)

    broken = run_with_connection(data, work)
    if broken:
        typer.echo("\n".join(broken))
        raise typer.Exit(1)
    typer.echo("the books are right")


def read_key(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise typer.BadParameter("a public key has 64 hexadecimal digits") from None
