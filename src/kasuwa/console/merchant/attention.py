"""What needs a merchant's people, as the overview lists it: a line for each kind of thing, with its page."""

from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from kasuwa.console.kit.values import format_minor_units, time_text
from kasuwa.console.merchant.attention_reads import MAX_COUNTED, WaitingMatters
from kasuwa.console.merchant.waiting_reads import WaitingSums
from kasuwa.webhooks.health import FailingEndpoint

SECONDS_PER_HOUR = 3600


class Matter(msgspec.Struct, frozen=True):
    """A line of the list."""

    text: str
    detail: str
    path: str  # of the page on which it is done


def count_text(count: int, one: str, many: str) -> str:
    """Returns a number with its noun. Reads end at MAX_COUNTED, so that this number may stand for more."""
    plus = "+" if count == MAX_COUNTED else ""
    return f"{count:,}{plus} {one if count == 1 else many}"


def list_matters(
    sums: WaitingSums, matters: WaitingMatters, endpoints: Iterable[FailingEndpoint], now: datetime
) -> list[Matter]:
    """Returns the lines, the most urgent kind first. `now` is business time."""
    return [
        *list_approvals(sums),
        *list_disputes(matters, now),
        *list_endpoints(endpoints),
        *list_invoices(matters),
        *list_loans_and_plans(matters),
        *list_keys(matters),
    ]


def list_approvals(sums: WaitingSums) -> Iterator[Matter]:
    count, total = sums.single_count + sums.order_count, sums.single_total + sums.order_total
    if count:
        verb = "waits" if count == 1 else "wait"
        text = f"{count:,} transfer{'' if count == 1 else 's'} {verb} for approval"
        yield Matter(text, f"NGN {format_minor_units(total)}", "/transfers/waiting")


def list_disputes(matters: WaitingMatters, now: datetime) -> Iterator[Matter]:
    if matters.disputes and matters.first_dispute_due is not None:
        hours = int((matters.first_dispute_due - now).total_seconds() // SECONDS_PER_HOUR)
        remaining = f"{hours:,} hour{'' if hours == 1 else 's'} left" if hours > 0 else "less than an hour left"
        detail = remaining if matters.disputes == 1 else f"the first has {remaining}"
        text = count_text(matters.disputes, "dispute needs a response", "disputes need a response")
        yield Matter(text, detail, "/disputes?state=needs_response")


def list_endpoints(endpoints: Iterable[FailingEndpoint]) -> Iterator[Matter]:
    for endpoint in endpoints:
        name = "Your webhook endpoint" if endpoint.is_first else f"Webhook endpoint {endpoint.endpoint_id}"
        settings = "/settings" if endpoint.is_first else "/settings/endpoints"
        since = f"failing since {time_text(endpoint.failing_since)}"
        if endpoint.disabled_at is None:
            yield Matter(f"{name} does not accept events", since, "/events?state=failed")
        else:
            yield Matter(f"{name} was disabled", f"{since}; save it again to enable it", settings)


def list_invoices(matters: WaitingMatters) -> Iterator[Matter]:
    for invoices in matters.invoices:
        text = count_text(invoices.count, "invoice is overdue", "invoices are overdue")
        outstanding = f"{invoices.currency} {format_minor_units(invoices.outstanding)} outstanding"
        yield Matter(text, outstanding, "/invoices?status=overdue")


def list_loans_and_plans(matters: WaitingMatters) -> Iterator[Matter]:
    if matters.late_loans:
        text = count_text(matters.late_loans, "loan is late", "loans are late")
        yield Matter(text, "", "/loans?state=active_in_arrears")
    if matters.paused_plans:
        text = count_text(matters.paused_plans, "plan is paused", "plans are paused")
        yield Matter(text, "their cards were declined", "/recurrents")


def list_keys(matters: WaitingMatters) -> Iterator[Matter]:
    for key in matters.keys:
        yield Matter(f"API key “{key.name}” expires", time_text(key.expires_at), "/settings/keys")
