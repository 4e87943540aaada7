"""`kasuwa report`: reports of the operator."""

from typing import Annotated, Any

import typer

from kasuwa.accounting import books
from kasuwa.accounting.tax_report import format_csv, format_json, make_report, parse_month
from kasuwa.commands.database import run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.core.vault import Vault
from kasuwa.settings.settings import Settings

FORMATS = {"csv": format_csv, "json": format_json}

command = typer.Typer(no_args_is_help=True, add_completion=False, help="Report on all merchants.")


@command.callback()
def describe() -> None:
    """Report on all merchants."""


@command.command(name="tax")
def report_taxes(
    month: Annotated[str, typer.Option(help="Month of the report, such as 2026-01.")],
    report_format: Annotated[str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")] = "csv",
    data: DataOption = None,
) -> None:
    """Report VAT, stamp duty and withholding tax of a month, of each merchant and in all.

    It adds up to the tax accounts of the books: opening, collected, less reversed, less paid over, is closing."""
    days = parse_month(month)
    if days is None:
        raise typer.BadParameter("must be a month such as 2026-01", param_hint="--month")
    if report_format not in FORMATS:
        raise typer.BadParameter(f"must be one of {', '.join(FORMATS)}", param_hint="--format")

    async def work(connection: Any, vault: Vault, settings: Settings) -> str:
        return FORMATS[report_format](make_report(month, await books.list_taxes(connection, *days)))

    typer.echo(run_with_connection(data, work).rstrip("\n"))
