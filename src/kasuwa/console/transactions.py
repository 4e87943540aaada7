"""Transactions of every kind: searched, filtered, exported; and one of them with its whole story."""

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
# An export is read in lumps of this many rows, so that it keeps no snapshot of the database while it is sent.
EXPORT_BATCH_SIZE = 1_000
CSV_HEADER = ("created", "kind", "txnRef", "orderRef", "currency", "amount", "charges", "status", "message")
FILTER_PARAMETERS = ("q", "kind", "status", "from", "to")


def read_filter(visit: Visit) -> tuple[TransactionFilter, dict[str, str]]:
    """The filter of the address, and what is wrong with it."""
    said = {name: visit.query.get(name, "").strip()[:100] for name in FILTER_PARAMETERS}
    faults: dict[str, str] = {}
    since, until = (read_day(said[name], name, faults) for name in ("from", "to"))
    status = said["status"] if said["status"] in STATUSES else ""
    bounds = (
        store.EARLIEST if since is None else datetime.combine(since, time(), LAGOS),
        NEVER if until is None else datetime.combine(until + timedelta(days=1), time(), LAGOS),
    )
    return TransactionFilter(said["kind"], status, *bounds, said["q"]), faults


def read_day(text: str, name: str, faults: dict[str, str]) -> date | None:
    try:
        found = date.fromisoformat(text) if text else None
    except ValueError:
        found = date.min
    if found is not None and not 1900 < found.year < 9000:
        faults[name] = "a date such as 2026-01-05"
        return None
    return found


def filtered_url(visit: Visit, path: str = "/transactions", **changed: str) -> str:
    """The same filter, with something of it changed."""
    said = {name: visit.query.get(name, "") for name in FILTER_PARAMETERS} | changed
    kept = {name: value for name, value in said.items() if value}
    return f"{path}?{urlencode(kept)}" if kept else path


async def show_transactions(visit: Visit) -> Response:
    chosen, faults = read_filter(visit)
    after = Cursor.decode(visit.query.get("after", "")) or FIRST_PAGE
    async with visit.snapshot() as reader:
        lines = await store.list_transactions(reader, visit.merchant, chosen, after)
        kinds = await store.list_kinds(reader, visit.merchant)
    if len(lines) == 1 and chosen.search:
        return visit.redirect(f"/transactions/{quote(lines[0].txn_ref, safe='')}")
    shown = lines[:PAGE_ROWS]
    more = filtered_url(visit, after=shown[-1].cursor.encode()) if len(lines) > PAGE_ROWS else ""
    return visit.render(
        "transactions.html",
        lines=shown,
        kinds=kinds,
        statuses=STATUSES,
        said={name: visit.query.get(name, "") for name in FILTER_PARAMETERS},
        faults=faults,
        more=more,
        newest=filtered_url(visit) if after is not FIRST_PAGE else "",
        export=filtered_url(visit, "/transactions.csv"),
        is_filtered=any(visit.query.get(name) for name in FILTER_PARAMETERS),
    )


async def export_transactions(visit: Visit) -> Response:
    chosen, _ = read_filter(visit)
    name = f"transactions-{visit.merchant.mid}.csv"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(stream_csv(visit, chosen), media_type="text/csv; charset=utf-8", headers=headers)


async def stream_csv(visit: Visit, chosen: TransactionFilter) -> AsyncIterator[str]:
    yield csv_line(CSV_HEADER)
    reader, after = visit.export_reader, FIRST_PAGE
    while True:
        lump = await store.list_transactions(reader, visit.merchant, chosen, after, EXPORT_BATCH_SIZE)
        yield "".join(csv_line(csv_cells(line)) for line in lump)
        if len(lump) < EXPORT_BATCH_SIZE or chosen.search:
            return
        after = lump[-1].cursor


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


# --- one of them --------------------------------------------------------------------------------------------------


async def show_transaction(visit: Visit, status: int = 200, faults: dict[str, str] | None = None) -> Response:
    merchant = visit.merchant
    async with visit.snapshot() as reader:
        row = await store.find_transaction(reader, merchant, visit.path_parameter("ref"))
        if row is None:
            raise NotFound
        story = await visit.services.read_timeline(reader, row)
        postings = await store.list_postings(reader, merchant, row.txn_ref)
        event = await store.find_event_of(reader, merchant, row.txn_ref)
    return visit.render(
        "transaction.html",
        status,
        row=row,
        is_charged=row.status != FAILED,
        story=story,
        postings=postings,
        event=event,
        offers=list_available_forms(visit, row),
        faults=faults or {},
        said=dict(visit.form),
    )


async def submit_form(visit: Visit) -> Response:
    """One of the things that can be done with this transaction, such as a refund."""
    row = await store.find_transaction(visit.reader, visit.merchant, visit.path_parameter("ref"))
    offer = (
        next((o for o in list_available_forms(visit, row) if o.name == visit.path_parameter("offer")), None)
        if row
        else None
    )
    if row is None or offer is None:
        raise NotFound
    reply = await visit.run_action(offer.method, offer.build_request(row, visit.form_text), offer.label.lower())
    if not reply.is_success:
        return await show_transaction(visit, 422, reply.faults)
    return visit.redirect(f"/transactions/{quote(row.txn_ref, safe='')}", reply.message or "Done")
