"""The rules of daily events of settlements: turning them on and off, and telling each day once."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.action import Write
from kasuwa.core.decision import Decision, Event, Job
from kasuwa.methods.statements.settlement_events import actions
from kasuwa.methods.statements.settlement_events.model import REPORT_DAY, SettlementEvents, read_day, time_to_report
from kasuwa.rails.ports.orders import RAIL_SILENT, RAIL_UNAVAILABLE, SUCCESSFUL, Answer
from kasuwa.transactions.transactions import DELIVER_EVENT
from tests.methods.payment.in_memory_payments import InMemoryPayments, decode_fields

[STEP] = actions.STEPS
[SWITCH] = [action for action in actions.RESOURCES if isinstance(action, Write)]
MONDAY = date(2026, 1, 5)
NOTHING = Answer(SUCCESSFUL, None, "")


def read(**nets: int) -> Answer:
    """The answer of a day with these nets, in minor units."""
    return Answer(SUCCESSFUL, None, "", facts={currency: str(net) for currency, net in nets.items()})


class InMemorySettlementEvents(InMemoryPayments):
    def switch(self, daily: bool) -> Any:
        request = decode_fields(SWITCH, {"daily": daily}, self.merchant)
        needs = SWITCH.needs(request, self.merchant)
        return self.decide(needs, lambda context, seen: SWITCH.decide(request, context, seen))

    def report(self, job: Job, answer: Answer) -> Decision:
        """Runs a job at its time, or later if it is late."""
        self.now = max(self.now, job.due)
        needs = STEP.needs(job, answer, self.merchant)
        outcome = self.decide(needs, lambda context, seen: STEP.decide(job, answer, context, seen))
        assert isinstance(outcome, Decision)
        return outcome

    @property
    def job(self) -> Job:
        [job] = [row for row in self.rows.values() if isinstance(row, Job) and row.kind == REPORT_DAY]
        return job

    @property
    def setting(self) -> SettlementEvents:
        [setting] = [row for row in self.rows.values() if isinstance(row, SettlementEvents)]
        return setting


@pytest.fixture
def books() -> InMemorySettlementEvents:
    """A merchant that has turned the events on, on a Monday."""
    books = InMemorySettlementEvents()
    books.switch(True)
    return books


def payload_of(event: Event) -> Any:
    return msgspec.json.decode(event.payload)


def writes_nothing(decision: Decision) -> bool:
    return not (decision.rows or decision.jobs or decision.jobs_done or decision.events)


# --- turning them on and off ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("day", "due"),
    [
        (MONDAY, datetime(2026, 1, 5, 23, 5, tzinfo=UTC)),
        (date(2026, 12, 31), datetime(2026, 12, 31, 23, 5, tzinfo=UTC)),
    ],
)
def test_a_day_is_due_five_minutes_after_midnight_in_lagos(day: date, due: datetime) -> None:
    assert time_to_report(day) == due


@pytest.mark.parametrize(
    ("now", "first"),
    [
        (datetime(2026, 1, 5, 22, 59, 59, tzinfo=UTC), MONDAY),
        (datetime(2026, 1, 5, 23, 0, tzinfo=UTC), MONDAY + timedelta(days=1)),
    ],
)
def test_the_first_day_is_the_one_on_which_they_are_turned_on(now: datetime, first: date) -> None:
    books = InMemorySettlementEvents(now)
    reply = books.switch(True).reply
    assert (read_day(books.job), books.job.due) == (first, time_to_report(first))
    assert (reply.data.daily, reply.data.last_day, books.setting.is_daily) == (True, None, True)
    assert reply.data.next_event == time_to_report(first).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def test_turning_them_on_again_keeps_the_day_of_the_job(books: InMemorySettlementEvents) -> None:
    """A job that is late must not lose its day."""
    kept = books.job
    books.now += timedelta(days=3)
    again = books.switch(True)
    assert (writes_nothing(again), again.reply.data.daily, books.job) == (True, True, kept)
    assert again.reply.data.next_event == "2026-01-05T23:05:00.000Z"


def test_turning_them_off_ends_the_job(books: InMemorySettlementEvents) -> None:
    job = books.job
    reply = books.switch(False).reply
    assert (reply.data.daily, reply.data.next_event, books.setting.is_daily) == (False, None, False)
    assert job.key not in books.rows
    assert writes_nothing(books.switch(False))


def test_turning_off_what_was_never_on_writes_nothing() -> None:
    decision = InMemorySettlementEvents().switch(False)
    assert (writes_nothing(decision), decision.reply.data.daily) == (True, False)


def test_days_on_which_they_were_off_have_no_events(books: InMemorySettlementEvents) -> None:
    books.report(books.job, read(NGN=100))
    books.switch(False)
    books.now += timedelta(days=3)
    reply = books.switch(True).reply
    assert (read_day(books.job), reply.data.last_day) == (MONDAY + timedelta(days=4), "2026-01-05")


# --- a day that has ended -------------------------------------------------------------------------------------------


def test_a_day_has_one_event_for_each_currency_with_its_net(books: InMemorySettlementEvents) -> None:
    books.report(books.job, read(USD=2_000, NGN=-12_345))
    naira, dollars = (payload_of(event) for event in books.events)
    assert naira == {
        "status": 200,
        "txnStatus": "successful",
        "txnRef": "ST20260105NGN",
        "chargedAmount": "-123.45",
        "paymentMethod": "wallet",
        "endpoint": "test",
        "kind": "settlement",
        "currency": "NGN",
        "settlement_id": "ST20260105NGN",
        "step": "closed",
    }
    assert (dollars["settlement_id"], dollars["chargedAmount"]) == ("ST20260105USD", "20.00")
    assert (books.setting.last_day, read_day(books.job)) == (MONDAY, MONDAY + timedelta(days=1))


def test_a_day_without_settlements_has_no_event(books: InMemorySettlementEvents) -> None:
    decision = books.report(books.job, NOTHING)
    assert (decision.rows, decision.events, books.setting.last_day) == ((), (), None)
    tuesday = MONDAY + timedelta(days=1)
    assert (read_day(books.job), books.job.due) == (tuesday, time_to_report(tuesday))


def test_a_settlement_whose_lines_add_up_to_nothing_has_an_event(books: InMemorySettlementEvents) -> None:
    books.report(books.job, read(NGN=0))
    assert [payload_of(event)["chargedAmount"] for event in books.events] == ["0.00"]


def test_a_job_that_comes_twice_reports_its_day_once(books: InMemorySettlementEvents) -> None:
    job = books.job
    books.report(job, read(NGN=100))
    following = books.job
    assert writes_nothing(books.report(job, read(NGN=100)))
    assert writes_nothing(books.report(job, RAIL_SILENT))
    assert (len(books.events), books.job) == (1, following)


def test_a_job_that_is_late_by_days_reports_them_one_by_one(books: InMemorySettlementEvents) -> None:
    books.now += timedelta(days=4)
    days = []
    while books.job.due <= books.now:
        days.append(read_day(books.job))
        books.report(books.job, read(NGN=len(days)))
    assert days == [MONDAY + timedelta(days=count) for count in range(4)]
    assert [payload_of(event)["txnRef"] for event in books.events] == [f"ST2026010{day}NGN" for day in (5, 6, 7, 8)]
    assert len({event.reference for event in books.events}) == 4


@pytest.mark.parametrize("trouble", [RAIL_UNAVAILABLE, RAIL_SILENT], ids=["too many postings", "too slow"])
def test_a_day_that_cannot_be_read_is_read_again(books: InMemorySettlementEvents, trouble: Answer) -> None:
    first = books.job
    books.report(first, trouble)
    assert (books.events, read_day(books.job), books.job.due) == ([], MONDAY, first.due + timedelta(minutes=10))
    books.report(books.job, read(NGN=100))
    assert [payload_of(event)["txnRef"] for event in books.events] == ["ST20260105NGN"]


def test_a_job_whose_events_were_turned_off_meanwhile_reports_nothing(books: InMemorySettlementEvents) -> None:
    job = books.job
    books.switch(False)
    assert writes_nothing(books.report(job, read(NGN=100)))


def test_each_event_of_a_day_is_delivered_by_a_job_of_its_own() -> None:
    books = InMemorySettlementEvents(has_webhook=True)
    books.switch(True)
    for _ in range(2):
        books.report(books.job, read(NGN=100, USD=200))
    deliveries = [row.reference for row in books.rows.values() if isinstance(row, Job) and row.kind == DELIVER_EVENT]
    assert sorted(deliveries) == sorted(event.reference for event in books.events)
    assert len(deliveries) == 4
