"""The operator's pages about what runs: queues, what waits longest, notices, the audit trail."""

import contextlib

from starlette.responses import Response

from kasuwa.console import operator_reads
from kasuwa.console.events import LAST, number
from kasuwa.console.operator_reads import TrailCursor
from kasuwa.console.store import PAGE_ROWS
from kasuwa.console.visit import NotFound, Visit
from kasuwa.db import jobs


async def show_work(visit: Visit) -> Response:
    async with visit.snapshot() as reader:
        lanes = await operator_reads.list_lanes(reader)
        waiting = await operator_reads.list_open_jobs(reader, visit.parts.rail_kinds)
        endpoints = await operator_reads.list_failing_endpoints(reader)
    return visit.show("operator_work.html", lanes=lanes, waiting=waiting, endpoints=endpoints)


async def ask_again(visit: Visit) -> Response:
    """Asks a rail now what became of an open order: the worker takes its job up, under the same key as ever."""
    with contextlib.suppress(ValueError):
        key = bytes.fromhex(visit.path("key"))
        async with visit.operators.acquire() as connection:
            found = await jobs.run_now(connection, key, visit.parts.rail_kinds)
            if found is not None:
                merchant_id, reference = found
                await visit.record_on(connection, merchant_id, "asked the rail again", reference)
                return visit.go("/operator/work", f"{reference} is asked after now.")
    raise NotFound


async def show_notices(visit: Visit) -> Response:
    async with visit.snapshot() as reader:
        rows = await operator_reads.list_notices(reader, number(visit.query.get("before", ""), LAST))
    shown = rows[:PAGE_ROWS]
    more = f"/operator/notices?before={shown[-1][0]}" if len(rows) > PAGE_ROWS else ""
    return visit.show("operator_notices.html", notices=shown, more=more)


async def show_trail(visit: Visit) -> Response:
    before = TrailCursor.read(visit.query.get("before", ""))
    async with visit.snapshot() as reader:
        rows = await operator_reads.list_trail(reader, before)
    shown = rows[:PAGE_ROWS]
    more = ""
    if len(rows) > PAGE_ROWS:
        more = f"/operator/trail?before={TrailCursor(shown[-1].at, shown[-1].merchant_id, shown[-1].seq).text()}"
    return visit.show("trail.html", entries=shown, more=more, across=True)
