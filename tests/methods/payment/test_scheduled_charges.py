"""Charges that follow by themselves: when, how often, and what stops them; never two for one due date.

Contract: payment#recurrent, payment#installment
"""

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Job
from kasuwa.core.scenario import InjectedFault
from kasuwa.core.schedule import next_due
from kasuwa.core.transactions import encode_text
from kasuwa.methods.payment.model import DETAIL_DECODER, JOB_DATA_DECODER, Payment
from kasuwa.methods.payment.plan_model import TERMS_DECODER, Plan
from kasuwa.methods.payment.rules.installments import reply_installment_plan
from kasuwa.methods.payment.rules.recurrent import PLAN_FINISHED, UNKNOWN_PLAN
from kasuwa.methods.payment.rules.scheduled_charges import recurrence_of, retry_classes
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer
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
from tests.rule_context import NOW

HARD = Answer(ports.FAILED, "54", "Expired Card")
DAILY = {"frequency": "daily", "value": "12"}


def recurrent(desk: InMemoryPayments, **rule: str) -> PaymentInProgress:
    return paid_card(desk, is_recurring=True, recurrent=rule or DAILY)


def instalments(
    desk: InMemoryPayments, schedule: dict[str, Any], total: str = "1000.00", **changes: Any
) -> PaymentInProgress:
    return paid_card(desk, amount=None, installment={"payment_schedule": schedule, "total": total}, **changes)


def waiting(desk: InMemoryPayments) -> Job:
    (job,) = desk.jobs(desk.plan().key)
    return job


def fall_due(desk: InMemoryPayments) -> PaymentInProgress:
    """The plan's job at its time, or later where time has passed it by."""
    job = waiting(desk)
    desk.now = max(desk.now, job.due)
    return PaymentInProgress(desk, desk.receive_answer(job, NOBODY_ASKED))


def change(desk: InMemoryPayments, status: str | None) -> Any:
    return desk.put("recurrent", id=desk.plan().plan_id, status=status)


# --- the price of later charges ---------------------------------------------------------------------------------------

FOREIGN = {"card_no": "4242424242424242", "expiry_month": "12", "expiry_year": "30", "ccv": "000", "pin": "1234"}


@pytest.mark.parametrize("bearer", ["merchant", "customer", None])
@pytest.mark.parametrize("foreign", [False, True])
@pytest.mark.parametrize("kind", ["recurrent", "instalment"])
def test_a_later_charge_is_priced_like_the_first(kind: str, foreign: bool, bearer: str | None) -> None:
    desk = InMemoryPayments()
    card = FOREIGN if foreign else CARD
    planned: dict[str, Any] = {"recurrent": DAILY, "amount": "1500.00"}
    if kind == "instalment":
        schedule = {"05-01-2026": 1500, "05-02-2026": 1500}
        planned = {"installment": {"payment_schedule": schedule, "total": "3000.00"}, "amount": "1500.00"}
    first = initiate(desk, card=card, bearer=bearer, **planned)
    first.receive_answer(opened("PIN"))
    charge(desk, first, "PIN", card=card)
    first.receive_answer(APPROVED)
    before = desk.balances()
    second = fall_due(desk)
    second.receive_answer(APPROVED)
    for attribute in ("amount", "fee", "vat", "currency"):
        assert getattr(second.row, attribute) == getattr(first.row, attribute)
    for attribute in ("charged", "settled"):
        assert getattr(second.payment, attribute) == getattr(first.payment, attribute)
    assert desk.balance("wallet:main:NGN") - before["wallet:main:NGN"] == first.payment.settled
    assert (first.payment.charged > 150_000) is (bearer == "customer")
    local = initiate(desk, bearer=bearer, amount="1500.00")
    assert (local.row.fee == first.row.fee) is not foreign


def test_nothing_is_ever_charged_for_nothing() -> None:
    """A recurrence of 0.00, as an earlier version could make it, is paused at its next date."""
    desk = InMemoryPayments()
    recurrent(desk)
    plan = desk.plan()
    terms = msgspec.structs.replace(TERMS_DECODER.decode(plan.detail), amount=0)
    desk.rows[plan.key] = msgspec.structs.replace(plan, detail=encode_text(terms))
    job = waiting(desk)
    desk.now = job.due
    payments = len(desk.of_type(Payment))
    desk.receive_answer(job, NOBODY_ASKED)
    assert (desk.plan().state, len(desk.of_type(Payment))) == ("paused", payments)


# --- beginning ------------------------------------------------------------------------------------------------------


