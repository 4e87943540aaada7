"""`kasuwa loan`: operator commands for loans."""

import typer

from kasuwa.authority.acts import LOAN_WRITE_OFF
from kasuwa.commands.book_acts import run_book_act
from kasuwa.commands.directory_option import DataOption

command = typer.Typer(no_args_is_help=True, add_completion=False, help="Write off loans.")


@command.callback()
def loan() -> None:
    """Write off loans."""  # without a callback typer would treat the only command as the whole group


@command.command(name="write-off")
def write_off(mid: str, loan_id: str, data: DataOption = None) -> None:
    """Close a loan and write off what the client still owes. In live it is proposed, and two operators approve it."""
    typer.echo(run_book_act(data, LOAN_WRITE_OFF, mid, {"loan_id": loan_id}, "wrote off a loan", loan_id))
