"""The page of the laws of the books: what the last check found, and a check on demand.

A check reads all postings of all merchants. So it is for those who keep the books, one runs at a time in the whole
deployment, each of its statements and all of it have a deadline, and its result is kept for everybody to see. `kasuwa
audit` does the same without deadlines.
"""

import asyncio
from datetime import UTC, datetime
from typing import Any

import asyncpg
from starlette.responses import Response

from kasuwa.console.access import KEEPS_BOOKS
from kasuwa.console.visit import AuditRun, Visit
from kasuwa.db.audit_lock import audit_lock
from kasuwa.ledger.audit import LAWS, audit

LAW_SECONDS = 20
WHOLE_SECONDS = 60

RUNNING = "A check is under way already. Its result appears here when it is done."
TOO_LONG = "The check was stopped: it took too long. Run `kasuwa audit` instead, which has no deadline."


async def show_laws(visit: Visit, status: int = 200, trouble: str = "") -> Response:
    told: dict[str, Any] = {"faults": {"": trouble}} if trouble else {}
    return visit.show(
        "operator_laws.html",
        status,
        laws=[law.says for law in LAWS],
        last=visit.parts.last_audit,
        may_run=visit.user.role in KEEPS_BOOKS,
        **told,
    )


async def run_laws(visit: Visit) -> Response:
    try:
        async with visit.operators.acquire() as connection, audit_lock(connection) as is_free:
            if not is_free:
                return await show_laws(visit, 409, RUNNING)
            async with asyncio.timeout(WHOLE_SECONDS):
                broken = await audit(connection, seconds=LAW_SECONDS)
    except (TimeoutError, asyncpg.QueryCanceledError, asyncpg.LockNotAvailableError):
        await visit.record("ran the laws of the books", "all merchants", after="stopped: it took too long")
        return await show_laws(visit, 503, TOO_LONG)
    visit.parts.last_audit = AuditRun(datetime.now(UTC), visit.user.email, broken)
    await visit.record("ran the laws of the books", "all merchants", after={"broken": len(broken)})
    return await show_laws(visit)
