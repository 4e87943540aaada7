"""The pages of transactions: list with filters and search, CSV export, and one transaction with its timeline."""

from collections.abc import AsyncIterator
from datetime import date, datetime, time, timedelta
from urllib.parse import quote, urlencode

from starlette.responses import Response, StreamingResponse

from kasuwa.console import store
from kasuwa.console.csv_text import csv_line
from kasuwa.console.store import FIRST_PAGE, PAGE_ROWS, Cursor, TransactionFilter, TransactionLine
from kasuwa.console.transaction_forms import list_available_forms
from kasuwa.console.visit import NotFound, Visit
from kasuwa.core.calendar import LAGOS, NEVER, utc_text
from kasuwa.core.money import format_minor
from kasuwa.core.transactions import FAILED

STATUSES = ("successful", "failed", "pending", "processing")
# An export is read in batches of this many rows, so that it holds no snapshot while it is sent.
EXPORT_BATCH_SIZE = 1_000
CSV_HEADER = ("created", "kind", "txnRef", "orderRef", "currency", "amount", "charges", "status", "message")
FILTER_PARAMETERS = ("q", "kind", "status", "from", "to")


def read_filter(visit: Visit) -> tuple[TransactionFilter, dict[str, str]]:
    """Returns the filter in the query, and error texts by parameter."""
    parameters = {name: visit.query.get(name, "").strip()[:100] for name in FILTER_PARAMETERS}
    faults: dict[str, str] = {}
    since, until = (parse_date(parameters[name], name, faults) for name in ("from", "to"))
    status = parameters["status"] if parameters["status"] in STATUSES else ""
    bounds = (
        store.EARLIEST if since is None else datetime.combine(since, time(), LAGOS),
        NEVER if until is None else datetime.combine(until + timedelta(days=1), time(), LAGOS),
    )
    return TransactionFilter(parameters["kind"], status, *bounds, parameters["q"]), faults


def parse_date(text: str, name: str, faults: dict[str, str]) -> date | None:
    """Parses a date. Returns None for an empty text, and for an invalid one, which it adds to `faults`."""
    try:
        found = date.fromisoformat(text) if text else None
    except ValueError:
        found = date.min
    if found is not None and not 1900 < found.year < 9000:
        faults[name] = "must be a date such as 2026-01-05"
        return None
    return found


def filtered_url(visit: Visit, path: str = "/transactions", **changed: str) -> str:
    """Returns a URL with the filter of this page, and the changed parameters."""
    parameters = {name: visit.query.get(name, "") for name in FILTER_PARAMETERS} | changed
    filled = {name: value for name, value in parameters.items() if value}
    return f"{path}?{urlencode(filled)}" if filled else path


async def show_transactions(visit: Visit) -> Response:
    filters, faults = read_filter(visit)
    after = Cursor.decode(visit.query.get("after", "")) or FIRST_PAGE
    async with visit.snapshot() as reader:
        lines = await store.list_transactions(reader, visit.merchant, filters, after)
        kinds = await store.list_kinds(reader, visit.merchant)
    if len(lines) == 1 and filters.search:
        return visit.redirect(f"/transactions/{quote(lines[0].txn_ref, safe='')}")
    shown = lines[:PAGE_ROWS]
    next_url = filtered_url(visit, after=shown[-1].cursor.encode()) if len(lines) > PAGE_ROWS else ""
    return visit.render(
        "transactions.html",
        lines=shown,
        kinds=kinds,
        statuses=STATUSES,
        submitted={name: visit.query.get(name, "") for name in FILTER_PARAMETERS},
        faults=faults,
        next_url=next_url,
        first_url=filtered_url(visit) if after is not FIRST_PAGE else "",
        export_url=filtered_url(visit, "/transactions.csv"),
        is_filtered=any(visit.query.get(name) for name in FILTER_PARAMETERS),
    )


async def export_transactions(visit: Visit) -> Response:
    filters, _ = read_filter(visit)
    name = f"transactions-{visit.merchant.mid}.csv"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(stream_csv(visit, filters), media_type="text/csv; charset=utf-8", headers=headers)


async def stream_csv(visit: Visit, filters: TransactionFilter) -> AsyncIterator[str]:
    yield csv_line(CSV_HEADER)
    reader, after = visit.export_reader, FIRST_PAGE
    while True:
        batch = await store.list_transactions(reader, visit.merchant, filters, after, EXPORT_BATCH_SIZE)
        yield "".join(csv_line(csv_cells(line)) for line in batch)
        if len(batch) < EXPORT_BATCH_SIZE or filters.search:
            return
        after = batch[-1].cursor


def csv_cells(line: TransactionLine) -> tuple[str, ...]:
    return (
        utc_text(line.created_at),
        line.kind,
        line.txn_ref,
        line.order_ref,
        line.currency,
        format_minor(line.amount),
        format_minor(line.charges),
        line.status,
        line.message,
    )


# --- one transaction ----------------------------------------------------------------------------------------------


async def show_transaction(visit: Visit, status: int = 200, faults: dict[str, str] | None = None) -> Response:
    merchant = visit.merchant
    async with visit.snapshot() as reader:
        row = await store.find_transaction(reader, merchant, visit.path_parameter("ref"))
        if row is None:
            raise NotFound
        timeline = await visit.services.read_timeline(reader, row)
        postings = await store.list_postings(reader, merchant, row.txn_ref)
        event = await store.find_event_of(reader, merchant, row.txn_ref)
    return visit.render(
        "transaction.html",
        status,
        row=row,
        is_charged=row.status != FAILED,
        timeline=timeline,
        postings=postings,
        event=event,
        forms=list_available_forms(visit, row),
        faults=faults or {},
        submitted=dict(visit.form),
    )


async def submit_form(visit: Visit) -> Response:
    """Runs the form in the path, such as a refund. Raises NotFound if it is not available."""
    row = await store.find_transaction(visit.reader, visit.merchant, visit.path_parameter("ref"))
    if row is None:
        raise NotFound
    name = visit.path_parameter("transaction_form")
    form = next((form for form in list_available_forms(visit, row) if form.name == name), None)
    if form is None:
        raise NotFound
    reply = await visit.run_action(form.method, form.build_request(row, visit.form_text), form.label.lower())
    if not reply.is_success:
        return await show_transaction(visit, 422, reply.faults)
    return visit.redirect(f"/transactions/{quote(row.txn_ref, safe='')}", reply.message or "Done.")
