"""Scheduled charges: when, how often, and what stops them. No due date is charged twice."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Job
from kasuwa.core.scenario import InjectedFault
from kasuwa.methods.payment.model import JOB_DATA_DECODER
from kasuwa.methods.payment.plan_model import Plan
from kasuwa.methods.payment.rules.plans.installments import reply_installment_plan
from kasuwa.methods.payment.rules.plans.recurrent import PLAN_FINISHED, UNKNOWN_PLAN
from kasuwa.methods.payment.rules.plans.scheduled_charges import read_recurrence, retry_classes
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.schedule import next_due
from tests.hypothesis_settings import without_deadline
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    CARD,
    DECLINED,
    NOBODY_ASKED,
    NOT_FOUND,
    SILENT,
    InMemoryPayments,
    PaymentInProgress,
    begin,
    charge,
    fields_of,
    initiate,
    opened,
    paid_card,
)
from tests.rule_context import NOW, VAULT

HARD = Answer(orders.FAILED, "54", "Expired Card")
DAILY = {"frequency": "daily", "value": "12"}


def recurrent(payments: InMemoryPayments, **rule: str) -> PaymentInProgress:
    return paid_card(payments, is_recurring=True, recurrent=rule or DAILY)


def installments(
    payments: InMemoryPayments, schedule: dict[str, Any], total: str = "1000.00", **changes: Any
) -> PaymentInProgress:
    return paid_card(payments, amount=None, installment={"payment_schedule": schedule, "total": total}, **changes)


def waiting(payments: InMemoryPayments) -> Job:
    (job,) = payments.jobs(payments.plan().key)
    return job


def fall_due(payments: InMemoryPayments) -> PaymentInProgress:
    """The plan's job at its time, or later where time has passed it by."""
    job = waiting(payments)
    payments.now = max(payments.now, job.due)
    return PaymentInProgress(payments, payments.receive_answer(job, NOBODY_ASKED))


def change(payments: InMemoryPayments, status: str | None) -> Any:
    return payments.put("recurrent", id=payments.plan().plan_id, status=status)


# --- the price of later charges ---------------------------------------------------------------------------------------

FOREIGN = {"card_no": "4242424242424242", "expiry_month": "12", "expiry_year": "30", "ccv": "000", "pin": "1234"}


@pytest.mark.parametrize("bearer", ["merchant", "customer", None])
@pytest.mark.parametrize("foreign", [False, True])
@pytest.mark.parametrize("kind", ["recurrent", "installment"])
def test_a_later_charge_is_priced_like_the_first(kind: str, foreign: bool, bearer: str | None) -> None:
    payments = InMemoryPayments()
    card = FOREIGN if foreign else CARD
    planned: dict[str, Any] = {"recurrent": DAILY, "amount": "1500.00"}
    if kind == "installment":
        schedule = {"05-01-2026": 1500, "05-02-2026": 1500}
        planned = {"installment": {"payment_schedule": schedule, "total": "3000.00"}, "amount": "1500.00"}
    first = initiate(payments, card=card, bearer=bearer, **planned)
    first.receive_answer(opened("PIN"))
    charge(payments, first, "PIN", card=card)
    first.receive_answer(APPROVED)
    before = payments.balances()
    second = fall_due(payments)
    second.receive_answer(APPROVED)
    for attribute in ("amount", "fee", "vat", "currency"):
        assert getattr(second.row, attribute) == getattr(first.row, attribute)
    for attribute in ("charged", "settled"):
        assert getattr(second.payment, attribute) == getattr(first.payment, attribute)
    assert payments.balance("wallet:main:NGN") - before["wallet:main:NGN"] == first.payment.settled
    assert (first.payment.charged > 150_000) is (bearer == "customer")
    local = initiate(payments, bearer=bearer, amount="1500.00")
    assert (local.row.fee == first.row.fee) is not foreign


# --- beginning ------------------------------------------------------------------------------------------------------


def test_a_plan_begins_when_its_first_charge_succeeds_and_not_otherwise() -> None:
    payments = InMemoryPayments()
    first = recurrent(payments)
    plan = payments.plan()
    assert (plan.state, plan.token, plan.first_ref, plan.paid) == (
        "active",
        first.payment.token,
        first.txn_ref,
        150_000,
    )
    assert (utc_text(waiting(payments).due), waiting(payments).lane) == ("2026-01-05T11:00:00.000Z", "schedule")
    other = InMemoryPayments()
    begin(other, "phone").receive_answer(APPROVED)
    paid_card(other, is_recurring=True)
    assert other.of_type(Plan) == []


