"""Events that cannot be delivered: the retry schedule, the receiver's Retry-After, and endpoints that never answer.
Contract: events#payload

The merchants' clocks move only by `advance`, so that every time is exact. The first attempt is made by the webhook
sender; the others fall due during an advance.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.walk.bounds import FAILING_SECONDS
from tests.webhooks.event_log import event_of, events_of, resend, send_events_to, wait_for_state, wait_until
from tests.webhooks.inbox import BROKEN, OK, RESET, Answer, Inbox, running_inbox

START = "2026-01-05T09:00:00Z"
MINUTE, HOUR = 60, 3600
RETRY_TIMES = (5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR)


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


@pytest.fixture
def listening(open_shop: Callable[..., MerchantClient], inbox: Inbox) -> MerchantClient:
    shop = open_shop(now=START)
    send_events_to(shop, inbox.url)
    return shop


def fail_once(shop: MerchantClient, inbox: Inbox, *script: Answer) -> str:
    """Makes a transfer whose event the sender tried once without success."""
    inbox.answers(*script, then=BROKEN)
    txn_ref = str(shop.transfer()["txnRef"])
    wait_for_state(shop, txn_ref, "scheduled", attempts=1)
    return txn_ref


def moments(event: Any) -> list[float]:
    """Returns the times of the attempts, in business seconds since the merchant's clock was set."""
    start = datetime.fromisoformat(START)
    return [(datetime.fromisoformat(a["at"]) - start).total_seconds() for a in event["attempts"]]


# --- the ladder -------------------------------------------------------------------------------------------


def test_an_event_is_retried_at_each_time_of_the_schedule_and_then_kept(
    listening: MerchantClient, inbox: Inbox
) -> None:
    txn_ref = fail_once(listening, inbox)
    for wait in RETRY_TIMES:
        assert listening.advance(seconds=wait - 1)["ran"] == {}
        assert listening.advance(seconds=1)["ran"] == {"webhook": 1}
    event = event_of(listening, txn_ref)
    assert event["state"] == "exhausted"
    assert moments(event) == [sum(RETRY_TIMES[:n]) for n in range(len(RETRY_TIMES) + 1)]
    assert {(a["http"], a["error"]) for a in event["attempts"]} == {(500, "HTTP 500")}
    assert [a["number"] for a in event["attempts"]] == list(range(1, 11))
    assert listening.advance(days=1)["ran"] == {}
    assert inbox.ids == [event["event_id"]] * 10


def test_the_whole_retry_schedule_runs_in_one_advance(listening: MerchantClient, inbox: Inbox) -> None:
    txn_ref = fail_once(listening, inbox)
    assert listening.advance(days=4)["ran"] == {"webhook": 9}
    event = event_of(listening, txn_ref)
    assert (event["state"], moments(event)[-1]) == ("exhausted", sum(RETRY_TIMES))


def test_an_exhausted_event_that_is_sent_again_restarts_its_retry_schedule(
    listening: MerchantClient, inbox: Inbox
) -> None:
    txn_ref = fail_once(listening, inbox)
    listening.advance(days=4)
    assert resend(listening, event_id=event_of(listening, txn_ref)["event_id"])["sent"] == 1
    wait_for_state(listening, txn_ref, "scheduled", attempts=11)
    inbox.answers(then=OK)
    assert listening.advance(seconds=5)["ran"] == {"webhook": 1}
    assert event_of(listening, txn_ref)["state"] == "delivered"


def test_an_event_sent_again_before_its_last_retry_restarts_its_schedule(
    listening: MerchantClient, inbox: Inbox
) -> None:
    txn_ref = fail_once(listening, inbox)
    listening.advance(seconds=sum(RETRY_TIMES[:-1]))
    resend(listening, event_id=event_of(listening, txn_ref)["event_id"])
    wait_for_state(listening, txn_ref, "scheduled", attempts=10)
    assert listening.advance(seconds=5)["ran"] == {"webhook": 1}


def test_the_second_attempt_delivers_what_the_first_did_not(listening: MerchantClient, inbox: Inbox) -> None:
    txn_ref = fail_once(listening, inbox, RESET)
    inbox.answers(then=Answer(204))
    assert listening.advance(seconds=5)["ran"] == {"webhook": 1}
    event = event_of(listening, txn_ref)
    assert event["state"] == "delivered"
    assert [(a["http"], a["error"]) for a in event["attempts"]] == [
        (None, "The connection was lost before the answer"),
        (204, None),
    ]
    first, second = inbox.requests
    assert (first.id, first.body) == (second.id, second.body)


# --- what the receiver asks for -----------------------------------------------------------------------------


@pytest.mark.parametrize(("asked", "waited"), [("60", 60), ("1", 5), ("9999999", 24 * HOUR), ("soon", 5)])
def test_retry_after_is_honored_up_to_a_day_and_never_below_the_schedule(
    listening: MerchantClient, inbox: Inbox, asked: str, waited: int
) -> None:
    fail_once(listening, inbox, Answer(503, (("retry-after", asked),)))
    assert listening.advance(seconds=waited - 1)["ran"] == {}
    assert listening.advance(seconds=1)["ran"] == {"webhook": 1}


@pytest.mark.parametrize("code", [301, 302, 307, 308])
def test_a_redirect_is_a_failure_and_is_not_followed(listening: MerchantClient, inbox: Inbox, code: int) -> None:
    away = inbox.url.replace("/events", "/elsewhere")
    txn_ref = fail_once(listening, inbox, Answer(code, (("location", away),)))
    [attempt] = event_of(listening, txn_ref)["attempts"]
    assert (attempt["http"], attempt["error"]) == (code, f"HTTP {code}")
    assert [letter.path for letter in inbox.requests] == ["/events"]


