"""Due dates: oracle values, and comparison with a day-by-day calendar."""

import calendar
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.calendar import LAGOS, lagos_day, lagos_moment
from kasuwa.core.money import convert_to_minor, format_minor
from kasuwa.transactions.schedule import (
    COUNT_REASON,
    DAY_REASON,
    MAX_INSTALLMENTS,
    PART_REASON,
    RECURRENCE_VALUES,
    SUM_REASON,
    VALUE_REASONS,
    Frequency,
    PaymentInstallment,
    Recurrence,
    amount_due,
    check_recurrence_value,
    make_recurrence,
    next_due,
    next_retry,
    plan_installments,
)
from tests.walk.bounds import DAY_OF_MONTH, HOUR_OF_DAY

ORACLES: dict[str, Any] = msgspec.json.decode((Path(__file__).parents[1] / "data/schedule_oracles.json").read_bytes())

EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
moments = st.timedeltas(timedelta(0), timedelta(days=40 * 365)).map(lambda later: EARLIEST + later)
recurrences = st.sampled_from(
    [Recurrence(frequency, value) for frequency, range_ in RECURRENCE_VALUES.items() for value in range_]
)


def due_times(recurrence: Recurrence, enrolled: datetime) -> Iterator[datetime]:
    due = enrolled
    while True:
        due = next_due(recurrence, due)
        yield due


def lagos(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=LAGOS)


# --- recurrent payments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("oracle", ORACLES["recurrence"], ids=lambda o: f"{o['frequency']} {o['value']} {o['from_']}")
def test_due_times_are_those_of_the_oracle(oracle: dict[str, Any]) -> None:
    by_hour = oracle["frequency"] == "daily"
    enrolled = datetime.fromisoformat(oracle["from_"])
    enrolled = enrolled if by_hour else lagos(oracle["from_"] + "T12:00")
    expected = [lagos(value[:10] + ("" if not by_hour else value[10:19])) for value in oracle["next"]]
    if not by_hour:
        expected = [day.replace(hour=9) for day in expected]
    found = due_times(make_recurrence(oracle["frequency"], oracle["value"], enrolled), enrolled)
    assert [next(found) for _ in expected] == expected


@pytest.mark.parametrize(
    ("recurrence", "enrolled", "due"),
    [
        # An hour that has come is tomorrow's; one that is to come is today's, to the microsecond.
        (Recurrence("daily", 10), "2026-01-05T10:00:00", "2026-01-06T10:00"),
        (Recurrence("daily", 10), "2026-01-05T09:59:59.999999", "2026-01-05T10:00"),
        (Recurrence("daily", 0), "2026-12-31T23:59:59", "2027-01-01T00:00"),
        # The day of enrolment has had its charge, even before nine.
        (Recurrence("weekly", 1), "2026-01-05T00:00:00", "2026-01-12T09:00"),
        (Recurrence("weekly", 7), "2026-01-05T00:30:00", "2026-01-11T09:00"),
        (Recurrence("monthly", 15), "2026-01-15T03:00:00", "2026-02-15T09:00"),
        (Recurrence("monthly", 16), "2026-01-15T23:00:00", "2026-01-16T09:00"),
        (Recurrence("monthly", 30), "2026-02-27T12:00:00", "2026-02-28T09:00"),
        (Recurrence("monthly", 30), "2026-02-28T12:00:00", "2026-03-30T09:00"),
        (Recurrence("monthly", 30), "2026-12-31T12:00:00", "2027-01-30T09:00"),
        # No leap year, a leap year by four hundred.
        (Recurrence("monthly", 29), "2100-01-29T12:00:00", "2100-02-28T09:00"),
        (Recurrence("monthly", 29), "2400-01-29T12:00:00", "2400-02-29T09:00"),
    ],
)
def test_the_first_due_time_lies_strictly_after_enrolment(recurrence: Recurrence, enrolled: str, due: str) -> None:
    assert next_due(recurrence, lagos(enrolled)) == lagos(due)


@given(recurrences, moments)
def test_no_due_date_comes_twice_and_none_is_missed(recurrence: Recurrence, enrolled: datetime) -> None:
    """Against a calendar: every hour or day of four years that fits the words is there, and nothing else."""
    first_day, days = lagos_day(enrolled), 4 * 366
    expected = []
    for day in (first_day + timedelta(days=n) for n in range(days)):
        last = calendar.monthrange(day.year, day.month)[1]
        if recurrence.frequency == "daily":
            if (due := lagos_moment(day, recurrence.value)) > enrolled:
                expected.append(due)
        elif day > first_day and (
            (recurrence.frequency == "weekly" and day.isoweekday() == recurrence.value)
            or (recurrence.frequency == "monthly" and day.day == min(recurrence.value, last))
        ):
            expected.append(lagos_moment(day))
    found = due_times(recurrence, enrolled)
    assert [next(found) for _ in expected] == expected


