"""When money falls due: recurrent payments, retries of what was declined, and instalments.

All of it is counted from due date to due date, never from when something happened to be run: a worker that was
down for a week finds the same dates as one that never was. Days are days in Lagos
Contract: #times, payment#recurrent, payment#installment
"""

import re
from calendar import monthrange
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Literal

import msgspec

from kasuwa.core.calendar import LAGOS, lagos_day, lagos_moment
from kasuwa.core.money import MINOR_PER_MAJOR, parse_minor, percent_of

Frequency = Literal["daily", "weekly", "monthly"]

# What `recurrent.value` may be: an hour, an ISO weekday (1 is Monday), a day of the month.
RECURRENCE_VALUES: dict[Frequency, range] = {"daily": range(24), "weekly": range(1, 8), "monthly": range(1, 31)}
VALUE_REASONS: dict[Frequency, str] = {
    "daily": "an hour from 00 to 23",
    "weekly": "a weekday from 1 to 7",
    "monthly": "a day from 1 to 30",
}
VALUE_TEXT = re.compile("[0-9]{1,2}", re.ASCII)


# --- recurrent payments ---------------------------------------------------------------------------------------


class Recurrence(msgspec.Struct, frozen=True):
    """`value` is an hour, a weekday or a day of the month, by the frequency. It is the anchor: a 30th that February
    clamps to its end is the 30th again in March."""

    frequency: Frequency
    value: int


def check_recurrence_value(frequency: Frequency, value: str) -> str | None:
    """What is wrong with a value, if anything is."""
    fits = VALUE_TEXT.fullmatch(value) is not None and int(value) in RECURRENCE_VALUES[frequency]
    return None if fits else VALUE_REASONS[frequency]


def make_recurrence(frequency: Frequency, value: str | None, enrolled: datetime) -> Recurrence:
    """Where no value is said, the anchor is the first charge's own: its hour, its weekday or its day. What is due by
    weekday or day is due at the usual hour. Contract: payment#recurrent"""
    if value is not None:
        return Recurrence(frequency, int(value))
    day = lagos_day(enrolled)
    anchors = {"daily": enrolled.astimezone(LAGOS).hour, "weekly": day.isoweekday(), "monthly": day.day}
    return Recurrence(frequency, anchors[frequency])


def next_due(recurrence: Recurrence, after: datetime) -> datetime:
    """The first due time after an enrolment or a due time. What is due by day is due on a later day: the day itself
    has had its charge. Contract: payment#recurrent
    """
    day = lagos_day(after)
    if recurrence.frequency == "daily":
        today = lagos_moment(day, recurrence.value)
        return today if today > after else lagos_moment(day + timedelta(days=1), recurrence.value)
    if recurrence.frequency == "weekly":
        days_ahead = (recurrence.value - day.isoweekday()) % 7 or 7
        return lagos_moment(day + timedelta(days=days_ahead))
    this_month = clamp_to_month(day, recurrence.value)
    next_month = day.replace(day=1) + timedelta(days=31)
    return lagos_moment(this_month if this_month > day else clamp_to_month(next_month, recurrence.value))


def clamp_to_month(month: date, anchor: int) -> date:
    """The anchor day in the month of a date, or that month's last."""
    return month.replace(day=min(anchor, monthrange(month.year, month.month)[1]))


# --- what was declined, again ---------------------------------------------------------------------------------

# Days after the due date at which a soft decline is tried again: the salary may be in by then.
# Contract: payment#recurrent
RETRY_DAYS = (1, 3, 7)


def next_retry(due: datetime, declined_at: datetime, following: datetime | None) -> datetime | None:
    """When to try again what was due and has just been declined; None when that was the last time. The next due date
    brings a charge of its own, so that nothing is retried then or later. Contract: payment#recurrent
    """
    for days in RETRY_DAYS:
        again = due + timedelta(days=days)
        if again > declined_at:
            return again if following is None or again < following else None
    return None


# --- instalments ----------------------------------------------------------------------------------------------

DAY_TEXT = re.compile(r"([0-9]{2})-([0-9]{2})-([0-9]{4})", re.ASCII)
WHOLE = Decimal(100)
# More parts than any card lives to see. Each becomes a row and a job.
MAX_INSTALLMENTS = 120

DAY_REASON = "dates as DD-MM-YYYY"
COUNT_REASON = f"1 to {MAX_INSTALLMENTS} dates"
SUM_REASON = "numbers that add up to 100 (percentages) or to the total (amounts)"
PART_REASON = "parts that are each at least 0.01 of the currency"


class PaymentInstallment(msgspec.Struct, frozen=True):
    due: date
    amount: int


def read_day(text: str) -> date | None:
    """`30-11-2026`"""
    match = DAY_TEXT.fullmatch(text)
    if match is None:
        return None
    day, month, year = (int(part) for part in match.groups())
    try:
        return date(year, month, day)
    except ValueError:
        return None


def plan_installments(total: int, schedule: Mapping[str, str]) -> tuple[PaymentInstallment, ...] | str:
    """The instalments of a total, earliest first, or what is wrong with the schedule (dates to the text of numbers).
    Numbers that add up to 100 are percentages, even where the total is 100 too: both readings are then the same.
    """
    if not 1 <= len(schedule) <= MAX_INSTALLMENTS:
        return COUNT_REASON
    parts = {read_day(said): part for said, part in schedule.items()}
    days = sorted(day for day in parts if day is not None)
    if len(days) != len(schedule):
        return DAY_REASON
    amounts = divide(total, [parts[day] for day in days])
    if isinstance(amounts, str):
        return amounts
    return tuple(PaymentInstallment(day, amount) for day, amount in zip(days, amounts, strict=True))


def divide(total: int, parts: list[str]) -> list[int] | str:
    """The amounts of the parts in order. The last takes the remainder that rounding leaves.

    Contract: payment#installment
    """
    whole = sum(Decimal(part) for part in parts)
    if whole == WHOLE:
        first = [percent_of(total, part) for part in parts[:-1]]
        amounts = [*first, total - sum(first)]
    elif whole * MINOR_PER_MAJOR == total:
        amounts = [parse_minor(part) or 0 for part in parts]
    else:
        return SUM_REASON
    return amounts if min(amounts) > 0 and sum(amounts) == total else PART_REASON


def amount_due(plan: tuple[PaymentInstallment, ...], day: date) -> int:
    return sum(instalment.amount for instalment in plan if instalment.due == day)
