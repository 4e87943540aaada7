"""Many merchants move their clocks at once: all are answered, whatever the number of database connections."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient, card
from tests.running import Deployment
from tests.webhooks.event_log import wait_until

# Twice what the pool has.
MANY = 16
RESEND: dict[str, Any] = {"request": "resend", "from": 1, "to": 1}
HOLD = "select 1 from merchant_state b join merchant m using (merchant_id) where m.mid = $1 for update of b"
# Whoever waits for that row.
WAITING = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
HAS_LEASE = "select count(*) from advance_lease join merchant using (merchant_id) where mid = $1"


def test_advances_of_many_merchants_at_once_are_all_answered(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shops = [open_shop() for _ in range(MANY)]
    for shop in shops:
        assert shop.transfer(orderRef="later", accountnumber="0000000900")["txnStatus"] == "pending"

    def advance(shop: MerchantClient) -> tuple[int, str]:
        body = shop.put("sandbox", action="advance", hours=1).body
        return body["status"], shop.status_of("later")

    with ThreadPoolExecutor(MANY) as threads:
        for _ in range(3):
            assert list(threads.map(advance, shops)) == [(200, "successful")] * MANY
    with deployment.connect() as wire:
        assert wire.send("GET", "/readyz").http == 200


def test_advances_that_wait_for_endpoints_leave_connections_for_others(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    """Each advance delivers to an endpoint nobody listens at; `resend` and `clock` of others go on beside."""
    shops = [open_shop() for _ in range(MANY)]
    for shop in shops:
        shop.put("sandbox", action="webhook", url="http://127.0.0.1:9/nobody")
        shop.transfer()

    def work(shop: MerchantClient) -> list[int]:
        advance: dict[str, Any] = {"action": "advance", "minutes": 5}
        asked: list[dict[str, Any]] = [advance, {"action": "clock"}, advance]
        answers = [shop.put("sandbox", **fields).body["status"] for fields in asked]
        return [*answers, shop.put("resources", **RESEND).body["status"]]

    with ThreadPoolExecutor(MANY) as threads:
        assert list(threads.map(work, shops)) == [[200] * 4] * MANY


# --- jobs that come back ------------------------------------------------------------------------------------------

WRONG_CODE = "000000"
# Changes a code as no request does, whose job is not changed with it.
SET_STATE = """
    with c as (update cashcode set state = $2 where order_ref = $1 returning merchant_id)
    update merchant_state b set version = version + 1 from c where b.merchant_id = c.merchant_id
"""


@pytest.mark.parametrize(("fault", "expected"), [("none", 203), ("unavailable", 204), ("reset", 200)])
def test_an_advance_past_a_payments_end_while_its_code_is_refused_is_answered(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], fault: str, expected: int
) -> None:
    """The code is decided first, so the expiry finds another step and leaves the job to it. Then the rail refuses the
    code, and the job is again the one that expires the payment."""
    shop = open_shop(now="2026-01-05T09:30:00+01:00")
    client = PaymentClient(shop)
    begun = client.initiate(card(auth="OTP"))
    assert client.charge(begun, card(auth="OTP"))["status"] == 202
    on: dict[str, Any] = {} if fault == "none" else {"on": "validate"}
    assert shop.put("sandbox", action="fault", rail="card", kind=fault, **on).body["status"] == 200

    def advance() -> Any:
        with deployment.connect() as wire:
            return MerchantClient(wire, shop.mid, shop.key).put("sandbox", action="advance", minutes=10)

    with ThreadPoolExecutor(2) as threads:
        deployment.fetch("begin")
        try:
            deployment.fetch(HOLD, shop.mid)
            validated = threads.submit(client.validate, begun["txnRef"], WRONG_CODE)
            wait_until("the code waits", lambda: deployment.fetch(WAITING)[0][0] >= 1)
            advanced = threads.submit(advance)
            wait_until("the advance has begun", lambda: deployment.fetch(HAS_LEASE, shop.mid) == [(1,)])
            time.sleep(0.3)  # it chooses what to run, and joins the queue behind the code
        finally:
            deployment.fetch("rollback")
        http, body = advanced.result()
    assert validated.result()["status"] == expected
    assert (http, body["status"]) == (200, 200), body
    shop.advance(days=2)
    assert client.verify(begun["txnRef"])["txnStatus"] == "failed"


def test_a_job_that_its_run_leaves_due_ends_the_advance_without_a_denial(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop(now="2026-01-05T09:30:00+01:00")
    made: dict[str, Any] = {"amount": "5000.00", "pin": "2580", "channel": "ATM", "orderRef": shop.mid}
    assert shop.put("cashcode", action="generate", **made).body["status"] == 200
    deployment.fetch_as_service(SET_STATE, shop.mid, "redeemed")
    reply = shop.put("sandbox", action="advance", days=30)
    assert (reply.http, reply.body["code"]) == (500, "outcome_unknown")
    assert "nothing was changed" not in reply.body["message"]
    assert '"error": "NoProgress"' in deployment.new_stderr()
    assert shop.now() > "2026-01-05T09:30:01"
    deployment.fetch_as_service(SET_STATE, shop.mid, "active")
    shop.advance(days=1)
    assert shop.put("cashcode", action="verify", orderRef=shop.mid).body["state"] == "expired"
