"""Deposits by every payment method, through the payment flow: whole into the savings, the fee from the wallet."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, without_codes
from tests.methods.investments.savers import (
    NOW,
    balance,
    cash_out,
    enroll,
    invest,
    join,
    make_plan,
    members_of,
    open_savings,
    view,
)
from tests.methods.payment.payment_client import OTP, card
from tests.running import Deployment
from tests.walk.test_tenancy import everything_of

OPENING = 1_000_000_000
# 10,000.00 by a local card: 1.5 % and 100.00, with VAT.
FEE = 26_875
DECLINED = "4111115100000003"


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=NOW)


def pay_in(shop: MerchantClient, savings_id: str, method: str, amount: str = "10000.00", **fields: Any) -> Any:
    return invest(shop, "deposit", savings_id=savings_id, payment_method=method, amount=amount, **fields)


def test_a_card_asks_for_its_otp_and_validate_brings_the_money(shop: MerchantClient) -> None:
    savings_id = open_savings(shop, enroll(shop))
    begun = pay_in(shop, savings_id, "card", card=card(auth="OTP"), ip="102.89.2.1", fingerprint="f0")
    assert (begun["status"], begun["state"], "validate" in begun) == (202, "validated", True)
    assert view(shop, savings_id)["state"] == "pending"
    done = invest(shop, "validate", txnRef=begun["txnRef"], otp=OTP)
    assert (done["status"], done["message"]) == (200, "Validation Successful")
    assert (balance(shop, savings_id), view(shop, savings_id)["state"]) == (1_000_000, "active")
    assert shop.wallet() == (OPENING - FEE, OPENING - FEE, 0)
    verified = shop.put("payment", action="verify", txnRef=begun["txnRef"]).body
    assert (verified["txnStatus"], verified["chargedAmount"]) == ("successful", 10000)


@pytest.mark.parametrize("method", ["wallet", "card"])
def test_payer_details_of_a_deposit_are_kept_and_verify_shows_its_meta(
    shop: MerchantClient, deployment: Deployment, method: str
) -> None:
    savings_id, meta = open_savings(shop, enroll(shop)), {"till": 3, "rate": 1.5}
    extra: dict[str, Any] = {"ip": "102.89.2.1", "fingerprint": "f0e1", "meta": meta}
    given: dict[str, Any] = {"card": card(auth="PIN")} if method == "card" else {}
    done = pay_in(shop, savings_id, method, **given, **extra)
    assert done["txnStatus"] == "successful"
    assert shop.put("payment", action="verify", txnRef=done["txnRef"]).body["meta"] == meta
    story = shop.put("sandbox", action="explain", txnRef=done["txnRef"]).body["data"]
    assert (story[0]["what"], story[0]["ip"], story[0]["fingerprint"]) == ("requested", "102.89.2.1", "f0e1")
    assert "102.89.2.1" not in str(shop.put("resources", inquire="event_feed").body)
    assert deployment.broken_invariants([shop.mid]) == []


def test_a_wrong_otp_brings_nothing(shop: MerchantClient) -> None:
    savings_id = open_savings(shop, enroll(shop))
    begun = pay_in(shop, savings_id, "card", card=card(auth="OTP"))
    for _ in range(3):
        assert invest(shop, "validate", txnRef=begun["txnRef"], otp="000000")["status"] == 203
    assert (balance(shop, savings_id), shop.wallet()) == (0, (OPENING, OPENING, 0))
    assert (
        invest(shop, "validate", txnRef="GP00000004220260105A", otp=OTP)["message"] == "Invalid Transaction Reference"
    )


def test_a_card_with_its_pin_pays_at_once_and_a_declined_one_nothing(shop: MerchantClient) -> None:
    savings_id = open_savings(shop, enroll(shop))
    assert pay_in(shop, savings_id, "card", card=card(auth="PIN"))["txnStatus"] == "successful"
    assert pay_in(shop, savings_id, "card", card=card(DECLINED, "PIN"))["txnStatus"] == "failed"
    assert balance(shop, savings_id) == 1_000_000
    assert shop.wallet() == (OPENING - FEE, OPENING - FEE, 0)


def test_a_transfer_into_an_account_arrives_when_it_is_paid(shop: MerchantClient) -> None:
    savings_id = open_savings(shop, enroll(shop))
    shown = pay_in(shop, savings_id, "bank_transfer")
    assert (shown["status"], shown["amount"]) == (202, "10000.00")
    shop.put("sandbox", action="pay_account", accountNumber=shown["accountNumber"], amount="10000.00")
    assert balance(shop, savings_id) == 1_000_000


@pytest.mark.parametrize(
    ("method", "fields"),
    [
        ("account", {"account": {"accountnumber": "0000000000", "bankcode": "058"}}),
        ("ussd", {"bank": "gtb"}),
        ("phone", {"phonenumber": "08000000009"}),
        ("qrpay", {}),
        ("mobile_money", {"type": "paga", "redirect_url": "https://example.com/back"}),
    ],
)
def test_every_other_method_is_completed_by_its_rail(shop: MerchantClient, method: str, fields: dict[str, Any]) -> None:
    savings_id = open_savings(shop, enroll(shop))
    begun = pay_in(shop, savings_id, method, **fields)
    assert begun["status"] == 202, begun
    shop.put("sandbox", action="settle", txnRef=begun["txnRef"], outcome="successful")
    assert balance(shop, savings_id) == 1_000_000
    assert shop.wallet().held == 0


def test_what_a_method_must_bring_is_named(shop: MerchantClient) -> None:
    savings_id = open_savings(shop, enroll(shop))
    for method, field in (("card", "card"), ("token", "token"), ("ussd", "bank"), ("mobile_money", "type")):
        body = pay_in(shop, savings_id, method)
        assert (body["status"], body["errors"][0]["field"]) == (104, field)
    body = pay_in(shop, savings_id, "qrpay", currency="GHS")
    assert without_codes(body["errors"]) == [{"field": "currency", "reason": "savings are kept in NGN"}]


def test_a_wallet_without_the_fee_takes_no_payment(shop: MerchantClient) -> None:
    other = open_savings(shop, enroll(shop), "9999900.00")
    assert pay_in(shop, other, "card", card=card(auth="PIN"))["status"] == 301
    assert pay_in(shop, other, "card", card=card(auth="PIN"), dry_run=True)["status"] == 301


def test_a_dry_payment_shows_fee_and_balance_and_changes_nothing(shop: MerchantClient, deployment: Deployment) -> None:
    savings_id = open_savings(shop, enroll(shop), "50.00")
    before = everything_of(deployment, shop)
    reply = pay_in(shop, savings_id, "card", card=card(auth="PIN"), dry_run=True)
    assert [(figure["what"], figure["amount"]) for figure in reply["explained"]] == [
        ("balance", "50.00"),
        ("amount", "10000.00"),
        ("fee", "250.00"),
        ("VAT", "18.75"),
        ("balance after", "10050.00"),
    ]
    assert everything_of(deployment, shop) == before


def test_a_debt_is_taken_first_from_what_a_card_brings(shop: MerchantClient) -> None:
    nothing = {"interestRate": "0", "interestFrequency": "annualized"}
    members = [open_savings(shop, enroll(shop), "300.00", interestSettings=nothing)]
    members.append(open_savings(shop, enroll(shop), None, interestSettings=nothing))
    thrift_id = make_plan(shop, 2)
    for savings_id in members:
        join(shop, thrift_id, savings_id)
    shop.advance(days=4)
    assert [line["owed"] for line in members_of(shop, thrift_id)] == ["0.00", "100.00"]
    assert pay_in(shop, members[1], "card", "250.00", card=card(auth="PIN"))["txnStatus"] == "successful"
    assert [balance(shop, savings_id) for savings_id in members] == [40_000, 15_000]
    assert [line["owed"] for line in members_of(shop, thrift_id)] == ["0.00", "0.00"]


def test_emptied_savings_stay_open_until_the_pending_payment_has_ended(shop: MerchantClient) -> None:
    ada = enroll(shop)
    savings_id = open_savings(shop, ada, "100.00", period=1)
    shop.advance(until="2026-02-05T00:00:00+01:00")
    begun = pay_in(shop, savings_id, "ussd", bank="gtb")
    assert cash_out(shop, savings_id, ada, view(shop, savings_id)["balance"])["status"] == 200
    assert (view(shop, savings_id)["state"], balance(shop, savings_id)) == ("matured", 0)
    shop.put("sandbox", action="settle", txnRef=begun["txnRef"], outcome="successful")
    assert (view(shop, savings_id)["state"], balance(shop, savings_id)) == ("matured", 1_000_000)
    assert cash_out(shop, savings_id, ada, "10000.00")["status"] == 200
    assert view(shop, savings_id)["state"] == "closed"