@given(recurrences, moments)
def test_the_next_due_time_does_not_depend_on_when_it_is_computed(recurrence: Recurrence, enrolled: datetime) -> None:
    """The chain goes from due time to due time: whoever runs it, however late, finds the same one."""
    first, second = (due for due, _ in zip(due_times(recurrence, enrolled), range(2), strict=False))
    assert enrolled < first < second
    assert next_due(recurrence, first) == second


@pytest.mark.parametrize(
    ("frequency", "good", "bad"),
    [
        ("daily", ["00", "0", "9", "09", "23"], ["24", "-1", "", "000", "9.0", " 9", "٣", "9:00"]),
        ("weekly", ["1", "7", "07"], ["0", "8", "Monday", "1.5"]),
        ("monthly", ["1", "01", "30"], ["0", "31", "30th", "+1"]),
    ],
)
def test_a_value_is_within_its_range(frequency: Frequency, good: list[str], bad: list[str]) -> None:
    assert [check_recurrence_value(frequency, value) for value in good] == [None] * len(good)
    assert [check_recurrence_value(frequency, value) for value in bad] == [VALUE_REASONS[frequency]] * len(bad)


@HOUR_OF_DAY.tries
def test_an_hour_is_from_0_to_23(value: int, is_within: bool) -> None:
    assert (check_recurrence_value("daily", str(value)) is None) == is_within


@DAY_OF_MONTH.tries
def test_a_day_of_a_month_is_from_1_to_30(value: int, is_within: bool) -> None:
    assert (check_recurrence_value("monthly", str(value)) is None) == is_within


def test_without_a_value_the_hour_weekday_or_day_of_enrolment_is_the_anchor() -> None:
    enrolled = lagos("2026-01-31T00:30")  # Still the 30th in UTC.
    assert make_recurrence("daily", None, enrolled) == Recurrence("daily", 0)
    assert make_recurrence("daily", None, lagos("2026-01-31T17:45")) == Recurrence("daily", 17)
    assert make_recurrence("weekly", None, enrolled) == Recurrence("weekly", 6)
    monthly = make_recurrence("monthly", None, enrolled)
    found = due_times(monthly, enrolled)
    assert [next(found).date() for _ in range(3)] == [date(2026, 2, 28), date(2026, 3, 31), date(2026, 4, 30)]


# --- what was declined, again ---------------------------------------------------------------------------------


def retries(due: datetime, following: datetime | None) -> list[timedelta]:
    """Each retry declined as soon as it is made."""
    found: list[timedelta] = []
    again = next_retry(due, due, following)
    while again is not None:
        found.append(again - due)
        again = next_retry(due, again, following)
    return found


@pytest.mark.parametrize(
    ("recurrence", "days"),
    [(Recurrence("daily", 9), []), (Recurrence("weekly", 1), [1, 3]), (Recurrence("monthly", 1), [1, 3, 7])],
)
def test_retries_come_before_the_next_due_time(recurrence: Recurrence, days: list[int]) -> None:
    due = next_due(recurrence, lagos("2026-01-05T12:00"))
    assert retries(due, next_due(recurrence, due)) == [timedelta(days=n) for n in days]


def test_with_nothing_due_later_all_retries_are_made() -> None:
    assert retries(lagos("2026-01-05T09:00"), None) == [timedelta(days=1), timedelta(days=3), timedelta(days=7)]


def test_a_decline_that_comes_late_skips_the_retries_it_has_passed() -> None:
    due = lagos("2026-01-05T09:00")
    assert next_retry(due, due + timedelta(days=2), None) == due + timedelta(days=3)
    assert next_retry(due, due + timedelta(days=7), None) is None


@given(recurrences, moments, st.timedeltas(timedelta(0), timedelta(days=40)))
def test_a_retry_is_later_than_its_decline_and_earlier_than_the_next_charge(
    recurrence: Recurrence, enrolled: datetime, late: timedelta
) -> None:
    due = next_due(recurrence, enrolled)
    following = next_due(recurrence, due)
    again = next_retry(due, due + late, following)
    assert again is None or due + late < again < following


