"""`reset` while something is open: what belongs to the old books is not found any more and reaches nothing new."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.merchant_client import MerchantClient, Wallet, without_codes
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment

START = "2026-01-05T09:00:00+01:00"
OPENING = {"NGN": Wallet(1_000_000_000, 1_000_000_000, 0), "USD": Wallet(1_000_000, 1_000_000, 0)}
UNKNOWN = {"status": 104, "message": "Invalid Transaction Reference"}
PAYER = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}
THREE_D_SECURE = {"card_no": "4111111111111111", "expiry_month": "12", "expiry_year": "30", "ccv": "200"}
ACCEPT = b"decision=approve&otp=123456"


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=START)


def reset(shop: MerchantClient) -> None:
    assert shop.put("sandbox", action="reset").body["status"] == 200


def test_a_payers_page_of_the_old_books_is_gone(shop: MerchantClient) -> None:
    asked = {"action": "initiate", "paymentType": "card", "amount": "100.00", "user": PAYER, "card": THREE_D_SECURE}
    page = urlsplit(shop.send_fields("payment", asked).body["authURL"]).path
    assert shop.connection.send("GET", page).http == 200
    reset(shop)
    assert shop.connection.send("GET", page).http == 404
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert shop.connection.send("POST", page, ACCEPT, form).http == 404
    assert shop.wallets() == OPENING


def test_an_account_number_of_the_old_books_takes_no_money(shop: MerchantClient) -> None:
    asked = {"action": "charge", "paymentType": "bank_transfer", "amount": "100.00", "user": PAYER}
    number = shop.send_fields("payment", asked).body["accountNumber"]
    reset(shop)
    assert shop.put("sandbox", action="pay_account", accountNumber=number, amount="100.00").body["status"] == 104
    assert shop.wallets() == OPENING


def test_a_cashcode_of_the_old_books_pays_nothing(shop: MerchantClient) -> None:
    cash: dict[str, Any] = {"amount": "5000.00", "pin": "2580", "channel": "ATM", "orderRef": "cash-1"}
    code = shop.put("cashcode", action="generate", **cash).body["cashcode"]
    reset(shop)
    drawn: dict[str, Any] = {"cashcode": code, "pin": "2580", "amount": "5000.00", "channel": "ATM"}
    assert shop.put("sandbox", action="redeem_cashcode", **drawn).body["status"] == 104
    assert shop.wallets() == OPENING


def test_a_card_of_the_old_books_buys_nothing(shop: MerchantClient) -> None:
    card = CardClient(shop, currency="NGN", amount=20_000)
    year, month = card.data["expiration"].split("-")
    shown = {"card_no": card.data["cardpan"], "expiry_month": month, "expiry_year": year[2:], "ccv": card.data["cvv"]}
    reset(shop)
    for named in ({"reference": card.reference}, {"cardpan": card.data["cardpan"]}):
        bought = {"action": "card_purchase", "amount": 5, **named}
        assert shop.send_fields("sandbox", bought).body["status"] == 104
    payments = PaymentClient(shop)
    begun = payments.initiate({**shown, "pin": "4321"})
    paid = payments.charge(begun, {**shown, "pin": "4321"})
    assert paid.get("txnStatus") == "failed", paid
    assert shop.wallets() == OPENING


@pytest.mark.parametrize("outcome", ["successful", "failed"])
def test_transactions_of_the_old_books_cannot_be_settled_and_never_end(
    shop: MerchantClient, deployment: Deployment, outcome: str
) -> None:
    sent = shop.transfer(accountnumber="0000000020")
    asked = shop.transfer(accountnumber="0000000900")
    order = {"accountnumber": "0000000900", "amount": "100.00", "bankcode": "058"}
    shop.send_fields("disburse", {"action": "transfer", "type": "bulk", "data": [order] * 50})
    reset(shop)
    for reference in (sent["txnRef"], asked["txnRef"]):
        assert without_codes(shop.put("sandbox", action="settle", txnRef=reference, outcome=outcome).body) == UNKNOWN
    assert shop.advance(days=3)["ran"] == {}
    assert shop.wallets() == OPENING
    assert shop.put("resources", inquire="events").body["total"] == 0


def test_a_key_that_does_not_decrypt_does_not_stand_in_the_way_of_a_reset(
    shop: MerchantClient, deployment: Deployment
) -> None:
    """The key authenticates by its verifier, before and after."""
    owner = "select merchant_id from merchant where mid = $1"
    deployment.fetch(f"update merchant_key set sealed = 'x' where merchant_id in ({owner})", shop.mid)
    assert shop.put("sandbox", action="reset").body["status"] == 200
    assert shop.wallet().balance > 0
    query = "select n.message from operator_notice n join merchant m using (merchant_id) where m.mid = $1 and m.current"
    assert ["does not decrypt" in message for (message,) in deployment.fetch(query, shop.mid)] == [True]
