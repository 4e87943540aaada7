"""`kasuwa audit`: checks the books."""

from typing import Any

import typer

from kasuwa.commands.database import DataOption, run_with_connection
from kasuwa.core.vault import Vault
from kasuwa.ledger.invariants import check_invariants
from kasuwa.settings import Settings


def audit(data: DataOption = None) -> None:
    """Check the laws of the books over the whole database.

    The exit code is 1 if one is broken, and each place where it is broken is printed."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[str]:
        return await check_invariants(connection)

    broken = run_with_connection(data, work)
    if broken:
        typer.echo("\n".join(broken))
        raise typer.Exit(1)
    typer.echo("the books are right")
