"""The event log as merchants read it: by page, by transaction or by sequence; and sending events again.

Contract: resources#events
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, RawReply, without_codes
from tests.running import Deployment
from tests.webhooks.event_log import event_of, events_of, resend, send_events_to, wait_for_state, wait_until
from tests.webhooks.inbox import BROKEN, OK, Inbox, running_inbox

START = "2026-01-05T09:00:00Z"
UNKNOWN = {"status": 104, "message": "Invalid Event Reference"}


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


def feed(shop: MerchantClient, after: int = 0, limit: int = 200) -> Any:
    return shop.put("resources", inquire="event_feed", after=after, limit=limit).body


# --- reading ----------------------------------------------------------------------------------------------


def test_an_event_is_shown_with_its_payload_and_every_attempt(
    open_shop: Callable[..., MerchantClient], inbox: Inbox
) -> None:
    shop = open_shop(now=START)
    send_events_to(shop, inbox.url)
    inbox.answers(BROKEN, then=OK)
    sent = shop.transfer(orderRef="order-1042")
    wait_for_state(shop, sent["txnRef"], "scheduled", attempts=1)
    shop.advance(seconds=5)
    [event] = events_of(shop)
    first, second = event.pop("attempts")
    assert event == {
        "event_id": inbox.ids[0],
        "sequence": 1,
        "txnRef": sent["txnRef"],
        "kind": "transfer",
        "object": sent["txnRef"],
        "object_sequence": 1,
        "state": "delivered",
        "dateCreated": "2026-01-05T09:00:00.000Z",
        "payload": inbox.requests[0].payload,
    }
    assert first.pop("ms") >= 0
    assert second.pop("ms") >= 0
    assert first == {"number": 1, "at": "2026-01-05T09:00:00.000Z", "http": 500, "error": "HTTP 500", "response": ""}
    assert second == {"number": 2, "at": "2026-01-05T09:00:05.000Z", "http": 200, "error": None, "response": ""}


def test_the_log_is_paged_newest_first(shop: MerchantClient) -> None:
    refs = [shop.transfer()["txnRef"] for _ in range(5)]
    page = shop.put("resources", inquire="events", offset=1, limit=3).body
    assert [event["txnRef"] for event in page["data"]] == refs[3:0:-1]
    assert (page["total"], page["offset"], page["limit"]) == (5, 1, 3)
    assert events_of(shop, offset=5) == []
    assert [event["sequence"] for event in events_of(shop, limits=2)] == [5, 4]


def test_the_log_of_one_transaction_has_its_event_alone(shop: MerchantClient) -> None:
    first, second = shop.transfer()["txnRef"], shop.transfer()["txnRef"]
    assert event_of(shop, first)["payload"]["txnRef"] == first
    page = shop.put("resources", inquire="events", txnRef=second).body
    assert (page["total"], [event["txnRef"] for event in page["data"]]) == (1, [second])
    assert events_of(shop, txnRef="GP|FD|000000000|20260105A") == []


def test_a_transfer_that_is_not_final_has_no_event(shop: MerchantClient) -> None:
    pending = shop.transfer(accountnumber="0000000020")
    assert events_of(shop, txnRef=pending["txnRef"]) == []
    shop.put("sandbox", action="settle", txnRef=pending["txnRef"], outcome="failed")
    assert event_of(shop, pending["txnRef"])["payload"]["txnStatus"] == "failed"


def test_one_merchant_does_not_see_the_events_of_another(open_shop: Callable[..., MerchantClient]) -> None:
    mine, other = open_shop(), open_shop()
    txn_ref = mine.transfer()["txnRef"]
    assert events_of(other) == []
    assert events_of(other, txnRef=txn_ref) == []
    assert feed(other) == {"status": 200, "data": [], "last": 0, "more": False}


# --- by sequence ------------------------------------------------------------------------------------------


def test_the_feed_goes_on_where_it_was_left(shop: MerchantClient) -> None:
    refs = [shop.transfer()["txnRef"] for _ in range(5)]
    page = feed(shop, after=0, limit=2)
    assert ([event["txnRef"] for event in page["data"]], page["last"], page["more"]) == (refs[:2], 2, True)
    page = feed(shop, after=2, limit=3)
    assert ([event["txnRef"] for event in page["data"]], page["last"], page["more"]) == (refs[2:], 5, False)
    assert feed(shop, after=5) == {"status": 200, "data": [], "last": 5, "more": False}


def follow(deployment: Deployment, shop: MerchantClient, done: threading.Event) -> list[Any]:
    """Returns everything that the feed shows to a client that asks repeatedly with the last sequence seen."""
    seen: list[Any] = []
    with deployment.connect() as wire:
        reader = MerchantClient(wire, shop.mid, shop.key)
        while True:
            finished = done.is_set()
            page = feed(reader, after=seen[-1]["sequence"] if seen else 0, limit=7)
            seen += page["data"]
            if finished and not page["more"]:
                return seen


def send_many(deployment: Deployment, shop: MerchantClient, count: int) -> list[str]:
    with deployment.connect() as wire:
        sender = MerchantClient(wire, shop.mid, shop.key)
        return [sender.transfer()["txnRef"] for _ in range(count)]


def test_who_follows_the_feed_while_transfers_run_misses_none(deployment: Deployment, shop: MerchantClient) -> None:
    done = threading.Event()
    with ThreadPoolExecutor(9) as pool:
        following = pool.submit(follow, deployment, shop, done)
        sending = [pool.submit(send_many, deployment, shop, 25) for _ in range(8)]
        sent = [txn_ref for one in sending for txn_ref in one.result()]
        done.set()
        seen = following.result()
    assert [event["sequence"] for event in seen] == list(range(1, 201))
    assert sorted(event["txnRef"] for event in seen) == sorted(sent)


# --- sending again ------------------------------------------------------------------------------------------


def test_a_delivered_event_is_sent_again_as_it_was(shop: MerchantClient, inbox: Inbox) -> None:
    send_events_to(shop, inbox.url)
    txn_ref = shop.transfer()["txnRef"]
    event = wait_for_state(shop, txn_ref, "delivered")
    assert resend(shop, event_id=event["event_id"]) == {
        "status": 200,
        "message": "Sent again",
        "sent": 1,
        "more": False,
    }
    wait_for_state(shop, txn_ref, "delivered", attempts=2)
    first, second = inbox.requests
    assert (first.id, first.body) == (second.id, second.body)


def test_a_range_of_events_is_sent_again_both_ends_included(shop: MerchantClient, inbox: Inbox) -> None:
    refs = [shop.transfer()["txnRef"] for _ in range(5)]
    send_events_to(shop, inbox.url)
    assert resend(shop, **{"from": 2, "to": 4})["sent"] == 3
    inbox.wait_for(3)
    wait_until("all are recorded", lambda: [e["state"] for e in events_of(shop)].count("delivered") == 3)
    assert sorted(letter.payload["txnRef"] for letter in inbox.requests) == sorted(refs[1:4])
    assert resend(shop, **{"from": 5})["sent"] == 1
    assert resend(shop, **{"from": 5, "to": 900})["sent"] == 1


@pytest.mark.parametrize(
    "event_id",
    [
        "evt_00000001000000000000",
        "evt_00000001",
        "evt_",
        "1",
        "evt_٠٠٠٠٠٠٠١aaaaaaaaaaaa",
        "evt_99999999999999999999999999aaaaaaaaaaaa",
        "evt_-0000001aaaaaaaaaaaa",
    ],
)
def test_an_event_id_that_is_not_ours_is_unknown(shop: MerchantClient, inbox: Inbox, event_id: str) -> None:
    send_events_to(shop, inbox.url)
    shop.transfer()
    assert without_codes(resend(shop, event_id=event_id)) == UNKNOWN


def test_the_event_ids_of_another_merchant_answer_exactly_as_unknown_ones(
    open_shop: Callable[..., MerchantClient], inbox: Inbox
) -> None:
    mine, other = open_shop(), open_shop()
    for shop in (mine, other):
        send_events_to(shop, inbox.url)
        wait_for_state(shop, shop.transfer()["txnRef"], "delivered")
    [theirs], before = events_of(other), len(inbox.requests)

    def ask(event_id: str) -> tuple[int, bytes]:
        reply: RawReply = mine.send_fields("resources", {"request": "resend", "event_id": event_id})
        return reply.http, reply.raw

    made_up = theirs["event_id"][:-1] + ("0" if theirs["event_id"][-1] != "0" else "1")
    assert ask(theirs["event_id"]) == ask(made_up)
    assert without_codes(resend(mine, event_id=theirs["event_id"])) == UNKNOWN
    assert resend(other, event_id=theirs["event_id"])["sent"] == 1  # it is one, to whom it belongs
    inbox.wait_for(before + 1)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "event_id"),
        ({"to": 5}, "event_id"),
        ({"from": 5, "to": 4}, "to"),
        ({"from": 1, "to": 1001}, "to"),
        ({"from": 0}, "from"),
        ({"from": "one"}, "from"),
    ],
)
def test_a_range_that_makes_no_sense_is_refused(
    shop: MerchantClient, inbox: Inbox, fields: dict[str, Any], field: str
) -> None:
    send_events_to(shop, inbox.url)
    body = resend(shop, **fields)
    assert (body["status"], [fault["field"] for fault in body["errors"]]) == (104, [field])


def test_a_range_in_which_there_is_no_event_is_unknown(shop: MerchantClient, inbox: Inbox) -> None:
    send_events_to(shop, inbox.url)
    assert without_codes(resend(shop, **{"from": 1, "to": 1000})) == UNKNOWN


def test_without_a_url_nothing_can_be_sent_again(shop: MerchantClient) -> None:
    txn_ref = shop.transfer()["txnRef"]
    body = resend(shop, event_id=event_of(shop, txn_ref)["event_id"])
    assert without_codes(body) == {"status": 104, "message": "No webhook URL is set; set one first"}
    assert event_of(shop, txn_ref)["state"] == "no_endpoint"
