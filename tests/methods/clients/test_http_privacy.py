"""Personal data of clients: encrypted in the database, found by exact match, and encrypted where an earlier version
left it in clear."""

from typing import Any

import asyncpg
import pytest

from kasuwa.clear_tables import SMALL_CLEAR_TABLES
from kasuwa.db.migrate import open_vault
from kasuwa.db.rows_in_clear import seal_table
from kasuwa.db.vault_keys import KeyRefresher
from kasuwa.secret_key import secret_key_of
from kasuwa.settings import read_settings
from tests.merchant_client import MerchantClient
from tests.methods.clients.enrollment import BVN, create, enroll, list_all, update, view
from tests.running import Deployment

CLIENTS = next(clear for clear in SMALL_CLEAR_TABLES if clear.table == "client")
PERSON: dict[str, Any] = {
    "firstname": "Zainabsecret",
    "lastname": "Okonkwosecret",
    "email": "Zainab.Secret@Example.com",
    "phone": "0803 999 1234",
    "dob": "1988-02-29",
    "addresses": [{"line1": "77 Secretstreet", "country": "NG"}],
    "meta": {"passport": "SECRET1234"},
}
SECRETS = ("zainab", "okonkwo", "9991234", "999 1234", "1988-02-29", "secretstreet", "secret1234")


def test_no_column_of_a_clients_row_shows_who_it_is(shop: MerchantClient, deployment: Deployment) -> None:
    client_id = enroll(shop, **PERSON)["client_id"]
    [[text]] = deployment.fetch("select row_to_json(c)::text from client c where client_id = $1", client_id)
    assert not [secret for secret in SECRETS if secret in text.lower()]
    assert view(shop, client_id)["data"]["meta"] == PERSON["meta"]


@pytest.mark.parametrize(
    "asked",
    [
        {"phone": "+234 803 999 1234"},
        {"phone": "08039991234"},
        {"email": "zainab.secret@example.COM"},
        {"bvn": BVN},
        {"status": "inactive"},
        {"phone": "08039991234", "email": PERSON["email"], "status": "inactive"},
    ],
)
def test_a_client_is_found_by_exact_match(shop: MerchantClient, asked: dict[str, str]) -> None:
    found = create(shop, status="inactive", bvn=BVN, **PERSON)["data"]
    enroll(shop)
    listed = list_all(shop, **asked)
    assert ([row["client_id"] for row in listed["data"]], listed["total"]) == ([found["client_id"]], 1)


@pytest.mark.parametrize("asked", [{"phone": "08030000000"}, {"email": "a@b.co"}, {"bvn": "22299999999"}])
def test_a_filter_that_matches_nobody_lists_nobody(shop: MerchantClient, asked: dict[str, str]) -> None:
    enroll(shop, bvn=BVN, **PERSON)
    assert (list_all(shop, **asked)["data"], list_all(shop, **asked)["total"]) == ([], 0)


def test_a_rejected_client_may_apply_again(shop: MerchantClient) -> None:
    client_id = enroll(shop)["client_id"]
    for status in ("rejected", "pending_approval", "active"):
        assert update(shop, client_id, status=status)["data"]["status"] == status


def test_clients_of_an_earlier_version_are_encrypted_and_stay_what_they_were(
    shop: MerchantClient, deployment: Deployment
) -> None:
    before = [enroll(shop, **PERSON, middlename=str(n)) for n in range(3)]

    async def work(connection: Any) -> None:
        secret_key = secret_key_of(read_settings({}, data=deployment.directory))
        vault = await open_vault(connection, secret_key)
        for record in before:
            merchant_id, client_id, sealed = await connection.fetchrow(
                "select merchant_id, client_id, detail_sealed from client where client_id = $1", record["client_id"]
            )
            detail = vault.unseal(merchant_id, f"client.detail_sealed {client_id}", sealed).decode()
            await connection.execute(
                "update client set detail = $3::json, detail_sealed = null, phone_hash = null, email_hash = null"
                " where merchant_id = $1 and client_id = $2",
                *(merchant_id, client_id, detail),
            )
        refresh = KeyRefresher(connection, vault, secret_key, lambda: secret_key).refresh
        assert await seal_table(connection, CLIENTS, vault, refresh) == len(before)
        assert await seal_table(connection, CLIENTS, vault, refresh) == 0

    deployment.run_on_connection(work)
    assert [view(shop, record["client_id"])["data"] for record in before] == before
    assert list_all(shop, phone=PERSON["phone"])["total"] == len(before)
    changed = update(shop, before[0]["client_id"], data={"lastname": "Eze"})["data"]
    assert changed == {**before[0], "lastname": "Eze"}


def test_an_earlier_version_cannot_write_a_client_in_clear(shop: MerchantClient, deployment: Deployment) -> None:
    client_id = enroll(shop, **PERSON)["client_id"]
    with pytest.raises(asyncpg.RaiseError, match="earlier version"):
        deployment.fetch('update client set detail = \'{"firstname":"x"}\' where client_id = $1 returning 1', client_id)
    assert view(shop, client_id)["data"]["firstname"] == PERSON["firstname"]
