"""`kasuwa reconcile suspense`, `assign` and `return`: unidentified money that rails brought in.

A command proposes, and two operators approve it in the console: nothing proves whom it names.
"""

from typing import Annotated, Any

import typer

from kasuwa.authority.roles import CAN_KEEP_BOOKS
from kasuwa.boot.supervise import ServeError
from kasuwa.commands import proposing
from kasuwa.commands.database import run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.console.operator import suspense as operator_suspense
from kasuwa.console.operator.manual_posting import ProposedPosting
from kasuwa.core.calendar import utc_text
from kasuwa.core.money import format_minor
from kasuwa.core.vault import Vault
from kasuwa.people import users
from kasuwa.reconciliation import suspense
from kasuwa.settings.settings import Settings

MAX_REASON_LENGTH = 500

ReferenceArgument = Annotated[str, typer.Argument(help="The rail's reference, with the rail before it if need be.")]
ReasonOption = Annotated[str, typer.Option(help="Why: shown to who approves it.")]
OperatorOption = Annotated[
    str, typer.Option("--as", metavar="EMAIL", help="The operator who proposes it, as a note: nothing proves it.")
]


def list_suspense(
    most: Annotated[int, typer.Option(min=1, max=10_000, help="How many to list.")] = 50, data: DataOption = None
) -> None:
    """List money in suspense: unidentified receipts that were neither assigned nor returned."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> Any:
        return await suspense.list_suspense(connection, most)

    for row in run_with_connection(data, work):
        state = row.state or ("proposed" if row.is_proposed else "undecided")
        amount = f"{row.currency} {format_minor(row.amount):>14}"
        number = row.account_number or "unknown"
        receipt = f"{utc_text(row.booked_at)}  {row.rail} {row.rail_reference}"
        typer.echo(f"{receipt}  {amount}  account {number}  {row.mid}  {state}")


def propose_assignment(
    reference: ReferenceArgument, mid: str, reason: ReasonOption, operator: OperatorOption, data: DataOption = None
) -> None:
    """Propose to assign money in suspense to a merchant's wallet. Two operators approve it in the console."""
    propose(data, operator_suspense.ASSIGN, reference, mid, reason, operator)


def propose_return(
    reference: ReferenceArgument, reason: ReasonOption, operator: OperatorOption, data: DataOption = None
) -> None:
    """Propose to have the rail return money in suspense. Two operators approve it in the console."""
    propose(data, operator_suspense.RETURN, reference, "", reason, operator)


def propose(data: Any, kind: str, reference: str, mid: str, reason: str, operator: str) -> None:
    async def work(connection: Any, vault: Vault, settings: Settings) -> str:
        user = await users.find_joined_user(connection, vault, operator)
        faults = []
        if user is None or user.mid is not None or user.role not in CAN_KEEP_BOOKS:
            faults.append(f"--as: no operator who keeps the books has the address {operator}")
        if not 1 <= len(reason) <= MAX_REASON_LENGTH:
            faults.append(f"--reason: must have 1 to {MAX_REASON_LENGTH} characters")
        posting_or_faults = await operator_suspense.read(connection, kind, reference, mid)
        if isinstance(posting_or_faults, tuple):
            faults += [f"{fault.field}: {fault.reason}" for fault in posting_or_faults]
        if faults or user is None or not isinstance(posting_or_faults, ProposedPosting):
            raise ServeError("; ".join(faults))
        holder = await operator_suspense.find_holder(connection, posting_or_faults)
        return await proposing.propose(connection, vault, kind, holder, posting_or_faults, reason, user.email)

    typer.echo(run_with_connection(data, work))