def test_a_charge_on_its_date_is_one_of_the_saved_card_for_the_plan() -> None:
    payments = InMemoryPayments()
    recurrent(payments)
    charge = fall_due(payments)
    assert charge.state == ("pending", "charging", "payment.charge")
    detail, work = charge.detail, JOB_DATA_DECODER.decode(charge.job.work)
    assert detail.purpose is not None
    assert (detail.purpose.purpose, detail.purpose.reference) == ("recurrent", payments.plan().plan_id)
    assert (work.token, work.attempt, charge.row.amount) == (payments.plan().token, 1, 150_000)
    assert (payments.plan().charging, payments.jobs(payments.plan().key), payments.plan().last_ref) == (
        True,
        [],
        charge.txn_ref,
    )


def test_a_due_date_that_is_run_twice_is_charged_once() -> None:
    payments = InMemoryPayments()
    recurrent(payments)
    job = waiting(payments)
    fall_due(payments)
    assert payments.receive_answer(job, NOBODY_ASKED).rows == ()


def test_a_planned_fault_is_used_up_by_a_plans_charge() -> None:
    payments = InMemoryPayments()
    recurrent(payments)
    payments.faults = (InjectedFault("card", "timeout", 1),)
    charge = fall_due(payments)
    assert JOB_DATA_DECODER.decode(charge.job.work).scenario.http == "timeout"
    assert len(payments.faults) == 0


# --- how a charge ends ------------------------------------------------------------------------------------------------


def test_a_successful_charge_moves_the_plan_to_the_next_due_date() -> None:
    payments = InMemoryPayments()
    recurrent(payments)
    fall_due(payments).receive_answer(APPROVED)
    plan = payments.plan()
    assert (plan.cycle, plan.paid, plan.misses, plan.charging) == (2, 300_000, 0, False)
    assert (
        waiting(payments).due
        == plan.cycle_due
        == NOW.replace(hour=11, minute=0, second=0, microsecond=0) + timedelta(1)
    )


def test_soft_declines_are_retried_after_one_three_and_seven_days_and_then_missed() -> None:
    payments = InMemoryPayments()
    recurrent(payments, frequency="monthly", value="20")
    due = payments.plan().cycle_due
    for days in (1, 3, 7):
        fall_due(payments).receive_answer(DECLINED)
        assert (waiting(payments).due, payments.plan().cycle_due) == (due + timedelta(days=days), due)
    assert JOB_DATA_DECODER.decode(fall_due(payments).job.work).attempt == 4
    (charge,) = [row for row in payments.of_type(Job) if row.kind == "payment.charge"]
    payments.receive_answer(charge, DECLINED)
    assert (payments.plan().misses, payments.plan().cycle, waiting(payments).due) == (
        1,
        2,
        next_due(read_recurrence(payments.plan()), due),
    )


def test_a_retry_never_comes_on_or_after_the_next_due_date() -> None:
    payments = InMemoryPayments()
    recurrent(payments)
    fall_due(payments).receive_answer(DECLINED)
    assert (payments.plan().misses, payments.plan().cycle) == (1, 2)


def test_three_missed_cycles_in_a_row_pause_a_plan() -> None:
    payments = InMemoryPayments()
    recurrent(payments)
    for answer in (DECLINED, DECLINED, APPROVED, DECLINED, DECLINED):
        fall_due(payments).receive_answer(answer)
    assert (payments.plan().state, payments.plan().misses) == ("active", 2)
    fall_due(payments).receive_answer(DECLINED)
    assert (payments.plan().state, payments.jobs(payments.plan().key)) == ("paused", [])


@pytest.mark.parametrize("code", sorted(code for code, kind in retry_classes().items() if kind not in ("ok", "soft")))
def test_every_decline_but_a_soft_one_pauses_the_plan_at_once(code: str) -> None:
    payments = InMemoryPayments()
    recurrent(payments, frequency="monthly", value="20")
    fall_due(payments).receive_answer(Answer(orders.FAILED, code, "no"))
    assert (payments.plan().state, payments.plan().charging, payments.jobs(payments.plan().key)) == (
        "paused",
        False,
        [],
    )


def test_a_plan_makes_no_second_charge_while_the_outcome_is_unknown() -> None:
    payments = InMemoryPayments()
    recurrent(payments)
    charge = fall_due(payments)
    for _ in range(40):
        charge.receive_answer(SILENT, hours=1)
        assert payments.jobs(payments.plan().key) == []
    charge.receive_answer(APPROVED)
    # Two due dates have passed meanwhile: none is missed.
    assert waiting(payments).due <= payments.now


def test_a_charge_that_the_rail_never_saw_is_tried_again_as_a_soft_decline() -> None:
    payments = InMemoryPayments()
    recurrent(payments, frequency="monthly", value="20")
    charge = fall_due(payments)
    charge.receive_answer(SILENT)
    charge.receive_answer(NOT_FOUND, days=1)
    assert (charge.row.status, payments.plan().state) == ("failed", "active")
    assert waiting(payments).due > payments.now


