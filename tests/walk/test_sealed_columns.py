"""Every sealed column is bound to its row: a value sealed for one row cannot be opened in another of the same merchant.

The ciphertexts of two real rows are swapped, and opened as the service does. A sealed column that is not listed here
makes the last test fail.
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec
import pytest

from kasuwa.core.keyring import UnsealError
from kasuwa.core.row_codes import OPERATOR_ID
from kasuwa.core.vault import Vault
from kasuwa.merchants.endpoints import SEAL_CONTEXT as ENDPOINT_SEAL_CONTEXT
from kasuwa.merchants.keys import SECRET_SEAL_CONTEXT, unseal_key
from kasuwa.methods.bills.model import voucher_aad
from kasuwa.methods.clients.model import detail_aad
from kasuwa.methods.clients.rules import manage_client, verify_bvn
from kasuwa.methods.customers import model as customers
from kasuwa.methods.disburse.receipts import facts_aad
from kasuwa.methods.disputes.model import evidence_aad, file_aad
from kasuwa.methods.invoices import model as invoices
from kasuwa.methods.mail.model import content_aad
from kasuwa.methods.resources import model as personalized
from kasuwa.methods.sealed_columns import SEALED_PLACES, world_part_aad
from kasuwa.methods.virtualcard.dispute_model import card_evidence_aad
from kasuwa.methods.virtualcard.model import holder_aad, pan_aad
from kasuwa.people.mails import PersonMailContent, open_content, person_mail_aad
from kasuwa.people.passwords import seal_totp_secret, unseal_totp_secret
from kasuwa.transactions import checkouts, sealed_payers
from kasuwa.transactions.inbound_accounts import person_aad as account_person_aad
from tests.merchant_client import MerchantClient
from tests.running import NEWEST, Deployment, Deployments
from tests.sealed_rows import make_two_of_each, read_vault


class Sealed(NamedTuple):
    """A sealed column: what identifies its rows, and how the service opens a value."""

    named_by: str
    open: Callable[[Vault, int, Any, bytes], bytes]


def at(place: Callable[[Any], str]) -> Callable[[Vault, int, Any, bytes], bytes]:
    return lambda vault, merchant_id, name, sealed: vault.unseal(merchant_id, place(name), sealed)


def open_endpoint_secret(vault: Vault, merchant_id: int, name: Any, sealed: bytes) -> bytes:
    return unseal_key(vault, merchant_id, sealed, name, ENDPOINT_SEAL_CONTEXT)


PLACES = {
    "client.bvn_sealed": Sealed("client_id", at(manage_client.bvn_aad)),
    "client.bvn_check_sealed": Sealed("client_id", at(verify_bvn.check_aad)),
    "client.detail_sealed": Sealed("client_id", at(detail_aad)),
    "customer.detail_sealed": Sealed("customer_id", at(customers.detail_aad)),
    "mail.content_sealed": Sealed("mail_id", at(content_aad)),
    "dispute.evidence_sealed": Sealed("dispute_id", at(evidence_aad)),
    "virtual_card_dispute.evidence_sealed": Sealed("dispute_id", at(card_evidence_aad)),
    "dispute_file.content_sealed": Sealed("dispute_id", at(lambda dispute_id: file_aad(dispute_id, 0))),
    "invoice.personal_sealed": Sealed("invoice_id", at(invoices.personal_aad)),
    "transaction.facts_sealed": Sealed("txn_ref", at(facts_aad)),
    "payment.payer_sealed": Sealed("txn_ref", at(sealed_payers.payment_payer_aad)),
    "payment_plan.payer_sealed": Sealed("plan_id", at(sealed_payers.plan_payer_aad)),
    "checkout.payer_sealed": Sealed("txn_ref", at(checkouts.payer_aad)),
    "personalized_account.bvn_sealed": Sealed("key", at(personalized.bvn_aad)),
    "personalized_account.person_sealed": Sealed("key", at(account_person_aad)),
    "virtual_card.sealed_pan": Sealed("key", at(pan_aad)),
    "virtual_card.holder_sealed": Sealed("key", at(holder_aad)),
    "bill_voucher.sealed": Sealed("txn_ref", at(voucher_aad)),
    "merchant_key.sealed": Sealed("verifier", lambda vault, of, name, sealed: unseal_key(vault, of, sealed, name)),
    "signing_secret.sealed": Sealed(
        "verifier", lambda vault, of, name, sealed: unseal_key(vault, of, sealed, name, SECRET_SEAL_CONTEXT)
    ),
    "webhook_endpoint.sealed": Sealed("verifier", open_endpoint_secret),
    "webhook_endpoint.previous_sealed": Sealed("previous_verifier", open_endpoint_secret),
    "idempotency_record.sealed_reply": Sealed("key", at(lambda key: f"repeat {key.hex()}")),
}
# Columns of payments and tickets, which their own tests swap, and those of no merchant's rows, below.
ELSEWHERE = {
    "payment.sealed_card",
    "saved_card.sealed",
    "console_user.totp_sealed",
    "person_mail.content_sealed",
    "request_record.sealed",
    "world_part.sealed",
    "ticket.code_sealed",
    "ticket.person_sealed",
}


@pytest.fixture(scope="module")
def shop(deployments: Deployments) -> Iterator[MerchantClient]:
    """A merchant with two rows of each kind that has a sealed column."""
    deployment = deployments.for_version(NEWEST)
    opened = deployment.open_shop(now="2026-01-05T09:30:00+01:00")
    with opened.connection:
        make_two_of_each(opened, deployment)
        yield opened


@pytest.mark.parametrize("column", sorted(PLACES))
def test_what_is_sealed_in_one_row_does_not_open_in_another(
    column: str, deployment: Deployment, shop: MerchantClient
) -> None:
    vault = asyncio.run(read_vault(deployment))
    table, _, name = column.partition(".")
    query = f"select t.merchant_id, t.{PLACES[column].named_by}, t.{name} from {table} t join merchant m"
    rows = deployment.fetch(f"{query} using (merchant_id) where m.mid = $1 and t.{name} is not null", shop.mid)
    assert len(rows) >= 2
    opener = PLACES[column].open
    plain = [opener(vault, *row) for row in rows]
    assert all(plain)
    assert len({row[2] for row in rows}) == len(rows)
    for here, there in ((rows[0], rows[1]), (rows[1], rows[0])):
        with pytest.raises(UnsealError):
            opener(vault, here[0], here[1], there[2])
    with pytest.raises(UnsealError):
        opener(vault, rows[0][0] + 1_000_000, rows[0][1], rows[0][2])


def test_a_second_factor_is_one_persons() -> None:
    vault = Vault(bytes(32))
    sealed = seal_totp_secret(vault, 1, "JBSWY3DPEHPK3PXP")
    assert unseal_totp_secret(vault, 1, sealed) == "JBSWY3DPEHPK3PXP"
    with pytest.raises(UnsealError):
        unseal_totp_secret(vault, 2, sealed)


def test_a_mail_to_a_person_is_one_mails() -> None:
    vault, content = Vault(bytes(32)), PersonMailContent("ada@example.com", "Words", "text", "html")
    sealed = vault.seal(OPERATOR_ID, person_mail_aad("PM1"), msgspec.json.encode(content), bytes(12))
    assert open_content(vault, "PM1", sealed) == content
    with pytest.raises(UnsealError):
        open_content(vault, "PM2", sealed)


def test_a_part_of_a_world_opens_in_its_own_place_only() -> None:
    vault = Vault(bytes(32))
    sealed = vault.seal(OPERATOR_ID, world_part_aad(1, 1), b"rows", bytes(12))
    assert vault.unseal(OPERATOR_ID, world_part_aad(1, 1), sealed) == b"rows"
    for place in (world_part_aad(1, 2), world_part_aad(2, 1)):
        with pytest.raises(UnsealError):
            vault.unseal(OPERATOR_ID, place, sealed)


def test_no_sealed_column_is_left_out(deployment: Deployment) -> None:
    rows = deployment.fetch(
        "select table_name || '.' || column_name from information_schema.columns join information_schema.tables"
        " using (table_schema, table_name) where table_type = 'BASE TABLE' and table_schema = 'public'"
        " and data_type = 'bytea' and column_name like '%sealed%'"
    )
    named = {row[0] for row in rows}
    assert named == set(PLACES) | ELSEWHERE
    # What encrypts everything anew goes through the same columns, and through fields of JSON columns.
    in_json = {"transaction.detail.payer_sealed"}
    assert sorted(column.name for column in SEALED_PLACES.columns) == sorted(named | in_json)
