"""The events pages: list with filters, the endpoint's health, one event with its attempts, resending, verification."""

from datetime import UTC, datetime, time, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from starlette.responses import Response

from kasuwa.authority.roles import CAN_INTEGRATE
from kasuwa.console.kit.figures import percentage
from kasuwa.console.kit.values import AMOUNT_PATTERN, group_thousands
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant import store
from kasuwa.console.merchant.store import MAX_SEQUENCE, PAGE_ROWS
from kasuwa.console.merchant.transactions import parse_date
from kasuwa.console.reference.verification_code import LANGUAGES
from kasuwa.core.calendar import LAGOS, utc_text
from kasuwa.merchants.endpoints import list_attempts
from kasuwa.methods.resources import store as resources
from kasuwa.methods.resources.wire import EventLine, EventsRequest
from kasuwa.transactions.event_payloads import EVENT_KINDS
from kasuwa.transactions.transactions import TRANSACTION_KINDS
from kasuwa.webhooks.event_reads import EndpointFigures, EventFilter, EventPage, pick_events, read_endpoint_figures
from kasuwa.webhooks.health import list_failing_endpoints
from kasuwa.webhooks.sample_events import SAMPLE_KINDS
from kasuwa.webhooks.signatures import event_id, parse_event_id
from kasuwa.wire.fields import read_timestamp

FILTER_PARAMETERS = ("q", "kind", "state", "from", "to")
STATE_LABELS = (
    ("", "Any"),
    ("failed", "Failed"),
    ("waiting", "Waiting"),
    ("delivered", "Delivered"),
    ("unsent", "Not sent"),
)
APPROVAL_EVENT = "transfer_approval"
# One form sends up to this many requests of the API's 1,000 events each.
MAX_RESEND_ROUNDS = 20


