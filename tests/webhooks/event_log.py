"""A merchant's event log over HTTP, and waiting for an entry."""

import time
from collections.abc import Callable
from typing import Any

from tests.merchant_client import MerchantClient
from tests.webhooks.inbox import WAIT_TIMEOUT_SECONDS

POLL_SECONDS = 0.02


def wait_until(what: str, holds: Callable[[], Any]) -> Any:
    """Calls `holds` until it returns a true value, and returns that."""
    until = time.monotonic() + WAIT_TIMEOUT_SECONDS
    while not (found := holds()):
        assert time.monotonic() < until, f"still waiting: {what}"
        time.sleep(POLL_SECONDS)
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
