"""All columns that have ciphertexts, which a test compares with the schema, and the hashes of clients."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kasuwa.core.vault import Vault
from kasuwa.engine.idempotency import reply_aad
from kasuwa.merchants.endpoints import SEAL_CONTEXT as ENDPOINT_SEAL_CONTEXT
from kasuwa.merchants.keys import KEY_SEAL_CONTEXT, SECRET_SEAL_CONTEXT
from kasuwa.methods.bills.model import voucher_aad
from kasuwa.methods.clients import model as clients
from kasuwa.methods.clients.rules import manage_client, verify_bvn
from kasuwa.methods.clients.rules.index_client import hash_client
from kasuwa.methods.coded_tables import CODED_TABLES
from kasuwa.methods.customers import model as customers
from kasuwa.methods.disburse.receipts import facts_aad
from kasuwa.methods.disputes.model import evidence_aad, file_aad
from kasuwa.methods.invoices.model import personal_aad
from kasuwa.methods.mail.model import content_aad
from kasuwa.methods.payment.model import saved_card_aad, sealed_card_aad
from kasuwa.methods.resources import model as resources
from kasuwa.methods.tickets.model import code_aad, person_aad, ticket_reference
from kasuwa.methods.virtualcard.dispute_model import card_evidence_aad
from kasuwa.methods.virtualcard.model import holder_aad, pan_aad
from kasuwa.people.mails import person_mail_aad
from kasuwa.people.users import totp_aad
from kasuwa.privacy.client_index import ClientIndexer
from kasuwa.privacy.sealed_places import SealedColumn, SealedJobField, SealedPlaces
from kasuwa.transactions import checkouts, sealed_payers
from kasuwa.transactions.inbound_accounts import person_aad as account_person_aad
from kasuwa.transactions.purpose import MOVEMENTS_WITH_PAYER, PAYER_FIELD, payer_aad


def of_ticket(aad: Any) -> Any:
    return lambda checkout_ref, number: aad(ticket_reference(checkout_ref, number))


def world_part_aad(world_id: int, number: int) -> str:
    return f"world_part.sealed {world_id} {number}"


def request_bodies_aad(mid: str, request_id: str) -> str:
    return f"request_record.sealed {mid} {request_id}"


def place_of_job_card(reference: str, subject: bytes, work: Mapping[str, Any]) -> str:
    """The card that a payment's job charges is named by its token; the job that forgets a card, by its reference."""
    return saved_card_aad(work.get("token") or reference)


def place_of_job_bvn(reference: str, subject: bytes, work: Mapping[str, Any]) -> str:
    return resources.bvn_aad(subject)


def place_of_job_payer(reference: str, subject: bytes, work: Mapping[str, Any]) -> str:
    return sealed_payers.job_payer_aad(reference)


def place_of_job_owner(reference: str, subject: bytes, work: Mapping[str, Any]) -> str:
    return account_person_aad(subject)


def place_of_job_mail(reference: str, subject: bytes, work: Mapping[str, Any]) -> str:
    return content_aad(reference)


def make_client_indexer(vault: Vault) -> ClientIndexer:
    """Returns how the hashes that clients are found by are made anew."""
    return ClientIndexer(partial(hash_client, vault), clients.bvn_guard_key)


BY_CLIENT = ("client_id",)
BY_DISPUTE = ("dispute_id",)
BY_TICKET = ("checkout_ref", "number")

