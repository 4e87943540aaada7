"""Plays the two operators who book what a rail has taken back, for `trigger` of the test environment. In live two
people do it on the page Approvals. Contract: sandbox#trigger"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from kasuwa.authority.approvals import draw_number
from kasuwa.console.operator.manual_posting import Verdict, decide_verdict, need_verdict, propose_reversal
from kasuwa.core.decision import AuditEntry, Decision, Merchant, Refusal
from kasuwa.engine.batch import RuleFailure, Submission
from kasuwa.engine.entropy import draw_entropy
from kasuwa.engine.writer import Writer
from kasuwa.postgres.connection_pool import Pool
from kasuwa.projections.rail_movement import find_rail_movement

# Who decided, in the books and in the audit trail: no user has this number.
PLAYED, ACTOR = 0, "sandbox"


async def book_reversal(writer: Writer, operators: Pool, merchant: Merchant, reference: str) -> Mapping[str, Any]:
    """Books the reversal of a transaction that has ended. Returns a reply with the reference of its event."""
    movement = await find_rail_movement(operators, merchant.merchant_id, reference)
    if movement is None or movement.is_reversed:
        return {"status": 104, "message": "nothing of this transaction can be taken back"}
    approval_id = await draw_number(operators)
    entry = AuditEntry(ACTOR, "approved a reversal by a rail, as two operators do", f"approval {approval_id}")
    verdict = Verdict(approval_id, "approved", PLAYED, propose_reversal(movement, reference), entry)
    needs, rule = need_verdict(verdict, merchant), partial(decide_verdict, verdict)
    decision = await writer.submit(Submission(merchant, needs, rule, draw_entropy()))
    if isinstance(decision, RuleFailure):
        raise decision.error
    if isinstance(decision, Refusal):
        return {"status": decision.code, "message": decision.message}
    assert isinstance(decision, Decision)
    return {"status": 200, "txnRef": decision.events[0].reference}
