"""The rules of transfers that wait for approval: who is refused, what a verdict writes, and how the wait ends."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.callers import Caller
from kasuwa.core.decision import Context, Decision, HeldAmount, Job, LoadedRows, NeedsMore, Refusal, Row
from kasuwa.engine.locked_batch import MAX_DECIDE_ROUNDS
from kasuwa.methods.disburse.model import BATCH_PREFIX, JOB_DATA_DECODER, SEND, WALLET
from kasuwa.methods.disburse.payout_model import (
    APPROVED,
    EXPIRE,
    EXPIRED,
    REJECTED,
    WAITING,
    PayoutCounter,
    TransferApproval,
)
from kasuwa.methods.disburse.rules.approve import (
    DECIDED,
    NOTHING_WAITS,
    OWN_TRANSFER,
    SENDER_ENDED,
    UNKNOWN_REFERENCE,
    decide_expiry,
    decide_verdict,
    need_verdict,
)
from kasuwa.methods.disburse.rules.bulk_transfer import make_batch, reply_order
from kasuwa.methods.disburse.wire import VerdictRequest
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.payouts import WAITING_TIME, PayoutPolicy
from kasuwa.transactions.transactions import FAILED, PENDING, PROCESSING, SUCCESSFUL, Transaction
from tests.methods.disburse.orders import decided, order
from tests.rule_context import NOW, context, merchant
from tests.walk.bounds import WAITING_SECONDS

PAYER = Caller("payroll", 2, ("payout",), 2)
APPROVER = Caller("finance", 3, ("approve",), 3)
LATER = NOW + timedelta(hours=1)
NO_ANSWER = Answer("", None, "")


def by(caller: Caller, now: Any = LATER, number: int = 1) -> Context:
    of = merchant(payouts=PayoutPolicy(approve_above="0.00"))
    return context(now, merchant=msgspec.structs.replace(of, caller=caller), has_webhook=True, number=number)


class Waiting:
    """A transfer that waits, with all rows that its decision wrote."""

    def __init__(self, number: int = 1) -> None:
        self.decision = decided(order(orderRef=f"order-{number}"), by(PAYER, NOW, number))
        self.rows: dict[bytes, Row | None] = {row.key: row for row in self.decision.rows}
        self.row = next(row for row in self.decision.rows if isinstance(row, Transaction))
        self.approval = next(row for row in self.decision.rows if isinstance(row, TransferApproval))
        self.expiry = next(job for job in self.decision.jobs if job.kind == EXPIRE)
        self.rows[self.expiry.key] = self.expiry

    def decide(
        self, verdict: str, given: Context, ended: frozenset[Caller] | None = frozenset(), **changes: Any
    ) -> Decision | Refusal | NeedsMore:
        approval = msgspec.structs.replace(self.approval, **changes)
        seen = LoadedRows({**self.rows, approval.key: approval})
        return decide_verdict(verdict, VerdictRequest(txn_ref=self.row.txn_ref), given, seen, ended)


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


def test_what_an_ended_sender_made_is_rejected_but_not_approved(waiting: Waiting) -> None:
    assert waiting.decide(APPROVED, by(APPROVER), ended=None) == Decision(question=(PAYER,))
    assert waiting.decide(APPROVED, by(APPROVER), ended=frozenset({PAYER})) is SENDER_ENDED
    for ended in (None, frozenset({PAYER})):
        rejected = waiting.decide(REJECTED, by(APPROVER), ended=ended)
        assert isinstance(rejected, Decision)
        assert rejected.changes_anything
    again = waiting.decide(APPROVED, by(APPROVER), ended=None, state=APPROVED)
    assert isinstance(again, Decision)
    assert again.question is None, "it was sent already"


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
    for seconds, is_within in WAITING_SECONDS.sides:
        for verdict in (APPROVED, REJECTED):
            outcome = waiting.decide(verdict, by(APPROVER, NOW + timedelta(seconds=seconds)))
            assert isinstance(outcome, Decision) if is_within else outcome is DECIDED[EXPIRED], seconds


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
    assert [group.releases for group in decision.groups] == [HeldAmount(WALLET, row.held)]
    assert [(event.kind, event.object_seq) for event in decision.events] == [("transfer_approval", 2), ("transfer", 3)]
    counters = [row for row in decision.rows if isinstance(row, PayoutCounter)]
    assert [(row.hour_count, row.day_count, row.day_amount) for row in counters] == [(0, 0, 0)] * 2


# --- a bulk ---------------------------------------------------------------------------------------------------------


BATCH_REF = f"{BATCH_PREFIX}000001000|20260105A"


class WaitingBulk:
    """A bulk whose orders were decided one by one, or wait."""

    def __init__(self, *states: str) -> None:
        self.rows: dict[bytes, Row | None] = {}
        self.transfers = [Waiting(number) for number in range(1, len(states) + 1)]
        for waiting, state in zip(self.transfers, states, strict=True):
            is_open = state == WAITING
            approval = msgspec.structs.replace(waiting.approval, batch_ref=BATCH_REF, state=state)
            expiry = {} if is_open else {waiting.expiry.key: None}
            self.rows |= {**waiting.rows, approval.key: approval, **expiry}
        lines = [reply_order(waiting.decision.reply) for waiting in self.transfers]
        batch = make_batch(BATCH_REF, lines, by(PAYER, NOW))
        self.rows[batch.key] = batch

    def decide(self, verdict: str, ended: frozenset[Caller] | None = frozenset()) -> Decision | Refusal:
        """Decides the bulk as the writer does: a rule sees only what it has asked for, in so many rounds."""
        request, given = VerdictRequest(txn_ref=BATCH_REF), by(APPROVER)
        needs, shown = need_verdict(request, given.merchant), dict[bytes, Row | None]()
        for _ in range(1 + MAX_DECIDE_ROUNDS):
            shown |= {key: self.rows.get(key) for _, key in needs.rows}
            outcome = decide_verdict(verdict, request, given, LoadedRows(shown), ended)
            if not isinstance(outcome, NeedsMore):
                return outcome
            needs = outcome.needs
        raise AssertionError("the rule asks too often")


def test_a_bulk_of_an_ended_sender_is_rejected_but_not_approved() -> None:
    bulk = WaitingBulk(APPROVED, WAITING, WAITING)
    assert bulk.decide(APPROVED, ended=None) == Decision(question=(PAYER,))
    assert bulk.decide(APPROVED, ended=frozenset({PAYER})) is SENDER_ENDED
    rejected = bulk.decide(REJECTED, ended=None)
    assert isinstance(rejected, Decision)
    assert len(list(rejected.sub_decisions)) == 2


@pytest.mark.parametrize("verdict", [APPROVED, REJECTED])
def test_the_same_verdict_on_a_bulk_again_is_answered_with_the_state(verdict: str) -> None:
    bulk = WaitingBulk(verdict, verdict, verdict)
    again = bulk.decide(verdict)
    assert isinstance(again, Decision)
    assert not again.changes_anything
    assert (again.reply.status, again.reply.batch_ref) == (200, BATCH_REF)
    assert again.reply.message == f"{verdict.capitalize()} 3 orders"
    assert [line.txn_ref for line in again.reply.data] == [waiting.row.txn_ref for waiting in bulk.transfers]


@pytest.mark.parametrize(
    ("statuses", "shown"),
    [
        ((PROCESSING, PROCESSING), PROCESSING),
        ((SUCCESSFUL, SUCCESSFUL), SUCCESSFUL),
        ((SUCCESSFUL, PROCESSING), PROCESSING),
        ((SUCCESSFUL, FAILED), PROCESSING),
    ],
)
def test_a_repeated_verdict_shows_how_far_the_orders_are(statuses: tuple[str, str], shown: str) -> None:
    bulk = WaitingBulk(APPROVED, APPROVED)
    for waiting, status in zip(bulk.transfers, statuses, strict=True):
        bulk.rows[waiting.row.key] = msgspec.structs.replace(waiting.row, status=status)
    again = bulk.decide(APPROVED)
    assert isinstance(again, Decision)
    assert (again.reply.txn_status, tuple(line.txn_status for line in again.reply.data)) == (shown, statuses)


def test_of_a_bulk_decided_one_by_one_the_orders_with_this_verdict_are_answered() -> None:
    bulk = WaitingBulk(APPROVED, REJECTED, EXPIRED, APPROVED)
    for verdict, places in ((APPROVED, (0, 3)), (REJECTED, (1,))):
        again = bulk.decide(verdict)
        assert isinstance(again, Decision)
        assert [line.txn_ref for line in again.reply.data] == [bulk.transfers[n].row.txn_ref for n in places]


@pytest.mark.parametrize(
    ("verdict", "states"),
    [(REJECTED, (APPROVED, APPROVED)), (APPROVED, (REJECTED, EXPIRED)), (REJECTED, (EXPIRED, EXPIRED))],
)
def test_another_verdict_on_a_decided_bulk_is_refused(verdict: str, states: tuple[str, str]) -> None:
    assert WaitingBulk(*states).decide(verdict) is NOTHING_WAITS


def test_orders_that_still_wait_are_decided_and_the_others_left_out() -> None:
    bulk = WaitingBulk(APPROVED, WAITING)
    decision = bulk.decide(APPROVED)
    assert isinstance(decision, Decision)
    results = list(decision.sub_decisions)
    assert [result.reply.txn_ref for result in results if isinstance(result, Decision)] == [
        bulk.transfers[1].row.txn_ref
    ]


def test_an_order_that_waits_in_another_bulk_is_not_decided_with_this_one() -> None:
    """An order that repeats one of an earlier bulk is listed in both, and waits in the earlier one."""
    bulk = WaitingBulk(WAITING, WAITING)
    repeated = bulk.transfers[0]
    earlier = f"{BATCH_PREFIX}000000999|20260105A"
    bulk.rows[repeated.approval.key] = msgspec.structs.replace(repeated.approval, batch_ref=earlier)
    decision = bulk.decide(APPROVED)
    assert isinstance(decision, Decision)
    decided = [result.reply.txn_ref for result in decision.sub_decisions if isinstance(result, Decision)]
    assert decided == [bulk.transfers[1].row.txn_ref]


# --- the end of the wait --------------------------------------------------------------------------------------------


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
