"""Strict order of the events of one object: a later one waits until the earlier is delivered or given up.

The second event of an object is inserted by the test, as a refund of a payment would write it.
"""

from collections.abc import Callable, Iterator

import pytest

from kasuwa.core.decision import Event
from kasuwa.core.endpoints import FIRST_ENDPOINT
from tests.jobs.further_endpoints import add_endpoint, attempts_at
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.webhooks.event_log import add_events, event_of, send_events_to, wait_for_state, wait_until
from tests.webhooks.inbox import BROKEN, OK, Inbox, running_inbox

START = "2026-01-05T09:00:00Z"
SECOND = "planted"

PLANT_JOB = """
    insert into scheduled_job (key, merchant_id, kind, lane, endpoint_id, reference, subject, due, run_at, claims,
        attempt, work)
    select decode(md5(random()::text), 'hex'), e.merchant_id, 'webhook.deliver', 'webhook', $3, e.reference,
        decode(md5(e.reference), 'hex'), e.at, now(), 0, 0, '{}'
    from event e join merchant m using (merchant_id) where m.mid = $1 and e.reference = $2
"""
CLAIMS = """
    select claims from scheduled_job join merchant using (merchant_id)
    where mid = $1 and reference = $2 and endpoint_id = $3
"""


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


def listen(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], inbox: Inbox, order: str
) -> MerchantClient:
    shop = open_shop(now=START)
    deployment.run_command("merchant", "set", shop.mid, "--webhook-order", order)
    send_events_to(shop, inbox.url)
    return shop


def fail_first(deployment: Deployment, shop: MerchantClient, inbox: Inbox, endpoint_id: int = FIRST_ENDPOINT) -> str:
    """Makes an event whose delivery failed, and a second one of the same object, due at once."""
    inbox.answers(then=BROKEN)
    first = str(shop.transfer()["txnRef"])
    wait_until("it was tried once", lambda: attempts_at(deployment, shop, endpoint_id))
    second = Event(SECOND, "transfer", b'{"second": true}', object=first, object_seq=2)
    add_events(deployment, shop, [second])
    inbox.answers(then=OK)
    deployment.fetch(PLANT_JOB, shop.mid, SECOND, endpoint_id)
    return first


def was_put_back(deployment: Deployment, shop: MerchantClient, endpoint_id: int = FIRST_ENDPOINT) -> None:
    def look() -> bool:
        [[claims]] = deployment.fetch(CLAIMS, shop.mid, SECOND, endpoint_id)
        return bool(claims >= 2)

    wait_until("the sender has polled twice", look)


def test_in_strict_order_an_event_waits_for_the_one_before_it(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], inbox: Inbox
) -> None:
    shop = listen(deployment, open_shop, inbox, "strict")
    first = fail_first(deployment, shop, inbox)
    was_put_back(deployment, shop)
    assert event_of(shop, SECOND)["attempts"] == []
    shop.advance(seconds=5)
    wait_for_state(shop, SECOND, "delivered")
    ids = [event_of(shop, reference)["event_id"] for reference in (first, first, SECOND)]
    assert inbox.ids == ids
    assert [letter.headers["webhook-object"] for letter in inbox.requests] == [first] * 3
    assert [letter.headers["webhook-sequence"] for letter in inbox.requests] == ["1", "1", "2"]


def test_in_strict_order_an_event_waits_at_a_further_endpoint_as_well(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], inbox: Inbox
) -> None:
    shop = open_shop(now=START)
    deployment.run_command("merchant", "set", shop.mid, "--webhook-order", "strict")
    endpoint_id = add_endpoint(deployment, shop, inbox.url)
    first = fail_first(deployment, shop, inbox, endpoint_id)
    was_put_back(deployment, shop, endpoint_id)
    assert len(inbox.requests) == 1
    shop.advance(seconds=5)
    inbox.wait_for(3)
    ids = [event_of(shop, reference)["event_id"] for reference in (first, first, SECOND)]
    assert inbox.ids == ids


def test_in_strict_order_an_event_goes_when_the_one_before_it_is_given_up(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], inbox: Inbox
) -> None:
    shop = listen(deployment, open_shop, inbox, "strict")
    first = fail_first(deployment, shop, inbox)
    inbox.answers(then=BROKEN)
    shop.advance(days=4)
    inbox.answers(then=OK)
    shop.advance(days=4)
    assert event_of(shop, first)["state"] == "exhausted"
    assert len(event_of(shop, first)["attempts"]) == 10
    assert event_of(shop, SECOND)["state"] == "delivered"
    assert inbox.ids[:10] == [event_of(shop, first)["event_id"]] * 10


def test_in_loose_order_an_event_waits_for_nobody(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], inbox: Inbox
) -> None:
    shop = listen(deployment, open_shop, inbox, "loose")
    first = fail_first(deployment, shop, inbox)
    wait_for_state(shop, SECOND, "delivered")
    assert event_of(shop, first)["state"] == "scheduled"
