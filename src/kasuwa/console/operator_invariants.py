"""The page of ledger invariants: shows the last check, and runs one on demand.

A check reads all postings of all merchants. Therefore only roles that keep the books may run it, one runs at a time in
the whole deployment, and each query and the whole check have a timeout. `kasuwa audit` runs the same check without
timeouts.
"""

import asyncio
from datetime import UTC, datetime

import asyncpg
from starlette.responses import Response

from kasuwa.console.access import CAN_KEEP_BOOKS
from kasuwa.console.visit import InvariantCheck, Visit
from kasuwa.db.audit_lock import audit_lock
from kasuwa.ledger.invariants import INVARIANTS, check_invariants

INVARIANT_TIMEOUT_SECONDS = 20
CHECK_TIMEOUT_SECONDS = 60

ALREADY_RUNNING = "A check is running already. Its result will be shown here."
TIMED_OUT = "The check was stopped because it took too long. Run `kasuwa audit` instead, which has no timeout."


async def show_invariants(visit: Visit, status: int = 200, problem: str = "") -> Response:
    faults = {"": problem} if problem else {}
    return visit.render(
        "operator_invariants.html",
        status,
        invariants=[invariant.description for invariant in INVARIANTS],
        last_check=visit.services.last_check,
        can_run=visit.user.role in CAN_KEEP_BOOKS,
        faults=faults,
    )


async def run_invariant_check(visit: Visit) -> Response:
    try:
        async with visit.operator_pool.acquire() as connection, audit_lock(connection) as is_free:
            if not is_free:
                return await show_invariants(visit, 409, ALREADY_RUNNING)
            async with asyncio.timeout(CHECK_TIMEOUT_SECONDS):
                violations = await check_invariants(connection, seconds=INVARIANT_TIMEOUT_SECONDS)
    except (TimeoutError, asyncpg.QueryCanceledError, asyncpg.LockNotAvailableError):
        await visit.record_audit("checked the ledger invariants", "all merchants", after="stopped: timeout")
        return await show_invariants(visit, 503, TIMED_OUT)
    visit.services.last_check = InvariantCheck(datetime.now(UTC), visit.user.email, violations)
    await visit.record_audit("checked the ledger invariants", "all merchants", after={"violations": len(violations)})
    return await show_invariants(visit)
