"""Installment plans: paused, resumed and cancelled by their merchant, and their final states."""

from typing import Any

import pytest

from kasuwa.core.decision import Refusal
from kasuwa.methods.payment.rules.plans.installments import UNKNOWN_PLAN
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    DECLINED,
    NOBODY_ASKED,
    InMemoryPayments,
    PaymentInProgress,
    action_named,
    paid_card,
)

HARD = Answer(orders.FAILED, "54", "Expired Card")
SCHEDULE = {"05-01-2026": 400, "05-02-2026": 300, "05-03-2026": 300}
LATER = {"05-02-2026": 500, "05-03-2026": 500}


def begin(payments: InMemoryPayments, schedule: dict[str, Any] = SCHEDULE) -> PaymentInProgress:
    return paid_card(payments, amount=None, installment={"payment_schedule": schedule, "total": "1000.00"})


def change(payments: InMemoryPayments, status: str, plan_id: str | None = None) -> Any:
    request = action_named("installments", status)
    assert request.variant == ("status", status)
    return payments.put("installments", status, id=plan_id or payments.plan().plan_id, status=status)


def fall_due(payments: InMemoryPayments) -> PaymentInProgress:
    (job,) = payments.jobs(payments.plan().key)
    payments.now = max(payments.now, job.due)
    return PaymentInProgress(payments, payments.receive_answer(job, NOBODY_ASKED))


def lines(decision: Any) -> list[bool]:
    return [line.paid for line in decision.reply.data.payment_schedule]


def test_a_paused_plan_charges_nothing_and_a_resumed_one_what_fell_due_meanwhile() -> None:
    payments = InMemoryPayments()
    begin(payments)
    paused = change(payments, "pause")
    assert (paused.reply.data.state, paused.reply.data.next_charge) == ("paused", None)
    assert payments.jobs(payments.plan().key) == []
    payments.advance(days=90)
    resumed = change(payments, "resume")
    assert (resumed.reply.data.state, lines(resumed)) == ("active", [True, False, False])
    (job,) = payments.jobs(payments.plan().key)
    assert job.due == payments.now
    for _ in range(2):
        fall_due(payments).receive_answer(APPROVED)
    assert (payments.plan().state, payments.plan().paid) == ("finished", 100_000)


def test_a_plan_whose_card_was_declined_for_good_can_be_resumed() -> None:
    payments = InMemoryPayments()
    begin(payments)
    fall_due(payments).receive_answer(HARD)
    assert payments.plan().state == "paused"
    change(payments, "resume")
    fall_due(payments).receive_answer(APPROVED)
    assert (payments.plan().state, payments.plan().paid, payments.plan().cycle) == ("active", 70_000, 2)


def test_a_cancelled_plan_cannot_be_changed() -> None:
    payments = InMemoryPayments()
    begin(payments)
    cancelled = change(payments, "cancel")
    assert (cancelled.reply.data.state, payments.jobs(payments.plan().key)) == ("cancelled", [])
    assert change(payments, "cancel").reply.data.state == "cancelled"
    for status in ("resume", "pause"):
        refused = change(payments, status)
        assert isinstance(refused, Refusal)
        assert (refused.code, "cancelled" in refused.message) == (104, True)


@pytest.mark.parametrize(("status", "state"), [("pause", "paused"), ("cancel", "cancelled")])
@pytest.mark.parametrize("answer", [APPROVED, DECLINED, HARD])
def test_a_change_during_a_charge_still_holds_when_the_charge_ends(status: str, state: str, answer: Answer) -> None:
    payments = InMemoryPayments()
    begin(payments)
    charge = fall_due(payments)
    change(payments, status)
    charge.receive_answer(answer)
    assert (payments.plan().state, payments.plan().charging, payments.jobs(payments.plan().key)) == (state, False, [])
    assert payments.plan().paid == (70_000 if answer is APPROVED else 40_000)


def test_a_plan_cancelled_during_its_last_charge_stays_cancelled() -> None:
    payments = InMemoryPayments()
    begin(payments)
    fall_due(payments).receive_answer(APPROVED)
    charge = fall_due(payments)
    change(payments, "cancel")
    charge.receive_answer(APPROVED)
    assert (payments.plan().state, payments.plan().paid) == ("cancelled", 100_000)
    assert lines(change(payments, "cancel")) == [True, True, True]


def test_a_plan_resumed_while_its_charge_is_under_way_goes_on_after_it() -> None:
    payments = InMemoryPayments()
    begin(payments)
    charge = fall_due(payments)
    change(payments, "pause")
    change(payments, "resume")
    assert payments.jobs(payments.plan().key) == []
    charge.receive_answer(APPROVED)
    assert (payments.plan().state, len(payments.jobs(payments.plan().key))) == ("active", 1)


def test_resuming_an_active_plan_changes_nothing() -> None:
    payments = InMemoryPayments()
    begin(payments)
    before = dict(payments.rows)
    assert change(payments, "resume").reply.data.state == "active"
    assert payments.rows == before


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
    payments = InMemoryPayments()
    begin(payments, schedule)
    for answer in answers:
        cycle = payments.plan().cycle
        while payments.plan().state == "active" and payments.plan().cycle == cycle:
            fall_due(payments).receive_answer(answer)
    assert (payments.plan().state, payments.plan().paid) == (state, paid)
    assert isinstance(change(payments, "resume"), Refusal)


def test_an_unknown_plan_or_a_recurrence_is_not_an_installment_plan() -> None:
    payments = InMemoryPayments()
    paid_card(payments, recurrent={"frequency": "daily"})
    assert change(payments, "cancel") == UNKNOWN_PLAN
    assert change(payments, "cancel", "INnothing") == UNKNOWN_PLAN
