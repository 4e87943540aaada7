"""Exports as CSV: the response, and the lists that are no kind of record."""

from collections.abc import AsyncIterator

from starlette.responses import Response, StreamingResponse

from kasuwa.console import store
from kasuwa.console.csv_text import csv_line
from kasuwa.console.store import MAX_SEQUENCE
from kasuwa.console.visit import Visit
from kasuwa.core.calendar import lagos_text

# An export is read in batches of this many rows, so that it holds no snapshot while it is sent.
BATCH_ROWS = 1_000
TRAIL_HEADER = ("number", "time", "actor", "address", "action", "subject", "before", "after")


def csv_response(visit: Visit, name: str, lines: AsyncIterator[str]) -> Response:
    """Returns a response that sends the lines of a file while they are read."""
    headers = {"content-disposition": f'attachment; filename="{name}-{visit.merchant.mid}.csv"'}
    return StreamingResponse(lines, media_type="text/csv; charset=utf-8", headers=headers)


async def export_audit_trail(visit: Visit) -> Response:
    return csv_response(visit, "audit-trail", stream_trail(visit))


async def stream_trail(visit: Visit) -> AsyncIterator[str]:
    yield csv_line(TRAIL_HEADER)
    reader, before = visit.export_reader, MAX_SEQUENCE
    while True:
        rows = await store.list_audit_entries(reader, visit.merchant, before, BATCH_ROWS)
        yield "".join(csv_line((str(seq), lagos_text(at), *map(str, texts))) for _, seq, at, *texts in rows)
        if len(rows) < BATCH_ROWS:
            return
        before = rows[-1][1]
