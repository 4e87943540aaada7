"""Due dates of recurrent payments, retries of declined charges, and installments.

Each date is computed from the due date before it, never from when a job ran: a worker that was down for a week
computes the same dates. Days are those of Lagos.

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
from kasuwa.core.money import MINOR_PER_MAJOR, compute_percent, parse_minor

Frequency = Literal["daily", "weekly", "monthly"]

# Values of `recurrent.value` by frequency: an hour, an ISO weekday (1 is Monday), a day of the month.
RECURRENCE_VALUES: dict[Frequency, range] = {"daily": range(24), "weekly": range(1, 8), "monthly": range(1, 31)}
VALUE_REASONS: dict[Frequency, str] = {
    "daily": "an hour from 00 to 23",
    "weekly": "a weekday from 1 to 7",
    "monthly": "a day from 1 to 30",
}
VALUE_TEXT = re.compile("[0-9]{1,2}", re.ASCII)


# --- recurrent payments ---------------------------------------------------------------------------------------


class Recurrence(msgspec.Struct, frozen=True):
    """The frequency and anchor of a recurrent payment. A 30th that falls on 28 February is the 30th again in March."""

    frequency: Frequency
    value: int  # an hour, a weekday or a day of the month, by the frequency


def check_recurrence_value(frequency: Frequency, value: str) -> str | None:
    """Returns what is wrong with a recurrence value, or None."""
    fits = VALUE_TEXT.fullmatch(value) is not None and int(value) in RECURRENCE_VALUES[frequency]
    return None if fits else VALUE_REASONS[frequency]


def make_recurrence(frequency: Frequency, value: str | None, enrolled: datetime) -> Recurrence:
    """Returns the recurrence of an enrollment. Without a value, the anchor is the hour, weekday or day of the first
    charge. Contract: payment#recurrent"""
    if value is not None:
        return Recurrence(frequency, int(value))
    day = lagos_day(enrolled)
    anchors = {"daily": enrolled.astimezone(LAGOS).hour, "weekly": day.isoweekday(), "monthly": day.day}
    return Recurrence(frequency, anchors[frequency])


def next_due(recurrence: Recurrence, after: datetime) -> datetime:
    """Returns the first due time after an enrollment or a due time.

    Weekly and monthly payments fall due at DEFAULT_DUE_HOUR of a later day: the day of `after` had its charge.
    Contract: payment#recurrent
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
    """Returns the anchor day in the month of a date, or that month's last day."""
    return month.replace(day=min(anchor, monthrange(month.year, month.month)[1]))


# --- retries of declined charges ------------------------------------------------------------------------------

# Days after the due date at which a soft decline is retried: the payer may have been paid a salary by then.
# Contract: payment#recurrent
RETRY_DAYS = (1, 3, 7)


def next_retry(
    due: datetime, declined_at: datetime, following: datetime | None, retry_days: tuple[int, ...] = RETRY_DAYS
) -> datetime | None:
    """Returns when to retry a declined charge, or None if there are no more retries.

    There is none at or after `following`, the next due date, which has a charge of its own.
    Contract: payment#recurrent
    """
    for days in retry_days:
        again = due + timedelta(days=days)
        if again > declined_at:
            return again if following is None or again < following else None
    return None


# --- installments ---------------------------------------------------------------------------------------------

DAY_TEXT = re.compile(r"([0-9]{2})-([0-9]{2})-([0-9]{4})", re.ASCII)
WHOLE = Decimal(100)
# Bounded because each installment becomes a row and a job.
MAX_INSTALLMENTS = 120

DAY_REASON = "dates as DD-MM-YYYY"
COUNT_REASON = f"1 to {MAX_INSTALLMENTS} dates"
SUM_REASON = "numbers that add up to 100 (percentages) or to the total (amounts)"
PART_REASON = "parts that are each at least 0.01 of the currency"


class PaymentInstallment(msgspec.Struct, frozen=True):
    due: date
    amount: int


def read_day(text: str) -> date | None:
    """Parses a date such as `30-11-2026`. Returns None if it is not one."""
    match = DAY_TEXT.fullmatch(text)
    if match is None:
        return None
    day, month, year = (int(part) for part in match.groups())
    try:
        return date(year, month, day)
    except ValueError:
        return None


def plan_installments(total: int, schedule: Mapping[str, str]) -> tuple[PaymentInstallment, ...] | str:
    """Returns the installments of a total, earliest first, or what is wrong with the schedule.

    `schedule` maps dates to numbers, both as text. Numbers that add up to 100 are percentages. If the total is 100
    too, both interpretations are the same.
    """
    if not 1 <= len(schedule) <= MAX_INSTALLMENTS:
        return COUNT_REASON
    parts = {read_day(text): part for text, part in schedule.items()}
    days = sorted(day for day in parts if day is not None)
    if len(days) != len(schedule):
        return DAY_REASON
    amounts = divide(total, [parts[day] for day in days])
    if isinstance(amounts, str):
        return amounts
    return tuple(PaymentInstallment(day, amount) for day, amount in zip(days, amounts, strict=True))


def divide(total: int, parts: list[str]) -> list[int] | str:
    """Returns the amounts of the parts in order, or an error text. The last part takes the rounding remainder.

    Contract: payment#installment
    """
    whole = sum(Decimal(part) for part in parts)
    if whole == WHOLE:
        first = [compute_percent(total, part) for part in parts[:-1]]
        amounts = [*first, total - sum(first)]
    elif whole * MINOR_PER_MAJOR == total:
        amounts = [parse_minor(part) or 0 for part in parts]
    else:
        return SUM_REASON
    return amounts if min(amounts) > 0 and sum(amounts) == total else PART_REASON


def amount_due(plan: tuple[PaymentInstallment, ...], day: date) -> int:
    return sum(installment.amount for installment in plan if installment.due == day)
