"""`kasuwa audit`: checks the books, their chains and the closes."""

from typing import Annotated, Any

import typer

from kasuwa.close_key import close_key_of
from kasuwa.commands.database import DataOption, run_with_connection
from kasuwa.composition import closes_directory_of
from kasuwa.core.vault import Vault
from kasuwa.ledger.invariants import check_invariants
from kasuwa.settings import Settings
from kasuwa.work.close_audit import find_close_faults

KeyOption = Annotated[
    list[str] | None,
    typer.Option("--key", help="A further public key of closes, in hexadecimal: one that was used before."),
]


def audit(key: KeyOption = None, data: DataOption = None) -> None:
    """Check the laws of the books over the whole database, the chains and the closes.

    The exit code is 1 if one is broken, and each place where it is broken is printed."""
    former = [read_key(text) for text in key or ()]

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[str]:
        current = close_key_of(settings, may_create=False)
        trusted = former if current is None else [*former, current.public_key().public_bytes_raw()]
        broken = await check_invariants(connection)
        return broken + await find_close_faults(connection, closes_directory_of(settings), trusted)

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
