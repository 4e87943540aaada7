"""The operator's pages about what runs: queues, what waits longest, notices, the audit trail."""

import contextlib

from starlette.responses import Response

from kasuwa.console import operator_reads
from kasuwa.console.events import MAX_SEQUENCE, parse_int
from kasuwa.console.operator_reads import AuditCursor
from kasuwa.console.store import PAGE_ROWS
from kasuwa.console.visit import NotFound, Visit
from kasuwa.db import jobs


async def show_jobs(visit: Visit) -> Response:
    async with visit.snapshot() as reader:
        lanes = await operator_reads.list_queues(reader)
        waiting = await operator_reads.list_open_jobs(reader, visit.services.rail_job_kinds)
        endpoints = await operator_reads.list_failing_endpoints(reader)
    return visit.render("operator_work.html", lanes=lanes, waiting=waiting, endpoints=endpoints)


async def requery_rail(visit: Visit) -> Response:
    """Asks a rail now what became of an open order: the worker takes its job up, under the same key as ever."""
    with contextlib.suppress(ValueError):
        key = bytes.fromhex(visit.path_parameter("key"))
        async with visit.operators.acquire() as connection:
            found = await jobs.run_job_now(connection, key, visit.services.rail_job_kinds)
            if found is not None:
                merchant_id, reference = found
                await visit.record_audit_on(connection, merchant_id, "asked the rail again", reference)
                return visit.redirect("/operator/work", f"{reference} is asked after now.")
    raise NotFound


async def show_notices(visit: Visit) -> Response:
    async with visit.snapshot() as reader:
        rows = await operator_reads.list_notices(reader, parse_int(visit.query.get("before", ""), MAX_SEQUENCE))
    shown = rows[:PAGE_ROWS]
    more = f"/operator/notices?before={shown[-1][0]}" if len(rows) > PAGE_ROWS else ""
    return visit.render("operator_notices.html", notices=shown, more=more)


async def show_audit_trail(visit: Visit) -> Response:
    before = AuditCursor.decode(visit.query.get("before", ""))
    async with visit.snapshot() as reader:
        rows = await operator_reads.list_audit_entries(reader, before)
    shown = rows[:PAGE_ROWS]
    more = ""
    if len(rows) > PAGE_ROWS:
        more = f"/operator/trail?before={AuditCursor(shown[-1].at, shown[-1].merchant_id, shown[-1].seq).encode()}"
    return visit.render("trail.html", entries=shown, more=more, across=True)
