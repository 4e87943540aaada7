"""Refunds over HTTP: partial, full, pending, failed, not covered, and fifty concurrent ones."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, without_codes
from tests.methods.payment.payment_client import VISA_OK, PaymentClient
from tests.running import Deployment

REFUND_FAILS = "4111110000050018"
REFUND_PENDS = "4111110000090014"


@pytest.fixture
def client(shop: MerchantClient) -> PaymentClient:
    return PaymentClient(shop)


def test_partial_refunds_are_accepted_until_nothing_is_left(client: PaymentClient) -> None:
    paid = client.paid()
    before = client.shop.wallet().balance
    first = client.refund(paid["txnRef"], 500)
    assert (first["status"], first["txnStatus"], first["message"]) == (200, "successful", "Refund Successful")
    assert (first["refundedAmount"], first["refundableAmount"]) == ("500.00", "1000.00")
    assert first["refundRef"].startswith("GP|RF|")
    assert before - client.shop.wallet().balance == 50_000
    too_much = client.refund(paid["txnRef"], "1000.01")
    assert (too_much["status"], too_much["errors"][0]["field"]) == (104, "amount")
    assert client.refund(paid["txnRef"], "1000.00")["refundableAmount"] == "0.00"
    verified = client.verify(paid["txnRef"])
    assert (verified["txnStatus"], verified["refundedAmount"]) == ("successful", "1500.00")


def test_a_failed_refund_gives_the_money_back_to_the_wallet(client: PaymentClient) -> None:
    paid = client.paid(REFUND_FAILS)
    before = client.shop.wallet()
    refused = client.refund(paid["txnRef"], "1500.00")
    assert (refused["txnStatus"], refused["refundableAmount"]) == ("failed", "1500.00")
    assert client.shop.wallet() == before


def test_a_pending_refund_holds_the_money_until_it_ends(client: PaymentClient) -> None:
    paid = client.paid(REFUND_PENDS)
    waiting = client.refund(paid["txnRef"], "600.00")
    assert (waiting["txnStatus"], waiting["refundableAmount"]) == ("pending", "900.00")
    assert client.shop.wallet().held == 60_000
    client.shop.advance(seconds=6)
    assert client.shop.wallet().held == 0
    assert client.verify(paid["txnRef"])["refundedAmount"] == "600.00"


def test_a_first_refund_is_found_by_its_reference_whatever_became_of_it(client: PaymentClient) -> None:
    for number, status in ((REFUND_FAILS, "failed"), (REFUND_PENDS, "pending"), (VISA_OK, "successful")):
        paid = client.paid(number)
        refund = client.refund(paid["txnRef"], "100.00")
        for reference in ({"refundRef": refund["refundRef"]}, {"txnRef": refund["refundRef"]}):
            found = client.pay(action="verify", **reference)
            assert (found["txnStatus"], found["refundRef"]) == (status, refund["refundRef"])
        again = client.refund(paid["txnRef"], "100.00")
        assert again["refundRef"] != refund["refundRef"]
        assert client.pay(action="verify", refundRef=refund["refundRef"])["txnStatus"] == status
        assert len(client.verify(paid["txnRef"])["refunds"]) == 2


def test_a_refund_with_a_lost_answer_is_queried_and_not_repeated(client: PaymentClient) -> None:
    paid = client.paid()
    lost = client.refund(paid["txnRef"], "100.00", {"x-sandbox-scenario": "http=timeout"})
    assert lost["txnStatus"] == "pending"
    client.shop.advance(seconds=6)
    assert client.verify(paid["txnRef"])["refundedAmount"] == "100.00"


def test_a_refund_that_the_wallet_does_not_cover_is_refused(client: PaymentClient) -> None:
    paid = client.paid()
    balance = client.shop.wallet().balance
    while balance > 100_000:
        part = min(balance - 60_000, 999_900_000)
        assert client.shop.transfer(amount=f"{(part - 10_000) / 100:.2f}")["txnStatus"] == "successful"
        balance = client.shop.wallet().balance
    assert client.refund(paid["txnRef"], "1500.00")["status"] == 301


def test_only_a_successful_refundable_payment_can_be_refunded(client: PaymentClient) -> None:
    failed = client.paid("4111110500000018")
    assert client.refund(failed["txnRef"], 10)["status"] == 104
    unknown = client.refund("GP00000000020260105A", 10)
    assert without_codes(unknown) == {"status": 104, "message": "Invalid Transaction Reference"}
    shown = client.pay(action="charge", paymentType="ussd", bank="gtb", amount="1000.00")
    client.shop.put("sandbox", action="settle", txnRef=shown["txnRef"], outcome="successful")
    assert client.refund(shown["txnRef"], 10)["status"] == 104


def test_fifty_refunds_at_once_never_exceed_the_charge(client: PaymentClient, deployment: Deployment) -> None:
    paid = client.paid()

    def refund(_: int) -> Any:
        with deployment.connect() as wire:
            return PaymentClient(MerchantClient(wire, client.shop.mid, client.shop.key)).refund(
                paid["txnRef"], "100.00"
            )

    with ThreadPoolExecutor(25) as pool:
        answers = list(pool.map(refund, range(50)))
    assert sorted(answer["status"] for answer in answers) == [104] * 35 + [200] * 15
    assert client.verify(paid["txnRef"])["refundedAmount"] == "1500.00"


def test_late_and_excess_transfers_are_refunds_with_events_of_their_own(client: PaymentClient) -> None:
    shop = client.shop
    asked = client.pay(action="charge", paymentType="bank_transfer", amount="1000.00", user={"email": "a@example.com"})
    had = shop.wallet().balance

    def transfer(amount: str) -> Any:
        fields = {"action": "pay_account", "accountNumber": asked["accountNumber"], "amount": amount}
        return shop.put("sandbox", **fields).body["txnStatus"]

    assert transfer("1200.00") == "successful"
    settled = shop.wallet().balance
    assert settled > had
    assert transfer("50.00") == "successful"
    shop.advance(minutes=1)
    verified = client.verify(asked["txnRef"])
    reasons = [(line["amount"], line["txnStatus"], line["comment"]) for line in verified["refunds"]]
    too_much = "Paid more than was asked for"
    assert reasons == [("50.00", "successful", too_much), ("200.00", "successful", too_much)]
    assert (verified["refundedAmount"], shop.wallet().balance) == ("0.00", settled)
    log = shop.put("resources", inquire="event_feed", limit=200).body["data"]
    returned = [line["payload"] for line in log if line["kind"] == "refund"]
    assert [(event["chargedAmount"], event["refundOf"]) for event in returned] == [
        ("200.00", asked["txnRef"]),
        ("50.00", asked["txnRef"]),
    ]
    # The whole payment can still be refunded.
    assert client.refund(asked["txnRef"], "1000.00")["txnStatus"] == "successful"