# --- stopped, started, shown ----------------------------------------------------------------------------------------


def test_a_stopped_plan_has_no_job_and_starts_with_the_next_due_date() -> None:
    payments = InMemoryPayments()
    recurrent(payments)
    assert change(payments, "stop").reply.data.state == "stopped"
    assert payments.jobs(payments.plan().key) == []
    payments.advance(days=5)
    reply = change(payments, "start").reply
    assert (reply.data.next_charge, reply.message) == ("2026-01-10T11:00:00.000Z", "The recurrent payment is active")
    assert waiting(payments).due == payments.plan().cycle_due
    assert change(payments, "start").rows == ()


def test_stopped_and_started_before_its_due_date_nothing_is_skipped() -> None:
    payments = InMemoryPayments()
    recurrent(payments)
    due = payments.plan().cycle_due
    change(payments, "stop")
    change(payments, "start")
    assert waiting(payments).due == due


@pytest.mark.parametrize("answer", [APPROVED, DECLINED])
def test_a_restart_during_a_charge_skips_and_doubles_no_due_date(answer: Answer) -> None:
    payments = InMemoryPayments()
    recurrent(payments)
    charge = fall_due(payments)
    due = payments.plan().cycle_due
    change(payments, "stop")
    change(payments, "start")
    assert (payments.plan().cycle_due, payments.jobs(payments.plan().key)) == (due, [])
    charge.receive_answer(answer)
    assert waiting(payments).due == due + timedelta(days=1)


def test_due_dates_that_pass_while_stopped_are_not_charged() -> None:
    payments = InMemoryPayments()
    recurrent(payments)
    charge = fall_due(payments)
    charge.receive_answer(SILENT)
    change(payments, "stop")
    payments.advance(days=3, hours=1)
    change(payments, "start")
    charge.receive_answer(APPROVED)
    assert waiting(payments).due == next_due(read_recurrence(payments.plan()), payments.now)


@pytest.mark.parametrize("answer", [APPROVED, DECLINED, HARD])
def test_a_plan_that_was_stopped_during_its_charge_stays_stopped(answer: Answer) -> None:
    payments = InMemoryPayments()
    recurrent(payments)
    charge = fall_due(payments)
    change(payments, "stop")
    charge.receive_answer(answer)
    assert (payments.plan().state, payments.plan().charging, payments.jobs(payments.plan().key)) == (
        "stopped",
        False,
        [],
    )


@pytest.mark.parametrize(("started", "due"), [("07:59", "2026-01-19"), ("08:01", "2026-01-26")])
def test_a_due_date_that_is_still_to_come_today_is_charged_when_a_plan_is_started(started: str, due: str) -> None:
    payments = InMemoryPayments()
    recurrent(payments, frequency="weekly", value="1")
    fall_due(payments).receive_answer(HARD)
    payments.now = datetime.fromisoformat(f"2026-01-19T{started}:00+00:00")
    change(payments, "start")
    assert f"{waiting(payments).due:%Y-%m-%d}" == due


def test_a_paused_plan_starts_again_from_now() -> None:
    payments = InMemoryPayments()
    recurrent(payments)
    fall_due(payments).receive_answer(HARD)
    change(payments, "start")
    assert (payments.plan().state, payments.plan().misses, waiting(payments).due > payments.now) == ("active", 0, True)


def test_the_id_of_an_installment_plan_is_unknown_as_a_recurrent_payment() -> None:
    payments = InMemoryPayments()
    installments(payments, {"05-01-2026": 50, "06-01-2026": 50})
    assert change(payments, None) == UNKNOWN_PLAN
    assert payments.put("recurrent", id="RCnothing") == UNKNOWN_PLAN
    other = InMemoryPayments()
    recurrent(other)
    assert change(other, None).reply.data.state == "active"
    other.plan().state = "finished"
    assert change(other, "start") == change(other, "stop") == PLAN_FINISHED


# --- installments ---------------------------------------------------------------------------------------------------


def test_installments_are_charged_one_by_one_to_the_last_kobo() -> None:
    payments = InMemoryPayments()
    first = installments(payments, {"05-01-2026": 50, "20-01-2026": 30, "20-02-2026": 20}, "1000.01")
    assert first.payment.charged == 50_001
    amounts = []
    while payments.jobs(payments.plan().key):
        charge = fall_due(payments)
        amounts.append(charge.row.amount)
        charge.receive_answer(APPROVED)
    assert (amounts, payments.plan().state, payments.plan().paid) == ([30_000, 20_000], "finished", 100_001)


