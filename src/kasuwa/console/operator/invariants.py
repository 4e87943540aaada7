"""The page of ledger invariants: shows the last result of each, and checks them on demand.

A check reads all postings of all merchants. Therefore only roles that keep the books may run it, one runs at a time in
the whole deployment, and each query and the whole check have a timeout. `kasuwa audit` runs the same check without
timeouts.
"""

import asyncio
from datetime import UTC, datetime

import asyncpg
import msgspec
from starlette.responses import Response

from kasuwa.audit import invariant_results
from kasuwa.audit.audit_lock import audit_lock
from kasuwa.audit.chain_audit import CHAIN_STATEMENTS
from kasuwa.audit.invariant_results import InvariantResult
from kasuwa.audit.invariants.ledger import INVARIANTS, find_violations, name_violations
from kasuwa.authority.roles import CAN_KEEP_BOOKS
from kasuwa.console.kit.visit import Visit
from kasuwa.privacy.row_code_moves import ROWS_INTACT, find_changed_rows

INVARIANT_TIMEOUT_SECONDS = 20
CHECK_TIMEOUT_SECONDS = 60

ALREADY_RUNNING = "A check is running already. Its result will be shown here."
TIMED_OUT = "The check was stopped because it took too long. Run `kasuwa audit` instead, which has no timeout."


class Law(msgspec.Struct, frozen=True):
    """An invariant as the page shows it. `result` is None if it was never checked."""

    sentence: str
    result: InvariantResult | None

    @property
    def state(self) -> str:
        if self.result is None:
            return "not checked"
        return "violated" if self.result.violations else "holds"


SENTENCES = (*(invariant.description for invariant in INVARIANTS), *CHAIN_STATEMENTS, ROWS_INTACT)


async def show_invariants(visit: Visit, status: int = 200, problem: str = "") -> Response:
    async with visit.snapshot() as reader:
        results = {result.invariant: result for result in await invariant_results.list_results(reader)}
    laws = [Law(sentence[:1].upper() + sentence[1:], results.get(sentence)) for sentence in SENTENCES]
    return visit.render(
        "operator_invariants.html",
        status,
        laws=sorted(laws, key=lambda law: law.state != "violated"),
        checked=[law for law in laws if law.result is not None],
        violated=[law for law in laws if law.state == "violated"],
        can_run=visit.user.role in CAN_KEEP_BOOKS,
        faults={"": problem} if problem else {},
    )


async def run_invariant_check(visit: Visit) -> Response:
    try:
        async with visit.operator_pool.acquire() as connection, audit_lock(connection) as is_free:
            if not is_free:
                return await show_invariants(visit, 409, ALREADY_RUNNING)
            async with asyncio.timeout(CHECK_TIMEOUT_SECONDS):
                violations = await find_violations(connection, seconds=INVARIANT_TIMEOUT_SECONDS)
                changed = await find_changed_rows(connection, visit.services.vault, visit.services.coded_tables)
                violations += await name_violations(connection, changed)
            await invariant_results.record_check(connection, SENTENCES, violations, datetime.now(UTC), visit.user.email)
    except (TimeoutError, asyncpg.QueryCanceledError, asyncpg.LockNotAvailableError):
        await visit.record_audit("checked the ledger invariants", "all merchants", after="stopped: timeout")
        return await show_invariants(visit, 503, TIMED_OUT)
    await visit.record_audit("checked the ledger invariants", "all merchants", after={"violations": len(violations)})
    return await show_invariants(visit)