def test_a_plan_begins_when_its_first_charge_succeeds_and_not_otherwise() -> None:
    desk = InMemoryPayments()
    first = recurrent(desk)
    plan = desk.plan()
    assert (plan.state, plan.token, plan.first_ref, plan.paid) == (
        "active",
        first.payment.token,
        first.txn_ref,
        150_000,
    )
    assert (utc_text(waiting(desk).due), waiting(desk).lane) == ("2026-01-05T11:00:00.000Z", "schedule")
    other = InMemoryPayments()
    begin(other, "phone").receive_answer(APPROVED)
    paid_card(other, is_recurring=True)
    assert other.of_type(Plan) == []


def test_a_charge_on_its_date_is_one_of_the_saved_card_for_the_plan() -> None:
    desk = InMemoryPayments()
    recurrent(desk)
    charge = fall_due(desk)
    assert charge.state == ("pending", "charging", "payment.charge")
    detail, work = DETAIL_DECODER.decode(charge.payment.detail), JOB_DATA_DECODER.decode(charge.job.work)
    assert detail.purpose is not None
    assert (detail.purpose.purpose, detail.purpose.reference) == ("recurrent", desk.plan().plan_id)
    assert (work.token, work.attempt, charge.row.amount) == (desk.plan().token, 1, 150_000)
    assert (desk.plan().charging, desk.jobs(desk.plan().key), desk.plan().last_ref) == (True, [], charge.txn_ref)


def test_a_due_date_that_is_run_twice_is_charged_once() -> None:
    desk = InMemoryPayments()
    recurrent(desk)
    job = waiting(desk)
    fall_due(desk)
    assert desk.receive_answer(job, NOBODY_ASKED).rows == ()


def test_a_planned_fault_is_used_up_by_a_plans_charge() -> None:
    desk = InMemoryPayments()
    recurrent(desk)
    desk.faults = (InjectedFault("card", "timeout", 1),)
    charge = fall_due(desk)
    assert JOB_DATA_DECODER.decode(charge.job.work).scenario.http == "timeout"
    assert len(desk.faults) == 0


# --- how a charge ends ------------------------------------------------------------------------------------------------


def test_a_success_goes_on_to_the_next_due_date() -> None:
    desk = InMemoryPayments()
    recurrent(desk)
    fall_due(desk).receive_answer(APPROVED)
    plan = desk.plan()
    assert (plan.cycle, plan.paid, plan.misses, plan.charging) == (2, 300_000, 0, False)
    assert waiting(desk).due == plan.cycle_due == NOW.replace(hour=11, minute=0, second=0, microsecond=0) + timedelta(1)


def test_soft_declines_are_retried_after_one_three_and_seven_days_and_then_missed() -> None:
    desk = InMemoryPayments()
    recurrent(desk, frequency="monthly", value="20")
    due = desk.plan().cycle_due
    for days in (1, 3, 7):
        fall_due(desk).receive_answer(DECLINED)
        assert (waiting(desk).due, desk.plan().cycle_due) == (due + timedelta(days=days), due)
    assert JOB_DATA_DECODER.decode(fall_due(desk).job.work).attempt == 4
    (charge,) = [row for row in desk.of_type(Job) if row.kind == "payment.charge"]
    desk.receive_answer(charge, DECLINED)
    assert (desk.plan().misses, desk.plan().cycle, waiting(desk).due) == (
        1,
        2,
        next_due(recurrence_of(desk.plan()), due),
    )


def test_a_retry_never_comes_on_or_after_the_next_due_date() -> None:
    desk = InMemoryPayments()
    recurrent(desk)
    fall_due(desk).receive_answer(DECLINED)
    assert (desk.plan().misses, desk.plan().cycle) == (1, 2)


def test_three_missed_in_a_row_pause_a_plan_and_a_success_between_starts_the_count_anew() -> None:
    desk = InMemoryPayments()
    recurrent(desk)
    for answer in (DECLINED, DECLINED, APPROVED, DECLINED, DECLINED):
        fall_due(desk).receive_answer(answer)
    assert (desk.plan().state, desk.plan().misses) == ("active", 2)
    fall_due(desk).receive_answer(DECLINED)
    assert (desk.plan().state, desk.jobs(desk.plan().key)) == ("paused", [])


@pytest.mark.parametrize("code", sorted(code for code, kind in retry_classes().items() if kind not in ("ok", "soft")))
def test_every_class_but_soft_pauses_at_once(code: str) -> None:
    desk = InMemoryPayments()
    recurrent(desk, frequency="monthly", value="20")
    fall_due(desk).receive_answer(Answer(ports.FAILED, code, "no"))
    assert (desk.plan().state, desk.plan().charging, desk.jobs(desk.plan().key)) == ("paused", False, [])


