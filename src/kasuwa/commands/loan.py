"""`kasuwa loan`: what an operator does to loans."""

import os
from functools import partial
from typing import TYPE_CHECKING

import typer

from kasuwa.commands.database import DataOption, entry, with_house
from kasuwa.core.decision import Decision, Refusal
from kasuwa.db import merchants
from kasuwa.db.batch import Submission
from kasuwa.methods.loans.decide_late import decide_write_off, need_write_off
from kasuwa.supervise import CannotServe
from kasuwa.web.dispatch import noted

if TYPE_CHECKING:
    from kasuwa.app import House

command = typer.Typer(no_args_is_help=True, help="What an operator does to loans.")


@command.callback()
def loan() -> None:
    """What an operator does to loans."""  # without a callback typer would take the one command for the whole


@command.command(name="write-off")
def write_off(mid: str, loan_id: str, data: DataOption = None) -> None:
    """Give up what a client still owes on a loan: it is closed, and the books show what was lost."""

    async def work(house: "House") -> str:
        async with house.reader.acquire() as connection:
            merchant_id = await merchants.find_merchant_id(connection, mid)
        merchant = await house.directory.by_id(merchant_id)
        needs = need_write_off(loan_id, merchant)
        rule = noted(partial(decide_write_off, loan_id), lambda _: entry("wrote off a loan", loan_id))
        result = await house.writer.submit(Submission(merchant, needs, rule, os.urandom(32)))
        if isinstance(result, Refusal):
            raise CannotServe(result.message)
        assert isinstance(result, Decision), result
        return str(result.reply.data.state)

    typer.echo(f"{loan_id} is {with_house(data, work)}")
