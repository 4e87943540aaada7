"""The operator's pages of jobs and rails, and of the audit trail."""

import contextlib
from urllib.parse import urlencode

from starlette.responses import Response

from kasuwa.console.kit.audit_view import FILTER_NAMES, make_lines, read_trail_filter
from kasuwa.console.kit.timelines import JOB_TEXTS
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant.store import PAGE_ROWS
from kasuwa.console.operator import reads
from kasuwa.console.operator.reads import AuditCursor
from kasuwa.engine import due_jobs

MAX_MID_LENGTH = 40


async def show_jobs(visit: Visit) -> Response:
    async with visit.snapshot() as reader:
        queues = await reads.list_queues(reader)
        open_jobs = await reads.list_open_jobs(reader, visit.services.rail_job_kinds)
        endpoints = await reads.list_failing_endpoints(reader)
    return visit.render(
        "operator_jobs.html", queues=queues, open_jobs=open_jobs, endpoints=endpoints, job_texts=JOB_TEXTS
    )


async def requery_rail(visit: Visit) -> Response:
    """Makes the job of an open transaction due now. The worker then queries the rail under the same key as before."""
    with contextlib.suppress(ValueError):
        key = bytes.fromhex(visit.path_parameter("key"))
        async with visit.operator_pool.acquire() as connection, connection.transaction():
            job = await due_jobs.run_job_now(connection, key, visit.services.rail_job_kinds)
            if job is not None:
                merchant_id, reference = job
                await visit.record_audit_on(connection, merchant_id, "asked the rail again", reference)
                return visit.redirect("/operator/work", f"The rail is being queried for {reference}.")
    raise NotFound


async def show_audit_trail(visit: Visit) -> Response:
    before, mid = AuditCursor.decode(visit.query.get("before", "")), visit.query.get("mid", "").strip()[:MAX_MID_LENGTH]
    chosen, faults = read_trail_filter(visit.query)
    async with visit.snapshot() as reader:
        rows = await reads.list_audit_entries(reader, before, chosen, mid)
        names = await reads.read_merchant_names(reader, {row.mid for row in rows if row.mid})
    shown, older = rows[:PAGE_ROWS], ""
    if len(rows) > PAGE_ROWS:
        cursor = AuditCursor(shown[-1].at, shown[-1].merchant_id, shown[-1].seq)
        older = urlencode({**chosen.query, **({"mid": mid} if mid else {}), "before": cursor.encode()})
    return visit.render(
        "audit_trail.html",
        lines=make_lines(shown, names),
        submitted={name: visit.query.get(name, "") for name in (*FILTER_NAMES, "mid")},
        is_filtered=bool(chosen.query or faults or mid),
        faults=faults,
        next_url=f"/operator/trail?{older}" if older else "",
        is_operator_view=True,
    )
