"""Deliveries to further endpoints follow the rules of those to the first: retries, order, parking and isolation."""

import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest

from kasuwa.webhooks.retries import RETRY_DELAYS
from tests.jobs.further_endpoints import SECOND, add_endpoint, attempts_at, waiting_at
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.webhooks.event_log import events_of, send_events_to, wait_for_state, wait_until
from tests.webhooks.inbox import BROKEN, OK, WAIT_TIMEOUT_SECONDS, Answer, Inbox, ReceivedRequest, running_inbox

START = "2026-01-05T09:00:00Z"
JOBS = """
    select j.endpoint_id, j.reference from scheduled_job j join merchant m using (merchant_id)
    where m.mid = $1 and j.lane = 'webhook' order by j.endpoint_id
"""
LATE = {"x-sandbox-scenario": "webhook=late:86400"}


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


@pytest.fixture
def second_inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


@pytest.fixture
def listening(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], inbox: Inbox, second_inbox: Inbox
) -> MerchantClient:
    """A merchant with two endpoints, and a clock that stands still."""
    shop = open_shop(now=START)
    send_events_to(shop, inbox.url)
    assert add_endpoint(deployment, shop, second_inbox.url) == SECOND
    return shop


def test_the_commit_writes_a_delivery_for_each_endpoint_that_gets_the_kind(
    deployment: Deployment, listening: MerchantClient, inbox: Inbox
) -> None:
    assert add_endpoint(deployment, listening, inbox.url, "cashcode") == 3
    assert add_endpoint(deployment, listening, inbox.url, "cashcode", "transfer") == 4
    sent = listening.transfer(headers=LATE)["txnRef"]
    assert [tuple(row) for row in deployment.fetch(JOBS, listening.mid)] == [(1, sent), (2, sent), (4, sent)]


def test_a_merchant_with_one_endpoint_writes_one_delivery(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], inbox: Inbox
) -> None:
    shop = open_shop(now=START)
    send_events_to(shop, inbox.url)
    sent = shop.transfer(headers=LATE)["txnRef"]
    assert [tuple(row) for row in deployment.fetch(JOBS, shop.mid)] == [(1, sent)]
    send_events_to(shop, "")
    shop.transfer(headers=LATE)
    assert len(deployment.fetch(JOBS, shop.mid)) == 1


def test_a_further_endpoint_is_retried_at_each_time_of_the_schedule_and_given_up(
    deployment: Deployment, listening: MerchantClient, inbox: Inbox, second_inbox: Inbox
) -> None:
    second_inbox.answers(then=BROKEN)
    sent = listening.transfer()["txnRef"]
    wait_for_state(listening, sent, "delivered", 1)
    wait_until("it was tried once", lambda: attempts_at(deployment, listening))
    listening.advance(days=4)
    start, total = datetime.fromisoformat(START), timedelta()
    times = [start, *(start + (total := total + delay) for delay in RETRY_DELAYS)]
    assert [(at, http) for _, at, http in attempts_at(deployment, listening)] == [(at, 500) for at in times]
    assert waiting_at(deployment, listening) == []
    assert len(inbox.requests) == 1


def test_a_further_endpoint_that_fails_for_five_days_is_parked_and_the_first_is_not(
    deployment: Deployment, listening: MerchantClient, inbox: Inbox, second_inbox: Inbox
) -> None:
    second_inbox.answers(then=BROKEN)
    for _ in range(6):
        wait_for_state(listening, listening.transfer()["txnRef"], "delivered", 1)
        listening.advance(days=1)
    assert {is_parked for _, is_parked in waiting_at(deployment, listening)} == {True}
    tried = len(second_inbox.requests)
    wait_for_state(listening, listening.transfer()["txnRef"], "delivered", 1)
    listening.advance(days=30)
    assert len(second_inbox.requests) == tried
    assert {event["state"] for event in events_of(listening)} == {"delivered"}
    assert len(inbox.requests) == 7


def test_an_endpoint_that_hangs_holds_up_no_other_of_its_merchant(
    deployment: Deployment, listening: MerchantClient, inbox: Inbox, second_inbox: Inbox
) -> None:
    released = threading.Event()

    def hang(letter: ReceivedRequest) -> Answer:
        released.wait(WAIT_TIMEOUT_SECONDS)
        return OK

    inbox.answer = hang
    try:
        sent = [str(listening.transfer()["txnRef"]) for _ in range(20)]
        wait_until("all arrived", lambda: len(attempts_at(deployment, listening)) == len(sent))
        assert not released.is_set()
        assert attempts_at(deployment, listening, 1) == []
    finally:
        released.set()
    assert {letter.payload["txnRef"] for letter in second_inbox.requests} == set(sent)
    assert len(second_inbox.requests) == len(sent)


def test_an_advance_reports_the_deliveries_to_every_endpoint(
    deployment: Deployment, listening: MerchantClient, inbox: Inbox, second_inbox: Inbox
) -> None:
    listening.transfer(headers=LATE)
    assert listening.advance(days=1)["ran"] == {"webhook": 2}
    assert (len(inbox.requests), len(second_inbox.requests)) == (1, 1)
    assert inbox.ids == second_inbox.ids
