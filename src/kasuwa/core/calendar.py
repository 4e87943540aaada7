"""Business days and times: stored in UTC, lived in Lagos (Contract: #times)."""

from calendar import monthrange
from collections.abc import Container
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import cache, lru_cache

# Nigeria has had no daylight saving since 1919: one fixed offset, cheaper than a time-zone look-up.
LAGOS = timezone(timedelta(hours=1), "Africa/Lagos")
NEVER = datetime.max.replace(tzinfo=UTC)

# When something is due on a day that names no hour: after the banks have opened. Contract: payment#recurrent
DEFAULT_DUE_HOUR = 9

FRIDAY = 5


def lagos_day(moment: datetime) -> date:
    return moment.astimezone(LAGOS).date()


def lagos_moment(day: date, hour: int = DEFAULT_DUE_HOUR) -> datetime:
    """An hour of a day in Lagos."""
    return datetime.combine(day, time(hour), LAGOS).astimezone(UTC)


@cache
def public_holidays() -> Container[date]:
    """Nigeria's, reckoned year by year as they are asked for; feasts that the moon decides are estimates until they
    are proclaimed. The package is slow to import, so the supervisor does it once for all of its parts."""
    from holidays import country_holidays

    return country_holidays("NG")


def is_business_day(day: date) -> bool:
    return day.isoweekday() <= FRIDAY and day not in public_holidays()


def settlement_time(now: datetime, days: int) -> datetime:
    """T+n: the n-th business day after today at the usual hour; T+0 is at once. Contract: #fx"""
    if days == 0:
        return now
    day = lagos_day(now)
    for _ in range(days):
        day += timedelta(days=1)
        while not is_business_day(day):
            day += timedelta(days=1)
    return lagos_moment(day)


def add_months(anchor: date, months: int) -> date:
    """The anchor's day of a later month, or that month's last day where it has no such day: the anchor is kept, so
    31 January is followed by 28 February and then 31 March."""
    year, month = divmod(anchor.year * 12 + anchor.month - 1 + months, 12)
    return date(year, month + 1, min(anchor.day, monthrange(year, month + 1)[1]))


@lru_cache(maxsize=64)
def utc_text(moment: datetime) -> str:
    """`2026-01-05T09:30:00.000Z`"""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def lagos_text(moment: datetime) -> str:
    """`2026-01-05T10:30:00.000+01:00`"""
    return moment.astimezone(LAGOS).isoformat(timespec="milliseconds")
