"""`kasuwa close`: closes the books now, or prints the public key of closes."""

import os
from typing import Annotated

import typer

from kasuwa.audit.close_task import BookCloser, file_name
from kasuwa.audit.close_tree import close_time_text
from kasuwa.audit.make_close import SignedClose
from kasuwa.boot.composition import make_close_terms
from kasuwa.commands.database import one_line_errors, run_with_database
from kasuwa.commands.directory_option import DataOption
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.settings.close_key import require_close_key
from kasuwa.settings.settings import Settings, read_settings

PublicOption = Annotated[
    bool, typer.Option("--public-key", help="Print the public key that checks closes and proofs, and close nothing.")
]


def close(public_key: PublicOption = False, data: DataOption = None) -> None:
    """Close the books: sign the heads of all merchants' chains, and publish them.

    The service does this by itself once a day. `docs/proofs.md` describes what a close proves."""
    if public_key:
        with one_line_errors():
            key = require_close_key(read_settings(os.environ, data=data))
        typer.echo(key.public_key().public_bytes_raw().hex())
        return

    async def work(settings: Settings, dsn: str) -> SignedClose:
        return await BookCloser(
            dsn, make_close_terms(settings, require_close_key(settings)), DatabaseClock()
        ).close_now()

    new_close = run_with_database(data, work).close
    typer.echo(
        f"close {new_close.number} at {close_time_text(new_close.closed_at)}: {new_close.tree_size} heads, "
        f"{new_close.root.hex()}"
    )
    typer.echo(f"published as {file_name(new_close.number)}")
