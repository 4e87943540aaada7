"""The range of days that a page shows, and the period of the same length before it."""

from collections.abc import Mapping
from datetime import date, timedelta
from urllib.parse import urlencode

import msgspec

from kasuwa.core.calendar import is_in_range

# Ranges that end today: parameter, label, days.
PRESETS = (
    ("1", "Today", 1),
    ("7", "7 days", 7),
    ("30", "30 days", 30),
    ("90", "90 days", 90),
    ("365", "12 months", 365),
)
DEFAULT_DAYS = 30
MAX_DAYS = 366
# Ranges of more days are drawn in weeks, so that bars stay wide enough to point at.
MAX_DAILY_BARS = 92


class Period(msgspec.Struct, frozen=True):
    """A range of days, both included. `fault` says what was wrong with the requested range; the default is shown."""

    first: date
    last: date
    preset: str = ""  # "" for a range of the user's own
    fault: str = ""

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def before(self) -> "Period":
        """The period of the same length right before this one."""
        return Period(self.first - timedelta(days=self.days), self.first - timedelta(days=1))

    @property
    def label(self) -> str:
        return {key: label for key, label, _ in PRESETS}.get(self.preset, f"{self.days} days")

    @property
    def text(self) -> str:
        """The range in words, such as "18 Nov 2025 to 17 Nov 2026"."""
        first, last = (f"{day.day} {day:%b %Y}" for day in (self.first, self.last))
        return first if self.days == 1 else f"{first} to {last}"

    @property
    def query(self) -> str:
        """The range as URL parameters of the list of transactions."""
        return urlencode({"from": self.first.isoformat(), "to": self.last.isoformat()})

    def contains(self, day: date) -> bool:
        return self.first <= day <= self.last


def read_period(query: Mapping[str, str], today: date) -> Period:
    """Returns the range that `days`, or `from` and `to`, name in a URL."""
    default = last_days(DEFAULT_DAYS, today)
    if query.get("from", "") or query.get("to", ""):
        return read_own_range(query.get("from", ""), query.get("to", ""), today, default)
    days = {key: count for key, _, count in PRESETS}.get(query.get("days", ""))
    return default if days is None else last_days(days, today)


def last_days(days: int, today: date) -> Period:
    return Period(today - timedelta(days=days - 1), today, str(days))


def read_own_range(first_text: str, last_text: str, today: date, default: Period) -> Period:
    try:
        first = date.fromisoformat(first_text)
        last = date.fromisoformat(last_text) if last_text else today
    except ValueError:
        return msgspec.structs.replace(default, fault="Enter both days as YYYY-MM-DD.")
    if last < first:
        return msgspec.structs.replace(default, fault="The last day must not be before the first.")
    if (last - first).days >= MAX_DAYS:
        return msgspec.structs.replace(default, fault=f"A range has at most {MAX_DAYS} days.")
    if not (is_in_range(first) and is_in_range(last)):
        return msgspec.structs.replace(default, fault="Enter days of this century.")
    return Period(first, last)


def bar_starts(period: Period) -> list[date]:
    """Returns the first day of each bar of a chart: one for each day, or for each week of a long range."""
    step = 1 if period.days <= MAX_DAILY_BARS else 7
    return [period.first + timedelta(days=n) for n in range(0, period.days, step)]
