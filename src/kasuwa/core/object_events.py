"""Events of objects that change state more than once, such as invoices. A transaction has one event, when it ends.

Each event has a reference of its own, made of the object's id and the number of the event among those of the object.
Contract: events#payload
"""

from typing import Any

import msgspec

from kasuwa.core.decision import Context, Event, Job, Row
from kasuwa.core.event_payloads import build_event
from kasuwa.core.references import ordered_key, row_key
from kasuwa.core.scenario import webhook_delay
from kasuwa.core.transactions import DELIVER_EVENT, encode_text


class ObjectEvent(msgspec.Struct, frozen=True):
    """An event of an object, and the job that delivers it if the merchant has a webhook."""

    event: Event
    jobs: tuple[Job, ...]


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
    if not context.has_webhook:
        return ObjectEvent(event, ())
    # The key has the number of the event: on a frozen clock two events of an object have the same time.
    subject = row_key(row.merchant_id, "object event", reference)
    key = ordered_key(max(0, int(context.now.timestamp() * 1000)), DELIVER_EVENT, subject)
    due = context.now + webhook_delay(context.scenario)
    work = encode_text(context.scenario)
    job = Job(key, row.merchant_id, DELIVER_EVENT, "webhook", reference, row.key, due, due, None, 0, 0, None, work)
    return ObjectEvent(event, (job,))
