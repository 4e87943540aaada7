"""After `reset` nothing of the old books can be used any more: cards, codes, accounts, tokens, beneficiaries, pages."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, without_codes
from tests.methods.payment.payment_client import PaymentClient, card
from tests.methods.virtualcard.card_client import CardClient

OPENING = 1_000_000_000
ADA: dict[str, Any] = {"name": "Ada Obi", "reference": "customer-17", "email": "ada@example.com"}


def reset(shop: MerchantClient) -> None:
    assert shop.put("sandbox", action="reset").body["status"] == 200
    assert shop.wallet().balance == OPENING


def shown(made: CardClient) -> dict[str, str]:
    year, month = made.data["expiration"].split("-")
    number, cvv = made.data["cardpan"], made.data["cvv"]
    return {"card_no": number, "expiry_month": month, "expiry_year": year[2:], "ccv": cvv, "pin": "4321"}


def pay_with(payments: PaymentClient, made: CardClient) -> Any:
    begun = payments.initiate(shown(made))
    return payments.charge(begun, shown(made))


def test_an_old_card_is_unknown_to_its_merchant(shop: MerchantClient) -> None:
    old = CardClient(shop, currency="NGN", amount=20_000)
    reset(shop)
    unknown = {"status": 104, "message": "Invalid Card Reference"}
    for action, fields in (("get", {}), ("fund", {"amount": 100}), ("withdraw", {"amount": 1}), ("terminate", {})):
        assert without_codes(old.ask(action, **fields)) == unknown
    assert without_codes(old.buy("1.00")) == unknown
    assert without_codes(old.buy("1.00", cardpan=old.data["cardpan"])) == unknown
    assert shop.wallet().balance == OPENING


def test_an_old_card_pays_in_no_shop(shop: MerchantClient, open_shop: Callable[..., MerchantClient]) -> None:
    old, other = CardClient(shop, currency="NGN", amount=20_000), open_shop()
    assert pay_with(PaymentClient(other), old)["txnStatus"] == "successful"
    reset(shop)
    for seller in (shop, other):
        before = seller.wallet().balance
        refused = pay_with(PaymentClient(seller), old)
        assert (refused["txnStatus"], refused["bank_message"].endswith("Invalid card number")) == ("failed", True)
        assert seller.wallet().balance == before


def test_what_an_old_card_paid_before_can_still_be_asked_after_and_given_back(
    shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    old, cards = CardClient(shop, currency="NGN", amount=20_000), PaymentClient(open_shop())
    paid = pay_with(cards, old)
    reset(shop)
    assert cards.verify(paid["txnRef"])["txnStatus"] == "successful"
    assert cards.refund(paid["txnRef"], 1500)["txnStatus"] == "successful"
    assert shop.wallet().balance == OPENING


def test_an_old_cashcode_draws_nothing(shop: MerchantClient) -> None:
    fields: dict[str, Any] = {"amount": "500.00", "pin": "2580", "channel": "ATM"}
    code = shop.put("cashcode", action="generate", orderRef="cash", **fields).body["cashcode"]
    reset(shop)
    assert shop.put("sandbox", action="redeem_cashcode", cashcode=code, **fields).body["message"] == "Invalid Cashcode"
    assert shop.put("cashcode", action="verify", orderRef="cash").body["status"] == 104
    assert shop.wallet().balance == OPENING


def test_money_for_an_old_account_number_is_not_taken_in(shop: MerchantClient) -> None:
    old = shop.put("resources", request="personalized-accounts", **ADA).body["data"]["accountNumber"]
    charge: dict[str, Any] = {"action": "charge", "paymentType": "bank_transfer", "amount": "500.00"}
    awaited = shop.put("payment", **charge).body["accountNumber"]
    reset(shop)
    for number in (old, awaited):
        refused = shop.put("sandbox", action="pay_account", accountNumber=number, amount="500.00").body
        assert (refused["status"], [fault["field"] for fault in refused["errors"]]) == (104, ["accountNumber"])
    assert shop.put("resources", request="personalized-accounts", **ADA).body["data"]["accountNumber"] != old
    assert shop.wallet().balance == OPENING


def test_old_tokens_and_beneficiaries_are_unknown(shop: MerchantClient) -> None:
    payments = PaymentClient(shop)
    token = payments.token()
    bank: dict[str, Any] = {"bankcode": "058", "accountnumber": "0000000000"}
    ref_code = shop.put("sandbox", action="beneficiary", name="Bola", **bank).body["ref_code"]
    reset(shop)
    assert payments.charge_token(token)["status"] == 104
    split = [{"ref_code": ref_code, "percentage": "10"}]
    assert payments.initiate(card(auth="PIN"), split=split)["status"] == 104
    assert shop.wallet().balance == OPENING


@pytest.mark.parametrize("verb", ["GET", "POST"])
def test_an_old_payers_page_is_gone(shop: MerchantClient, verb: str) -> None:
    payments, given = PaymentClient(shop), card(auth="3DSecure")
    begun = payments.initiate(given, redirect_url="https://example.com/back")
    page = payments.charge(begun, given, redirect_url="https://example.com/back")["authURL"]
    path = "/pay/" + page.partition("/pay/")[2]
    assert shop.connection.send("GET", path).http == 200
    reset(shop)
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert (
        shop.connection.send(verb, path, b"otp=123456&decision=approve" if verb == "POST" else None, form).http == 404
    )
    assert shop.wallet().balance == OPENING
