"""`kasuwa split`: beneficiaries of split payments and their statements.

Contract: payment#split
"""

import sys
from typing import Any

import typer

from kasuwa.authority.acts import BENEFICIARY
from kasuwa.commands.book_acts import run_book_act
from kasuwa.commands.database import run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.core.calendar import utc_text
from kasuwa.core.money import format_minor
from kasuwa.core.vault import Vault
from kasuwa.merchants import merchants
from kasuwa.methods.payment.store import read_beneficiaries, read_beneficiary, read_statement
from kasuwa.settings.settings import Settings

command = typer.Typer(no_args_is_help=True, add_completion=False, help="Manage the beneficiaries of split payments.")

# How a beneficiary's statement names each posting kind.
POSTING_LABELS = {"split": "part", "transfer": "payout"}


@command.command(name="add")
def add_beneficiary(mid: str, name: str, bank_code: str, account_number: str, data: DataOption = None) -> None:
    """Add a beneficiary and print the ref_code that payments name it by. In live it is proposed, and two operators
    approve it."""
    fields = {"name": name, "bankcode": bank_code, "accountnumber": account_number}
    subject = f"{name}, {bank_code} {account_number}"
    typer.echo(run_book_act(data, BENEFICIARY, mid, fields, "added a beneficiary", subject))


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