def parse_int(text: str, default: int) -> int:
    """Parses a non-negative integer of at most 18 digits. Returns `default` for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else default


def read_filter(visit: Visit) -> tuple[EventFilter, dict[str, str]]:
    """Returns the filter in the query, and error texts by parameter."""
    faults: dict[str, str] = {}
    since, until = (parse_date(visit.query.get(name, "").strip()[:20], name, faults) for name in ("from", "to"))
    kind, state = visit.query.get("kind", ""), visit.query.get("state", "")
    return EventFilter(
        kind=kind if kind in EVENT_KINDS else "",
        state=state if state in dict(STATE_LABELS) else "",
        since=None if since is None else datetime.combine(since, time(), LAGOS),
        until=None if until is None else datetime.combine(until + timedelta(days=1), time(), LAGOS),
    ), faults


async def show_events(visit: Visit, status: int = 200, **values: Any) -> Response:
    search = visit.query.get("q", "").strip()[:100]
    sequence = parse_event_id(visit.merchant.merchant_id, search)
    if sequence is not None:
        return visit.redirect(f"/events/{sequence}")
    wanted, faults = read_filter(visit)
    before = parse_int(visit.query.get("before", ""), MAX_SEQUENCE)
    merchant_id = visit.merchant.merchant_id
    async with visit.snapshot() as reader:
        if search:
            rows, _ = await resources.find_events(
                EventsRequest(txn_ref=search, limit=PAGE_ROWS), visit.merchant, reader
            )
            lines, page = [resources.event_line(row) for row in rows], EventPage([], None)
        else:
            page = await pick_events(reader, merchant_id, wanted, before, PAGE_ROWS)
            lines = await store.list_events_by_number(reader, visit.merchant, page.sequences)
        shown = await store.add_endpoints(reader, visit.merchant, lines)
        failing = await list_failing_endpoints(reader, merchant_id)
        endpoint = await read_endpoint_figures(reader, merchant_id)
        clock = await store.read_clock(reader, visit.merchant, datetime.now(UTC))
    submitted = {name: visit.query.get(name, "") for name in FILTER_PARAMETERS}
    shared = {
        "lines": [(event, format_event_amount(event.line), find_subject(event.line)) for event in shown],
        "failing_endpoints": [endpoint for endpoint in failing if not endpoint.is_first],
        "submitted": submitted,
        "is_filtered": any(submitted.values()),
        "kinds": [("", "Any"), *((kind, kind.replace("_", " ").capitalize()) for kind in EVENT_KINDS)],
        "states": STATE_LABELS,
        "faults": faults,
        "next_url": "" if page.next_before is None else filtered_url(submitted, before=str(page.next_before)),
        "first_url": filtered_url(submitted) if before != MAX_SEQUENCE else "",
        "endpoint": endpoint,
        "success_rate": percentage(endpoint.accepted, endpoint.attempts),
        "endpoint_state": describe_state(endpoint),
        "sample_kinds": [(kind, kind.replace("_", " ").capitalize()) for kind in SAMPLE_KINDS],
        "resend_since": f"{(clock.now - timedelta(days=1)).astimezone(LAGOS):%Y-%m-%dT%H:%M}",
        "can_integrate": visit.user.role in CAN_INTEGRATE,
    }
    return visit.render("events.html", status, **{**shared, **values})


def filtered_url(submitted: dict[str, str], **changed: str) -> str:
    filled = {name: value for name, value in {**submitted, **changed}.items() if value}
    return f"/events?{urlencode(filled)}" if filled else "/events"


def describe_state(endpoint: EndpointFigures) -> str:
    if not endpoint.url:
        return "not set"
    if endpoint.disabled_at is not None:
        return "off"
    return "failed" if endpoint.failing_since is not None else "active"


def format_event_amount(line: EventLine) -> str:
    """Returns the amount of an event with its currency. That of an approval charges nothing: the amount is what
    waits."""
    amount = str(line.payload.get("amount" if line.kind == APPROVAL_EVENT else "chargedAmount", ""))
    shown = group_thousands(amount) if AMOUNT_PATTERN.fullmatch(amount) else amount
    return f"{line.payload.get('currency', '')} {shown}".strip()


# Pages of what an event is about, if it is no transaction. The event's object is their reference.
SUBJECT_PATHS = {"dispute": "disputes", "invoice": "invoices", "checkout": "checkouts", "settlement": "settlements"}


def find_subject(line: EventLine) -> tuple[str, str]:
    """Returns the reference of what an event is about and the address of its page, empty if it has none."""
    if line.kind in SUBJECT_PATHS:
        reference = line.txn_ref if line.kind == "checkout" else str(line.payload.get("settlement_id") or line.object)
        return reference, f"/{SUBJECT_PATHS[line.kind]}/{quote(reference, safe='')}"
    if line.kind in TRANSACTION_KINDS or line.kind == APPROVAL_EVENT:
        return line.txn_ref, f"/transactions/{quote(line.txn_ref, safe='')}"
    return line.txn_ref, ""


async def show_event(visit: Visit) -> Response:
    async with visit.snapshot() as reader:
        sequence = parse_int(visit.path_parameter("seq"), 0)
        event = await store.find_event(reader, visit.merchant, sequence)
        if event is None:
            raise NotFound
        [shown] = await store.add_endpoints(reader, visit.merchant, [event])
        others = await list_attempts(reader, visit.merchant.merchant_id, sequence)
    return visit.render(
        "event.html",
        event=event,
        state=shown.state,
        endpoint_states=shown.others,
        amount=format_event_amount(event),
        subject=find_subject(event),
        others=others,
    )


async def resend_event(visit: Visit) -> Response:
    seq = parse_int(visit.path_parameter("seq"), 0)
    event = await store.find_event(visit.reader, visit.merchant, seq)
    if event is None:
        raise NotFound
    request = {"request": "resend", "event_id": event_id(visit.merchant.merchant_id, seq)}
    reply = await visit.run_action("resources", request, "sent an event again")
    return visit.redirect(f"/events/{seq}", "The event is being sent again." if reply.is_success else reply.message)


async def set_settlement_events(visit: Visit) -> Response:
    """Turns daily events of settlements on or off, from the page of settlements."""
    chosen = visit.form_text("daily")
    request = {"request": "settlement_events", "daily": {"yes": True, "no": False}.get(chosen, chosen)}
    reply = await visit.run_action("resources", request, "changed the daily events of settlements")
    return visit.redirect("/settlements", f"{reply.message}.")


async def resend_failed_events(visit: Visit) -> Response:
    """Sends all events again that were not accepted since a time, in Lagos time."""
    since, count = visit.form_text("since"), 0
    try:
        moment = read_timestamp(since)
    except ValueError:
        return await show_events(visit, 422, faults={"since": "must be a time such as 2026-01-05T09:30"})
    request = {"request": "resend", "failed_since": utc_text(moment)}
    for _ in range(MAX_RESEND_ROUNDS):
        reply = await visit.run_action("resources", request, "sent failed events again")
        if not reply.is_success:
            return await show_events(visit, 422, faults=reply.faults)
        count += reply.body["sent"]
        if not reply.body["more"]:
            break
    flash = (
        f"{count:,} event{' is' if count == 1 else 's are'} being sent again."
        if count
        else "No event failed since then."
    )
    return visit.redirect("/events", flash)


async def show_verification(visit: Visit) -> Response:
    """Shows how to verify events, in several languages."""
    return visit.render("events_verify.html", languages=LANGUAGES, event_kinds=EVENT_KINDS)
