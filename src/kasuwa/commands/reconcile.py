"""`kasuwa reconcile`: lists disputes and settlements of rails and money for unknown accounts, and compares statements
with the books."""

from typing import Annotated, Any

import msgspec
import typer

from kasuwa.commands import reconcile_statements, reconcile_suspense
from kasuwa.commands.database import run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.core.calendar import utc_text
from kasuwa.core.money import format_minor
from kasuwa.core.vault import Vault
from kasuwa.rails.inbox import inbox_table, rail_feeds
from kasuwa.settings.settings import Settings

command = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Compare statements with the books, and show disputes, settlements and unclaimed money of the rails.",
)

MostOption = Annotated[int, typer.Option(min=1, max=10_000, help="How many to list.")]


@command.command(name="disputes")
def list_disputes(most: MostOption = 50, data: DataOption = None) -> None:
    """List disputed payments: those that wait for our answer first, the soonest due at the top."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> Any:
        return await rail_feeds.list_disputes(connection, most)

    for row in run_with_connection(data, work):
        rail, dispute_id, mid, txn_ref, reference, amount, currency, status, resolution, due_at, _ = row
        due = "no due time" if due_at is None else f"due {utc_text(due_at)}"
        sum_text = "?" if amount is None else format_minor(amount)
        typer.echo(
            f"{rail} {dispute_id}  {currency} {sum_text:>14}  {mid or '-'} {txn_ref or reference}  "
            f"{status} {resolution}  {due}"
        )


@command.command(name="settlements")
def list_settlements(most: MostOption = 50, data: DataOption = None) -> None:
    """List what rails paid out to the operator, newest first."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> Any:
        return await rail_feeds.list_settlements(connection, most)

    for rail, settlement_id, status, currency, gross, fees, amount, payments, day, _ in run_with_connection(data, work):
        parts = f"of {format_minor(gross)}, fees {format_minor(fees)}" if gross is not None and fees is not None else ""
        count = "" if payments is None else f"{payments} payments"
        paid = f"{currency} {format_minor(amount):>14}"
        typer.echo(f"{day or '-'}  {rail} {settlement_id}  {paid}  {parts}  {count} {status}")


@command.command(name="unclaimed")
def list_unclaimed(most: MostOption = 50, data: DataOption = None) -> None:
    """List money that came into accounts that belong to no merchant."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> Any:
        return await inbox_table.list_unclaimed(connection, most)

    for rail, reference, detail, arrived_at in run_with_connection(data, work):
        receipt = msgspec.json.decode(detail)
        amount, number = format_minor(receipt["amount"]), receipt["account_number"] or "unknown"
        typer.echo(f"{utc_text(arrived_at)}  {rail} {reference}  {receipt['currency']} {amount:>14}  account {number}")


command.command(name="suspense")(reconcile_suspense.list_suspense)
command.command(name="assign")(reconcile_suspense.propose_assignment)
command.command(name="return")(reconcile_suspense.propose_return)
command.command(name="import")(reconcile_statements.import_file)
command.command(name="feed")(reconcile_statements.import_feed)
command.command(name="mapping")(reconcile_statements.show_mapping)
command.command(name="show")(reconcile_statements.show_result)
command.command(name="clear-descriptions")(reconcile_statements.clear_descriptions)
