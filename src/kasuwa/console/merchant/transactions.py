"""The list of a merchant's transactions: filters, search, columns, saved filters and CSV export.

The list is that of the API (`resources` action `transactions`), so that it is read by the same indexes. A search text
is taken as a part of a reference, as an email address, or as the name of customers, whose payments are then listed
too.
"""

from collections.abc import AsyncIterator, Sequence
from datetime import date, datetime
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from kasuwa.console.kit.csv_text import csv_line
from kasuwa.console.kit.exports import csv_response, join_lines
from kasuwa.console.kit.lists import filled, read_filters, read_list_view
from kasuwa.console.kit.people import (
    NO_COUNTERPARTY,
    Counterparty,
    FoundPeople,
    find_payments,
    find_people,
    read_counterparties,
)
from kasuwa.console.kit.values import remove_separators
from kasuwa.console.kit.visit import Visit
from kasuwa.console.kit.vocabulary import method_text
from kasuwa.core.calendar import is_in_range, lagos_text
from kasuwa.core.money import CURRENCIES, format_minor, parse_minor
from kasuwa.methods.transactions.wire import MAX_LIMIT
from kasuwa.transactions.transactions import TRANSACTION_KINDS
from kasuwa.wire.decoding import InvalidRequest

PAGE_SIZE = 50
STATUSES = ("successful", "failed", "pending", "processing")
METHODS = ("card", "token", "account", "bank_transfer", "ussd", "phone", "qrpay", "mobile_money")
CSV_HEADER = (
    "created",
    "kind",
    "txnRef",
    "orderRef",
    "currency",
    "amount",
    "charges",
    "status",
    "message",
    "method",
    "customer",
    "email",
    "instrument",
    "refunded",
    "narration",
)
FILTERS = ("q", "kind", "status", "method", "currency", "customer", "min_amount", "max_amount", "from", "to")
# A part of a reference has at least so many characters.
SHORTEST_PART = 3

# Columns of the list, with their labels.
COLUMNS = {
    "amount": "Amount",
    "status": "Status",
    "customer": "Payer or payee",
    "method": "Paid with or to",
    "kind": "Kind",
    "reference": "Reference",
    "created": "Created",
    "order_ref": "Your reference",
    "email": "Email",
    "charges": "Fee and tax",
    "completed": "Completed",
    "message": "Message",
}
DEFAULT_COLUMNS = ("amount", "status", "customer", "method", "kind", "reference", "created")


def build_request(parameters: dict[str, str], faults: dict[str, str]) -> dict[str, Any]:
    """Returns the filters of the API's list without the search text. Leaves out invalid dates and adds their errors."""
    request: dict[str, Any] = {name: value for name, value in filled(parameters).items() if name != "q"}
    for name in ("min_amount", "max_amount"):
        if name in request:
            request[name] = remove_separators(request[name])
    for name in ("from", "to"):
        if parse_date(parameters[name], name, faults) is None:
            request.pop(name, None)
    return {"inquire": "transactions", **request}


def parse_date(text: str, name: str, faults: dict[str, str]) -> date | None:
    """Parses a date. Returns None for an empty text, and for an invalid one, which it adds to `faults`."""
    try:
        day = date.fromisoformat(text) if text else None
    except ValueError:
        day = date.min
    if day is not None and not is_in_range(day):
        faults[name] = "must be a date such as 2026-01-05"
        return None
    return day


def search_requests(
    request: dict[str, Any], text: str, people: FoundPeople, payments: Sequence[str]
) -> list[dict[str, Any]]:
    """Returns the requests that together list what a search text finds: by reference, amount, address and customer, and
    the payments that were found by their payers."""
    if not text:
        return [request]
    requests = [{**request, "reference": text}] if len(text) >= SHORTEST_PART else []
    if "@" in text:
        requests.append({**request, "customer": text})
    else:
        requests += [{**request, "customer": customer["customer_id"]} for customer in people.customers]
    amount = remove_separators(text)
    if parse_minor(amount) and not {"min_amount", "max_amount"} & request.keys():
        requests.append({**request, "min_amount": amount, "max_amount": amount})
    return [*requests, *({**request, "reference": reference} for reference in payments)]


