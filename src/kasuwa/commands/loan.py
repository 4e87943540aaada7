"""`kasuwa loan`: operator commands for loans."""

from functools import partial
from typing import TYPE_CHECKING

import typer

from kasuwa.commands.database import DataOption, make_audit_entry, run_with_services
from kasuwa.core.decision import Decision, Refusal
from kasuwa.db import merchants
from kasuwa.db.batch import Submission
from kasuwa.db.entropy import draw_entropy
from kasuwa.methods.loans.rules.arrears import decide_write_off, need_write_off
from kasuwa.supervise import ServeError
from kasuwa.web.dispatch import with_audit_entry

if TYPE_CHECKING:
    from kasuwa.composition import Services

command = typer.Typer(no_args_is_help=True, add_completion=False, help="Write off loans.")


@command.callback()
def loan() -> None:
    """Write off loans."""  # without a callback typer would treat the only command as the whole group


@command.command(name="write-off")
def write_off(mid: str, loan_id: str, data: DataOption = None) -> None:
    """Close a loan and write off what the client still owes."""

    async def work(services: "Services") -> str:
        async with services.reader.acquire() as connection:
            merchant_id = await merchants.find_merchant_id(connection, mid)
        merchant = await services.merchant_directory.get_by_id(merchant_id)
        needs = need_write_off(loan_id, merchant)
        rule = with_audit_entry(
            partial(decide_write_off, loan_id), lambda _: make_audit_entry("wrote off a loan", loan_id)
        )
        result = await services.writer.submit(Submission(merchant, needs, rule, draw_entropy()))
        if isinstance(result, Refusal):
            raise ServeError(result.message)
        assert isinstance(result, Decision), result
        return str(result.reply.data.state)

    typer.echo(f"{loan_id} is {run_with_services(data, work)}")
