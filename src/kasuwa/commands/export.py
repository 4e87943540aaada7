"""`kasuwa export`: writes the books for accounting programs."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from kasuwa.accounting import books
from kasuwa.accounting.books import BookScope
from kasuwa.accounting.books_export import WRITERS, export_books
from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.commands.database import record_audit_entry, run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.core.calendar import lagos_day
from kasuwa.core.vault import Vault
from kasuwa.merchants import merchants
from kasuwa.settings.settings import Settings

command = typer.Typer(no_args_is_help=True, add_completion=False, help="Write the books for accounting programs.")


@command.callback()
def describe() -> None:
    """Write the books for accounting programs."""


@command.command(name="books")
def write_books(
    mid: Annotated[str, typer.Argument(help="The merchant. All merchants if it is left out.")] = "",
    first_day: Annotated[datetime | None, typer.Option("--from", formats=["%Y-%m-%d"], help="First day.")] = None,
    last_day: Annotated[datetime | None, typer.Option("--to", formats=["%Y-%m-%d"], help="Last day.")] = None,
    book_format: Annotated[str, typer.Option("--format", help=f"One of {', '.join(WRITERS)}.")] = "beancount",
    output: Annotated[Path | None, typer.Option(help="File to write. Standard output if it is left out.")] = None,
    data: DataOption = None,
) -> None:
    """Write every posting of some days, with opening and closing balances.

    Without days it covers all. The service may run meanwhile: the export is of one moment. Days are those of Lagos, in
    the merchants' business time."""
    if book_format not in WRITERS:
        raise typer.BadParameter(f"must be one of {', '.join(WRITERS)}", param_hint="--format")
    if first_day is not None and last_day is not None and last_day < first_day:
        raise typer.BadParameter("must not be before --from", param_hint="--to")

    async def work(connection: Any, vault: Vault, settings: Settings) -> None:
        merchant_id = await merchants.find_merchant_id(connection, mid) if mid else None
        chain = OPERATOR_CHAIN_ID if merchant_id is None else merchant_id
        await record_audit_entry(connection, chain, "exported the books", mid or "all merchants", after=book_format)
        async with books.book_snapshot(connection):
            days = await books.find_days(connection, merchant_id)
            first, last = days or (lagos_day(datetime.now(UTC)),) * 2
            first = first if first_day is None else first_day.date()
            scope = BookScope(merchant_id, first, max(first, last) if last_day is None else last_day.date())
            if output is None:
                await write_to(sys.stdout, connection, scope)
                return
            with output.open("w") as file:
                await write_to(file, connection, scope)

    async def write_to(out: TextIO, connection: Any, scope: BookScope) -> None:
        async for text in export_books(connection, scope, WRITERS[book_format]()):
            out.write(text)

    run_with_connection(data, work)