class FoundTransactions:
    """A page of the list. `lines` are as the API shows them, the newest first."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.next_cursor: str | None = None
        self.faults: dict[str, str] = {}

    def add(self, body: dict[str, Any], is_only: bool) -> None:
        known = {line["txnRef"] for line in self.lines}
        self.lines += [line for line in body["data"] if line["txnRef"] not in known]
        # Several lists that are shown as one cannot be continued: each customer's own list can.
        self.next_cursor = body["next_cursor"] if is_only else self.next_cursor


async def find_transactions(visit: Visit, requests: list[dict[str, Any]], cursor: str) -> FoundTransactions:
    """Returns one page of what the requests find. Must be called while the page's snapshot is open."""
    transactions = FoundTransactions()
    for request in requests:
        paged = {"limit": PAGE_SIZE, **({"cursor": cursor} if cursor else {})}
        reply = await visit.call_action("resources", **request, **paged)
        if reply.is_success:
            transactions.add(reply.body, len(requests) == 1)
        elif not cursor:
            transactions.faults |= reply.faults
    if len(requests) > 1:
        transactions.lines.sort(key=lambda line: str(line["dateCreated"]), reverse=True)
    del transactions.lines[PAGE_SIZE:]
    return transactions


async def show_transactions(visit: Visit, status: int = 200) -> Response:
    parameters, faults = read_filters(visit, FILTERS), dict[str, str]()
    request, cursor = build_request(parameters, faults), visit.query.get("after", "")[:200]
    async with visit.snapshot() as reader:
        people = await find_people(visit, parameters["q"])
        payments = await find_payments(visit, reader, parameters["q"])
        transactions = await find_transactions(
            visit, search_requests(request, parameters["q"], people, payments), cursor
        )
        parties = await read_counterparties(visit, reader, transactions.lines)
        view = await read_list_view(visit, reader, "transactions", parameters, DEFAULT_COLUMNS, tuple(COLUMNS))
    if status == 200 and len(transactions.lines) == 1 and parameters["q"] and not people.customers:
        return visit.redirect(f"/transactions/{quote(transactions.lines[0]['txnRef'], safe='')}")
    return visit.render(
        "transactions.html",
        status,
        list=view,
        labels=COLUMNS,
        lines=[(line, parties.get(line["txnRef"], NO_COUNTERPARTY)) for line in transactions.lines],
        people=people,
        kinds=TRANSACTION_KINDS,
        statuses=STATUSES,
        methods=[(method, method_text(method)) for method in METHODS],
        currencies=CURRENCIES,
        submitted=parameters,
        faults={**transactions.faults, **faults},
        next_url=view.url(after=transactions.next_cursor) if transactions.next_cursor else "",
        first_url=view.url() if cursor else "",
        export_url=view.url(".csv"),
    )


# --- export -------------------------------------------------------------------------------------------------------


async def export_transactions(visit: Visit) -> Response:
    """Exports what the filter finds. If the filter is invalid, the page of the list is shown, which says why."""
    parameters, faults = read_filters(visit, FILTERS), dict[str, str]()
    request = build_request(parameters, faults)
    selected = await visit.services.read_request(visit.merchant, "resources", request)
    if faults or selected is None or isinstance(selected[1], InvalidRequest):
        return await show_transactions(visit, 422)
    return csv_response(visit, "transactions", stream_csv(visit, parameters, request))


async def stream_csv(visit: Visit, parameters: dict[str, str], request: dict[str, Any]) -> AsyncIterator[str]:
    """Yields the lines of the file. It is read page by page, so that it holds no snapshot while it is sent."""
    yield csv_line(CSV_HEADER)
    reader, references = visit.export_reader, set[str]()
    people = await find_people(visit, parameters["q"])
    payments = await find_payments(visit, reader, parameters["q"])
    requests = search_requests(request, parameters["q"], people, payments)
    for paged in requests:
        cursor: str | None = ""
        while cursor is not None:
            position = {"cursor": cursor} if cursor else {}
            reply = await visit.call_action("resources", **paged, limit=MAX_LIMIT, **position)
            if not reply.is_success:
                break
            lines = [line for line in reply.body["data"] if line["txnRef"] not in references]
            if len(requests) > 1:
                references |= {line["txnRef"] for line in lines}
            parties = await read_counterparties(visit, reader, lines)
            yield await join_lines(csv_cells(line, parties.get(line["txnRef"], NO_COUNTERPARTY)) for line in lines)
            cursor = reply.body["next_cursor"]


def csv_cells(line: dict[str, Any], party: Counterparty) -> tuple[str, ...]:
    charges = sum(parse_minor(line[name]) or 0 for name in ("fee", "vat", "duty"))
    return (
        lagos_text(datetime.fromisoformat(line["dateCreated"])),
        line["kind"],
        line["txnRef"],
        line["orderRef"],
        line["currency"],
        line["amount"],
        format_minor(charges),
        line["txnStatus"],
        line["message"],
        line["method"] or "",
        party.name,
        party.email,
        party.instrument,
        party.badge,
        party.narration,
    )
