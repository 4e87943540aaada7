"""Daily events of settlements over HTTP: each day that had one is reported once, after it has ended."""

from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment
from tests.webhooks.event_log import wait_until

START = "2026-01-05T09:30:00+01:00"
UNREACHABLE_URL = "http://127.0.0.1:9/events"


@pytest.fixture
def client(open_shop: Any) -> PaymentClient:
    return PaymentClient(open_shop(now=START))


def switch(shop: MerchantClient, daily: bool) -> Any:
    reply = shop.put("resources", request="settlement_events", daily=daily).body
    assert reply["status"] == 200, reply
    assert shop.put("resources", inquire="settlement_events").body == reply
    return reply["data"]


def received(shop: MerchantClient) -> list[tuple[str, str, str]]:
    """Returns reference, step and amount of the events of settlements, the oldest first."""
    events = [line["payload"] for line in shop.put("resources", inquire="events", limit=200).body["data"]]
    settlements = [one for one in reversed(events) if one["kind"] == "settlement"]
    return [(one["settlement_id"], one["step"], one["chargedAmount"]) for one in settlements]


def listed(shop: MerchantClient) -> list[tuple[str, str, str]]:
    """Returns what events must report of the settlements that the list has."""
    found = shop.put("resources", inquire="settlements", limit=200).body["data"]
    return sorted((one["settlement_id"], "closed", one["net"]) for one in found if one["state"] == "settled")


def test_a_merchant_that_settles_at_once_gets_an_event_for_each_settlement(client: PaymentClient) -> None:
    shop = client.shop
    assert switch(shop, True) == {"daily": True, "next_event": "2026-01-05T23:05:00.000Z", "last_day": None}
    paid = client.paid(amount="1000.00")
    client.paid(amount="20.00", currency="USD")
    shop.advance(until="2026-01-05T23:59:59+01:00")
    client.paid(amount="300.00")
    shop.advance(until="2026-01-06T00:01:00+01:00")
    assert received(shop) == []
    client.refund(paid["txnRef"], "400.00")
    shop.advance(days=4)
    client.paid(amount="50.00")
    shop.advance(days=2)
    found = received(shop)
    assert found == listed(shop)
    assert [(name, net[0]) for name, _, net in found] == [
        ("ST20260105NGN", "1"),
        ("ST20260105USD", "1"),
        ("ST20260106NGN", "-"),
        ("ST20260110NGN", "4"),
    ]
    state = shop.put("resources", inquire="settlement_events").body["data"]
    assert (state["next_event"], state["last_day"]) == ("2026-01-11T23:05:00.000Z", "2026-01-10")


def test_money_that_settles_later_has_an_event_when_it_settles_and_for_its_day(
    client: PaymentClient, deployment: Deployment
) -> None:
    shop = client.shop
    deployment.run_command("merchant", "set", shop.mid, "--settlement-days", "1")
    switch(shop, True)
    client.paid(amount="1000.00")
    shop.advance(days=1)
    [settled] = received(shop)
    assert settled[:2] == ("ST20260106NGN", "settled")
    shop.advance(days=1)
    assert received(shop) == [settled, ("ST20260106NGN", "closed", settled[2])] == [settled, *listed(shop)]


def test_only_days_that_end_while_the_events_are_on_have_one(client: PaymentClient) -> None:
    shop = client.shop
    switch(shop, True)
    for day in range(4):
        client.paid(amount="1000.00")
        if day in (1, 2):
            switch(shop, day == 2)
        shop.advance(days=1)
    assert [name for name, _, _ in received(shop)] == ["ST20260105NGN", "ST20260107NGN", "ST20260108NGN"]
    assert switch(shop, False) == {"daily": False, "next_event": None, "last_day": "2026-01-08"}


def test_a_reset_turns_them_off(client: PaymentClient) -> None:
    shop = client.shop
    switch(shop, True)
    assert shop.put("sandbox", action="reset").body["status"] == 200
    state = shop.put("resources", inquire="settlement_events").body["data"]
    assert state == {"daily": False, "next_event": None, "last_day": None}
    client.paid()
    shop.advance(days=2)
    assert received(shop) == []


def test_the_worker_reports_a_day_once_also_after_one_that_died(client: PaymentClient, deployment: Deployment) -> None:
    """The clock runs, and the job looks like one whose worker was killed: claimed before, with a lease that is over."""
    shop = client.shop
    switch(shop, True)
    client.paid(amount="1000.00")
    shop.advance(until="2026-01-06T00:04:59+01:00")
    deployment.fetch(
        "update scheduled_job j set claims = 1, leased_until = now() - interval '1 second' from merchant m"
        " where m.mid = $1 and j.merchant_id = m.merchant_id and j.kind = 'settlements.report' returning 1",
        shop.mid,
    )
    shop.put("sandbox", action="freeze", frozen=False)
    wait_until("the day is reported", lambda: received(shop))
    shop.advance(days=2)
    assert received(shop) == listed(shop)
    assert len(received(shop)) == 1


def test_events_that_wait_for_delivery_are_no_jobs_of_what_they_tell(client: PaymentClient) -> None:
    shop = client.shop
    account: dict[str, Any] = {"bankcode": "058", "accountnumber": "0000000000"}
    assert shop.put("sandbox", action="webhook", url=UNREACHABLE_URL).body["status"] == 200
    assert shop.put("resources", request="payout_schedule", frequency="daily", **account).body["status"] == 200
    switch(shop, True)
    client.paid()
    shop.advance(days=1)
    assert [step for _, step, _ in received(shop)] == ["closed", "paid_out"]
    events = shop.put("resources", inquire="events").body["data"]
    assert {line["state"] for line in events} == {"scheduled"}
    assert shop.put("sandbox", action="audit").body["data"] == []
