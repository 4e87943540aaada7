"""The page of a merchant's webhook endpoints: the first, which Settings and the sandbox set, and up to ten others.

Each of the others gets the kinds of events that are chosen for it, signed with a secret of its own.
"""

from datetime import UTC, datetime
from typing import Any

from starlette.datastructures import FormData
from starlette.responses import Response

from kasuwa.authority.roles import CAN_INTEGRATE
from kasuwa.console.kit.figures import percentage
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant.events import parse_int
from kasuwa.console.merchant.keys import read_overlap
from kasuwa.console.merchant.settings import KEY_OVERLAP_CHOICES, MAX_URL_LENGTH
from kasuwa.console.merchant.store import read_clock
from kasuwa.merchants import endpoints as webhook_endpoints
from kasuwa.merchants import merchants
from kasuwa.merchants.endpoints import MAX_ENDPOINTS, TooManyEndpoints
from kasuwa.transactions.event_payloads import EVENT_KINDS, TEST_EVENT
from kasuwa.webhooks import deliveries
from kasuwa.webhooks.event_reads import read_endpoint_figures
from kasuwa.webhooks.sample_events import SAMPLE_KINDS
from kasuwa.webhooks.signatures import standard_secret
from kasuwa.wire.fields import read_timestamp

PATH = "/settings/endpoints"
# Events that one click sends again.
MAX_RESENT = 10_000
TOO_MANY = f"There are {MAX_ENDPOINTS} already. Remove one first."


async def show_endpoints(visit: Visit, status: int = 200, **values: Any) -> Response:
    async with visit.snapshot() as reader:
        first = await read_endpoint_figures(reader, visit.merchant.merchant_id)
        endpoints = await webhook_endpoints.list_endpoints(reader, visit.merchant.merchant_id)
    shared = {
        "first": first,
        "first_rate": percentage(first.accepted, first.attempts),
        "endpoints": [(endpoint, percentage(endpoint.accepted, endpoint.attempts)) for endpoint in endpoints],
        "kinds": list(EVENT_KINDS),
        "sample_kinds": [(kind, kind.replace("_", " ").capitalize()) for kind in SAMPLE_KINDS],
        "overlaps": KEY_OVERLAP_CHOICES,
        "submitted_url": "",
        "submitted_kinds": [],
        "faulty_id": 0,
        "most": MAX_ENDPOINTS,
        "can_change": visit.user.role in CAN_INTEGRATE,
    }
    return visit.render("endpoints.html", status, **{**shared, **values})


def read_endpoint(visit: Visit) -> tuple[str, list[str], dict[str, str]]:
    """Returns the URL and the kinds of a form, and error texts by field. All kinds chosen means every kind."""
    url = visit.form_text("url")
    chosen = visit.form.getlist("kinds") if isinstance(visit.form, FormData) else []
    faults = {}
    if not url or len(url) > MAX_URL_LENGTH:
        faults["url"] = f"enter a URL of at most {MAX_URL_LENGTH} characters"
    elif fault := visit.services.url_fault(url):
        faults["url"] = fault
    if any(kind not in EVENT_KINDS for kind in chosen):
        faults["kinds"] = "choose among the kinds of events"
    kinds = [kind for kind in EVENT_KINDS if kind in chosen]
    return url, [] if len(kinds) == len(EVENT_KINDS) else kinds, faults


def endpoint_number(visit: Visit) -> int:
    return parse_int(visit.path_parameter("endpoint_id"), 0)


async def add_endpoint(visit: Visit) -> Response:
    """Adds an endpoint. Its secret is shown on this page only."""
    url, kinds, faults = read_endpoint(visit)
    if faults:
        return await show_endpoints(visit, 422, faults=faults, submitted_url=url, submitted_kinds=kinds)
    try:
        async with visit.operator_pool.acquire() as connection, connection.transaction():
            merchant_id = await merchants.lock_merchant(connection, visit.merchant.mid)
            number, secret = await webhook_endpoints.add_endpoint(
                connection, visit.services.vault, merchant_id, url, kinds, visit.user.email
            )
            after = {"url": url, "kinds": kinds or "every kind"}
            await visit.record_audit_on(
                connection, visit.audit_chain, "added a webhook endpoint", f"endpoint {number}", after=after
            )
    except TooManyEndpoints:
        return await show_endpoints(visit, 422, faults={"": TOO_MANY}, submitted_url=url)
    return visit.render("endpoint_secret.html", number=number, standard=standard_secret(secret), is_new=True)