def test_a_charge_that_is_not_known_holds_the_plan_and_no_second_is_made() -> None:
    desk = InMemoryPayments()
    recurrent(desk)
    charge = fall_due(desk)
    for _ in range(40):
        charge.receive_answer(SILENT, hours=1)
        assert desk.jobs(desk.plan().key) == []
    charge.receive_answer(APPROVED)
    # Two due dates have passed meanwhile: none is missed.
    assert waiting(desk).due <= desk.now


def test_a_charge_that_the_rail_never_saw_is_tried_again_as_a_soft_decline() -> None:
    desk = InMemoryPayments()
    recurrent(desk, frequency="monthly", value="20")
    charge = fall_due(desk)
    charge.receive_answer(SILENT)
    charge.receive_answer(NOT_FOUND, days=1)
    assert (charge.row.status, desk.plan().state) == ("failed", "active")
    assert waiting(desk).due > desk.now


# --- stopped, started, shown ----------------------------------------------------------------------------------------


def test_a_stopped_plan_has_no_job_and_starts_with_the_next_due_date() -> None:
    desk = InMemoryPayments()
    recurrent(desk)
    assert change(desk, "stop").reply.data.state == "stopped"
    assert desk.jobs(desk.plan().key) == []
    desk.advance(days=5)
    reply = change(desk, "start").reply
    assert (reply.data.next_charge, reply.message) == ("2026-01-10T11:00:00.000Z", "The recurrent payment is active")
    assert waiting(desk).due == desk.plan().cycle_due
    assert change(desk, "start").rows == ()


def test_stopped_and_started_before_its_due_date_nothing_is_skipped() -> None:
    desk = InMemoryPayments()
    recurrent(desk)
    due = desk.plan().cycle_due
    change(desk, "stop")
    change(desk, "start")
    assert waiting(desk).due == due


@pytest.mark.parametrize("answer", [APPROVED, DECLINED])
def test_stopped_and_started_while_a_charge_is_under_way_no_due_date_is_skipped_or_doubled(answer: Answer) -> None:
    desk = InMemoryPayments()
    recurrent(desk)
    charge = fall_due(desk)
    due = desk.plan().cycle_due
    change(desk, "stop")
    change(desk, "start")
    assert (desk.plan().cycle_due, desk.jobs(desk.plan().key)) == (due, [])
    charge.receive_answer(answer)
    assert waiting(desk).due == due + timedelta(days=1)


def test_due_dates_that_pass_while_it_stands_still_are_not_charged_after_the_fact() -> None:
    desk = InMemoryPayments()
    recurrent(desk)
    charge = fall_due(desk)
    charge.receive_answer(SILENT)
    change(desk, "stop")
    desk.advance(days=3, hours=1)
    change(desk, "start")
    charge.receive_answer(APPROVED)
    assert waiting(desk).due == next_due(recurrence_of(desk.plan()), desk.now)


@pytest.mark.parametrize("answer", [APPROVED, DECLINED, HARD])
def test_a_plan_that_was_stopped_during_its_charge_stays_stopped(answer: Answer) -> None:
    desk = InMemoryPayments()
    recurrent(desk)
    charge = fall_due(desk)
    change(desk, "stop")
    charge.receive_answer(answer)
    assert (desk.plan().state, desk.plan().charging, desk.jobs(desk.plan().key)) == ("stopped", False, [])


@pytest.mark.parametrize(("started", "due"), [("07:59", "2026-01-19"), ("08:01", "2026-01-26")])
def test_a_due_date_that_is_still_to_come_today_is_charged_when_a_plan_is_started(started: str, due: str) -> None:
    desk = InMemoryPayments()
    recurrent(desk, frequency="weekly", value="1")
    fall_due(desk).receive_answer(HARD)
    desk.now = datetime.fromisoformat(f"2026-01-19T{started}:00+00:00")
    change(desk, "start")
    assert f"{waiting(desk).due:%Y-%m-%d}" == due


def test_a_paused_plan_starts_again_from_now() -> None:
    desk = InMemoryPayments()
    recurrent(desk)
    fall_due(desk).receive_answer(HARD)
    change(desk, "start")
    assert (desk.plan().state, desk.plan().misses, waiting(desk).due > desk.now) == ("active", 0, True)


