"""What a merchant sees of its events: the log over HTTP, and waiting until something stands in it."""

import time
from collections.abc import Callable
from typing import Any

from tests.shop import Shop
from tests.work.inbox import PATIENCE_SECONDS

LOOK_SECONDS = 0.02


def wait_until(what: str, holds: Callable[[], Any]) -> Any:
    """The first answer of `holds` that is true."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not (found := holds()):
        assert time.monotonic() < until, f"still waiting: {what}"
        time.sleep(LOOK_SECONDS)
    return found


def send_events_to(shop: Shop, url: str) -> None:
    http, body = shop.put("sandbox", action="webhook", url=url)
    assert (http, body["status"]) == (200, 200), body


def events_of(shop: Shop, **fields: Any) -> list[Any]:
    """Newest first."""
    http, body = shop.put("resources", inquire="events", **fields)
    assert (http, body["status"]) == (200, 200), body
    return list(body["data"])


def event_of(shop: Shop, txn_ref: str) -> Any:
    [event] = events_of(shop, txnRef=txn_ref)
    return event


def wait_for_state(shop: Shop, txn_ref: str, state: str, attempts: int = 0) -> Any:
    """The event, once it stands so and was tried so often: what was sent is recorded a moment later."""

    def look() -> Any:
        event = event_of(shop, txn_ref)
        return event if event["state"] == state and len(event["attempts"]) >= attempts else None

    return wait_until(f"{txn_ref} is {state} after {attempts} attempts", look)


def resend(shop: Shop, **fields: Any) -> Any:
    return shop.put("resources", request="resend", **fields).body
