"""The movements of savings and of a beneficiary's share: the statement of the API on the page of the record.

Contract: resources#statements
"""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from starlette.responses import RedirectResponse, Response

from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant.store import read_clock
from kasuwa.core.calendar import lagos_day
from kasuwa.core.reading import Reader

DEFAULT_DAYS = 90
PAGE_ROWS = 50
# Accounts of the API's statements by the first part of the paths of records.
ACCOUNT_KINDS = {"savings": "savings", "beneficiaries": "beneficiary"}


def read_terms(visit: Visit, account_id: str, today: date) -> dict[str, str]:
    """Returns the request of the statement that the page's query asks for."""
    first = visit.query.get("from", "") or (today - timedelta(days=DEFAULT_DAYS - 1)).isoformat()
    last = visit.query.get("to", "") or today.isoformat()
    kind = visit.request.url.path.split("/")[1]
    return {"account": ACCOUNT_KINDS[kind], "id": account_id, "from": first, "to": last}


async def find_today(visit: Visit, reader: Reader) -> date:
    return lagos_day((await read_clock(reader, visit.merchant, datetime.now(UTC))).now)


async def read_movements(visit: Visit, row: dict[str, Any]) -> dict[str, Any]:
    """Returns the movements of the days that the query names, the last ninety if it names none."""
    reader = visit.open_snapshot
    assert reader is not None, "the page is read in a snapshot"
    terms = read_terms(visit, visit.path_parameter("reference"), await find_today(visit, reader))
    cursor = visit.query.get("cursor", "")
    further = {"cursor": cursor} if cursor else {}
    reply = await visit.call_action("resources", inquire="statement", limit=PAGE_ROWS, **terms, **further)
    statement = reply.body if reply.is_success else None
    days = {name: terms[name] for name in ("from", "to")}
    following = None if statement is None else statement["next_cursor"]
    return {
        "statement": statement,
        "statement_faults": reply.faults,
        "terms": terms,
        "files_path": f"{visit.request.url.path}/statement",
        "files_query": urlencode(days),
        "next_movements": f"?{urlencode({**days, 'cursor': following})}#movements-title" if following else "",
        "first_movements": f"?{urlencode(days)}#movements-title" if cursor else "",
    }


async def open_statement(visit: Visit) -> Response:
    """Redirects to the statement as a file, whose link works for an hour."""
    reference, ending = visit.path_parameter("reference"), visit.request.url.path.rpartition(".")[2]
    async with visit.snapshot() as reader:
        terms = read_terms(visit, reference, await find_today(visit, reader))
        reply = await visit.call_action("resources", inquire="statement", format=ending, **terms)
    if not reply.is_success and not {"from", "to"} & reply.faults.keys():
        raise NotFound
    if not reply.is_success:
        kind = visit.request.url.path.split("/")[1]
        days = urlencode({name: terms[name] for name in ("from", "to")})
        return visit.redirect(f"/{kind}/{quote(reference, safe='')}?{days}")
    return RedirectResponse(reply.body["link"], status_code=303)