async def change_endpoint(visit: Visit) -> Response:
    number = endpoint_number(visit)
    url, kinds, faults = read_endpoint(visit)
    if faults:
        return await show_endpoints(visit, 422, faults=faults, faulty_id=number, submitted_url=url)
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        merchant_id = visit.merchant.merchant_id
        old = await webhook_endpoints.change_endpoint(connection, visit.services.vault, merchant_id, number, url, kinds)
        if old is None:
            raise NotFound
        before = {"url": old[0], "kinds": old[1] or "every kind"}
        after = {"url": url, "kinds": kinds or "every kind"}
        subject = f"endpoint {number}"
        await visit.record_audit_on(connection, visit.audit_chain, "changed a webhook endpoint", subject, before, after)
    return visit.redirect(PATH, f"Endpoint {number} is saved and enabled.")


async def remove_endpoint(visit: Visit) -> Response:
    number = endpoint_number(visit)
    endpoints = await webhook_endpoints.list_endpoints(visit.reader, visit.merchant.merchant_id)
    endpoint = next((one for one in endpoints if one.endpoint_id == number), None)
    if endpoint is None:
        raise NotFound
    consequence = (
        f"{endpoint.url} gets no more events. {endpoint.waiting} that wait for it are not sent. Its secret is lost."
    )
    visit.ask_first(f"Remove endpoint {number}?", consequence, f"Remove endpoint {number}", PATH)
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        url = await webhook_endpoints.remove_endpoint(
            connection, visit.services.vault, visit.merchant.merchant_id, number
        )
        if url is None:
            raise NotFound
        await visit.record_audit_on(
            connection, visit.audit_chain, "removed a webhook endpoint", f"endpoint {number}", before=url
        )
    return visit.redirect(PATH, f"Endpoint {number} is removed. Nothing is sent to it any more.")


async def roll_secret(visit: Visit) -> Response:
    """Gives an endpoint a new secret, which is shown on this page only."""
    number, overlap = endpoint_number(visit), read_overlap(visit)
    if overlap is None:
        return await show_endpoints(visit, 422, faults={"": "Overlap: choose one of the options"})
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        secret = await webhook_endpoints.roll_secret(
            connection, visit.services.vault, visit.merchant.merchant_id, number, overlap
        )
        if secret is None:
            raise NotFound
        await visit.record_audit_on(
            connection, visit.audit_chain, "rolled the secret of an endpoint", f"endpoint {number}"
        )
    return visit.render("endpoint_secret.html", number=number, standard=standard_secret(secret), is_new=False)


async def send_test_event(visit: Visit) -> Response:
    kind = visit.form_text("kind") or TEST_EVENT
    if kind not in SAMPLE_KINDS:
        return await show_endpoints(visit, 422, faults={"": "Test event: choose one of the kinds"})
    number = endpoint_number(visit)
    known = await webhook_endpoints.list_endpoints(visit.reader, visit.merchant.merchant_id)
    if number not in [endpoint.endpoint_id for endpoint in known]:
        raise NotFound
    result = await visit.services.send_test_event(visit.merchant.merchant_id, number, kind)
    return visit.redirect(PATH, result)


async def resend_failed(visit: Visit) -> Response:
    """Sends the events again that the endpoint did not accept since a time, in Lagos time."""
    number = endpoint_number(visit)
    try:
        since = read_timestamp(visit.form_text("since"))
    except ValueError:
        return await show_endpoints(visit, 422, faults={"": "Resend: enter a time such as 2026-01-05T09:30"})
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        merchant_id = visit.merchant.merchant_id
        known = await webhook_endpoints.list_endpoints(connection, merchant_id)
        if number not in [endpoint.endpoint_id for endpoint in known]:
            raise NotFound
        clock = await read_clock(connection, visit.merchant, datetime.now(UTC))
        endpoint = (merchant_id, number)
        count = await deliveries.resend_failed_events(connection, endpoint, since, MAX_RESENT, clock.now)
        await visit.record_audit_on(
            connection, visit.audit_chain, "sent failed events again", f"endpoint {number}", after={"events": count}
        )
    return visit.redirect(PATH, f"{count:,} event{' is' if count == 1 else 's are'} being sent again.")
