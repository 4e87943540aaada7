"""Features that meet: refunds and plans, clocks and codes, rolled keys and advances, resets and bulks.

After each test the books of its merchants are audited, and the service must have logged no error (tests/conftest.py).
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import OTP, VISA_OK, PaymentClient, card
from tests.running import Deployment
from tests.webhooks.event_log import send_events_to
from tests.webhooks.inbox import Inbox, running_inbox

NOW = "2026-01-30T10:00:00+01:00"
DELAYED = {"x-sandbox-scenario": "delay=30"}


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=NOW)


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


def another_connection(deployment: Deployment, shop: MerchantClient) -> MerchantClient:
    return MerchantClient(deployment.connect(), shop.mid, shop.key)


def test_the_first_charge_is_refunded_while_the_next_one_is_pending(shop: MerchantClient) -> None:
    client = PaymentClient(shop)
    first = client.paid(is_recurring=True, recurrent={"frequency": "monthly", "value": "28"})
    shop.put("sandbox", action="fault", rail="card", kind="timeout", times=1)
    shop.advance(until="2026-02-28T09:00:00+01:00")
    [plan] = shop.put("resources", inquire="recurrents").body
    assert client.verify(plan["txnRef"])["txnStatus"] == "pending"
    assert client.refund(first["txnRef"], "1500.00")["txnStatus"] == "successful"
    assert client.refund(plan["txnRef"], "1.00")["status"] == 104
    shop.advance(minutes=1)
    assert client.verify(plan["txnRef"])["txnStatus"] == "successful"
    [after] = shop.put("resources", inquire="recurrents").body
    assert (after["paid"], after["state"]) == ("3000.00", "active")
    assert client.refund(plan["txnRef"], "1500.00")["refundableAmount"] == "0.00"


def test_a_plan_that_is_cancelled_while_its_charge_is_pending_charges_no_more(shop: MerchantClient) -> None:
    client = PaymentClient(shop)
    schedule = {"30-01-2026": 20, "28-02-2026": 40, "30-03-2026": 40}
    client.paid(amount="300.00", installment={"payment_schedule": schedule, "total": "1500.00"})
    shop.put("sandbox", action="fault", rail="card", kind="timeout", times=1)
    shop.advance(until="2026-02-28T09:00:00+01:00")
    [plan] = shop.put("resources", inquire="installments").body
    changed = {"inquire": "installments", "id": plan["id"], "status": "cancel"}
    preview = shop.put("resources", dry_run=True, **changed).body
    assert shop.put("resources", **changed).body["data"] == preview["data"]
    shop.advance(days=60)
    [after] = shop.put("resources", inquire="installments").body
    assert (after["state"], after["paid"], after["txnRef"]) == ("cancelled", "900.00", plan["txnRef"])


def test_a_code_and_a_clock_that_ends_the_payment_leave_one_outcome(
    shop: MerchantClient, deployment: Deployment
) -> None:
    client, given = PaymentClient(shop), card(VISA_OK)
    with ThreadPoolExecutor(2) as pool:
        for _ in range(4):
            begun = client.initiate(given)
            assert "validate" in client.charge(begun, given)
            other = another_connection(deployment, shop)
            with other.connection:
                moved = pool.submit(other.advance, minutes=10)
                reply = client.validate(begun["txnRef"], OTP)
                moved.result()
            shop.advance(minutes=1)
            ended = client.verify(begun["txnRef"])["txnStatus"]
            assert (reply["status"], ended) in ((200, "successful"), (104, "failed")), reply


def test_a_key_rolled_while_an_advance_runs_signs_the_rest(
    shop: MerchantClient, deployment: Deployment, inbox: Inbox
) -> None:
    client = PaymentClient(shop)
    client.paid(is_recurring=True, recurrent={"frequency": "daily", "value": "12"})
    send_events_to(shop, inbox.url)
    other = another_connection(deployment, shop)
    with other.connection, ThreadPoolExecutor(1) as pool:
        moved = pool.submit(other.advance, days=60)
        new_key = deployment.run_command("merchant", "roll-key", shop.mid, "--overlap-hours", "1").split()[-1]
        assert moved.result()["ran"]["recurrent"] == 60
    assert len({letter.payload["txnRef"] for letter in inbox.wait_for(60)}) == 60
    renewed = MerchantClient(shop.connection, shop.mid, new_key)
    assert renewed.put("resources", inquire="wallet").body["status"] == 200


def test_a_reset_during_a_bulk_keeps_each_order_in_one_of_the_books(
    shop: MerchantClient, deployment: Deployment
) -> None:
    orders = [
        {"amount": "10.00", "bankcode": "058", "accountnumber": "0000000000", "orderRef": f"order {n}"}
        for n in range(300)
    ]
    other = another_connection(deployment, shop)
    with other.connection, ThreadPoolExecutor(1) as pool:
        sent = pool.submit(other.bulk, orders)
        assert shop.put("sandbox", action="reset").body["status"] == 200
        answer = sent.result()
    assert answer["status"] == 202
    verified: Any = shop.verify(answer["batchRef"])
    if verified["status"] == 200:
        shop.advance(minutes=1)
        assert {shop.status_of(order["orderRef"]) for order in orders} == {"successful"}
    else:
        assert shop.wallet().balance == 1_000_000_000
        assert shop.transfer(orderRef="order 1")["txnStatus"] == "successful"
