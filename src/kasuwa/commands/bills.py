"""`kasuwa bills`: the catalogue of bills."""

from typing import Any

import typer

from kasuwa.commands.database import DataOption, record, with_connection
from kasuwa.core.billers import Unsellable
from kasuwa.core.secrets import Vault
from kasuwa.db.audit_trail import OPERATORS_CHAIN
from kasuwa.rails.ports import NoAnswer, Unavailable
from kasuwa.settings import Settings
from kasuwa.supervise import CannotServe
from kasuwa.work.billers import take_edition

command = typer.Typer(no_args_is_help=True, help="The catalogue of bills.")


@command.callback()
def describe() -> None:
    """A group also while it has one command."""


@command.command(name="refresh")
def refresh_catalogue(data: DataOption = None) -> None:
    """Take the catalogue from the biller rail now; paycodes it replaces are accepted for another day."""

    from kasuwa.app import biller_of

    async def work(connection: Any, vault: Vault, settings: Settings) -> int | None:
        try:
            edition = await take_edition(connection, biller_of(settings), only_if_due=False)
            await record(connection, OPERATORS_CHAIN, "took the bill catalogue", f"edition {edition}")
            return edition
        except (Unavailable, NoAnswer) as error:
            raise CannotServe(f"the catalogue cannot be taken: {error}") from None
        except Unsellable as error:
            raise CannotServe(f"the biller rail's catalogue is refused: {error}") from None

    typer.echo(f"edition {with_connection(data, work)} of the catalogue is listed")
