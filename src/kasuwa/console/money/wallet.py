"""The wallet page: the statement of a wallet with the balance after each movement, and the same as CSV or PDF.

It is the statement of the API (`resources` action `statement`), page by page. Contract: resources#statements
"""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from kasuwa.console.kit.visit import Visit
from kasuwa.console.merchant import store
from kasuwa.core.calendar import lagos_day
from kasuwa.methods.resources.store import show_wallet
from kasuwa.methods.resources.wire import WalletRequest
from kasuwa.terms.conversion import HOME

PATH = "/wallet"
DEFAULT_DAYS = 30
PAGE_ROWS = 50


async def show_statement(visit: Visit, status: int = 200) -> Response:
    """Shows the movements of the days that the query names, the last thirty if it names none."""
    async with visit.snapshot() as reader:
        clock = await store.read_clock(reader, visit.merchant, datetime.now(UTC))
        wallets = (await show_wallet(WalletRequest(), visit.merchant, reader)).data
        terms = read_terms(visit, lagos_day(clock.now))
        cursor = visit.query.get("cursor", "")
        further = {"cursor": cursor} if cursor else {}
        reply = await visit.call_action("resources", inquire="statement", limit=PAGE_ROWS, **terms, **further)
    shown = reply.body if reply.is_success else None
    values: dict[str, Any] = {
        "wallets": wallets,
        "currencies": [(wallet.currency, wallet.currency) for wallet in wallets],
        "terms": terms,
        "statement": shown,
        "faults": reply.faults,
        "files_query": urlencode({name: terms[name] for name in ("currency", "from", "to")}),
        **make_places(terms, shown, cursor),
    }
    return visit.render("wallet.html", 200 if reply.is_success else 422, **values)


def read_terms(visit: Visit, today: date) -> dict[str, str]:
    """Returns the request of the statement that the query asks for."""
    first = visit.query.get("from", "") or (today - timedelta(days=DEFAULT_DAYS - 1)).isoformat()
    last = visit.query.get("to", "") or today.isoformat()
    return {"account": "wallet", "currency": visit.query.get("currency", "") or HOME, "from": first, "to": last}


def make_places(terms: dict[str, str], statement: dict[str, Any] | None, cursor: str) -> dict[str, str]:
    """Returns the addresses of the next and the first page, empty where there is none."""
    query = {name: terms[name] for name in ("currency", "from", "to")}
    following = None if statement is None else statement["next_cursor"]
    return {
        "next_url": f"{PATH}?{urlencode({**query, 'cursor': following})}" if following else "",
        "first_url": f"{PATH}?{urlencode(query)}" if cursor else "",
    }


async def open_file(visit: Visit) -> Response:
    """Redirects to the file, whose link works for an hour. An invalid request shows the page, which says why."""
    async with visit.snapshot() as reader:
        clock = await store.read_clock(reader, visit.merchant, datetime.now(UTC))
        terms = read_terms(visit, lagos_day(clock.now))
        ending = visit.request.url.path.rpartition(".")[2]
        reply = await visit.call_action("resources", inquire="statement", format=ending, **terms)
    if not reply.is_success:
        return visit.redirect(f"{PATH}?{urlencode({name: terms[name] for name in ('currency', 'from', 'to')})}")
    return RedirectResponse(reply.body["link"], status_code=303)
