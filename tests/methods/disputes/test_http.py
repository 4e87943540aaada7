"""Disputes over HTTP: their life, and the merchant's clock."""

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.disputes.dispute_client import TOTAL, dispute_of, events_of, open_dispute
from tests.methods.payment.payment_client import PaymentClient


@pytest.fixture
def client(shop: MerchantClient) -> PaymentClient:
    return PaymentClient(shop)


def test_a_dispute_from_its_opening_to_its_loss(client: PaymentClient) -> None:
    paid = client.paid()
    before = client.shop.wallet()
    opened = open_dispute(client, paid["txnRef"])
    dispute_id = opened["data"]["dispute_id"]
    assert (opened["data"]["state"], opened["data"]["held"]) == ("needs_response", "3112.50")
    assert client.shop.wallet().held == before.held + TOTAL
    verified = client.verify(paid["txnRef"])
    assert (verified["txnStatus"], verified["disputedAmount"]) == ("successful", "1500.00")
    answered = client.pay(action="dispute_respond", dispute_id=dispute_id, evidence={"explanation": "delivered"})
    assert answered["data"]["state"] == "under_review"
    ended = client.shop.put("sandbox", action="dispute_outcome", dispute_id=dispute_id, outcome="lost").body
    assert (ended["data"]["state"], ended["data"]["held"]) == ("lost", "0.00")
    assert client.shop.wallet().balance == before.balance - TOTAL
    found = dispute_of(client, opened)
    assert [step["step"] for step in found["timeline"]] == ["opened", "under_review", "lost"]
    assert found["evidence"]["explanation"] == "delivered"
    assert events_of(client, dispute_id) == ["opened", "under_review", "lost"]
    listed = client.pay(action="disputes", state="lost")
    assert (listed["total"], listed["data"][0]["dispute_id"]) == (1, dispute_id)
    assert client.pay(action="disputes", state="won")["total"] == 0
    assert client.pay(action="disputes", txnRef=paid["txnRef"])["total"] == 1


def test_reminders_and_the_deadline_come_by_the_merchants_clock(client: PaymentClient) -> None:
    opened = open_dispute(client, client.paid()["txnRef"], hours=72)
    before = client.shop.wallet().balance
    client.shop.advance(hours=61)
    dispute_id = opened["data"]["dispute_id"]
    assert events_of(client, dispute_id) == ["opened", "reminder", "reminder"]
    client.shop.advance(hours=12)
    assert events_of(client, dispute_id)[-1] == "expired"
    assert client.shop.wallet().balance == before - TOTAL
    late = client.pay(action="dispute_respond", dispute_id=dispute_id, accept=True)
    assert (late["status"], late["message"]) == (104, "The time to respond is over")
