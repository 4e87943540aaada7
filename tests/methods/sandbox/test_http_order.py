"""Everything that is listed or falls due has one order: time, then the order in which it was made. The clocks of these
merchants stand still, so that time alone decides nothing. (Contract: #repeats, #lists)"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.investments.savers import balance, enroll, join, make_plan, members_of, open_savings
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.virtualcard.card_client import BILLING
from tests.running import Deployment

NOW = "2026-01-05T09:30:00+01:00"
NOTHING = {"interestRate": "0", "interestFrequency": "annualized"}
PAYER = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}
# Enough that an order by anything else would hardly come out the same.
MANY = 8


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=NOW)


def pay_by_ussd(shop: MerchantClient, order: str) -> str:
    asked = {"action": "charge", "paymentType": "ussd", "user": PAYER, "bank": "gtb", "amount": "100.00"}
    return str(shop.send_fields("payment", {**asked, "customer_txnref": order}).body["txnRef"])


def test_a_shared_reference_is_verified_as_its_newest_payment(shop: MerchantClient) -> None:
    for _ in range(MANY):
        newest = pay_by_ussd(shop, "order-7")
        assert shop.put("payment", action="verify", customer_txnref="order-7").body["txnRef"] == newest


def test_a_shared_reference_is_verified_as_the_payment_that_succeeded(shop: MerchantClient) -> None:
    refs = [pay_by_ussd(shop, "order-8") for _ in range(MANY)]
    shop.put("sandbox", action="settle", txnRef=refs[2], outcome="successful")
    assert shop.put("payment", action="verify", customer_txnref="order-8").body["txnRef"] == refs[2]


def test_plans_are_listed_newest_first(shop: MerchantClient) -> None:
    payments = PaymentClient(shop)
    rule = {"frequency": "monthly", "value": "30"}
    paid = [payments.paid(is_recurring=True, recurrent=rule)["txnRef"] for _ in range(MANY)]
    listed = shop.put("resources", inquire="recurrents").body
    assert [plan["txnRef"] for plan in listed] == paid[::-1]


def test_an_order_of_several_payments_is_explained_in_their_order(shop: MerchantClient) -> None:
    made = [pay_by_ussd(shop, "order-9") for _ in range(MANY)]
    story = shop.put("sandbox", action="explain", orderRef="order-9").body["data"]
    assert [line["txnRef"] for line in story if line["what"] == "requested"] == made


def test_plans_that_fall_due_at_once_run_in_the_order_they_began(open_shop: Callable[..., MerchantClient]) -> None:
    """One member's savings cover one of three plans that are due at the same moment."""
    for _ in range(4):
        shop = open_shop(now=NOW)
        other, short = (
            open_savings(shop, enroll(shop), deposit, interestSettings=NOTHING) for deposit in ("900.00", "100.00")
        )
        plans = [make_plan(shop, 2) for _ in range(3)]
        for thrift_id in plans:
            join(shop, thrift_id, other)
            join(shop, thrift_id, short)
        shop.advance(seconds=0)
        received = [members_of(shop, thrift_id)[0]["received"] for thrift_id in plans]
        assert received == ["200.00", "0.00", "0.00"]
        assert balance(shop, short) == 0


WRITTEN = """
    select {name} from {table} join merchant using (merchant_id) where mid = $1 order by {table}.seq
"""


def test_rows_are_numbered_in_the_order_in_which_they_were_made(deployment: Deployment, shop: MerchantClient) -> None:
    account: dict[str, Any] = {"name": "Ada Obi", "bankcode": "058", "accountnumber": "0040000008"}
    asked = {"action": "create", "billing": BILLING, "amount": 10, "currency": "USD"}
    codes = [shop.put("sandbox", action="beneficiary", **account).body["ref_code"] for _ in range(MANY)]
    cards = [shop.send_fields("virtualcard", asked).body["card_data"]["reference"] for _ in range(MANY)]
    orders = [{"accountnumber": "0000000020", "amount": "100.00", "bankcode": "058"}] * MANY
    bulk = shop.send_fields("disburse", {"action": "transfer", "type": "bulk", "data": orders}).body["data"]
    sent: list[Any] = [line["txnRef"] for line in bulk]
    kept = {
        ("beneficiary", "ref_code"): codes,
        ("virtual_card", "reference"): cards,
        ("transaction", "txn_ref"): sent,
    }
    for (table, name), made in kept.items():
        rows = deployment.fetch(WRITTEN.format(name=name, table=table), shop.mid)
        assert [row[0] for row in rows if row[0] in made] == made, table
