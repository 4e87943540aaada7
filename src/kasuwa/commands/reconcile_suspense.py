"""`kasuwa reconcile suspense`, `assign` and `return`: money that rails brought in for nobody known.

A command proposes in the name of an operator. Another operator approves it in the console, as every manual posting.
"""

from typing import Annotated, Any

import msgspec
import typer

from kasuwa.commands.database import DataOption, record_audit_entry, run_with_connection
from kasuwa.console import operator_suspense
from kasuwa.console.access import CAN_KEEP_BOOKS
from kasuwa.console.manual_posting import ProposedPosting
from kasuwa.core.calendar import utc_text
from kasuwa.core.money import format_minor
from kasuwa.core.vault import Vault
from kasuwa.db import approvals, console_users, merchants, suspense
from kasuwa.settings import Settings
from kasuwa.supervise import ServeError

MAX_REASON_LENGTH = 500

ReferenceArgument = Annotated[str, typer.Argument(help="The rail's reference, with the rail before it if need be.")]
ReasonOption = Annotated[str, typer.Option(help="Why: shown to who approves it.")]
OperatorOption = Annotated[str, typer.Option("--as", metavar="EMAIL", help="The operator who proposes it.")]


def list_suspense(
    most: Annotated[int, typer.Option(min=1, max=10_000, help="How many to list.")] = 50, data: DataOption = None
) -> None:
    """List money in suspense: what came in for nobody known, and was neither assigned nor returned."""

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
    """Propose to assign money in suspense to a merchant's wallet. Another operator approves it in the console."""
    propose(data, operator_suspense.ASSIGN, reference, mid, reason, operator)


def propose_return(
    reference: ReferenceArgument, reason: ReasonOption, operator: OperatorOption, data: DataOption = None
) -> None:
    """Propose to have the rail return money in suspense. Another operator approves it in the console."""
    propose(data, operator_suspense.RETURN, reference, "", reason, operator)


def propose(data: Any, kind: str, reference: str, mid: str, reason: str, operator: str) -> None:
    async def work(connection: Any, vault: Vault, settings: Settings) -> int:
        found = await console_users.find_joined_user(connection, operator)
        faults = []
        if found is None or found.mid is not None or found.role not in CAN_KEEP_BOOKS:
            faults.append(f"--as: no operator who keeps the books has the address {operator}")
        if not 1 <= len(reason) <= MAX_REASON_LENGTH:
            faults.append(f"--reason: must have 1 to {MAX_REASON_LENGTH} characters")
        read = await operator_suspense.read(connection, kind, reference, mid)
        if isinstance(read, tuple):
            faults += [f"{fault.field}: {fault.reason}" for fault in read]
        if faults or found is None or not isinstance(read, ProposedPosting):
            raise ServeError("; ".join(faults))
        proposal = msgspec.json.encode(read).decode()
        async with connection.transaction():
            holder = await operator_suspense.find_holder(connection, read)
            number = await approvals.propose(connection, holder, kind, proposal, reason, found.user_id)
            chain = await merchants.find_merchant_id(connection, holder)
            subject = f"approval {number}, as {found.email}"
            await record_audit_entry(connection, chain, f"proposed {kind}", subject, after=proposal)
        return number

    number = run_with_connection(data, work)
    typer.echo(f"approval {number} is proposed: another operator approves it on the page Approvals")
