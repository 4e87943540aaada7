"""`kasuwa bills`: the bill catalogue."""

from typing import Any

import typer

from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.boot.supervise import ServeError
from kasuwa.commands.database import record_audit_entry, run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.core.vault import Vault
from kasuwa.observe.metrics import Metrics
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.rails.catalogue.catalogue import InvalidCatalogue
from kasuwa.rails.catalogue.refresh import fetch_edition
from kasuwa.rails.ports.orders import NoAnswer, Unavailable
from kasuwa.settings.settings import Settings

command = typer.Typer(no_args_is_help=True, add_completion=False, help="Manage the bill catalogue.")


@command.callback()
def describe() -> None:
    """Manage the bill catalogue."""  # without a callback typer would treat the only command as the whole group


@command.command(name="refresh")
def refresh_catalogue(data: DataOption = None) -> None:
    """Load the catalogue from the biller rail now. Replaced paycodes are accepted for another day."""

    from kasuwa.rails.choice import RailChoice

    async def work(connection: Any, vault: Vault, settings: Settings) -> int | None:
        choice = RailChoice(settings, Metrics(), DatabaseClock())
        try:
            edition = await fetch_edition(connection, choice.make_biller(), only_if_due=False)
            await record_audit_entry(connection, OPERATOR_CHAIN_ID, "took the bill catalogue", f"edition {edition}")
            return edition
        except (Unavailable, NoAnswer) as error:
            raise ServeError(f"the catalogue cannot be loaded: {error}") from None
        except InvalidCatalogue as error:
            raise ServeError(f"the biller rail's catalogue is refused: {error}") from None
        finally:
            await choice.close()

    typer.echo(f"edition {run_with_connection(data, work)} of the catalogue is listed")