def test_what_is_no_recurrent_payment_is_unknown() -> None:
    desk = InMemoryPayments()
    instalments(desk, {"05-01-2026": 50, "06-01-2026": 50})
    assert change(desk, None) == UNKNOWN_PLAN
    assert desk.put("recurrent", id="RCnothing") == UNKNOWN_PLAN
    other = InMemoryPayments()
    recurrent(other)
    assert change(other, None).reply.data.state == "active"
    other.plan().state = "finished"
    assert change(other, "start") == change(other, "stop") == PLAN_FINISHED


# --- instalments ----------------------------------------------------------------------------------------------------


def test_instalments_are_charged_one_by_one_to_the_last_kobo() -> None:
    desk = InMemoryPayments()
    first = instalments(desk, {"05-01-2026": 50, "20-01-2026": 30, "20-02-2026": 20}, "1000.01")
    assert first.payment.charged == 50_001
    amounts = []
    while desk.jobs(desk.plan().key):
        charge = fall_due(desk)
        amounts.append(charge.row.amount)
        charge.receive_answer(APPROVED)
    assert (amounts, desk.plan().state, desk.plan().paid) == ([30_000, 20_000], "finished", 100_001)


def test_the_last_instalment_may_be_retried_for_all_its_days_and_the_plan_then_ends() -> None:
    desk = InMemoryPayments()
    instalments(desk, {"05-01-2026": 50, "20-01-2026": 50})
    for _ in range(4):
        fall_due(desk).receive_answer(DECLINED)
    assert (desk.plan().state, desk.plan().misses) == ("incomplete", 1)
    assert [line.paid for line in reply_installment_plan(desk.plan()).payment_schedule] == [True, False]


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
def test_a_schedule_that_cannot_be_is_refused(schedule: Any, total: str, amount: str | None, named: list[str]) -> None:
    desk = InMemoryPayments()
    token = paid_card(desk).payment.token
    said = {"token": token, "amount": amount, "installment": {"payment_schedule": schedule, "total": total}}
    assert fields_of(desk.put("charge", "token", **said)) == named


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


class Watch:
    """What a plan has charged, by due date; and what it owed, as the dates say."""

    def __init__(self, desk: InMemoryPayments) -> None:
        self.desk = desk
        self.attempts: list[datetime] = []
        self.paid: list[datetime] = []
        self.stood_still_until: datetime | None = None
        self.charge: PaymentInProgress | None = None

    def begin(self) -> None:
        plan = self.desk.plan()
        assert plan.state == "active"
        assert not plan.charging
        assert plan.cycle_due not in self.paid
        if self.attempts and plan.cycle_due != self.attempts[-1]:
            expected = next_due(recurrence_of(plan), self.attempts[-1])
            while self.stood_still_until is not None and expected <= self.stood_still_until:
                expected = next_due(recurrence_of(plan), expected)
            assert plan.cycle_due == expected, "a due date was missed, or one that is none was charged"
        self.attempts.append(plan.cycle_due)
        self.stood_still_until = None
        self.charge = fall_due(self.desk)

    def move(self, what: str, hours: int) -> None:
        answers = {"approve": APPROVED, "soft": DECLINED, "hard": HARD, "silent": SILENT}
        plan = self.desk.plan()
        if what == "sleep":
            self.desk.advance(hours=hours)
        elif what == "due" and self.desk.jobs(plan.key):
            self.begin()
        elif what in answers and self.charge is not None:
            self.charge.receive_answer(answers[what], seconds=1)
            if self.charge.row.is_final:
                self.paid += [self.attempts[-1]] if what == "approve" else []
                self.charge = None
        elif what in ("stop", "start", "stop and start"):
            if "start" in what and (plan.state != "active" or "stop" in what):
                self.stood_still_until = self.desk.now
            for status in what.split(" and "):
                change(self.desk, status)

    def check(self) -> None:
        plan = self.desk.plan()
        jobs = self.desk.jobs(plan.key)
        assert plan.charging == (self.charge is not None)
        assert len(jobs) == (plan.state == "active" and not plan.charging)
        assert len(set(self.paid)) == len(self.paid)
        assert plan.paid == 150_000 * (1 + len(self.paid))
        assert sum(job.kind in ("payment.charge", "payment.ask") for job in self.desk.jobs()) == plan.charging


@given(MOVES, RULES)
@without_deadline(200)
def test_never_two_charges_for_one_due_date_and_none_missed(moves: list[tuple[str, int]], rule: dict[str, str]) -> None:
    desk = InMemoryPayments()
    recurrent(desk, **rule)
    watch = Watch(desk)
    for what, hours in moves:
        watch.move(what, hours)
        watch.check()
