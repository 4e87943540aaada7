"""`kasuwa client`: what a person may ask an operator for: all that is kept of them, and to be forgotten."""

import os
import re
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from kasuwa.commands.database import DataOption, entry, record, with_connection, with_house
from kasuwa.core.decision import Decision, Refusal, Row
from kasuwa.core.erasure import Trace
from kasuwa.core.secrets import Vault
from kasuwa.db import merchants, people
from kasuwa.db.batch import Submission
from kasuwa.methods.clients.decide import UNKNOWN_CLIENT
from kasuwa.methods.clients.decide_client import decide_erase, hash_bvn, need_erase, sealed_place, show_client
from kasuwa.methods.clients.store import find_client
from kasuwa.methods.disburse.decide_forget import PersonsTransfer, forget_narration
from kasuwa.methods.investments.decide_forget import PersonsDeposit, PersonsSavings, forget_name
from kasuwa.methods.investments.decide_forget import forget_told as forget_deposit
from kasuwa.methods.loans.decide_forget import PersonsRepayment, forget_told
from kasuwa.methods.payment.decide import SavedCard
from kasuwa.methods.payment.decide_forget import PayersPayment, forget_payer, forget_saved
from kasuwa.settings import Settings
from kasuwa.supervise import CannotServe
from kasuwa.web.dispatch import noted

if TYPE_CHECKING:
    from kasuwa.app import House

command = typer.Typer(no_args_is_help=True, help="What is kept of one person: show it, find it, erase it.")

# How each kind of row that a person leaves traces in (db/people.py) forgets them.
FORGET: dict[str, tuple[type[Row], Callable[[Any], Row | Refusal]]] = {
    "payment": (PayersPayment, forget_payer),
    "saved_card": (SavedCard, forget_saved),
    "savings": (PersonsSavings, forget_name),
    "transfer": (PersonsTransfer, forget_narration),
    "repayment": (PersonsRepayment, forget_told),
    "deposit": (PersonsDeposit, forget_deposit),
}

RevealOption = Annotated[bool, typer.Option("--reveal", help="Show the whole BVN.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask whether it is meant.")]
BvnOption = Annotated[
    str, typer.Option("--bvn", prompt="BVN", hide_input=True, help="Asked for, where it is not given.")
]


@command.command(name="export")
def export_client(mid: str, client_id: str, reveal: RevealOption = False, data: DataOption = None) -> None:
    """Everything kept of one client, as JSON: the profile, every record that names it, and what hangs on those."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> bytes:
        merchant_id = await merchants.find_merchant_id(connection, mid)
        client = await find_client(merchant_id, client_id, connection)
        if client is None:
            raise CannotServe(UNKNOWN_CLIENT.message)
        what = "exported a client, the BVN revealed" if reveal else "exported a client"
        await record(connection, merchant_id, what, client_id)
        profile = show_client(client, vault.open)
        if reveal and client.bvn_sealed is not None:
            profile.bvn = vault.open(merchant_id, sealed_place(client_id), client.bvn_sealed).decode()
        found = await people.records_of(connection, merchant_id, client_id)
        records = {table: [msgspec.Raw(text.encode()) for text in rows] for table, rows in found.items()}
        return msgspec.json.encode({"mid": mid, "client": profile, "records": records})

    typer.echo(msgspec.json.format(with_connection(data, work), indent=2).decode())


@command.command(name="find")
def find_by_bvn(mid: str, bvn: BvnOption, data: DataOption = None) -> None:
    """The clients of a merchant that have a BVN, by their ids."""
    if not re.fullmatch("[0-9]{11}", bvn, re.ASCII):
        sys.exit("kasuwa: a BVN has eleven digits")

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[str]:
        merchant_id = await merchants.find_merchant_id(connection, mid)
        found = await people.clients_by_bvn(connection, merchant_id, hash_bvn(vault.digest, merchant_id, bvn))
        await record(connection, merchant_id, "looked for clients by a BVN", ", ".join(found) or "nobody")
        return found

    found = with_connection(data, work)
    if not found:
        sys.exit("kasuwa: no client of this merchant has this BVN")
    typer.echo("\n".join(found))


@command.command(name="erase")
def erase_client(mid: str, client_id: str, yes: YesOption = False, data: DataOption = None) -> None:
    """Erase who a client is, in what was paid for loans and savings too, and the cards saved by that. What the books
    must keep stays, under the client's id; refused while accounts are open."""
    if not yes:
        typer.confirm(f"Erase all personal data of {client_id}? This cannot be undone", abort=True)

    async def work(house: "House") -> Any:
        async with house.reader.acquire() as connection:
            merchant_id = await merchants.find_merchant_id(connection, mid)
            found = await people.traces_of(connection, merchant_id, client_id)
        merchant = await house.directory.by_id(merchant_id)
        traces = tuple(Trace(kind, key, forget) for name, (kind, forget) in FORGET.items() for key in found[name])
        needs = need_erase(client_id, traces, merchant)
        rule = noted(partial(decide_erase, client_id, traces), lambda _: entry("erased a client", client_id))
        result = await house.writer.submit(Submission(merchant, needs, rule, os.urandom(32)))
        if isinstance(result, Refusal):
            raise CannotServe(result.message)
        assert isinstance(result, Decision), result
        return result.reply

    typer.echo(msgspec.json.encode(with_house(data, work)).decode())