# --- installments ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("oracle", ORACLES["installments"], ids=lambda oracle: oracle["id"])
def test_installments_are_those_of_the_oracle(oracle: dict[str, Any]) -> None:
    schedule = {day: str(part) for day, part in oracle["payment_schedule"].items()}
    plan = plan_installments(convert_to_minor(oracle["total"]), schedule)
    assert isinstance(plan, tuple)
    assert {i.due.strftime("%d-%m-%Y"): format_minor(i.amount) for i in plan} == oracle["amounts"]


def test_amounts_that_add_up_to_the_total_are_taken_as_they_are_earliest_first() -> None:
    plan = plan_installments(20_000, {"01-03-2026": "150.50", "28-02-2026": "49.5"})
    assert plan == (PaymentInstallment(date(2026, 2, 28), 4_950), PaymentInstallment(date(2026, 3, 1), 15_050))


def test_the_remainder_is_the_last_dates_not_the_last_written() -> None:
    plan = plan_installments(10_001, {"03-02-2026": "33.34", "01-02-2026": "33.33", "02-02-2026": "33.33"})
    assert isinstance(plan, tuple)
    assert [installment.amount for installment in plan] == [3_333, 3_333, 3_335]


def test_amount_due_sums_the_installments_of_a_day() -> None:
    plan = plan_installments(10_000, {"01-02-2026": "40", "01-03-2026": "60"})
    assert isinstance(plan, tuple)
    assert [amount_due(plan, date(2026, month, 1)) for month in (1, 2, 3)] == [0, 4_000, 6_000]


@pytest.mark.parametrize(
    ("total", "schedule", "reason"),
    [
        (10_000, {}, COUNT_REASON),
        (10_000, {f"01-01-{2000 + n}": "1" for n in range(MAX_INSTALLMENTS + 1)}, COUNT_REASON),
        (10_000, {"2026-11-30": "100"}, DAY_REASON),
        (10_000, {"30-02-2026": "100"}, DAY_REASON),
        (10_000, {"00-01-2026": "100"}, DAY_REASON),
        (10_000, {"01-01-0000": "100"}, DAY_REASON),
        (10_000, {"1-1-2026": "100"}, DAY_REASON),
        (10_000, {"01-01-2026 ": "100"}, DAY_REASON),
        (10_000, {"01-01-2026": "50", "01-13-2026": "50"}, DAY_REASON),
        (20_000, {"01-01-2026": "50", "02-01-2026": "49.99"}, SUM_REASON),
        (20_000, {"01-01-2026": "100", "02-01-2026": "99.99"}, SUM_REASON),
        (20_000, {"01-01-2026": "0", "02-01-2026": "100"}, PART_REASON),
        (20_000, {"01-01-2026": "0", "02-01-2026": "200"}, PART_REASON),
        (20_000, {"01-01-2026": "100.005", "02-01-2026": "99.995"}, PART_REASON),
        (1, {"01-01-2026": "50", "02-01-2026": "50"}, PART_REASON),
        (2, {f"0{n}-01-2026": "25" for n in range(1, 5)}, PART_REASON),
    ],
)
def test_an_invalid_schedule_is_refused_with_the_reason(total: int, schedule: dict[str, str], reason: str) -> None:
    assert plan_installments(total, schedule) == reason


@given(
    st.integers(1, 10**15),
    st.lists(st.integers(1, 9_999), min_size=0, max_size=20, unique=True).map(sorted),
)
def test_percentages_divide_every_total_without_rest(total: int, cuts: list[int]) -> None:
    edges = [0, *cuts, 10_000]
    parts = [format_minor(high - low) for low, high in pairwise(edges)]
    days = [date(2026, 1, 1) + timedelta(days=n) for n in range(len(parts))]
    plan = plan_installments(total, {day.strftime("%d-%m-%Y"): part for day, part in zip(days, parts, strict=True)})
    if isinstance(plan, str):
        assert plan == PART_REASON
        # Each part of a larger total is more than all that rounding can take from the last: a half for each other.
        assert total <= 10_000 * len(parts)
        return
    assert [installment.due for installment in plan] == days
    assert sum(installment.amount for installment in plan) == total
    for installment, part in zip(plan[:-1], parts, strict=False):
        assert abs(installment.amount * 10_000 - total * convert_to_minor(part)) * 2 <= 10_000
