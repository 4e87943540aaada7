"""The request log of the test environment: a merchant's newest API requests, and one of them with its bodies."""

from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.responses import Response

from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant.events import parse_int
from kasuwa.console.merchant.store import MAX_SEQUENCE
from kasuwa.console.reference.request_code import write_request
from kasuwa.console.reference.try_it import action_slug
from kasuwa.sandbox.request_records import (
    KEPT_FOR,
    KEPT_PER_MERCHANT,
    LoggedRequest,
    RequestFilter,
    find_request,
    list_requests,
)

PAGE_ROWS = 100
MAX_SEARCH = 200


async def show_requests(visit: Visit) -> Response:
    only_refused, before = visit.query.get("show") == "refused", parse_int(visit.query.get("before", ""), MAX_SEQUENCE)
    search = visit.query.get("q", "").strip()[:MAX_SEARCH]
    wanted = RequestFilter(search, only_refused, before)
    async with visit.snapshot() as reader:
        records = await list_requests(reader, visit.services.vault, visit.merchant.mid, wanted, PAGE_ROWS + 1)
    shown = records[:PAGE_ROWS]
    return visit.render(
        "requests.html",
        records=shown,
        search=search,
        only_refused=only_refused,
        kept=KEPT_PER_MERCHANT,
        days=KEPT_FOR.days,
        all_url=log_url(search, False),
        refused_url=log_url(search, True),
        next_url=log_url(search, only_refused, shown[-1].number) if len(records) > PAGE_ROWS else "",
        first_url=log_url(search, only_refused) if before != MAX_SEQUENCE else "",
    )


def log_url(search: str, only_refused: bool, before: int | None = None) -> str:
    filled: dict[str, Any] = {"q": search} if search else {}
    filled |= {"show": "refused"} if only_refused else {}
    filled |= {} if before is None else {"before": before}
    return f"/requests?{urlencode(filled)}" if filled else "/requests"


async def show_request(visit: Visit) -> Response:
    number = parse_int(visit.path_parameter("number"), MAX_SEQUENCE)
    async with visit.snapshot() as reader:
        record = await find_request(reader, visit.services.vault, visit.merchant.mid, number)
    if record is None:
        raise NotFound
    return visit.render(
        "request.html",
        record=record,
        sent=format_body(record.bodies.sent),
        answered=format_body(record.bodies.answered),
        samples=write_request(record.path.removeprefix("/"), format_body(record.bodies.sent)),
        send_url=find_send_url(visit, record),
    )


def format_body(text: str) -> str:
    """Returns a body on lines, if it is JSON."""
    try:
        return msgspec.json.format(text.encode(), indent=2).decode()
    except (msgspec.DecodeError, RecursionError):
        return text


def find_send_url(visit: Visit, record: LoggedRequest) -> str:
    """Returns where the user may send the request again with changes, or an empty text."""
    for method in visit.services.methods:
        if f"/{method.name}" != record.path:
            continue
        for action in method.actions:
            if action.name == record.action and selects_action(visit, method.name, record, action):
                return f"/docs/{method.name}/{action_slug(action)}" if visit.may_try(method.name, action) else ""
    return ""


def selects_action(visit: Visit, method: str, record: LoggedRequest, action: Any) -> bool:
    try:
        fields = msgspec.json.decode(record.bodies.sent, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return False
    return visit.services.find_action(method, fields) is action
