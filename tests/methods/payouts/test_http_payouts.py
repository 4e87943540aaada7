"""Payouts by schedule over HTTP: when they are announced, and whom they are not sent for."""

from typing import Any

import pytest

from tests.console.visitor import sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.disburse.test_http_approvals import with_key
from tests.running import Deployment
from tests.webhooks.event_log import send_events_to, wait_until
from tests.webhooks.inbox import running_inbox

START = "2026-01-05T09:30:00+01:00"
BALANCE = 5_000_000


@pytest.fixture
def shop(open_shop: Any) -> MerchantClient:
    """A merchant with 50,000.00 that is paid out daily."""
    shop: MerchantClient = open_shop(now=START, balance="50000.00")
    account: dict[str, Any] = {"bankcode": "058", "accountnumber": "0000000000"}
    made = shop.put("resources", request="payout_schedule", frequency="daily", **account).body
    assert made["status"] == 200, made
    return shop


def announced(shop: MerchantClient) -> list[tuple[str, str]]:
    """Returns kind and status of the events, the oldest first."""
    events = [line["payload"] for line in shop.put("resources", inquire="events").body["data"]]
    return [(one["kind"], one["txnStatus"]) for one in reversed(events)]


def last_payout(shop: MerchantClient) -> str:
    return str(shop.put("resources", inquire="payout_schedule").body["data"]["last_payout"])


def test_a_payout_is_announced_only_if_the_bank_has_paid_it(shop: MerchantClient) -> None:
    shop.put("sandbox", action="fault", rail="bank", kind="decline", times=1)
    shop.advance(days=1)
    assert announced(shop) == [("transfer", "failed")]
    assert shop.wallet().balance == BALANCE
    with running_inbox() as inbox:
        send_events_to(shop, inbox.url)
        shop.advance(days=1)
        letters = {letter.payload["kind"]: letter for letter in inbox.wait_for(2)}
    assert announced(shop) == [("transfer", "failed"), ("transfer", "successful"), ("settlement", "successful")]
    paid, reference = letters["settlement"].payload, last_payout(shop)
    assert (paid["step"], paid["txnRef"], paid["settlement_id"]) == ("paid_out", reference, "ST20260107NGN")
    assert letters["settlement"].headers["webhook-sequence"] == "1"
    settled = shop.put("resources", inquire="settlement", settlement_id=paid["settlement_id"]).body["data"]
    assert (settled["payouts"], settled["paid_out"]) == ([reference], f"-{paid['chargedAmount']}")
    found = shop.put("resources", inquire="transaction", reference=reference).body["data"]
    assert found["related"] == []


@pytest.mark.parametrize("verdict", ["approve", "reject", "expire"])
def test_a_payout_that_waits_is_announced_once_it_is_approved_and_paid(shop: MerchantClient, verdict: str) -> None:
    approver = with_key(shop, "approve", "read")
    shop.put("sandbox", action="payout_policy", approve_above="0.00")
    shop.advance(days=1)
    waiting = ("transfer_approval", "pending")
    assert announced(shop) == [waiting]
    shop.put("resources", request="payout_schedule", frequency="off")
    if verdict == "expire":
        shop.advance(days=4)
    else:
        approver.put("disburse", action=verdict, txnRef=last_payout(shop))
    ends = {
        "approve": [waiting, ("transfer", "successful"), ("settlement", "successful")],
        "reject": [("transfer_approval", "failed"), ("transfer", "failed")],
        "expire": [("transfer_approval", "failed"), ("transfer", "failed")],
    }
    assert announced(shop) == [waiting, *ends[verdict]]


def test_a_suspended_merchant_is_not_paid_out(shop: MerchantClient, deployment: Deployment) -> None:
    admin, page = sign_in_as(deployment, "operator:admin"), f"/operator/merchants/{shop.mid}"
    admin.get(page)
    assert "Payouts by schedule are left out" in admin.post(f"{page}/suspend").words
    admin.post(f"{page}/suspend", confirmed="yes")
    wait_until("it is refused", lambda: shop.put("resources", inquire="wallet").http == 401)
    # A suspended merchant cannot move its clock, so the job is made due.
    deployment.fetch(
        "update scheduled_job j set run_at = now() from merchant m"
        " where m.merchant_id = j.merchant_id and m.mid = $1 and m.current and j.kind = 'payouts.send'",
        shop.mid,
    )
    notices = "select n.message from operator_notice n join merchant m using (merchant_id) where m.mid = $1"
    [[message]] = wait_until("an operator is notified", lambda: deployment.fetch(notices, shop.mid))
    assert message == "a payout by schedule was left out: the merchant is suspended"
    admin.post(f"{page}/resume")
    wait_until("it is answered", lambda: shop.put("resources", inquire="wallet").http == 200)
    assert (shop.wallet().balance, announced(shop)) == (BALANCE, [])
    shop.advance(days=1)
    assert announced(shop) == [("transfer", "successful"), ("settlement", "successful")]