def test_the_last_installment_is_retried_and_the_plan_then_ends() -> None:
    payments = InMemoryPayments()
    installments(payments, {"05-01-2026": 50, "20-01-2026": 50})
    for _ in range(4):
        fall_due(payments).receive_answer(DECLINED)
    assert (payments.plan().state, payments.plan().misses) == ("incomplete", 1)
    shown = reply_installment_plan(payments.plan(), VAULT.unseal)
    assert [line.paid for line in shown.payment_schedule] == [True, False]


@pytest.mark.parametrize(
    ("schedule", "total", "amount", "named"),
    [
        ({"04-01-2026": 100}, "1000.00", None, ["installment.payment_schedule"]),
        ({"05-01-2026": 50}, "1000.00", None, ["installment.payment_schedule"]),
        ({"2026-01-05": 100}, "1000.00", None, ["installment.payment_schedule"]),
        ({}, "1000.00", None, ["installment.payment_schedule"]),
        ({"05-01-2026": "999.50", "06-01-2026": "0.50"}, "1000.00", None, ["installment.payment_schedule"]),
        ({"05-01-2026": "0.50", "06-01-2026": "999.50"}, "1000.00", None, ["amount"]),
        ({"05-01-2026": 50, "06-01-2026": 50}, "1000.00", "1000.00", ["amount"]),
        ({"06-01-2026": 100}, "1000.00", "1000.00", ["amount"]),
    ],
)
def test_an_invalid_schedule_is_refused(schedule: Any, total: str, amount: str | None, named: list[str]) -> None:
    payments = InMemoryPayments()
    token = paid_card(payments).payment.token
    fields = {"token": token, "amount": amount, "installment": {"payment_schedule": schedule, "total": total}}
    assert fields_of(payments.put("charge", "token", **fields)) == named


# --- never two, none missed -------------------------------------------------------------------------------------------

MOVES = st.lists(
    st.tuples(
        st.sampled_from(
            ["due", "due", "approve", "soft", "hard", "silent", "stop", "start", "stop and start", "sleep"]
        ),
        st.integers(1, 200),
    ),
    min_size=10,
    max_size=40,
)
RULES = st.sampled_from([DAILY, {"frequency": "weekly", "value": "1"}, {"frequency": "monthly", "value": "30"}])


class ChargeTracker:
    """Tracks what a plan has charged by due date, and compares it with its schedule."""

    def __init__(self, payments: InMemoryPayments) -> None:
        self.payments = payments
        self.attempts: list[datetime] = []
        self.paid: list[datetime] = []
        self.inactive_until: datetime | None = None
        self.charge: PaymentInProgress | None = None

    def begin(self) -> None:
        plan = self.payments.plan()
        assert plan.state == "active"
        assert not plan.charging
        assert plan.cycle_due not in self.paid
        if self.attempts and plan.cycle_due != self.attempts[-1]:
            expected = next_due(read_recurrence(plan), self.attempts[-1])
            while self.inactive_until is not None and expected <= self.inactive_until:
                expected = next_due(read_recurrence(plan), expected)
            assert plan.cycle_due == expected, "a due date was missed, or one that is none was charged"
        self.attempts.append(plan.cycle_due)
        self.inactive_until = None
        self.charge = fall_due(self.payments)

    def move(self, what: str, hours: int) -> None:
        answers = {"approve": APPROVED, "soft": DECLINED, "hard": HARD, "silent": SILENT}
        plan = self.payments.plan()
        if what == "sleep":
            self.payments.advance(hours=hours)
        elif what == "due" and self.payments.jobs(plan.key):
            self.begin()
        elif what in answers and self.charge is not None:
            self.charge.receive_answer(answers[what], seconds=1)
            if self.charge.row.is_final:
                self.paid += [self.attempts[-1]] if what == "approve" else []
                self.charge = None
        elif what in ("stop", "start", "stop and start"):
            if "start" in what and (plan.state != "active" or "stop" in what):
                self.inactive_until = self.payments.now
            for status in what.split(" and "):
                change(self.payments, status)

    def check(self) -> None:
        plan = self.payments.plan()
        jobs = self.payments.jobs(plan.key)
        assert plan.charging == (self.charge is not None)
        assert len(jobs) == (plan.state == "active" and not plan.charging)
        assert len(set(self.paid)) == len(self.paid)
        assert plan.paid == 150_000 * (1 + len(self.paid))
        assert sum(job.kind in ("payment.charge", "payment.ask") for job in self.payments.jobs()) == plan.charging


@given(MOVES, RULES)
@without_deadline(200)
def test_each_due_date_is_charged_once_and_none_is_missed(moves: list[tuple[str, int]], rule: dict[str, str]) -> None:
    payments = InMemoryPayments()
    recurrent(payments, **rule)
    tracker = ChargeTracker(payments)
    for what, hours in moves:
        tracker.move(what, hours)
        tracker.check()
