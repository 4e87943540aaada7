"""`kasuwa client`: data subject requests. Exports, finds and erases the personal data of a merchant's client."""

import re
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from kasuwa.api.dispatch import with_audit_entry
from kasuwa.boot.supervise import ServeError
from kasuwa.commands.database import make_audit_entry, record_audit_entry, run_with_connection, run_with_services
from kasuwa.commands.directory_option import DataOption
from kasuwa.commands.payer_rows import PAYER_ERASURES, ErasingRules, export_disputes, make_erasures
from kasuwa.core.decision import Decision, Refusal
from kasuwa.core.vault import Vault
from kasuwa.engine.batch import Submission
from kasuwa.engine.entropy import draw_entropy
from kasuwa.merchants import merchants
from kasuwa.methods.clients.model import UNKNOWN_CLIENT
from kasuwa.methods.clients.rules.manage_client import bvn_aad, decide_erase, hash_bvn, need_erase, show_client
from kasuwa.methods.clients.store import find_client
from kasuwa.methods.disburse.rules.erase import ErasableTransfer, erase_narration
from kasuwa.methods.disputes.model import DisputeFile
from kasuwa.methods.disputes.rules.erase import erase_file
from kasuwa.methods.investments.reactivation_model import SavingsReactivation
from kasuwa.methods.investments.rules.erase import (
    ErasableDeposit,
    ErasableSavings,
    erase_name,
    erase_reactivation_reason,
)
from kasuwa.methods.investments.rules.erase import erase_payer_metadata as erase_deposit_payer
from kasuwa.methods.loans.guarantee_model import ErasableCollateral, erase_description
from kasuwa.methods.loans.model import LoanWriteOff
from kasuwa.methods.loans.rules.erase import (
    ErasableRepayment,
    ErasableSchedule,
    erase_payer_metadata,
    erase_schedule_reason,
    erase_write_off_reason,
)
from kasuwa.methods.virtualcard.dispute_model import CardDispute, card_evidence_aad
from kasuwa.methods.virtualcard.model import read_holder
from kasuwa.methods.virtualcard.rules.dispute import erase_card_evidence
from kasuwa.methods.virtualcard.rules.erase import ErasableCard, erase_holder
from kasuwa.privacy import subject_access
from kasuwa.settings.settings import Settings

if TYPE_CHECKING:
    from kasuwa.boot.composition import Services

command = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Export, find and erase the personal data of a client."
)

# How each kind of row with personal data that privacy/subject_access.py finds is erased.
ERASURES: ErasingRules = {
    **PAYER_ERASURES,
    "savings": (ErasableSavings, erase_name),
    "transfer": (ErasableTransfer, erase_narration),
    "collateral": (ErasableCollateral, erase_description),
    "repayment": (ErasableRepayment, erase_payer_metadata),
    "loan_schedule": (ErasableSchedule, erase_schedule_reason),
    "loan_write_off": (LoanWriteOff, erase_write_off_reason),
    "savings_reactivation": (SavingsReactivation, erase_reactivation_reason),
    "deposit": (ErasableDeposit, erase_deposit_payer),
    "card_dispute": (CardDispute, erase_card_evidence),
    "card_dispute_file": (DisputeFile, erase_file),
    "card": (ErasableCard, erase_holder),
}

