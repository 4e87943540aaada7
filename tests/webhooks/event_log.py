"""A merchant's event log over HTTP, waiting for an entry, and adding entries to it."""

import time
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from kasuwa.core.decision import Event
from kasuwa.engine.journal import event_row
from kasuwa.ledger.chain import extend_by_event
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.webhooks.inbox import WAIT_TIMEOUT_SECONDS

# What is asked takes processor time from what is waited for: soon at first, and then less and less often.
FIRST_POLL_SECONDS, LONGEST_POLL_SECONDS = 0.02, 0.3


def wait_until(what: str, holds: Callable[[], Any]) -> Any:
    """Calls `holds` until it returns a true value, and returns that."""
    until, pause = time.monotonic() + WAIT_TIMEOUT_SECONDS, FIRST_POLL_SECONDS
    while not (found := holds()):
        assert time.monotonic() < until, f"still waiting: {what}"
        time.sleep(pause)
        pause = min(1.3 * pause, LONGEST_POLL_SECONDS)
    return found


def send_events_to(shop: MerchantClient, url: str) -> None:
    http, body = shop.put("sandbox", action="webhook", url=url)
    assert (http, body["status"]) == (200, 200), body


def events_of(shop: MerchantClient, **fields: Any) -> list[Any]:
    """Returns the events, newest first."""
    http, body = shop.put("resources", inquire="events", **fields)
    assert (http, body["status"]) == (200, 200), body
    return list(body["data"])


def event_of(shop: MerchantClient, txn_ref: str) -> Any:
    [event] = events_of(shop, txnRef=txn_ref)
    return event


def wait_for_state(shop: MerchantClient, txn_ref: str, state: str, attempts: int = 0) -> Any:
    """Returns the event once it has this state and number of attempts: a delivery is recorded a moment after it was
    sent."""

    def look() -> Any:
        event = event_of(shop, txn_ref)
        return event if event["state"] == state and len(event["attempts"]) >= attempts else None

    return wait_until(f"{txn_ref} is {state} after {attempts} attempts", look)


def resend(shop: MerchantClient, **fields: Any) -> Any:
    return shop.put("resources", request="resend", **fields).body


# --- adding events --------------------------------------------------------------------------------------------------

LOCK_LOG = """
    select s.merchant_id, s.last_event_seq, s.event_head,
        coalesce(s.clock_fixed_at, now() + s.clock_offset_us * interval '1 microsecond')
    from merchant_state s join merchant m using (merchant_id)
    where m.mid = $1 and m.current for update of s
"""
INSERT_EVENT = """
    insert into event (merchant_id, seq, reference, object, object_seq, kind, payload, at, hash)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""
EXTEND_LOG = """
    update merchant_state set last_event_seq = $2, event_head = $3, version = version + 1 where merchant_id = $1
"""


def add_events(deployment: Deployment, shop: MerchantClient, events: Iterable[Event]) -> None:
    """Adds events to a merchant's log as the service does: with the next numbers, and in the chain."""

    async def add(connection: Any) -> None:
        async with connection.transaction():
            merchant_id, last, head, now = await connection.fetchrow(LOCK_LOG, shop.mid)
            rows = [event_row(event, merchant_id, seq, now) for seq, event in enumerate(events, start=last + 1)]
            for row in rows:
                row.hash = head = extend_by_event(head, row)
            await connection.executemany(INSERT_EVENT, [msgspec.structs.astuple(row) for row in rows])
            await connection.execute(EXTEND_LOG, merchant_id, last + len(rows), head)

    deployment.run_on_connection(add)
