"""Installment plans: paused, resumed and cancelled by their merchant, and how they end.

Contract: payment#installment
"""

from typing import Any

import pytest

from kasuwa.core.decision import Refusal
from kasuwa.methods.payment.rules.installments import UNKNOWN_PLAN
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    DECLINED,
    NOBODY_ASKED,
    InMemoryPayments,
    PaymentInProgress,
    action_named,
    paid_card,
)

HARD = Answer(ports.FAILED, "54", "Expired Card")
SCHEDULE = {"05-01-2026": 400, "05-02-2026": 300, "05-03-2026": 300}
LATER = {"05-02-2026": 500, "05-03-2026": 500}


def begin(desk: InMemoryPayments, schedule: dict[str, Any] = SCHEDULE) -> PaymentInProgress:
    return paid_card(desk, amount=None, installment={"payment_schedule": schedule, "total": "1000.00"})


def change(desk: InMemoryPayments, status: str, plan_id: str | None = None) -> Any:
    request = action_named("installments", status)
    assert request.variant == ("status", status)
    return desk.put("installments", status, id=plan_id or desk.plan().plan_id, status=status)


def fall_due(desk: InMemoryPayments) -> PaymentInProgress:
    (job,) = desk.jobs(desk.plan().key)
    desk.now = max(desk.now, job.due)
    return PaymentInProgress(desk, desk.receive_answer(job, NOBODY_ASKED))


def lines(decision: Any) -> list[bool]:
    return [line.paid for line in decision.reply.data.payment_schedule]


def test_a_paused_plan_charges_nothing_and_a_resumed_one_what_fell_due_meanwhile() -> None:
    desk = InMemoryPayments()
    begin(desk)
    paused = change(desk, "pause")
    assert (paused.reply.data.state, paused.reply.data.next_charge) == ("paused", None)
    assert desk.jobs(desk.plan().key) == []
    desk.advance(days=90)
    resumed = change(desk, "resume")
    assert (resumed.reply.data.state, lines(resumed)) == ("active", [True, False, False])
    (job,) = desk.jobs(desk.plan().key)
    assert job.due == desk.now
    for _ in range(2):
        fall_due(desk).receive_answer(APPROVED)
    assert (desk.plan().state, desk.plan().paid) == ("finished", 100_000)


def test_a_plan_whose_card_was_declined_for_good_can_be_resumed() -> None:
    desk = InMemoryPayments()
    begin(desk)
    fall_due(desk).receive_answer(HARD)
    assert desk.plan().state == "paused"
    change(desk, "resume")
    fall_due(desk).receive_answer(APPROVED)
    assert (desk.plan().state, desk.plan().paid, desk.plan().cycle) == ("active", 70_000, 2)


def test_a_cancelled_plan_is_over() -> None:
    desk = InMemoryPayments()
    begin(desk)
    cancelled = change(desk, "cancel")
    assert (cancelled.reply.data.state, desk.jobs(desk.plan().key)) == ("cancelled", [])
    assert change(desk, "cancel").reply.data.state == "cancelled"
    for status in ("resume", "pause"):
        refused = change(desk, status)
        assert isinstance(refused, Refusal)
        assert (refused.code, "cancelled" in refused.message) == (104, True)


@pytest.mark.parametrize(("status", "state"), [("pause", "paused"), ("cancel", "cancelled")])
@pytest.mark.parametrize("answer", [APPROVED, DECLINED, HARD])
def test_what_is_changed_while_a_charge_is_under_way_stands_when_it_ends(
    status: str, state: str, answer: Answer
) -> None:
    desk = InMemoryPayments()
    begin(desk)
    charge = fall_due(desk)
    change(desk, status)
    charge.receive_answer(answer)
    assert (desk.plan().state, desk.plan().charging, desk.jobs(desk.plan().key)) == (state, False, [])
    assert desk.plan().paid == (70_000 if answer is APPROVED else 40_000)


def test_a_plan_resumed_while_its_charge_is_under_way_goes_on_after_it() -> None:
    desk = InMemoryPayments()
    begin(desk)
    charge = fall_due(desk)
    change(desk, "pause")
    change(desk, "resume")
    assert desk.jobs(desk.plan().key) == []
    charge.receive_answer(APPROVED)
    assert (desk.plan().state, len(desk.jobs(desk.plan().key))) == ("active", 1)


def test_resuming_an_active_plan_changes_nothing() -> None:
    desk = InMemoryPayments()
    begin(desk)
    before = dict(desk.rows)
    assert change(desk, "resume").reply.data.state == "active"
    assert desk.rows == before


@pytest.mark.parametrize(
    ("schedule", "answers", "state", "paid"),
    [
        (SCHEDULE, (APPROVED, APPROVED), "finished", 100_000),
        (SCHEDULE, (APPROVED, DECLINED), "incomplete", 70_000),
        (SCHEDULE, (DECLINED, DECLINED), "incomplete", 40_000),
        (LATER, (DECLINED, DECLINED), "unpaid", 0),
    ],
)
def test_a_plan_ends_by_what_it_has_collected(
    schedule: dict[str, Any], answers: tuple[Answer, ...], state: str, paid: int
) -> None:
    """A decline is tried again until its date is given up."""
    desk = InMemoryPayments()
    begin(desk, schedule)
    for answer in answers:
        cycle = desk.plan().cycle
        while desk.plan().state == "active" and desk.plan().cycle == cycle:
            fall_due(desk).receive_answer(answer)
    assert (desk.plan().state, desk.plan().paid) == (state, paid)
    assert isinstance(change(desk, "resume"), Refusal)


def test_an_unknown_plan_and_a_recurrence_are_no_installment_plans() -> None:
    desk = InMemoryPayments()
    paid_card(desk, recurrent={"frequency": "daily"})
    assert change(desk, "cancel") == UNKNOWN_PLAN
    assert change(desk, "cancel", "INnothing") == UNKNOWN_PLAN
