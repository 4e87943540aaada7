"""Business days and times: stored in UTC, lived in Lagos (D10)."""

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.calendar import LAGOS, NEVER, lagos_day, lagos_text, utc_text
from tests.untimed import UNTIMED

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


@UNTIMED
@given(moments)
def test_lagos_is_where_the_zone_database_says(moment: datetime) -> None:
    assert moment.astimezone(LAGOS).replace(tzinfo=None) == moment.astimezone(ZoneInfo("Africa/Lagos")).replace(
        tzinfo=None
    )


def test_times_read_as_in_the_contract() -> None:
    moment = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
    assert utc_text(moment) == "2026-01-05T09:30:00.000Z"
    assert lagos_text(moment) == "2026-01-05T10:30:00.000+01:00"


def test_milliseconds_are_cut_not_rounded() -> None:
    moment = datetime(2026, 1, 5, 9, 30, 59, 999_999, tzinfo=UTC)
    assert utc_text(moment) == "2026-01-05T09:30:59.999Z"
    assert lagos_text(moment) == "2026-01-05T10:30:59.999+01:00"


@UNTIMED
@given(moments)
def test_both_texts_read_back_as_the_same_moment(moment: datetime) -> None:
    to_the_millisecond = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    assert datetime.fromisoformat(utc_text(moment)) == to_the_millisecond
    assert datetime.fromisoformat(lagos_text(moment)) == to_the_millisecond


@UNTIMED
@given(moments)
def test_never_comes_after_every_moment(moment: datetime) -> None:
    assert moment < NEVER
