"""`kasuwa split`: beneficiaries of split payments and their statements.

Contract: payment#split
"""

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import typer

from kasuwa.commands.database import DataOption, make_audit_entry, run_with_connection, run_with_services
from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Decision, Merchant
from kasuwa.core.decoding import decode
from kasuwa.core.money import format_minor
from kasuwa.core.vault import Vault
from kasuwa.db import merchants
from kasuwa.db.batch import Submission
from kasuwa.db.entropy import draw_entropy
from kasuwa.methods.payment.actions import ADD_BENEFICIARY
from kasuwa.methods.payment.store import read_beneficiaries, read_beneficiary, read_statement
from kasuwa.settings import Settings
from kasuwa.supervise import ServeError
from kasuwa.web.dispatch import with_audit_entry

if TYPE_CHECKING:
    from kasuwa.composition import Services

command = typer.Typer(no_args_is_help=True, add_completion=False, help="Manage the beneficiaries of split payments.")

# How a beneficiary's statement names each posting kind.
POSTING_LABELS = {"split": "part", "transfer": "payout"}


@command.command(name="add")
def add_beneficiary(mid: str, name: str, bank_code: str, account_number: str, data: DataOption = None) -> None:
    """Add a beneficiary and print the ref_code that payments name it by."""
    fields = {"name": name, "bankcode": bank_code, "accountnumber": account_number}

    async def work(services: "Services") -> str:
        merchant = await find_merchant(services, mid)
        request = decode(ADD_BENEFICIARY.request, msgspec.json.encode(fields), ADD_BENEFICIARY.rules, merchant)
        if isinstance(request, tuple):
            raise ServeError("; ".join(f"{fault.field}: {fault.reason}" for fault in request))
        needs = ADD_BENEFICIARY.needs(request, merchant)
        subject = f"{name}, {bank_code} {account_number}"
        rule = with_audit_entry(
            partial(ADD_BENEFICIARY.decide, request), lambda _: make_audit_entry("added a beneficiary", subject)
        )
        result = await services.writer.submit(Submission(merchant, needs, rule, draw_entropy()))
        assert isinstance(result, Decision), result
        return str(result.reply.ref_code)

    typer.echo(f"ref_code {run_with_services(data, work)}")


async def find_merchant(services: "Services", mid: str) -> Merchant:
    async with services.reader.acquire() as connection:
        merchant_id = await merchants.find_merchant_id(connection, mid)
    return await services.merchant_directory.get_by_id(merchant_id)


@command.command(name="list")
def list_beneficiaries(mid: str, data: DataOption = None) -> None:
    """List beneficiaries, oldest first: ref_code, bank, account, balance to be paid out, name."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[str]:
        merchant_id = await merchants.find_merchant_id(connection, mid)
        return [
            f"{row.ref_code}  {row.bank_code}  {row.account_number}  {format_minor(balance):>16}  {row.name}"
            for row, balance in await read_beneficiaries(merchant_id, connection)
        ]

    lines = run_with_connection(data, work)
    typer.echo("\n".join(lines) or "this merchant has no beneficiaries")


@command.command(name="statement")
def show_statement(mid: str, ref_code: str, data: DataOption = None) -> None:
    """List the shares and payouts of a beneficiary from the books, oldest first, with the balance after each."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[str]:
        merchant_id = await merchants.find_merchant_id(connection, mid)
        if await read_beneficiary(merchant_id, ref_code, connection) is None:
            sys.exit("kasuwa: no beneficiary of this merchant has this ref_code")
        return [
            f"{utc_text(line.at)}  {POSTING_LABELS.get(line.kind, line.kind):<6}  {line.reference:<20}"
            f"  {format_minor(line.amount):>16}  {format_minor(line.balance):>16}"
            for line in await read_statement(merchant_id, ref_code, connection)
        ]

    lines = run_with_connection(data, work)
    typer.echo("\n".join(lines) or "nothing has been posted yet")
