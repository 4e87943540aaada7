"""The rules of transfers that wait for approval: who is refused, what a verdict writes, and how the wait ends."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.callers import Caller
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, NeedsMore, Refusal, Row
from kasuwa.core.payouts import PayoutPolicy
from kasuwa.core.references import hold_key
from kasuwa.core.transactions import FAILED, PENDING, PROCESSING, Transaction
from kasuwa.ledger.chart import PENDING as HELD
from kasuwa.ledger.chart import Hold
from kasuwa.methods.disburse.model import JOB_DATA_DECODER, SEND, WALLET
from kasuwa.methods.disburse.payout_model import (
    APPROVED,
    EXPIRE,
    EXPIRED,
    REJECTED,
    WAITING,
    WAITING_TIME,
    PayoutCounter,
    TransferApproval,
)
from kasuwa.methods.disburse.rules.approve import (
    DECIDED,
    OWN_TRANSFER,
    UNKNOWN_REFERENCE,
    decide_expiry,
    decide_verdict,
    need_verdict,
)
from kasuwa.methods.disburse.wire import VerdictRequest
from kasuwa.rails.ports import Answer
from tests.methods.disburse.orders import decided, order
from tests.rule_context import NOW, context, merchant

PAYER = Caller("payroll", 2, ("payout",), 2)
APPROVER = Caller("finance", 3, ("approve",), 3)
LATER = NOW + timedelta(hours=1)
NO_ANSWER = Answer("", None, "")


def by(caller: Caller, now: Any = LATER) -> Context:
    of = merchant(payouts=PayoutPolicy(approve_above="0.00"))
    return context(now, merchant=msgspec.structs.replace(of, caller=caller), has_webhook=True)


class Waiting:
    """A transfer that waits, with all rows that its decision wrote."""

    def __init__(self) -> None:
        self.decision = decided(order(), by(PAYER, NOW))
        self.rows: dict[bytes, Row | None] = {row.key: row for row in self.decision.rows}
        self.row = next(row for row in self.decision.rows if isinstance(row, Transaction))
        self.approval = next(row for row in self.decision.rows if isinstance(row, TransferApproval))
        self.expiry = next(job for job in self.decision.jobs if job.kind == EXPIRE)
        [group] = self.decision.groups
        [new] = group.new_holds
        hold = Hold(new.hold_key, self.row.merchant_id, WALLET, new.amount, self.row.txn_ref, HELD, 0)
        self.rows |= {self.expiry.key: self.expiry, hold.key: hold}

    def decide(self, verdict: str, given: Context, **changes: Any) -> Decision | Refusal | NeedsMore:
        approval = msgspec.structs.replace(self.approval, **changes)
        seen = LoadedRows({**self.rows, approval.key: approval})
        return decide_verdict(verdict, VerdictRequest(txn_ref=self.row.txn_ref), given, seen)


@pytest.fixture
def waiting() -> Waiting:
    return Waiting()


def test_a_transfer_that_waits_is_held_and_not_sent(waiting: Waiting) -> None:
    assert (waiting.row.status, waiting.approval.state, waiting.row.message) == (
        PENDING,
        WAITING,
        "Waiting for approval",
    )
    assert waiting.decision.follow_up is None
    assert [job.kind for job in waiting.decision.jobs] == [EXPIRE, "webhook.deliver"]
    assert waiting.expiry.due == NOW + WAITING_TIME
    assert [event.kind for event in waiting.decision.events] == ["transfer_approval"]
    assert all(row.day_count == 1 for row in waiting.decision.rows if isinstance(row, PayoutCounter))


def test_an_unknown_reference_is_refused() -> None:
    request = VerdictRequest(txn_ref="GP|FD|1")
    of = by(APPROVER)
    empty = LoadedRows({key: None for _, key in need_verdict(request, of.merchant).rows})
    assert decide_verdict(APPROVED, request, of, empty) is UNKNOWN_REFERENCE


def test_the_maker_may_reject_but_not_approve(waiting: Waiting) -> None:
    assert waiting.decide(APPROVED, by(PAYER)) is OWN_TRANSFER
    rolled = msgspec.structs.replace(PAYER, key_id=9)
    assert waiting.decide(APPROVED, by(rolled)) is OWN_TRANSFER
    assert isinstance(waiting.decide(REJECTED, by(PAYER)), Decision)


@pytest.mark.parametrize("state", [APPROVED, REJECTED, EXPIRED])
@pytest.mark.parametrize("verdict", [APPROVED, REJECTED])
def test_a_decided_transfer_is_not_decided_again(waiting: Waiting, state: str, verdict: str) -> None:
    reply = waiting.decide(verdict, by(APPROVER), state=state)
    if state == verdict:
        assert isinstance(reply, Decision)
        assert not reply.changes_anything
    else:
        assert reply is DECIDED[state]


def test_a_verdict_after_72_hours_comes_too_late(waiting: Waiting) -> None:
    just_before = NOW + WAITING_TIME - timedelta(seconds=1)
    assert isinstance(waiting.decide(APPROVED, by(APPROVER, just_before)), Decision)
    for verdict in (APPROVED, REJECTED):
        assert waiting.decide(verdict, by(APPROVER, NOW + WAITING_TIME)) is DECIDED[EXPIRED]


def test_an_approved_transfer_is_sent_and_keeps_its_hold(waiting: Waiting) -> None:
    decision = waiting.decide(APPROVED, by(APPROVER))
    assert isinstance(decision, Decision)
    row, approval = decision.rows
    assert isinstance(row, Transaction)
    assert isinstance(approval, TransferApproval)
    assert (row.status, approval.state, approval.decided_by) == (PROCESSING, APPROVED, "key 3 (finance)")
    assert (decision.groups, decision.jobs_done) == ((), (waiting.expiry,))
    assert decision.follow_up is decision.jobs[0]
    data = JOB_DATA_DECODER.decode(decision.jobs[0].work)
    assert (decision.jobs[0].kind, data.sent_at, data.is_approved) == (SEND, LATER.timestamp(), True)


def test_a_rejected_transfer_releases_its_hold_and_is_not_counted(waiting: Waiting) -> None:
    decision = waiting.decide(REJECTED, by(APPROVER))
    assert isinstance(decision, Decision)
    row = decision.rows[0]
    assert isinstance(row, Transaction)
    assert (row.status, row.message) == (FAILED, "Rejected by key 3 (finance)")
    assert [group.closes_hold for group in decision.groups] == [hold_key(row.key)]
    assert [(event.kind, event.object_seq) for event in decision.events] == [("transfer_approval", 2), ("transfer", 3)]
    counters = [row for row in decision.rows if isinstance(row, PayoutCounter)]
    assert [(row.hour_count, row.day_count, row.day_amount) for row in counters] == [(0, 0, 0)] * 2


def expire(waiting: Waiting, now: Any, rows: dict[bytes, Row | None]) -> Any:
    return decide_expiry(waiting.expiry, NO_ANSWER, by(APPROVER, now), LoadedRows({**waiting.rows, **rows}))


def test_the_end_of_the_wait_fails_only_what_still_waits(waiting: Waiting) -> None:
    early = expire(waiting, LATER, {})
    assert [job.kind for job in early.jobs] == [EXPIRE], "the job is put back"
    approved = msgspec.structs.replace(waiting.approval, state=APPROVED)
    assert not expire(waiting, NOW + WAITING_TIME, {approved.key: approved}).changes_anything
    gone: dict[bytes, Row | None] = {waiting.expiry.key: None}
    assert not expire(waiting, NOW + WAITING_TIME, gone).changes_anything
    ended = expire(waiting, NOW + WAITING_TIME, {})
    assert (ended.rows[0].status, ended.rows[1].state, ended.rows[1].decided_by) == (FAILED, EXPIRED, "")
    assert isinstance(ended.jobs_done[0], Job)
