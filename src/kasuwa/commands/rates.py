"""`kasuwa rates`: lists and sets exchange rates."""

import sys
from typing import Annotated, Any

import typer

from kasuwa.authority.acts import RATE
from kasuwa.commands.database import make_audit_entry, run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.commands.proposing import must_propose, propose
from kasuwa.console.operator.approvals import ProposedRate
from kasuwa.core.calendar import utc_text
from kasuwa.core.money import format_minor
from kasuwa.core.vault import Vault
from kasuwa.merchants import exchange_rates
from kasuwa.settings.settings import Settings
from kasuwa.terms.conversion import HOME, ExchangeRate, read_rate

command = typer.Typer(no_args_is_help=True, add_completion=False, help="Show and set exchange rates.")


@command.command(name="list")
def list_rates(
    most: Annotated[int, typer.Option(min=1, max=10_000, help="How many rates to list.")] = 50, data: DataOption = None
) -> None:
    """List all rates, newest first. The newest of each currency applies."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[exchange_rates.RateRecord]:
        return await exchange_rates.list_rates(connection, most)

    for line in run_with_connection(data, work):
        figures = f"buy {format_minor(line.buy):>12}  sell {format_minor(line.sell):>12}"
        typer.echo(f"{utc_text(line.set_at)}  {line.currency}/{HOME}  {figures}  {line.set_by}")


@command.command(name="set")
def set_rate(
    currency: str,
    buy: Annotated[str, typer.Option(help=f"Buy rate of one unit, in {HOME}.")],
    sell: Annotated[str, typer.Option(help=f"Sell rate of one unit, in {HOME}. Must not be below the buy rate.")],
    data: DataOption = None,
) -> None:
    """Set the buy and sell rate of a currency from now on. In live it is proposed, and two operators approve it."""
    rate = parse_rate(currency, buy, sell)
    described = f"{currency}/{HOME}: buy {format_minor(rate.buy)}, sell {format_minor(rate.sell)}"

    async def work(connection: Any, vault: Vault, settings: Settings) -> str:
        if await must_propose(connection, RATE):
            return await propose(
                connection, vault, RATE.name, None, ProposedRate(currency, rate.buy, rate.sell), described
            )
        entry = make_audit_entry("rate set", currency)
        await exchange_rates.set_rate(connection, vault, currency, rate, entry.actor, entry.address)
        return described

    typer.echo(run_with_connection(data, work))


def parse_rate(currency: str, buy: str, sell: str) -> ExchangeRate:
    """Parses a rate. Exits with the first error."""
    rate_or_faults = read_rate(currency, buy, sell)
    if isinstance(rate_or_faults, dict):
        field, fault = next(iter(rate_or_faults.items()))
        sys.exit(f"kasuwa: {field} {fault}")
    return rate_or_faults
