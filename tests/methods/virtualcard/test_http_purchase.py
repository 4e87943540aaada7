"""What shops do to a card, over HTTP: approved, declined with the reason, limited, given back.

Contract: virtualcard#create, events#payload
"""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, without_codes
from tests.methods.virtualcard.card_client import CardClient
from tests.walk.bounds import CARD_DAY

START = "2026-01-05T09:30:00+01:00"
TXN_REF = re.compile(r"GP\|CP\|[0-9]{9}\|20260105[A-Z]")


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=START)


def declined(body: Any) -> str:
    assert (body["status"], body["txnStatus"]) == (200, "failed"), body
    assert list(body) == ["status", "txnStatus", "txnRef", "bank_message", "message"]
    assert body["message"] == f"Declined: the card's issuer says: {body['bank_message']}"
    return str(body["bank_message"])


def bought(body: Any) -> str:
    assert (body["status"], body["txnStatus"], body["bank_message"]) == (200, "successful", "Approved"), body
    assert list(body) == ["status", "txnStatus", "txnRef", "bank_message"]
    return str(body["txnRef"])


def events_of(shop: MerchantClient, txn_ref: str) -> list[Any]:
    return [line["payload"] for line in shop.put("resources", inquire="events", txnRef=txn_ref).body["data"]]


# --- approved, declined -----------------------------------------------------------------------------------------


def test_a_purchase_is_paid_by_the_card_and_sent_to_the_merchant(shop: MerchantClient) -> None:
    card = CardClient(shop)
    wallets = shop.wallets()
    txn_ref = bought(card.buy("12.50", merchant_name="Book Shop"))
    assert TXN_REF.fullmatch(txn_ref)
    assert (card.balance, shop.wallets()) == (8_750, wallets)
    assert card.record_summaries()[0] == ("Card Purchase", 12.5, 0.0, "Successful")
    assert events_of(shop, txn_ref) == [
        {
            "status": 200,
            "txnStatus": "successful",
            "txnRef": txn_ref,
            "chargedAmount": "12.50",
            "paymentMethod": "virtual_card",
            "endpoint": "test",
            "kind": "card_purchase",
            "currency": "USD",
            "reference": card.reference,
        }
    ]


def test_a_card_is_found_by_its_number_too(shop: MerchantClient) -> None:
    card = CardClient(shop)
    pan, cvv, expiry = card.data["cardpan"], card.data["cvv"], card.data["expiration"]
    bought(card.buy("1", cardpan=pan))
    bought(card.buy("1", cardpan=pan, cvv=cvv, expiry=expiry))
    assert card.balance == 9_800
    assert without_codes(shop.put("sandbox", action="card_purchase", amount=1).body["errors"]) == [
        {"field": "reference", "reason": "required, or cardpan"}
    ]


def test_a_declined_purchase_moves_nothing_and_is_recorded_and_sent(shop: MerchantClient) -> None:
    card = CardClient(shop)
    reply = card.buy("100.01")
    assert declined(reply) == "Insufficient funds"
    assert (card.balance, card.record_summaries()[0]) == (10_000, ("Card Purchase", 100.01, 0.0, "Failed"))
    [event] = events_of(shop, reply["txnRef"])
    assert (event["txnStatus"], event["chargedAmount"]) == ("failed", "0.00")
    bought(card.buy("100"))
    assert card.balance == 0


def test_why_a_card_does_not_pay(shop: MerchantClient) -> None:
    card = CardClient(shop)
    wrong = f"{(int(card.data['cvv']) + 1) % 1000:03d}"
    assert declined(card.buy("1", cvv=wrong)) == "CVV validation error"
    assert declined(card.buy("1", expiry="2028-01")) == "Expired card"
    assert declined(card.buy("1", currency="GHS")) == "The card does not pay in this currency"
    card.ask("block")
    assert declined(card.buy("1")) == "The card is blocked"
    card.ask("unblock")
    bought(card.buy("1"))
    card.ask("terminate")
    assert declined(card.buy("1")) == "The card is terminated"
    assert card.balance == 0


def test_a_card_is_valid_to_the_end_of_its_month_of_expiry(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now="2026-01-31T12:00:00+01:00")
    card = CardClient(shop, currency="NGN", amount="5000")
    assert card.data["expiration"] == "2029-01"
    shop.advance(until="2029-01-31T23:59:59+01:00")
    bought(card.buy("1.00"))
    shop.advance(seconds=1)
    assert declined(card.buy("1.00")) == "Expired card"
    assert card.ask("fund", amount="10.00")["message"] == "The card has expired"
    assert shop.advance(days=90)["ran"] == {"virtualcard": 1}, "the fee's job ends itself"
    assert card.ask("terminate")["status"] == 200


def test_the_sandbox_can_tell_the_issuer_what_to_answer(shop: MerchantClient) -> None:
    card = CardClient(shop)
    assert declined(card.buy("1", headers={"x-sandbox-scenario": "rr=05"})) == "Do not honour"
    assert declined(card.buy("1", headers={"x-sandbox-scenario": "http=timeout"})) == "Issuer or switch inoperative"
    shop.put("sandbox", action="fault", rail="issuer", kind="decline", times=1)
    assert declined(card.buy("1")) == "Do not honour"
    bought(card.buy("1"))


def test_the_same_key_buys_once(shop: MerchantClient) -> None:
    card = CardClient(shop)
    first, again = (card.buy("10", headers={"idempotency-key": "once"}) for _ in range(2))
    assert (first, card.balance) == (again, 9_000)


# --- limits -----------------------------------------------------------------------------------------------------


