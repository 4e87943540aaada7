"""Polls `verify` until a transaction is final. A flow, as in _flow.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from kasuwa_client._action import Action
from kasuwa_client._flow import Flow, Pause, Settings, call, with_deadline
from kasuwa_client.errors import (
    CallFacts,
    OutcomeUnknown,
    RateLimited,
    ServiceError,
    ServiceUnreachable,
    StillPending,
    UnexpectedReply,
)

T = TypeVar("T")

OPEN_STATES = frozenset({"pending", "processing"})
FIRST_POLL_SECONDS = 0.2
MAX_POLL_SECONDS = 4.0
POLL_GROWTH = 1.6


def wait(settings: Settings, verify: Action[T], thing: Any, seconds: float) -> Flow[T]:
    """Returns the final state of a transaction. Raises StillPending if it is not final within so many seconds.

    `thing` is a reply of the operation, its reference, or the OutcomeUnknown that the operation raised.
    """
    arguments = reference_of(thing, verify)
    until = settings.clock() + seconds
    pause = FIRST_POLL_SECONDS
    state: T | None = None
    trouble = ""
    while True:
        left = until - settings.clock()
        try:
            state = yield from call(with_deadline(settings, left), verify, arguments)
            if getattr(state, "txn_status", None) not in OPEN_STATES:
                return state
            trouble = ""
        except (ServiceUnreachable, RateLimited, UnexpectedReply, ServiceError) as error:
            # The service is away for a moment. It is asked again until the time is over.
            trouble = f"; the last attempt to verify failed: {error.message}"
        left = until - settings.clock()
        if left <= pause:
            facts = CallFacts(verify.name, order_ref=arguments.get("order_ref"))
            raise StillPending(f"The outcome is not final after {seconds:g} seconds{trouble}", facts, state=state)
        yield Pause(min(pause, left))
        pause = min(pause * POLL_GROWTH, MAX_POLL_SECONDS)


def reference_of(thing: Any, verify: Action[Any]) -> Mapping[str, str]:
    """Returns the arguments of verify for a reply, a reference or an error. Raises TypeError if there is none."""
    if isinstance(thing, OutcomeUnknown):
        if thing.state is not None:
            return reference_of(thing.state, verify)
        found = {"order_ref": thing.order_ref, "customer_txnref": thing.call.customer_txnref}
    elif isinstance(thing, str):
        found = {"txn_ref" if "txn_ref" in verify.fields else "order_ref": thing}
    else:
        found = {name: getattr(thing, name, None) for name in ("refund_ref", "txn_ref", "batch_ref", "order_ref")}
    for name, value in found.items():
        if isinstance(value, str) and name in verify.fields:
            return {name: value}
    raise TypeError(f"wait() has no reference to verify by: {type(thing).__name__} has none")
