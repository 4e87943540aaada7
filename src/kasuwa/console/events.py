"""The events pages: list, one event with its delivery attempts, and resending."""

from starlette.responses import Response

from kasuwa.console import store
from kasuwa.console.store import PAGE_ROWS
from kasuwa.console.visit import NotFound, Visit
from kasuwa.core.events import event_id

MAX_SEQUENCE = 2**62


def parse_int(text: str, default: int) -> int:
    """Parses a non-negative integer of at most 18 digits. Returns `default` for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else default


async def show_events(visit: Visit) -> Response:
    before = parse_int(visit.query.get("before", ""), MAX_SEQUENCE)
    async with visit.snapshot() as reader:
        lines = await store.list_events(reader, visit.merchant, before)
        endpoint_failure = await store.find_endpoint_failure(reader, visit.merchant)
    shown = lines[:PAGE_ROWS]
    return visit.render(
        "events.html",
        lines=shown,
        next_url=f"/events?before={shown[-1].sequence}" if len(lines) > PAGE_ROWS else "",
        first_url="/events" if before != MAX_SEQUENCE else "",
        endpoint_failure=endpoint_failure,
    )


async def show_event(visit: Visit) -> Response:
    async with visit.snapshot() as reader:
        event = await store.find_event(reader, visit.merchant, parse_int(visit.path_parameter("seq"), 0))
    if event is None:
        raise NotFound
    return visit.render("event.html", event=event)


async def resend_event(visit: Visit) -> Response:
    seq = parse_int(visit.path_parameter("seq"), 0)
    event = await store.find_event(visit.reader, visit.merchant, seq)
    if event is None:
        raise NotFound
    request = {"request": "resend", "event_id": event_id(visit.merchant.merchant_id, seq)}
    reply = await visit.run_action("resources", request, "sent an event again")
    return visit.redirect(f"/events/{seq}", "The event is being sent again." if reply.is_success else reply.message)
