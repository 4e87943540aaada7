"""Business days and times. Times are stored in UTC; dates and hours are those of Lagos. Contract: #times"""

from calendar import monthrange
from collections.abc import Container
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import cache, lru_cache
from importlib.machinery import SourceFileLoader
from types import ModuleType

# A fixed offset, which is cheaper than a time-zone lookup: Nigeria has no daylight saving time.
LAGOS = timezone(timedelta(hours=1), "Africa/Lagos")
NEVER = datetime.max.replace(tzinfo=UTC)
# Years that others may name: days and hours around their days exist in every zone.
FIRST_YEAR, LAST_YEAR = 1900, 8999
EARLIEST = datetime(FIRST_YEAR, 1, 1, tzinfo=LAGOS)

# Hour in Lagos at which things fall due if no hour is given: after the banks have opened. Contract: payment#recurrent
DEFAULT_DUE_HOUR = 9

FRIDAY = 5


def is_in_range(day: date) -> bool:
    """Tells whether a date or time that others name can be computed with."""
    return FIRST_YEAR <= day.year <= LAST_YEAR


@lru_cache(maxsize=64)
def lagos_day(moment: datetime) -> date:
    """Returns the date in Lagos. Cached, because all decisions of a batch are made at one moment."""
    return moment.astimezone(LAGOS).date()


def lagos_moment(day: date, hour: int = DEFAULT_DUE_HOUR) -> datetime:
    """Returns the UTC time of an hour of a date in Lagos."""
    return datetime.combine(day, time(hour), LAGOS).astimezone(UTC)


@cache
def public_holidays() -> Container[date]:
    """Returns Nigeria's public holidays, computed lazily by year.

    Dates that depend on the sighting of the moon are estimates until they are proclaimed. The package is imported here
    because it is slow to import: the supervisor calls this once before it starts the other processes. Only the file of
    the country is loaded, since its package would import those of all countries.
    """
    import holidays

    loader = SourceFileLoader("holidays.countries.nigeria", f"{holidays.__path__[0]}/countries/nigeria.py")
    module = ModuleType(loader.name)
    loader.exec_module(module)
    dates: Container[date] = module.Nigeria()
    return dates


def is_business_day(day: date) -> bool:
    return day.isoweekday() <= FRIDAY and day not in public_holidays()


def settlement_time(now: datetime, days: int) -> datetime:
    """Returns the settlement time of T+n: the n-th business day after today at DEFAULT_DUE_HOUR. T+0 is now."""
    if days == 0:
        return now
    day = lagos_day(now)
    for _ in range(days):
        day += timedelta(days=1)
        while not is_business_day(day):
            day += timedelta(days=1)
    return lagos_moment(day)


def add_months(anchor: date, months: int) -> date:
    """Returns the anchor's day of a later month, or the last day of that month if it is shorter.

    Always count from the original anchor: 31 January plus one month is 28 February, plus two is 31 March.
    """
    year, month = divmod(anchor.year * 12 + anchor.month - 1 + months, 12)
    return date(year, month + 1, min(anchor.day, monthrange(year, month + 1)[1]))


@lru_cache(maxsize=64)
def utc_text(moment: datetime) -> str:
    """Formats a time as `2026-01-05T09:30:00.000Z`."""
    # strftime takes three times as long.
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def lagos_text(moment: datetime) -> str:
    """Formats a time as `2026-01-05T10:30:00.000+01:00`."""
    return moment.astimezone(LAGOS).isoformat(timespec="milliseconds")
