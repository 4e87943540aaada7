"""Events: what the merchant was told, every attempt to tell it, and sending one again."""

from starlette.responses import Response

from kasuwa.console import store
from kasuwa.console.store import PAGE_ROWS
from kasuwa.console.visit import NotFound, Visit
from kasuwa.core.events import event_id

LAST = 2**62


def number(text: str, other: int) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else other


async def show_events(visit: Visit) -> Response:
    before = number(visit.query.get("before", ""), LAST)
    async with visit.snapshot() as reader:
        lines = await store.list_events(reader, visit.merchant, before)
        trouble = await store.endpoint_trouble(reader, visit.merchant)
    shown = lines[:PAGE_ROWS]
    return visit.show(
        "events.html",
        lines=shown,
        more=f"/events?before={shown[-1].sequence}" if len(lines) > PAGE_ROWS else "",
        newest="/events" if before != LAST else "",
        trouble=trouble,
    )


async def show_event(visit: Visit) -> Response:
    async with visit.snapshot() as reader:
        event = await store.find_event(reader, visit.merchant, number(visit.path("seq"), 0))
    if event is None:
        raise NotFound
    return visit.show("event.html", event=event)


async def resend_event(visit: Visit) -> Response:
    seq = number(visit.path("seq"), 0)
    event = await store.find_event(visit.reader, visit.merchant, seq)
    if event is None:
        raise NotFound
    asked = event_id(visit.merchant.merchant_id, seq)
    reply = await visit.do("resources", {"request": "resend", "event_id": asked}, "sent an event again")
    return visit.go(f"/events/{seq}", "It is on its way again." if reply.is_good else reply.message)
