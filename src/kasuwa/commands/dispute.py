"""`kasuwa dispute`: disputes that an operator opens, decides, or hands in at a rail that has no interface for them.

Contract: payment#disputes
"""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from kasuwa.authority.acts import CARD_DISPUTE_OUTCOME, DISPUTE_OPEN, DISPUTE_OUTCOME
from kasuwa.boot.supervise import ServeError
from kasuwa.commands.book_acts import run_book_act
from kasuwa.commands.database import record_audit_entry, run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.core.vault import Vault
from kasuwa.merchants import merchants
from kasuwa.methods.disputes import evidence_reads
from kasuwa.methods.disputes.model import evidence_aad, file_aad
from kasuwa.methods.virtualcard.dispute_model import card_evidence_aad
from kasuwa.settings.settings import Settings

command = typer.Typer(no_args_is_help=True, add_completion=False, help="Open, decide and hand in disputes of payments.")

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
    """Open a dispute that a rail reported by mail or on its dashboard, and print its id. In live it is proposed, and
    two operators approve it."""
    fields = {"txnRef": txn_ref, "reason": reason, "amount": amount, "hours": hours}
    typer.echo(run_book_act(data, DISPUTE_OPEN, mid, fields, "opened a dispute", txn_ref))


@command.command(name="outcome")
def decide_dispute(mid: str, dispute_id: str, outcome: str, data: DataOption = None) -> None:
    """End a dispute as the payer's bank decided: won, or lost. In live it is proposed, and two operators approve it."""
    fields = {"dispute_id": dispute_id, "outcome": outcome}
    typer.echo(run_book_act(data, DISPUTE_OUTCOME, mid, fields, f"dispute {outcome}", dispute_id))


@command.command(name="card-outcome")
def decide_card_dispute(mid: str, dispute_id: str, outcome: str, data: DataOption = None) -> None:
    """End a cardholder's dispute of a card purchase as the card network decided: won, or lost, for the cardholder. In
    live it is proposed, and two operators approve it."""
    fields = {"dispute_id": dispute_id, "outcome": outcome}
    typer.echo(run_book_act(data, CARD_DISPUTE_OUTCOME, mid, fields, f"card dispute {outcome}", dispute_id))


@command.command(name="evidence")
def show_evidence(
    mid: str,
    dispute_id: str,
    to: Annotated[Path | None, typer.Option(help="Directory that the files are written to.")] = None,
    data: DataOption = None,
) -> None:
    """Print the texts that a merchant sent for a dispute, or for a cardholder's dispute, and write its files, to hand
    them in at the rail or the card network."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> tuple[bytes, list[tuple[str, bytes]]]:
        merchant_id = await merchants.find_merchant_id(connection, mid)
        evidence = await evidence_reads.read_evidence(connection, merchant_id, dispute_id)
        if evidence is None:
            raise ServeError("no dispute of this merchant has this id, or it has no evidence")
        await record_audit_entry(connection, merchant_id, "read the evidence of a dispute", dispute_id)
        aad = card_evidence_aad if evidence.is_of_cardholder else evidence_aad
        texts = vault.unseal(merchant_id, aad(dispute_id), evidence.texts)
        files = [
            (file_name(file), vault.unseal(merchant_id, file_aad(dispute_id, file.place), file.content))
            for file in evidence.files
        ]
        return texts, files

    texts, files = run_with_connection(data, work)
    typer.echo(msgspec.json.format(texts, indent=2).decode())
    for name, content in files if to is not None else ():
        assert to is not None
        to.mkdir(parents=True, exist_ok=True)
        (to / name).write_bytes(content)
        typer.echo(f"wrote {to / name}")


def file_name(file: evidence_reads.SealedFile) -> str:
    """Returns a name by place and type. The merchant's own name could be that of any file of this machine."""
    return f"{file.place + 1}.{EXTENSIONS[file.media_type]}"
