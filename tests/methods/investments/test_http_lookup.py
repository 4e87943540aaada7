"""Savings as they are found again: references, statements, dry runs, and deposits that came too late.

Contract: investments#savings, investments#thrift
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, to_minor_units
from tests.methods.investments.savers import (
    NOW,
    WAITS,
    balance,
    cash_out,
    enroll,
    invest,
    join,
    make_deposit,
    make_plan,
    members_of,
    open_savings,
    view,
)
from tests.methods.payment.payment_client import OTP, card
from tests.running import Deployment
from tests.walk.test_tenancy import everything_of


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=NOW)


def event_of(shop: MerchantClient, txn_ref: str) -> Any:
    [line] = shop.put("resources", inquire="events", txnRef=txn_ref).body["data"]
    return line["payload"]


# --- references -------------------------------------------------------------------------------------------------------


def test_wallet_deposits_and_cash_outs_are_verified_by_their_references(shop: MerchantClient) -> None:
    client_id = enroll(shop)
    savings_id = open_savings(shop, client_id)
    brought = make_deposit(shop, savings_id, "500.00", customer_txnref="order-9")
    for value in ({"txnRef": brought["txnRef"]}, {"customer_txnref": "order-9"}):
        found = shop.put("payment", action="verify", **value).body
        assert (found["txnStatus"], found["chargedAmount"], found["savings_id"]) == ("successful", 500, savings_id)
    taken = cash_out(shop, savings_id, client_id, "100.00")
    found = shop.put("disburse", action="verify", txnRef=taken["txnRef"]).body
    assert (found["txnStatus"], found["amount"], found["savings_id"]) == ("successful", "100.00", savings_id)
    assert event_of(shop, taken["txnRef"])["savings_id"] == savings_id
    assert event_of(shop, brought["txnRef"])["customer_txnref"] == "order-9"


def test_a_cash_out_at_the_bank_is_settled_by_its_savings(shop: MerchantClient) -> None:
    client_id = enroll(shop, account=WAITS)
    savings_id = open_savings(shop, client_id, "500.00")
    sent = cash_out(shop, savings_id, client_id, "100.00", "transfer")
    assert (sent["txnStatus"], sent["savings_id"]) == ("pending", savings_id)
    settled = shop.put("sandbox", action="settle", txnRef=savings_id, outcome="failed").body
    assert (settled["status"], settled["txnRef"]) == (200, sent["txnRef"])
    assert balance(shop, savings_id) == 50_000


# --- what moved -------------------------------------------------------------------------------------------------------


def test_a_statement_shows_interest_tax_and_thrift(shop: MerchantClient) -> None:
    one = open_savings(shop, enroll(shop), "1000.00", tax_applied=True)
    two = open_savings(shop, enroll(shop), "1000.00")
    thrift_id = make_plan(shop, 2)
    for savings_id in (one, two):
        assert join(shop, thrift_id, savings_id)["status"] == 200
    shop.advance(until="2026-02-06T09:00:00+01:00")
    lines = invest(shop, "statement", savings_id=one)
    assert lines["total"] == len(lines["data"])
    kinds = [line["narration"] for line in lines["data"]]
    assert {"savings deposit", "interest", "withholding tax", "thrift contribution", "thrift payout"} <= set(kinds)
    newest = lines["data"][0]
    assert newest["balance"] == view(shop, one)["balance"]
    interest = next(line for line in lines["data"] if line["narration"] == "interest")
    assert (interest["origin"], interest["amount"][0] != "-") == (one, True)
    moved = invest(shop, "view_savings", savings_id=one)["moved"]
    assert (moved["interest"], moved["thrift_received"], moved["thrift_paid"]) == (
        interest["amount"],
        "200.00",
        "200.00",
    )
    assert to_minor_units(moved["withheld_tax"]) == round(to_minor_units(moved["interest"]) / 10)
    assert invest(shop, "statement", savings_id="SVunknown")["status"] == 104


def test_a_plan_that_never_fills_shows_no_past_dates(shop: MerchantClient) -> None:
    savings_id = open_savings(shop, enroll(shop), "1000.00")
    thrift_id = make_plan(shop, 3)
    assert join(shop, thrift_id, savings_id)["status"] == 200
    shop.advance(days=40)
    today = shop.now()[:10]
    [plan] = invest(shop, "list_plans")["data"]
    assert (plan["state"], plan["next_date"]) == ("open", today)
    assert members_of(shop, thrift_id)[0]["payout_date"] == today


def test_a_deposit_that_the_savings_keep_cannot_be_refunded(shop: MerchantClient) -> None:
    savings_id = open_savings(shop, enroll(shop))
    paid = invest(
        shop, "deposit", savings_id=savings_id, payment_method="card", amount="1000.00", card=card(auth="PIN")
    )
    assert shop.put("payment", action="refund", txnRef=paid["txnRef"], amount="1.00").body["status"] == 104
    assert balance(shop, savings_id) == 100_000


def test_a_wallet_deposit_answers_and_is_verified_like_any_deposit(shop: MerchantClient) -> None:
    savings_id = open_savings(shop, enroll(shop))
    done = invest(shop, "deposit", savings_id=savings_id, payment_method="wallet", amount="700.00")
    paid = {"chargedAmount": "700.00", "currency": "NGN", "payment_method": "wallet", "savings_id": savings_id}
    assert done.items() >= paid.items()
    found = shop.put("payment", action="verify", txnRef=savings_id).body
    assert (found["txnRef"], found["payment_method"], found["chargedAmount"]) == (done["txnRef"], "wallet", 700)
    by_card = invest(
        shop, "deposit", savings_id=savings_id, payment_method="card", amount="9.00", card=card(auth="PIN")
    )
    assert shop.put("payment", action="verify", txnRef=savings_id).body["txnRef"] == by_card["txnRef"]
    last = invest(shop, "deposit", savings_id=savings_id, payment_method="wallet", amount="8.00")
    assert shop.put("payment", action="verify", txnRef=savings_id).body["txnRef"] == last["txnRef"]


@pytest.mark.parametrize("provider", ["ghana", "mpesa"])
def test_a_deposit_in_another_currency_says_which_providers_are_accepted(shop: MerchantClient, provider: str) -> None:
    given = {"payment_method": "mobile_money", "type": provider, "amount": "700.00", "phonenumber": "0240000000"}
    refused = invest(shop, "deposit", savings_id="SV1", **given)
    assert [fault["field"] for fault in refused["errors"]] == ["type"]
    assert refused["message"].startswith("type: paga or paga_connect: loans and savings are kept in NGN")


# --- dry runs ---------------------------------------------------------------------------------------------------------


def test_dry_runs_of_savings_and_plans_change_nothing(shop: MerchantClient, deployment: Deployment) -> None:
    client_id = enroll(shop)
    savings_id = open_savings(shop, client_id)
    thrift_id = make_plan(shop, 2)
    asked = invest(shop, "deposit", savings_id=savings_id, payment_method="card", amount="100.00", card=card())
    before = everything_of(deployment, shop)
    terms = {"interestSettings": {"interestRate": "12", "interestFrequency": "annualized"}, "period": 12}
    opened = invest(shop, "create_savings", name="x", client_id=client_id, dry_run=True, **terms)
    assert (opened["status"], opened["dry_run"], opened["data"]["savings_id"]) == (200, True, None)
    plan = {"name": "x", "amount": "10.00", "start_date": shop.now()[:10], "frequency": "every_week"}
    made = invest(shop, "create_plan", member_required="3", dry_run=True, **plan)
    assert (made["dry_run"], made["data"]["thrift_id"]) == (True, None)
    cancelled = invest(shop, "cancel_plan", thrift_id=thrift_id, dry_run=True)
    assert (cancelled["dry_run"], cancelled["data"]["state"]) == (True, "cancelled")
    checked = invest(shop, "validate", txnRef=asked["txnRef"], otp=OTP, dry_run=True)
    assert (checked["status"], checked["dry_run"], "txnStatus" in checked) == (200, True, False)
    assert everything_of(deployment, shop) == before
    assert invest(shop, "validate", txnRef=asked["txnRef"], otp=OTP)["txnStatus"] == "successful"


def test_the_members_of_a_plan_are_read_whole_or_in_parts(shop: MerchantClient) -> None:
    thrift_id = make_plan(shop, 4)
    for _ in range(3):
        join(shop, thrift_id, open_savings(shop, enroll(shop)))
    whole = invest(shop, "subscriptions", thrift_id=thrift_id)
    assert [line["position"] for line in whole["data"]] == [1, 2, 3]
    assert (whole["total"], whole["offset"], whole["limit"]) == (3, 0, 500)
    part = invest(shop, "subscriptions", thrift_id=thrift_id, offset=1, limit=1)
    assert part["data"] == whole["data"][1:2]
    assert (part["total"], part["offset"], part["limit"]) == (3, 1, 1)
    assert invest(shop, "subscriptions", thrift_id=thrift_id, limit=501)["status"] == 104
