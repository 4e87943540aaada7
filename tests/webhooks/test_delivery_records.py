"""The record of deliveries, written by one statement for many; and how long a delivery may take."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from kasuwa.core.endpoints import FIRST_ENDPOINT
from kasuwa.methods.resources.store import MOST_ATTEMPTS
from kasuwa.outbound.egress import DEFAULT_LIMITS
from kasuwa.webhooks import deliveries
from kasuwa.webhooks.deliveries import AttemptResult
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.walk.bounds import DELIVERY_ATTEMPTS
from tests.webhooks.event_log import event_of, send_events_to

NOBODY = "http://127.0.0.1:9/events"
LATE = {"x-sandbox-scenario": "webhook=late:86400"}
WAITING = """
    select j.key, j.merchant_id, e.seq from scheduled_job j join event e using (merchant_id, reference)
    join merchant m using (merchant_id) where m.mid = $1 and j.reference = $2 and j.lane = 'webhook'
"""


def outcome(waiting: Any, at: datetime, http: int) -> AttemptResult:
    well = http == 200
    key, merchant_id, seq = waiting
    again = None if well else at + timedelta(seconds=5)
    place = (key, merchant_id, FIRST_ENDPOINT, seq)
    return AttemptResult(*place, at, http, None if well else f"HTTP {http}", 7, again, True, well)


def record(deployment: Deployment, *outcomes: AttemptResult) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(deployment.dsn)
        try:
            await deliveries.record_attempts(connection, list(outcomes))
        finally:
            await connection.close()

    asyncio.run(run())


@pytest.mark.parametrize("turn", [1, -1])
def test_two_attempts_of_one_event_recorded_together_are_both_kept(
    shop: MerchantClient, deployment: Deployment, turn: int
) -> None:
    """A lease expired while its holder still waited, and both attempts are recorded together. One of them delivered the
    event, so it is done, whatever their order."""
    send_events_to(shop, NOBODY)
    txn_ref = shop.transfer(headers=LATE)["txnRef"]
    [waiting] = deployment.fetch(WAITING, shop.mid, txn_ref)
    now = datetime.now(UTC)
    both = [outcome(waiting, now, 500), outcome(waiting, now + timedelta(seconds=1), 200)]
    record(deployment, *both[::turn])
    event = event_of(shop, txn_ref)
    assert [(attempt["number"], attempt["http"]) for attempt in event["attempts"]] == [(1, 500), (2, 200)]
    assert event["state"] == "delivered"
    assert deployment.fetch(WAITING, shop.mid, txn_ref) == []


def test_of_very_many_attempts_the_newest_are_shown_with_their_numbers(
    shop: MerchantClient, deployment: Deployment
) -> None:
    """An event may be sent again any number of times."""
    send_events_to(shop, NOBODY)
    txn_ref = shop.transfer(headers=LATE)["txnRef"]
    [waiting] = deployment.fetch(WAITING, shop.mid, txn_ref)
    now = datetime.now(UTC)
    many = [outcome(waiting, now + timedelta(seconds=n), 500) for n in range(MOST_ATTEMPTS + 9)]
    record(deployment, *many, outcome(waiting, now + timedelta(hours=1), 200))
    event = event_of(shop, txn_ref)
    assert [attempt["number"] for attempt in event["attempts"]] == list(range(11, MOST_ATTEMPTS + 11))
    assert (event["attempts"][-1]["http"], event["state"]) == (200, "delivered")


def test_the_newest_hundred_attempts_are_shown(shop: MerchantClient, deployment: Deployment) -> None:
    send_events_to(shop, NOBODY)
    now = datetime.now(UTC)
    for count, shown in DELIVERY_ATTEMPTS.sides:
        txn_ref = shop.transfer(headers=LATE)["txnRef"]
        [waiting] = deployment.fetch(WAITING, shop.mid, txn_ref)
        record(deployment, *(outcome(waiting, now + timedelta(seconds=n), 500) for n in range(count)))
        numbers = [attempt["number"] for attempt in event_of(shop, txn_ref)["attempts"]]
        assert numbers == list(range(count - shown + 1, count + 1)), count


def test_a_delivery_ends_before_its_lease_even_if_it_is_sent_twice() -> None:
    longest = 2 * (DEFAULT_LIMITS.queue_seconds + DEFAULT_LIMITS.total_seconds)
    assert timedelta(seconds=longest + 5) < deliveries.DELIVERY_LEASE
