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

from kasuwa.console.access import CAN_KEEP_BOOKS
from kasuwa.console.visit import InvariantCheck, Visit
from kasuwa.db.audit_lock import audit_lock
from kasuwa.ledger.invariants import INVARIANTS, check_invariants

INVARIANT_TIMEOUT_SECONDS = 20
CHECK_TIMEOUT_SECONDS = 60

ALREADY_RUNNING = "A check is under way already. Its result appears here when it is done."
TIMED_OUT = "The check was stopped: it took too long. Run `kasuwa audit` instead, which has no deadline."


async def show_invariants(visit: Visit, status: int = 200, problem: str = "") -> Response:
    told: dict[str, Any] = {"faults": {"": problem}} if problem else {}
    return visit.render(
        "operator_laws.html",
        status,
        laws=[law.description for law in INVARIANTS],
        last=visit.services.last_check,
        may_run=visit.user.role in CAN_KEEP_BOOKS,
        **told,
    )


async def run_invariant_check(visit: Visit) -> Response:
    try:
        async with visit.operators.acquire() as connection, audit_lock(connection) as is_free:
            if not is_free:
                return await show_invariants(visit, 409, ALREADY_RUNNING)
            async with asyncio.timeout(CHECK_TIMEOUT_SECONDS):
                broken = await check_invariants(connection, seconds=INVARIANT_TIMEOUT_SECONDS)
    except (TimeoutError, asyncpg.QueryCanceledError, asyncpg.LockNotAvailableError):
        await visit.record_audit("ran the laws of the books", "all merchants", after="stopped: it took too long")
        return await show_invariants(visit, 503, TIMED_OUT)
    visit.services.last_check = InvariantCheck(datetime.now(UTC), visit.user.email, broken)
    await visit.record_audit("ran the laws of the books", "all merchants", after={"broken": len(broken)})
    return await show_invariants(visit)
