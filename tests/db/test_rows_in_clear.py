"""Owners of accounts and holders of cards are encrypted, also where an earlier version left them in clear."""

from typing import Any

import pytest

from kasuwa.clear_tables import LARGE_CLEAR_TABLES, SMALL_CLEAR_TABLES
from kasuwa.db import key_moves
from kasuwa.db.migrate import open_vault
from kasuwa.db.rows_in_clear import seal_table
from kasuwa.db.vault_keys import KeyRefresher
from kasuwa.secret_key import secret_key_of
from kasuwa.settings import read_settings
from tests.merchant_client import MerchantClient
from tests.methods.investments.savers import enroll, invest, open_savings
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment
from tests.sealed_rows import seal_clear_rows

OWNER: dict[str, Any] = {"name": "Zainab Ownersecret", "email": "zainab.ownersecret@example.com"}
BILLING = {
    "name": "Halima Holdersecret",
    "address": "77 Holdersecret Street",
    "city": "Holdersecret City",
    "state": "Holdersecret State",
    "postal_code": "909090",
}
SECRETS = ("ownersecret", "holdersecret", "909090")
# Rows as an earlier version wrote them.
ACCOUNT_IN_CLEAR = """
    update personalized_account set account_name = $2, email = $3, person_sealed = null,
        facts = jsonb_set(facts::jsonb, '{account_name}', to_jsonb($2::text))::json
    where merchant_id = (select merchant_id from merchant where mid = $1 and current) returning 1
"""
CARD_IN_CLEAR = """
    update virtual_card set detail = json_build_object('name', $2::text, 'address', $3::text, 'city', $4::text,
        'state', $5::text, 'postal_code', $6::text, 'country', 'NG'), holder_sealed = null
    where merchant_id = (select merchant_id from merchant where mid = $1 and current) returning 1
"""
ROWS = """
    select coalesce(string_agg(t, ' '), '') from (
        select row_to_json(a)::text as t from personalized_account a
        where a.merchant_id = (select merchant_id from merchant where mid = $1 and current)
        union all select row_to_json(c)::text from virtual_card c
        where c.merchant_id = (select merchant_id from merchant where mid = $1 and current)
        union all select j.work::text from scheduled_job j
        where j.merchant_id = (select merchant_id from merchant where mid = $1 and current)) r
"""


def list_accounts(shop: MerchantClient) -> Any:
    return shop.put("resources", inquire="accounts").body["data"]


def read_secrets(shop: MerchantClient, deployment: Deployment) -> list[str]:
    [[text]] = deployment.fetch(ROWS, shop.mid)
    assert text
    return [secret for secret in SECRETS if secret in text.lower()]


def make_rows(shop: MerchantClient) -> CardClient:
    """Opens an account and issues a card."""
    shop.put("resources", request="personalized-accounts", reference="one", **OWNER)
    return CardClient(shop, billing=BILLING)


def seal_all(deployment: Deployment) -> dict[str, int]:
    """Encrypts what is in clear, twice. Returns how many rows there were the first time, by table."""
    counts: dict[str, int] = {}

    async def work(connection: Any) -> None:
        secret_key = secret_key_of(read_settings({}, data=deployment.directory))
        vault = await open_vault(connection, secret_key)
        refresh = KeyRefresher(connection, vault, secret_key, lambda: secret_key).refresh
        for clear in SMALL_CLEAR_TABLES:
            counts[clear.table] = await seal_table(connection, clear, vault, refresh)
            assert await seal_table(connection, clear, vault, refresh) == 0

    deployment.run_on_connection(work)
    return counts


def test_no_row_shows_the_owner_of_an_account_or_the_holder_of_a_card(
    shop: MerchantClient, deployment: Deployment
) -> None:
    card = make_rows(shop)
    assert read_secrets(shop, deployment) == []
    assert [line["accountName"] for line in list_accounts(shop)] == [OWNER["name"]]
    shown = card.get()
    assert (shown["name_on_card"], shown["address"]) == (BILLING["name"], BILLING["address"])


def test_rows_of_an_earlier_version_are_encrypted_and_stay_what_they_were(
    shop: MerchantClient, deployment: Deployment
) -> None:
    card = make_rows(shop)
    accounts, shown = list_accounts(shop), card.get()
    deployment.fetch(ACCOUNT_IN_CLEAR, shop.mid, OWNER["name"], OWNER["email"])
    deployment.fetch(CARD_IN_CLEAR, shop.mid, *BILLING.values())
    assert read_secrets(shop, deployment) == list(SECRETS)
    # What is in clear is read as well, until it is encrypted.
    assert list_accounts(shop) == accounts
    assert seal_all(deployment) == {"client": 0, "personalized_account": 1, "virtual_card": 1}
    assert read_secrets(shop, deployment) == []
    assert (list_accounts(shop), card.get()) == (accounts, shown)
    closed = shop.put("resources", request="close_personalized_account", reference="one").body
    assert (closed["status"], closed["data"]["accountName"]) == (200, OWNER["name"])


# --- transactions, which the worker encrypts --------------------------------------------------------------------------

PAYER: dict[str, Any] = {"ip": "102.89.77.77", "fingerprint": "devicesecret", "meta": {"note": "metasecret"}}
# A deposit and a transfer as an earlier version wrote them.
DEPOSIT_IN_CLEAR = """
    update transaction set detail = json_build_object('savings_id', detail ->> 'savings_id', 'ip', $2::text,
        'fingerprint', $3::text, 'meta', $4::text) where txn_ref = $1 returning 1
"""
NAMED = """
    update transaction set counterparty_name = 'NAMESECRET',
        detail = jsonb_set(detail::jsonb, '{beneficiary_name}', '"OTHERSECRET"')::json where txn_ref = $1 returning 1
"""
TEXTS = "select row_to_json(t)::text from transaction t where txn_ref = any($1)"


[TRANSACTIONS] = [clear for clear in LARGE_CLEAR_TABLES if clear.table == "transaction"]


def test_the_worker_encrypts_transactions_of_an_earlier_version(
    shop: MerchantClient, deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_moves, "WINDOW", 2)
    savings_id = open_savings(shop, enroll(shop))
    deposit = {"savings_id": savings_id, "payment_method": "wallet", "amount": "10.00", **PAYER}
    references = [invest(shop, "deposit", **deposit)["txnRef"], shop.transfer()["txnRef"]]
    [[written], _] = deployment.fetch(TEXTS, references)
    assert "secret" not in written
    before = shop.put("payment", action="verify", txnRef=references[0]).body
    deployment.fetch(DEPOSIT_IN_CLEAR, references[0], PAYER["ip"], PAYER["fingerprint"], '{"note":"metasecret"}')
    deployment.fetch_as_service(NAMED, references[1])
    assert shop.put("payment", action="verify", txnRef=references[0]).body == before

    async def work(connection: Any) -> None:
        vault = await open_vault(connection, secret_key_of(read_settings({}, data=deployment.directory)))
        assert await seal_clear_rows(TRANSACTIONS, vault, connection) >= 2
        assert await seal_clear_rows(TRANSACTIONS, vault, connection) == 0

    deployment.run_on_connection(work)
    texts = " ".join(text for (text,) in deployment.fetch(TEXTS, references))
    assert [secret for secret in ("102.89", "secret", "SECRET") if secret in texts] == []
    assert savings_id in texts
    assert shop.put("payment", action="verify", txnRef=references[0]).body == before
    story = shop.put("sandbox", action="explain", txnRef=references[0]).body["data"]
    assert (story[0]["ip"], story[0]["fingerprint"]) == (PAYER["ip"], PAYER["fingerprint"])
