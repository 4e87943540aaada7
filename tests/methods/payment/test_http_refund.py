"""Refunds over HTTP: partial, whole, pending, failed, short, and fifty at once. (Contract: payment#refund)"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment

REFUND_FAILS = "4111110000050018"
REFUND_PENDS = "4111110000090014"


@pytest.fixture
def till(shop: MerchantClient) -> PaymentClient:
    return PaymentClient(shop)


def test_parts_go_back_until_nothing_is_left(till: PaymentClient) -> None:
    paid = till.paid()
    before = till.shop.wallet().balance
    first = till.refund(paid["txnRef"], 500)
    assert (first["status"], first["txnStatus"], first["message"]) == (200, "successful", "Refund Successful")
    assert (first["refundedAmount"], first["refundableAmount"]) == ("500.00", "1000.00")
    assert first["refundRef"].startswith("GP|RF|")
    assert before - till.shop.wallet().balance == 50_000
    too_much = till.refund(paid["txnRef"], "1000.01")
    assert (too_much["status"], too_much["errors"][0]["field"]) == (104, "amount")
    assert till.refund(paid["txnRef"], "1000.00")["refundableAmount"] == "0.00"
    verified = till.verify(paid["txnRef"])
    assert (verified["txnStatus"], verified["refundedAmount"]) == ("successful", "1500.00")


def test_a_failed_refund_gives_the_money_back_to_the_wallet(till: PaymentClient) -> None:
    paid = till.paid(REFUND_FAILS)
    before = till.shop.wallet()
    refused = till.refund(paid["txnRef"], "1500.00")
    assert (refused["txnStatus"], refused["refundableAmount"]) == ("failed", "1500.00")
    assert till.shop.wallet() == before


def test_a_pending_refund_holds_the_money_until_it_ends(till: PaymentClient) -> None:
    paid = till.paid(REFUND_PENDS)
    waiting = till.refund(paid["txnRef"], "600.00")
    assert (waiting["txnStatus"], waiting["refundableAmount"]) == ("pending", "900.00")
    assert till.shop.wallet().held == 60_000
    till.shop.advance(seconds=6)
    assert till.shop.wallet().held == 0
    assert till.verify(paid["txnRef"])["refundedAmount"] == "600.00"


def test_a_lost_answer_is_asked_after_and_never_sent_anew(till: PaymentClient) -> None:
    paid = till.paid()
    lost = till.refund(paid["txnRef"], "100.00", {"x-sandbox-scenario": "http=timeout"})
    assert lost["txnStatus"] == "pending"
    till.shop.advance(seconds=6)
    assert till.verify(paid["txnRef"])["refundedAmount"] == "100.00"


def test_a_wallet_that_is_short_refuses(till: PaymentClient) -> None:
    paid = till.paid()
    balance = till.shop.wallet().balance
    while balance > 100_000:
        part = min(balance - 60_000, 999_900_000)
        assert till.shop.transfer(amount=f"{(part - 10_000) / 100:.2f}")["txnStatus"] == "successful"
        balance = till.shop.wallet().balance
    assert till.refund(paid["txnRef"], "1500.00")["status"] == 301


def test_only_what_was_paid_can_be_refunded(till: PaymentClient) -> None:
    failed = till.paid("4111110500000018")
    assert till.refund(failed["txnRef"], 10)["status"] == 104
    unknown = till.refund("GP00000000020260105A", 10)
    assert unknown == {"status": 104, "message": "Invalid Transaction Reference"}
    shown = till.pay(action="charge", paymentType="ussd", bank="gtb", amount="1000.00")
    till.shop.put("sandbox", action="settle", txnRef=shown["txnRef"], outcome="successful")
    assert till.refund(shown["txnRef"], 10)["status"] == 104


def test_fifty_refunds_at_once_never_exceed_the_charge(till: PaymentClient, deployment: Deployment) -> None:
    paid = till.paid()

    def refund(_: int) -> Any:
        with deployment.connect() as wire:
            return PaymentClient(MerchantClient(wire, till.shop.mid, till.shop.key)).refund(paid["txnRef"], "100.00")

    with ThreadPoolExecutor(25) as pool:
        answers = list(pool.map(refund, range(50)))
    assert sorted(answer["status"] for answer in answers) == [104] * 35 + [200] * 15
    assert till.verify(paid["txnRef"])["refundedAmount"] == "1500.00"
