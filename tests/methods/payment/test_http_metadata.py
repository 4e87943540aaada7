"""`meta`, IP address and device of the payer over HTTP: stored with the payment, shown only where allowed."""

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from kasuwa.methods.payment.payer_model import open_detail
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient, card
from tests.running import Deployment
from tests.sealed_rows import read_vault

NOW = "2026-01-05T09:30:00+01:00"
USER = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com", "ip": "102.89.2.1", "fingerprint": "f0e1d2"}
META = {"basket": 7, "lines": [{"sku": "a", "price": 1.5}], "none": None}
KEPT = """
    select p.merchant_id, p.txn_ref, p.detail::text, p.payer_sealed from payment p join merchant m
    using (merchant_id) where m.mid = $1 and p.txn_ref = $2
"""


@pytest.fixture
def client(open_shop: Callable[..., MerchantClient]) -> PaymentClient:
    return PaymentClient(open_shop(now=NOW))


def kept(deployment: Deployment, client: PaymentClient, txn_ref: str) -> tuple[Any, ...]:
    [row] = deployment.fetch(KEPT, client.shop.mid, txn_ref)
    merchant_id, _, stored, sealed = row
    detail = open_detail(merchant_id, txn_ref, stored, sealed, asyncio.run(read_vault(deployment)).unseal)
    return detail.ip, detail.fingerprint, detail.meta


def events_text(client: PaymentClient) -> str:
    return str(client.shop.put("resources", inquire="event_feed").body["data"])


def test_a_completed_charge_and_verify_show_meta_and_its_event_does_not(
    client: PaymentClient, deployment: Deployment
) -> None:
    given = card(auth="PIN")
    begun = client.initiate(given, user=USER, meta=META)
    assert "meta" not in begun
    assert client.verify(begun["txnRef"])["meta"] == META
    done = client.charge(begun, given, user=USER, meta=META)
    assert (done["txnStatus"], done["meta"]) == ("successful", META)
    verified = client.verify(begun["txnRef"])
    assert verified["meta"] == META
    assert kept(deployment, client, begun["txnRef"])[:2] == ("102.89.2.1", "f0e1d2")
    events = events_text(client)
    assert begun["txnRef"] in events
    assert "basket" not in events
    assert not [mark for mark in ("102.89.2.1", "f0e1d2") if mark in str([begun, done, verified, events])]


def test_a_saved_cards_charge_keeps_its_metadata(client: PaymentClient, deployment: Deployment) -> None:
    done = client.charge_token(client.token(), user=USER, meta=META)
    assert (done["txnStatus"], done["meta"]) == ("successful", META)
    assert kept(deployment, client, done["txnRef"])[:2] == ("102.89.2.1", "f0e1d2")
    assert client.verify(done["txnRef"])["meta"] == META


def test_meta_that_only_the_charge_brings_counts(client: PaymentClient, deployment: Deployment) -> None:
    given = card(auth="PIN")
    begun = client.initiate(given)
    assert client.charge(begun, given, user=USER, meta=META)["meta"] == META
    assert client.verify(begun["txnRef"])["meta"] == META
    assert kept(deployment, client, begun["txnRef"])[:2] == ("102.89.2.1", "f0e1d2")


def test_a_charge_with_another_meta_is_refused_and_the_first_is_kept(client: PaymentClient) -> None:
    given = card(auth="PIN")
    begun = client.initiate(given, meta=META)
    refused = client.charge(begun, given, meta={"basket": 8})
    fault = {"field": "meta", "reason": "as it was initiated", "code": "field_invalid"}
    assert (refused["status"], refused["errors"]) == (104, [fault])
    assert client.charge(begun, given)["meta"] == META


def test_explain_tells_the_payers_address_and_device(client: PaymentClient) -> None:
    done = client.charge_token(client.token(), user=USER)
    story = client.shop.put("sandbox", action="explain", txnRef=done["txnRef"]).body["data"]
    first = next(step for step in story if step["what"] == "requested")
    assert (first["ip"], first["fingerprint"]) == ("102.89.2.1", "f0e1d2")
    assert len([step for step in story if "ip" in step]) == 1


def test_the_payers_page_shows_no_meta(client: PaymentClient) -> None:
    """The page returns the result as JSON, as there is no redirect_url."""
    given = card(auth="3DSecure")
    begun = client.initiate(given, meta=META)
    path = urlsplit(begun["authURL"]).path
    form = {"content-type": "application/x-www-form-urlencoded"}
    done = client.shop.connection.send("POST", path, b"decision=decline", form)
    assert (done.body["txnRef"], done.body["txnStatus"]) == (begun["txnRef"], "failed")
    assert "basket" not in str(done.body)
    assert client.verify(begun["txnRef"])["meta"] == META
