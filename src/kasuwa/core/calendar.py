"""Business days and times: stored in UTC, lived in Lagos (D10)."""

from datetime import UTC, date, datetime, timedelta, timezone
from functools import lru_cache

# Nigeria has had no daylight saving since 1919: one fixed offset, cheaper than a time-zone look-up.
LAGOS = timezone(timedelta(hours=1), "Africa/Lagos")
NEVER = datetime.max.replace(tzinfo=UTC)


def lagos_day(moment: datetime) -> date:
    return moment.astimezone(LAGOS).date()


@lru_cache(maxsize=64)
def utc_text(moment: datetime) -> str:
    """`2026-01-05T09:30:00.000Z`"""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def lagos_text(moment: datetime) -> str:
    """`2026-01-05T10:30:00.000+01:00`"""
    return moment.astimezone(LAGOS).isoformat(timespec="milliseconds")