SEALED_PLACES = SealedPlaces(
    columns=(
        SealedColumn(
            table="merchant_key",
            column="sealed",
            named_by=(),
            place=lambda: KEY_SEAL_CONTEXT,
            row_id="key_id",
            row_id_type="bigint",
            is_cached=False,
        ),
        SealedColumn(
            table="signing_secret",
            column="sealed",
            named_by=(),
            place=lambda: SECRET_SEAL_CONTEXT,
            row_id="secret_id",
            row_id_type="bigint",
            is_cached=False,
        ),
        *(
            SealedColumn(
                table="webhook_endpoint",
                column=column,
                named_by=(),
                place=lambda: ENDPOINT_SEAL_CONTEXT,
                row_id="endpoint_id",
                row_id_type="bigint",
                is_cached=False,
            )
            for column in ("sealed", "previous_sealed")
        ),
        SealedColumn(
            table="console_user",
            column="totp_sealed",
            named_by=("user_id",),
            place=totp_aad,
            row_id="user_id",
            row_id_type="bigint",
            is_of_merchant=False,
            is_cached=False,
        ),
        SealedColumn(table="saved_card", column="sealed", named_by=("token",), place=saved_card_aad),
        SealedColumn(table="payment", column="sealed_card", named_by=("txn_ref",), place=sealed_card_aad),
        SealedColumn(
            table="payment",
            column="payer_sealed",
            named_by=("txn_ref",),
            place=sealed_payers.payment_payer_aad,
        ),
        SealedColumn(
            table="payment_plan",
            column="payer_sealed",
            named_by=("plan_id",),
            place=sealed_payers.plan_payer_aad,
        ),
        SealedColumn(
            table="checkout",
            column="payer_sealed",
            named_by=("txn_ref",),
            place=checkouts.payer_aad,
        ),
        SealedColumn(table="virtual_card", column="sealed_pan", named_by=("key",), place=pan_aad),
        SealedColumn(table="virtual_card", column="holder_sealed", named_by=("key",), place=holder_aad),
        SealedColumn(
            table="transaction",
            column="detail",
            json_field=PAYER_FIELD,
            kinds=MOVEMENTS_WITH_PAYER,
            named_by=("txn_ref",),
            place=payer_aad,
        ),
        SealedColumn(table="transaction", column="facts_sealed", named_by=("txn_ref",), place=facts_aad),
        SealedColumn(table="client", column="bvn_sealed", named_by=BY_CLIENT, place=manage_client.bvn_aad),
        SealedColumn(table="client", column="bvn_check_sealed", named_by=BY_CLIENT, place=verify_bvn.check_aad),
        SealedColumn(table="client", column="detail_sealed", named_by=BY_CLIENT, place=clients.detail_aad),
        SealedColumn(table="customer", column="detail_sealed", named_by=("customer_id",), place=customers.detail_aad),
        SealedColumn(table="personalized_account", column="bvn_sealed", named_by=("key",), place=resources.bvn_aad),
        SealedColumn(table="personalized_account", column="person_sealed", named_by=("key",), place=account_person_aad),
        SealedColumn(table="invoice", column="personal_sealed", named_by=("invoice_id",), place=personal_aad),
        SealedColumn(table="mail", column="content_sealed", named_by=("mail_id",), place=content_aad),
        SealedColumn(table="dispute", column="evidence_sealed", named_by=BY_DISPUTE, place=evidence_aad),
        SealedColumn(
            table="virtual_card_dispute", column="evidence_sealed", named_by=BY_DISPUTE, place=card_evidence_aad
        ),
        SealedColumn(table="dispute_file", column="content_sealed", named_by=("dispute_id", "place"), place=file_aad),
        SealedColumn(table="ticket", column="code_sealed", named_by=BY_TICKET, place=of_ticket(code_aad)),
        SealedColumn(table="ticket", column="person_sealed", named_by=BY_TICKET, place=of_ticket(person_aad)),
        SealedColumn(table="bill_voucher", column="sealed", named_by=("txn_ref",), place=voucher_aad),
        SealedColumn(
            table="person_mail",
            column="content_sealed",
            named_by=("mail_id",),
            place=person_mail_aad,
            row_id="number",
            row_id_type="bigint",
            is_of_merchant=False,
            is_cached=False,
        ),
        # Of the test environment.
        SealedColumn(
            table="world_part",
            column="sealed",
            named_by=("world_id", "number"),
            place=world_part_aad,
            row_id="part_id",
            row_id_type="bigint",
            is_of_merchant=False,
            is_cached=False,
        ),
        SealedColumn(
            table="request_record",
            column="sealed",
            named_by=("mid", "request_id"),
            place=request_bodies_aad,
            row_id="number",
            row_id_type="bigint",
            is_of_merchant=False,
            is_cached=False,
        ),
        SealedColumn(table="idempotency_record", column="sealed_reply", named_by=("key",), place=reply_aad),
    ),
    job_fields=(
        SealedJobField("sealed", place_of_job_card),
        SealedJobField("sealed_bvn", place_of_job_bvn),
        SealedJobField("sealed_payer", place_of_job_payer),
        SealedJobField("sealed_person", place_of_job_owner),
        SealedJobField("sealed_mail", place_of_job_mail),
    ),
    coded_tables=CODED_TABLES,
)