def test_limits_per_transaction_day_and_month(shop: MerchantClient) -> None:
    limits = {"per_transaction": "40", "per_day": "60.00", "per_month": 90}
    card = CardClient(shop, amount=500, limits=limits)
    assert declined(card.buy("40.01")) == "Exceeds the card's limit of USD 40.00 for one transaction"
    bought(card.buy("40"))
    assert declined(card.buy("20.01")) == "Exceeds the card's limit of USD 60.00 for a day"
    bought(card.buy("20"))
    shop.advance(until="2026-01-06T00:00:00+01:00")
    assert declined(card.buy("30.01")) == "Exceeds the card's limit of USD 90.00 for a month"
    bought(card.buy("30"))
    shop.advance(until="2026-02-01T00:00:00+01:00")
    bought(card.buy("40"))


def test_a_card_spends_its_limit_of_a_day_in_lagos_and_no_more(shop: MerchantClient) -> None:
    for amount, is_within in CARD_DAY.sides:
        card = CardClient(shop, amount=100, limits={"per_day": "60.00"})
        bought(card.buy("40"))
        card.buy(amount)
        assert (card.balance < 6_000) == is_within, amount


def test_limits_can_be_set_changed_and_taken_away(shop: MerchantClient) -> None:
    card = CardClient(shop)
    bought(card.buy("5"))
    reply = card.ask("limits", limits={"per_day": "9.99", "categories": ["5812", "5411", "5812"]})
    shown = {"per_transaction": None, "per_day": "9.99", "per_month": None, "categories": ["5411", "5812"]}
    assert reply == {"status": 200, "message": "Limits set", "data": shown}
    assert card.ask("get")["limits"] == shown
    assert declined(card.buy("5", category="5411")) == "Exceeds the card's limit of USD 9.99 for a day"
    assert declined(card.buy("4", category="7995")) == "The card may not be used in this category of shops"
    assert declined(card.buy("4")) == "The card may not be used in this category of shops"
    bought(card.buy("4", mcc="5812"))
    card.ask("limits", limits={"categories": []})
    bought(card.buy("50", category="7995"))
    assert "limits" not in card.ask("get")
    for given in ({}, {"per_day": None}):
        card.ask("limits", limits={"per_day": "9.99"})
        unlimited: dict[str, Any] = {"per_transaction": None, "per_day": None, "per_month": None, "categories": []}
        assert card.ask("limits", limits=given) == {"status": 200, "message": "Limits removed", "data": unlimited}
        assert "limits" not in card.ask("get")
    refused = card.ask("limits")
    assert [fault["field"] for fault in refused["errors"]] == ["limits"]
    assert "limits" not in CardClient(shop, limits={}).ask("get")


# --- other currencies -------------------------------------------------------------------------------------------


def test_a_card_pays_in_the_other_currency_at_the_operators_rate(shop: MerchantClient) -> None:
    dollars, naira = CardClient(shop), CardClient(shop, currency="NGN", amount="50000")
    txn_ref = bought(dollars.buy("15000.01", currency="NGN"))  # 1,500.00 for a dollar, and never less than it is
    assert dollars.balance == 10_000 - 1_001
    assert dollars.record_summaries()[0] == ("Card Purchase", 10.01, 0.0, "Successful")
    assert dollars.refund(txn_ref)["txnStatus"] == "successful"
    assert dollars.balance == 10_000
    bought(naira.buy("10", currency="USD"))
    assert naira.balance == 5_000_000 - 1_540_000


# --- refunds ----------------------------------------------------------------------------------------------------


def test_a_purchase_is_given_back_in_parts_and_never_more_than_it_was(shop: MerchantClient) -> None:
    card = CardClient(shop)
    txn_ref = bought(card.buy("30"))
    refund = card.refund(txn_ref, amount="12.34")
    assert (refund["txnStatus"], refund["txnRef"][:6]) == ("successful", "GP|RF|")
    assert (card.balance, card.record_summaries()[0]) == (8_234, ("Card Refund", 12.34, 0.0, "Successful"))
    assert card.refund(txn_ref, amount="17.67")["errors"][0]["field"] == "amount"
    assert card.refund(txn_ref)["txnStatus"] == "successful"
    assert card.balance == 10_000
    assert card.refund(txn_ref)["status"] == 104
    [event] = events_of(shop, refund["txnRef"])
    assert (event["chargedAmount"], event["paymentMethod"]) == ("12.34", "virtual_card")


def test_what_is_below_a_cent_of_the_card_is_not_given_back(shop: MerchantClient) -> None:
    card = CardClient(shop)
    txn_ref = bought(card.buy("15000", currency="NGN"))
    reply = card.refund(txn_ref, amount="0.01")
    assert (reply["status"], reply["errors"][0]["code"]) == (104, "refund_too_small")
    assert reply["message"] == "amount: more: it is less than the smallest unit of the card's currency"
    assert card.refund(txn_ref, amount="15000.01")["errors"][0]["code"] == "refund_too_large"
    assert card.balance == 9_000
    assert card.refund(txn_ref, amount="15")["txnStatus"] == "successful"
    assert card.balance == 9_001


def test_what_was_not_paid_is_not_given_back(shop: MerchantClient) -> None:
    card = CardClient(shop)
    reply = card.buy("1000")
    assert declined(reply)
    assert card.refund(reply["txnRef"])["status"] == 104
    assert without_codes(card.refund("GP|CP|000000000|20260105A")) == {
        "status": 104,
        "message": "Invalid Transaction Reference",
    }


def test_what_comes_back_to_a_terminated_card_goes_to_the_wallet(shop: MerchantClient) -> None:
    card = CardClient(shop)
    txn_ref = bought(card.buy("30"))
    card.ask("terminate")
    before = shop.wallet("USD").balance
    assert card.refund(txn_ref, amount="30")["txnStatus"] == "successful"
    assert (shop.wallet("USD").balance, card.balance) == (before + 3_000, 0)