# --- an endpoint that is dead -------------------------------------------------------------------------------


def die(shop: MerchantClient, inbox: Inbox, days: int) -> list[str]:
    """Makes an event a day for an endpoint that accepts none."""
    inbox.answers(then=BROKEN)
    refs = []
    for _ in range(days):
        refs.append(str(shop.transfer()["txnRef"]))
        wait_until("it was tried once, or is not tried any more", lambda: tried_or_off(shop, refs[-1]))
        shop.advance(days=1)
    return refs


def tried_or_off(shop: MerchantClient, txn_ref: str) -> bool:
    event = event_of(shop, txn_ref)
    return bool(event["attempts"]) or event["state"] == "endpoint_off"


@FAILING_SECONDS.tries
def test_an_endpoint_is_switched_off_once_it_has_failed_for_five_days(
    listening: MerchantClient, inbox: Inbox, value: int, is_within: bool
) -> None:
    fail_once(listening, inbox)
    listening.advance(seconds=value)
    txn_ref = str(listening.transfer()["txnRef"])
    wait_for_state(listening, txn_ref, "scheduled" if is_within else "endpoint_off", attempts=1)


def test_an_endpoint_that_fails_for_five_days_is_switched_off_and_left_alone(
    listening: MerchantClient, inbox: Inbox
) -> None:
    die(listening, inbox, days=4)
    assert {event["state"] for event in events_of(listening)} == {"scheduled", "exhausted"}
    die(listening, inbox, days=2)
    before = len(inbox.requests)
    assert [event["state"] for event in events_of(listening)] == ["endpoint_off"] * 4 + ["exhausted"] * 2
    assert listening.advance(days=30)["ran"] == {}
    assert len(inbox.requests) == before


def test_what_happens_while_the_endpoint_is_off_waits_too(
    open_shop: Callable[..., MerchantClient], listening: MerchantClient, inbox: Inbox
) -> None:
    die(listening, inbox, days=6)
    before = len(inbox.requests)
    new = listening.transfer()["txnRef"]
    other = open_shop()
    send_events_to(other, inbox.url.replace("/events", "/other"))
    inbox.answers(then=OK)
    wait_for_state(other, other.transfer()["txnRef"], "delivered")  # the sender has polled
    assert event_of(listening, new)["state"] == "endpoint_off"
    assert [letter.path for letter in inbox.requests[before:]] == ["/other"]


def test_the_backlog_is_delivered_once_the_url_is_set_again(listening: MerchantClient, inbox: Inbox) -> None:
    refs = die(listening, inbox, days=6)
    refs.append(str(listening.transfer()["txnRef"]))
    waiting = [event["txnRef"] for event in events_of(listening) if event["state"] == "endpoint_off"]
    assert sorted(waiting) == sorted(refs[2:])
    inbox.answers(then=OK)
    send_events_to(listening, inbox.url)
    for txn_ref in waiting:
        if event_of(listening, txn_ref)["state"] != "delivered":
            listening.advance(days=1)
        wait_for_state(listening, txn_ref, "delivered")
    assert {event_of(listening, txn_ref)["state"] for txn_ref in refs[:2]} == {"exhausted"}


def test_asking_for_an_event_again_tries_an_endpoint_that_is_off(listening: MerchantClient, inbox: Inbox) -> None:
    refs = die(listening, inbox, days=6)
    inbox.answers(then=OK)
    resend(listening, event_id=event_of(listening, refs[0])["event_id"])
    wait_for_state(listening, refs[0], "delivered")
    listening.advance(days=1)
    assert {event_of(listening, txn_ref)["state"] for txn_ref in refs[2:]} == {"delivered"}


def test_a_success_between_failures_keeps_an_endpoint_on(listening: MerchantClient, inbox: Inbox) -> None:
    die(listening, inbox, days=3)
    inbox.answers(then=OK)
    wait_for_state(listening, listening.transfer()["txnRef"], "delivered")
    die(listening, inbox, days=3)
    assert "endpoint_off" not in {event["state"] for event in events_of(listening)}


def test_dropped_events_say_nothing_about_the_endpoint(listening: MerchantClient, inbox: Inbox) -> None:
    drop = {"x-sandbox-scenario": "webhook=drop"}
    for _ in range(2):
        dropped = listening.transfer(headers=drop)["txnRef"]
        wait_for_state(listening, dropped, "exhausted", attempts=1)
        listening.advance(days=6)
    txn_ref = fail_once(listening, inbox, BROKEN)
    assert event_of(listening, txn_ref)["state"] == "scheduled"


# --- endpoints that are gone ------------------------------------------------------------------------------


def test_an_event_whose_url_is_removed_while_it_waits_ends_without_an_endpoint(
    listening: MerchantClient, inbox: Inbox
) -> None:
    txn_ref = fail_once(listening, inbox)
    send_events_to(listening, "")
    assert listening.advance(days=1)["ran"] == {"webhook": 1}
    event = event_of(listening, txn_ref)
    assert event["state"] == "no_endpoint"
    assert [attempt["error"] for attempt in event["attempts"]] == ["HTTP 500", "no endpoint is set"]
    send_events_to(listening, inbox.url)
    assert listening.advance(days=1)["ran"] == {}
    inbox.answers(then=OK)
    resend(listening, event_id=event["event_id"])
    assert wait_for_state(listening, txn_ref, "delivered", attempts=3)
