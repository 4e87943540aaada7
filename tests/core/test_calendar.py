"""Business days, settlement times and the formats of times."""

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import holidays
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.calendar import (
    LAGOS,
    NEVER,
    add_months,
    is_business_day,
    lagos_day,
    lagos_text,
    public_holidays,
    settlement_time,
    utc_text,
)

TOKYO = timezone(timedelta(hours=9))

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
microseconds = st.integers(min_value=0, max_value=7_000 * 365 * 86_400 * 10**6)
moments = st.builds(
    lambda after, zone: (EARLIEST + timedelta(microseconds=after)).astimezone(zone),
    microseconds,
    st.sampled_from([UTC, LAGOS, TOKYO]),
)


@pytest.mark.parametrize(
    ("moment", "day"),
    [
        (datetime(2026, 1, 5, 22, 59, 59, 999_999, tzinfo=UTC), date(2026, 1, 5)),
        (datetime(2026, 1, 5, 23, 0, tzinfo=UTC), date(2026, 1, 6)),
        (datetime(2025, 12, 31, 23, 30, tzinfo=UTC), date(2026, 1, 1)),
        (datetime(2026, 1, 6, 0, 0, tzinfo=LAGOS), date(2026, 1, 6)),
        (datetime(2026, 1, 6, 7, 30, tzinfo=TOKYO), date(2026, 1, 5)),
    ],
)
def test_the_business_day_turns_at_midnight_in_lagos(moment: datetime, day: date) -> None:
    assert lagos_day(moment) == day


@given(moments)
def test_lagos_is_where_the_zone_database_says(moment: datetime) -> None:
    assert moment.astimezone(LAGOS).replace(tzinfo=None) == moment.astimezone(ZoneInfo("Africa/Lagos")).replace(
        tzinfo=None
    )


def test_times_read_as_in_the_contract() -> None:
    moment = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
    assert utc_text(moment) == "2026-01-05T09:30:00.000Z"
    assert lagos_text(moment) == "2026-01-05T10:30:00.000+01:00"


def test_milliseconds_are_truncated_not_rounded() -> None:
    moment = datetime(2026, 1, 5, 9, 30, 59, 999_999, tzinfo=UTC)
    assert utc_text(moment) == "2026-01-05T09:30:59.999Z"
    assert lagos_text(moment) == "2026-01-05T10:30:59.999+01:00"


@given(moments)
def test_both_texts_read_back_as_the_same_moment(moment: datetime) -> None:
    to_the_millisecond = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    assert datetime.fromisoformat(utc_text(moment)) == to_the_millisecond
    assert datetime.fromisoformat(lagos_text(moment)) == to_the_millisecond


@given(moments)
def test_never_comes_after_every_moment(moment: datetime) -> None:
    assert moment < NEVER


@pytest.mark.parametrize(
    "day",
    [
        date(2026, 1, 1),  # New Year's Day
        date(2026, 1, 3),  # a Saturday
        date(2026, 1, 4),  # a Sunday
        date(2026, 4, 3),  # Good Friday
        date(2026, 4, 6),  # Easter Monday
        date(2026, 5, 1),  # Workers' Day
        date(2026, 6, 12),  # Democracy Day
        date(2026, 10, 1),  # National Day
        date(2026, 12, 25),  # Christmas Day
        date(2026, 12, 28),  # Boxing Day, which fell on a Saturday
    ],
)
def test_weekends_and_public_holidays_are_no_business_days(day: date) -> None:
    assert not is_business_day(day)


def test_the_public_holidays_are_those_that_the_package_lists() -> None:
    ours, listed = public_holidays(), holidays.country_holidays("NG", years=range(2000, 2060))
    first, last = date(2000, 1, 1).toordinal(), date(2059, 12, 31).toordinal()
    days = [date.fromordinal(number) for number in range(first, last + 1)]
    assert [day for day in days if day in ours] == sorted(listed)


@pytest.mark.parametrize(
    ("now", "days", "settled"),
    [
        # Monday to Tuesday; the hour of the payment does not matter.
        ("2026-01-05T00:00:00", 1, "2026-01-06T09:00"),
        ("2026-01-05T23:59:59", 1, "2026-01-06T09:00"),
        # Over a weekend, and from within one.
        ("2026-01-09T12:00:00", 1, "2026-01-12T09:00"),
        ("2026-01-10T12:00:00", 1, "2026-01-12T09:00"),
        ("2026-01-11T12:00:00", 2, "2026-01-13T09:00"),
        # Over Easter, and over the feasts and the turn of the year.
        ("2026-04-02T12:00:00", 1, "2026-04-07T09:00"),
        ("2026-12-24T12:00:00", 3, "2026-12-31T09:00"),
        ("2026-12-31T12:00:00", 1, "2027-01-04T09:00"),
    ],
)
def test_settlement_counts_business_days_from_the_day_in_lagos(now: str, days: int, settled: str) -> None:
    at = [datetime.fromisoformat(value).replace(tzinfo=LAGOS) for value in (now, settled)]
    assert settlement_time(at[0], days) == at[1]


@given(moments)
def test_settlement_at_once_is_now_on_every_day(moment: datetime) -> None:
    assert settlement_time(moment, 0) == moment


@given(moments.filter(lambda moment: moment.year < 8900), st.integers(1, 10))
def test_settlement_falls_on_a_business_day_with_as_many_before_it(moment: datetime, days: int) -> None:
    settled = lagos_day(settlement_time(moment, days))
    between = (settled - lagos_day(moment)).days
    passed = [lagos_day(moment) + timedelta(days=n) for n in range(1, between + 1)]
    assert is_business_day(settled)
    assert sum(map(is_business_day, passed)) == days


@pytest.mark.parametrize(
    ("months", "day"),
    [
        (0, date(2027, 10, 31)),
        (1, date(2027, 11, 30)),
        (2, date(2027, 12, 31)),
        (3, date(2028, 1, 31)),
        (4, date(2028, 2, 29)),
        (5, date(2028, 3, 31)),
        (16, date(2029, 2, 28)),
    ],
)
def test_months_end_with_the_month_and_are_counted_from_their_anchor(months: int, day: date) -> None:
    assert add_months(date(2027, 10, 31), months) == day
