"""`kasuwa dispute`: disputes that an operator opens, decides, or hands in at a rail that has no interface for them.

Contract: payment#disputes
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from kasuwa.commands.database import (
    DataOption,
    make_audit_entry,
    record_audit_entry,
    run_with_connection,
    run_with_services,
)
from kasuwa.commands.split import find_merchant
from kasuwa.core.action import Write
from kasuwa.core.decision import Decision, Refusal
from kasuwa.core.decoding import decode
from kasuwa.core.vault import Vault
from kasuwa.db import dispute_evidence, merchants
from kasuwa.db.batch import Submission
from kasuwa.db.entropy import draw_entropy
from kasuwa.methods.disputes.actions import SANDBOX
from kasuwa.methods.disputes.model import evidence_aad, file_aad
from kasuwa.settings import Settings
from kasuwa.supervise import ServeError
from kasuwa.web.dispatch import with_audit_entry

if TYPE_CHECKING:
    from kasuwa.composition import Services

command = typer.Typer(no_args_is_help=True, add_completion=False, help="Open, decide and hand in disputes of payments.")

OPEN, OUTCOME = SANDBOX
EXTENSIONS = {"application/pdf": "pdf", "image/png": "png", "image/jpeg": "jpg"}


@command.command(name="open")
def open_dispute(
    mid: str,
    txn_ref: str,
    reason: str,
    amount: Annotated[str | None, typer.Option(help="The disputed amount. Default: all that is left.")] = None,
    hours: Annotated[int | None, typer.Option(help="Hours until the merchant must respond. Default 168.")] = None,
    data: DataOption = None,
) -> None:
    """Open a dispute that a rail told of by mail or on its dashboard, and print its id."""
    fields = {"txnRef": txn_ref, "reason": reason, "amount": amount, "hours": hours}
    reply = run_with_services(data, submit(OPEN, mid, fields, "opened a dispute", txn_ref))
    typer.echo(f"dispute_id {reply.data.dispute_id}")


@command.command(name="outcome")
def decide_dispute(mid: str, dispute_id: str, outcome: str, data: DataOption = None) -> None:
    """End a dispute as the payer's bank decided: won, or lost."""
    fields = {"dispute_id": dispute_id, "outcome": outcome}
    typer.echo(run_with_services(data, submit(OUTCOME, mid, fields, f"dispute {outcome}", dispute_id)).message)


def submit(action: Write, mid: str, fields: dict[str, Any], did: str, subject: str) -> "Callable[[Services], Any]":
    """Returns the work that runs an action on a merchant's books, with an audit entry."""

    async def work(services: "Services") -> Any:
        merchant = await find_merchant(services, mid)
        given = msgspec.json.encode({name: value for name, value in fields.items() if value is not None})
        request = decode(action.request, given, action.rules, merchant)
        if isinstance(request, tuple):
            raise ServeError("; ".join(f"{fault.field}: {fault.reason}" for fault in request))
        rule = with_audit_entry(partial(action.decide, request), lambda _: make_audit_entry(did, subject))
        needs = action.needs(request, merchant)
        result = await services.writer.submit(Submission(merchant, needs, rule, draw_entropy()))
        if isinstance(result, Refusal):
            raise ServeError(result.message)
        assert isinstance(result, Decision), result
        return result.reply

    return work


@command.command(name="evidence")
def show_evidence(
    mid: str,
    dispute_id: str,
    to: Annotated[Path | None, typer.Option(help="Directory that the files are written to.")] = None,
    data: DataOption = None,
) -> None:
    """Print the texts that a merchant sent for a dispute, and write its files, to hand them in at the rail."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> tuple[bytes, list[tuple[str, bytes]]]:
        merchant_id = await merchants.find_merchant_id(connection, mid)
        found = await dispute_evidence.read_evidence(connection, merchant_id, dispute_id)
        if found is None:
            raise ServeError("no dispute of this merchant has this id, or it has no evidence")
        await record_audit_entry(connection, merchant_id, "read the evidence of a dispute", dispute_id)
        texts = vault.unseal(merchant_id, evidence_aad(dispute_id), found.texts)
        files = [
            (file_name(file), vault.unseal(merchant_id, file_aad(dispute_id, file.place), file.content))
            for file in found.files
        ]
        return texts, files

    texts, files = run_with_connection(data, work)
    typer.echo(msgspec.json.format(texts, indent=2).decode())
    for name, content in files if to is not None else ():
        assert to is not None
        to.mkdir(parents=True, exist_ok=True)
        (to / name).write_bytes(content)
        typer.echo(f"wrote {to / name}")


def file_name(file: dispute_evidence.SealedFile) -> str:
    """Returns a name by place and type. The merchant's own name could be that of any file of this machine."""
    return f"{file.place + 1}.{EXTENSIONS[file.media_type]}"