RevealOption = Annotated[bool, typer.Option("--reveal", help="Show the whole BVN.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
BvnOption = Annotated[str, typer.Option("--bvn", prompt="BVN", hide_input=True, help="Prompted for if not given.")]


@command.command(name="export")
def export_client(mid: str, client_id: str, reveal: RevealOption = False, data: DataOption = None) -> None:
    """Print everything stored about a client as JSON: the profile, and all records that belong to it."""

    async def work(connection: Any, vault: Vault, settings: Settings) -> bytes:
        merchant_id = await merchants.find_merchant_id(connection, mid)
        client = await find_client(merchant_id, client_id, connection)
        if client is None:
            raise ServeError(UNKNOWN_CLIENT.message)
        what = "exported a client, the BVN revealed" if reveal else "exported a client"
        await record_audit_entry(connection, merchant_id, what, client_id)
        profile = show_client(client, vault.unseal)
        if reveal and client.bvn_sealed is not None:
            profile.bvn = vault.unseal(merchant_id, bvn_aad(client_id), client.bvn_sealed).decode()
        rows_by_table = await subject_access.export_client_records(connection, merchant_id, client_id, vault.unseal)
        records = {table: [msgspec.Raw(text.encode()) for text in rows] for table, rows in rows_by_table.items()}
        disputes = await subject_access.find_client_disputes(connection, merchant_id, client_id)
        records |= export_disputes(merchant_id, disputes, vault)
        filed = await subject_access.find_card_evidence(connection, merchant_id, client_id)
        evidence = [vault.unseal(merchant_id, card_evidence_aad(dispute_id), sealed) for dispute_id, sealed in filed]
        records |= {"card_dispute_evidence": [msgspec.Raw(text) for text in evidence]} if evidence else {}
        cards = await subject_access.find_card_holders(connection, merchant_id, client_id)
        holders = [
            {"reference": reference, "holder": read_holder(merchant_id, key, sealed, vault.unseal)}
            for key, reference, sealed in cards
        ]
        records |= {"card_holder": [msgspec.Raw(msgspec.json.encode(holder)) for holder in holders]} if holders else {}
        return msgspec.json.encode({"mid": mid, "client": profile, "records": records})

    typer.echo(msgspec.json.format(run_with_connection(data, work), indent=2).decode())


@command.command(name="find")
def find_by_bvn(mid: str, bvn: BvnOption, data: DataOption = None) -> None:
    """Print the ids of a merchant's clients with a BVN."""
    if not re.fullmatch("[0-9]{11}", bvn, re.ASCII):
        sys.exit("kasuwa: a BVN has eleven digits")

    async def work(connection: Any, vault: Vault, settings: Settings) -> list[str]:
        merchant_id = await merchants.find_merchant_id(connection, mid)
        hashes = [hash_bvn(digest, merchant_id, bvn) for digest in vault.index_digests]
        client_ids = await subject_access.find_clients_by_bvn(connection, merchant_id, hashes)
        await record_audit_entry(
            connection, merchant_id, "looked for clients by a BVN", ", ".join(client_ids) or "nobody"
        )
        return client_ids

    ids = run_with_connection(data, work)
    if not ids:
        sys.exit("kasuwa: no client of this merchant has this BVN")
    typer.echo("\n".join(ids))


@command.command(name="erase")
def erase_client(mid: str, client_id: str, yes: YesOption = False, data: DataOption = None) -> None:
    """Erase a client's personal data, also in payments for loans and savings, and the cards saved with them. The books
    keep their records under the client's id. Refused while accounts, payments or disputes are open."""
    if not yes:
        typer.confirm(f"Erase all personal data of {client_id}? This cannot be undone", abort=True)

    async def work(services: "Services") -> Any:
        async with services.reader.acquire() as connection:
            merchant_id = await merchants.find_merchant_id(connection, mid)
            keys = await subject_access.find_erasable_keys(connection, merchant_id, client_id)
        merchant = await services.merchant_directory.get_by_id(merchant_id)
        erasures = make_erasures(ERASURES, keys)
        needs = need_erase(client_id, erasures, merchant)
        rule = with_audit_entry(
            partial(decide_erase, client_id, erasures), lambda _: make_audit_entry("erased a client", client_id)
        )
        result = await services.writer.submit(Submission(merchant, needs, rule, draw_entropy()))
        if isinstance(result, Refusal):
            raise ServeError(result.message)
        assert isinstance(result, Decision), result
        return result.reply

    typer.echo(msgspec.json.encode(run_with_services(data, work)).decode())
