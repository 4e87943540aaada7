"""Fixed deposits over HTTP, on real PostgreSQL: terms end by their job, with postings, lines and an event."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.clients.enrollment import update
from tests.methods.investments.savers import NOW, cash_out, enroll, invest, make_deposit, open_savings, view
from tests.running import Deployment
from tests.walk.test_tenancy import everything_of

FIXED: dict[str, Any] = {"period": None, "term_days": 30, "tax_applied": True}


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=NOW)


def list_events(shop: MerchantClient, savings_id: str) -> list[dict[str, Any]]:
    lines = shop.put("resources", inquire="events", txnRef=savings_id).body["data"]
    return [line["payload"] for line in lines]


def test_a_fixed_deposit_lives_two_terms_and_matures(shop: MerchantClient) -> None:
    ada = enroll(shop)
    savings_id = open_savings(shop, ada, "1000.00", rollover="principal", **FIXED)
    assert shop.advance(until="2026-02-04T00:00:00+01:00")["ran"] == {"savings": 1}
    shown = view(shop, savings_id)
    assert (shown["state"], shown["balance"], shown["unlocked"]) == ("active", "1027.00", "27.00")
    [event] = list_events(shop, savings_id)
    assert event == {
        "kind": "fixed_deposit",
        "status": 200,
        "txnStatus": "successful",
        "txnRef": savings_id,
        "chargedAmount": "27.00",
        "currency": "NGN",
        "paymentMethod": "wallet",
        "endpoint": "test",
        "savings_id": savings_id,
        "client_id": ada,
        "step": "rolled_over",
        "term": 1,
        "interest": "30.00",
        "tax": "3.00",
        "balance": "1027.00",
    }
    assert invest(shop, "set_rollover", savings_id=savings_id, rollover="none")["data"]["rollover"] == "none"
    shop.advance(days=60)
    shown = view(shop, savings_id)
    assert (shown["state"], shown["balance"]) == ("matured", "1054.00")
    assert [event["step"] for event in list_events(shop, savings_id)] == ["matured", "rolled_over"]
    lines = invest(shop, "statement", savings_id=savings_id)["data"]
    assert [(line["narration"], line["amount"]) for line in lines[:2]] == [
        ("withholding tax", "-3.00"),
        ("interest", "30.00"),
    ]
    timeline = shop.put("sandbox", action="explain", txnRef=savings_id).body["data"]
    assert [line["what"] for line in timeline].count("event") >= 2
    assert cash_out(shop, savings_id, ada, "1054.00")["status"] == 200
    assert update(shop, ada, status="exited")["status"] == 200


def test_a_client_does_not_leave_while_a_deposit_rolls_over(shop: MerchantClient) -> None:
    ada = enroll(shop)
    savings_id = open_savings(shop, ada, "1000.00", rollover="all", **FIXED)
    assert update(shop, ada, status="exited")["status"] == 104
    shop.advance(days=70)
    assert view(shop, savings_id)["state"] == "active"
    assert update(shop, ada, status="inactive")["status"] == 104


def test_a_payment_that_arrives_after_the_term_joins_the_next_one(shop: MerchantClient) -> None:
    ada = enroll(shop)
    savings_id = open_savings(shop, ada, rollover="all", period=None, term_days=1)
    shop.advance(until="2026-01-05T23:55:00+01:00")
    asked = invest(shop, "deposit", savings_id=savings_id, payment_method="bank_transfer", amount="1000.00")
    assert asked["status"] == 202
    shop.advance(until="2026-01-06T00:00:00+01:00")
    assert view(shop, savings_id)["state"] == "pending"
    paid = shop.put("sandbox", action="pay_account", accountNumber=asked["accountNumber"], amount="1000.00").body
    assert paid["txnStatus"] == "successful"
    shop.advance(days=1)
    assert view(shop, savings_id)["balance"] == "1001.00"


def test_breaking_a_deposit_and_changing_it_by_dry_run_change_nothing(
    shop: MerchantClient, deployment: Deployment
) -> None:
    ada = enroll(shop)
    savings_id = open_savings(shop, ada, "1000.00", rollover="all", **FIXED)
    shop.advance(days=10)
    before = everything_of(deployment, shop)
    broken = cash_out(shop, savings_id, ada, "1000.00", dry_run=True)
    figures = {figure["what"]: figure["amount"] for figure in broken["explained"]}
    assert figures["forfeited interest"] == "10.00"
    changed = invest(shop, "set_rollover", savings_id=savings_id, rollover="none", dry_run=True)
    assert (changed["data"]["rollover"], changed["dry_run"]) == ("none", True)
    after = everything_of(deployment, shop)
    assert {name for name in after if after[name] != before[name]} <= {"commit_mark"}


def test_a_deposit_of_both_a_period_and_a_term_is_refused_by_name(shop: MerchantClient) -> None:
    settings = {"interestRate": "1", "interestFrequency": "annualized"}
    fields = {"name": "x", "client_id": enroll(shop), "interestSettings": settings, "term_days": 30, "period": 1}
    body = invest(shop, "create_savings", **fields)
    assert (body["status"], [fault["field"] for fault in body["errors"]]) == (104, ["period"])
    assert make_deposit(shop, "SVnobody", "1.00")["status"] == 104
