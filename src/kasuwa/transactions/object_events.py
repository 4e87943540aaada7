"""Events of objects that change state more than once, such as invoices. A transaction has one event, when it ends.

Each event has a reference of its own, made of the object's id and the number of the event among those of the object.
Contract: events#payload
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from kasuwa.core.decision import Context, Event, Job, Row
from kasuwa.transactions.event_payloads import build_event
from kasuwa.transactions.transactions import make_delivery_jobs


class ObjectEvent(msgspec.Struct, frozen=True):
    """An event of an object, and the jobs that deliver it."""

    event: Event
    jobs: tuple[Job, ...]


def list_jobs(events: Iterable[ObjectEvent]) -> tuple[Job, ...]:
    """Returns the jobs that deliver events."""
    return tuple(job for event in events for job in event.jobs)


def make_object_event(
    context: Context, kind: str, row: Row, object_id: str, number: int, fields: dict[str, Any]
) -> ObjectEvent:
    """Returns the event `number` of an object. `fields` are those of its payload beyond `kind`, `status`, `txnRef`,
    `endpoint`."""
    payload = build_event(
        kind, {"status": 200, "txn_ref": object_id, "endpoint": context.merchant.environment, **fields}
    )
    reference = f"{object_id}:{number}"
    event = Event(reference, kind, msgspec.json.encode(payload), object_id, number)
    return ObjectEvent(event, make_delivery_jobs(context, row, event, context.scenario))
