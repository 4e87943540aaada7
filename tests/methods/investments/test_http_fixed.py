"""Fixed deposits over HTTP, on real PostgreSQL: terms end by their job, with postings, lines and an event."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from tests.merchant_client import MerchantClient
from tests.methods.clients.enrollment import update
from tests.methods.investments.savers import NOW, cash_out, enroll, invest, make_deposit, open_savings, view
from tests.methods.statements.test_http import open_link
from tests.pages.pdf_text import read_pdf_pages
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


# --- certificates -------------------------------------------------------------------------------------------


def make_certificate(shop: MerchantClient) -> tuple[str, dict[str, Any]]:
    savings_id = open_savings(shop, enroll(shop), "1000.00", rollover="all", **FIXED)
    return savings_id, invest(shop, "certificate", savings_id=savings_id)


def read_proof(shop: MerchantClient, certificate: dict[str, Any]) -> dict[str, Any]:
    file = open_link(shop, certificate["proof_link"])
    assert (file.http, file.headers["content-type"]) == (200, "application/json")
    proof: dict[str, Any] = file.body
    return proof


def test_a_certificate_shows_the_deposit_and_its_holder(shop: MerchantClient) -> None:
    savings_id, made = make_certificate(shop)
    file = open_link(shop, made["link"])
    assert (file.http, file.headers["content-type"]) == (200, "application/pdf")
    [texts] = read_pdf_pages(file.raw)
    assert {"Certificate of fixed deposit", "NGN 1000.00", "Ada Obi", "30 days"} <= set(texts)
    assert any(savings_id in text for text in texts)


def test_a_fixed_deposit_without_money_has_no_certificate(shop: MerchantClient) -> None:
    savings_id = open_savings(shop, enroll(shop), rollover="all", **FIXED)
    body = invest(shop, "certificate", savings_id=savings_id)
    assert (body["status"], body["code"]) == (104, "fixed_deposit_holds_nothing")
    assert body["message"] == "The fixed deposit is pending; a certificate shows one that holds money"


def test_a_certificate_is_proven_by_the_posting_that_left_its_balance(shop: MerchantClient) -> None:
    savings_id, made = make_certificate(shop)
    before = read_proof(shop, made)
    assert (before["proof"], before["close"], before["balance"]) == ("pending", None, "1000.00")
    closed = shop.put("sandbox", action="close").body
    after = read_proof(shop, made)
    assert (after["proof"], after["close"]["root"]) == ("closed", closed["root"])
    [line] = invest(shop, "statement", savings_id=savings_id)["data"]
    assert (after["posting"]["reference"], after["posting"]["balance"]) == (line["origin"], "1000.00")
    proof = shop.put("resources", inquire="proof", reference=line["origin"]).body["data"][0]
    assert proof["first"] <= after["posting"]["number"] <= proof["last"]
    assert "Obi" not in msgspec.json.encode(after).decode()


def test_the_links_end_at_their_times(shop: MerchantClient) -> None:
    _, made = make_certificate(shop)
    shop.advance(hours=1)
    assert (open_link(shop, made["link"]).http, open_link(shop, made["proof_link"]).http) == (404, 200)
    shop.advance(until=made["proof_expires"])
    assert open_link(shop, made["proof_link"]).http == 404


def test_a_link_does_not_open_under_another_ending(shop: MerchantClient) -> None:
    _, made = make_certificate(shop)
    for name, ending in (("link", "json"), ("link", "csv"), ("proof_link", "pdf")):
        assert open_link(shop, f"{made[name].rpartition('.')[0]}.{ending}").http == 404


def test_there_is_no_certificate_of_what_holds_nothing(shop: MerchantClient) -> None:
    ada = enroll(shop)
    ordinary, empty = open_savings(shop, ada, "10.00"), open_savings(shop, ada, **FIXED)
    replies = [invest(shop, "certificate", savings_id=one) for one in ("SVnobody", ordinary, empty)]
    assert [reply["status"] for reply in replies] == [104, 104, 104]
    assert "is pending" in replies[2]["message"]
