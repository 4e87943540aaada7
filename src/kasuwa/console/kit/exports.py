"""Exports as CSV: the response, and the lists that are no kind of record."""

from collections.abc import AsyncIterator, Iterable

from starlette.responses import Response, StreamingResponse

from kasuwa.concurrency.shares import SharedFile
from kasuwa.concurrency.time_slices import collect, run_in_slices
from kasuwa.console.kit.audit_view import TrailFilter, read_trail_filter
from kasuwa.console.kit.csv_text import csv_line
from kasuwa.console.kit.visit import Visit
from kasuwa.console.merchant import store
from kasuwa.console.merchant.store import MAX_SEQUENCE
from kasuwa.core.addresses import find_network
from kasuwa.core.calendar import lagos_text

# An export is read in batches of this many rows, so that it holds no snapshot while it is sent.
BATCH_ROWS = 1_000
TOO_MANY_FILES = "Wait until the others have arrived, and open this one again."
TRAIL_HEADER = ("number", "time", "actor", "address", "action", "subject", "before", "after")


def csv_response(visit: Visit, name: str, lines: AsyncIterator[str]) -> Response:
    """Returns a response that sends the lines of a file while they are read, within the merchant's share."""
    shares, merchant = visit.services.file_shares, visit.merchant
    end = shares.begin(find_network(visit.client_address), merchant.merchant_id)
    if end is None:
        refused = visit.render("error.html", 429, title="Too many files at once", why=TOO_MANY_FILES)
        refused.headers["retry-after"] = "5"
        return refused
    file = SharedFile(shares, encode_lines(lines), merchant.merchant_id, end)
    headers = {"content-disposition": f'attachment; filename="{name}-{merchant.mid}.csv"'}
    return StreamingResponse(file, media_type="text/csv; charset=utf-8", headers=headers)


async def encode_lines(lines: AsyncIterator[str]) -> AsyncIterator[bytes]:
    async for text in lines:
        yield text.encode()


async def join_lines(rows: Iterable[Iterable[str]]) -> str:
    """Returns the lines of rows, made in time slices: other pages are served meanwhile."""
    return "".join(await run_in_slices(collect(map(csv_line, rows))))


async def export_audit_trail(visit: Visit) -> Response:
    """Sends the entries that the filter lets pass. An invalid date shows the page, which says why."""
    chosen, faults = read_trail_filter(visit.query)
    if faults:
        return visit.redirect(f"/settings/trail?{visit.request.url.query}")
    return csv_response(visit, "audit-trail", stream_trail(visit, chosen))


async def stream_trail(visit: Visit, chosen: TrailFilter) -> AsyncIterator[str]:
    yield csv_line(TRAIL_HEADER)
    reader, before = visit.export_reader, MAX_SEQUENCE
    while True:
        rows = await store.list_audit_entries(reader, visit.merchant, before, chosen, BATCH_ROWS)
        yield await join_lines((str(seq), lagos_text(at), *map(str, texts)) for _, seq, at, *texts in rows)
        if len(rows) < BATCH_ROWS:
            return
        before = rows[-1][1]
