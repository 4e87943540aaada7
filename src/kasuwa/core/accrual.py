"""Interest on savings: daily on the end-of-day balance, Actual/365, exact until it is posted.
Contract: investments#savings

An annual rate is kept in hundred-millionths of the balance, and interest is counted in units of such a part by the day:
1/36,500,000,000 of a kobo. So what a day adds is a whole number of units, and nothing is rounded before a posting date.

Nothing runs every day. What a balance earned is a function of the balance and the days it stood, so it is counted
when somebody wants to know: before every change of the balance, and on posting dates. `reach` closes each month that
ended on the way, whoever comes first, so a late job changes no figure. tests/core/test_accrual.py proves it equal to
counting day by day.
"""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import msgspec

from kasuwa.core.calendar import add_months
from kasuwa.core.loan_interest import INTERVALS_A_YEAR
from kasuwa.core.money import LARGEST_AMOUNT, percent_of

# A rate has at most six decimals of a percent.
PARTS_PER_PERCENT = 1_000_000
UNITS_PER_MINOR = 365 * 100 * PARTS_PER_PERCENT

# The largest annual rate of new savings, in percent. Contract: investments#rate
MOST_ANNUAL_PERCENT = 1000


class SavingsTerms(msgspec.Struct, frozen=True):
    """What was agreed: the annual rate in parts, the tax on interest (None: no tax), and the term."""

    annual_rate_parts: int
    tax_rate: str | None
    opened_on: date
    period: int

    @property
    def matures_on(self) -> date:
        return posting_date(self.opened_on, self.period)


class AccrualState(msgspec.Struct, frozen=True):
    """Where the counting stands: the units of the running month, the first day whose end is not counted yet, the
    months closed, and what closed months earned and is not paid yet."""

    accrued_units: int
    accrued_to: date
    months_closed: int
    due_interest: int = 0
    due_tax: int = 0


def annual_parts(rate: str, frequency: str) -> int:
    """The annual rate of a rate in percent per interval."""
    parts = Fraction(Decimal(rate)) * INTERVALS_A_YEAR[frequency] * PARTS_PER_PERCENT
    if parts.denominator != 1 or parts < 0:
        raise ValueError(f"not a rate: {rate!r}")
    return parts.numerator


@lru_cache(maxsize=1024)
def posting_date(opened_on: date, number: int) -> date:
    """The day on which the n-th month ends: the opening's day, clamped to the month's end, the anchor kept."""
    return add_months(opened_on, number)


def interest_units(balance: int, annual: int, days: int) -> int:
    """The units that a balance earns by standing at the end of so many days."""
    return balance * annual * days


def round_units(units: int) -> int:
    """Minor units, half up."""
    return (units * 2 + UNITS_PER_MINOR) // (UNITS_PER_MINOR * 2)


def accrue_to(meter: AccrualState, terms: SavingsTerms, balance: int, today: date) -> AccrualState:
    """Count a balance that has not changed since it was last counted, up to yesterday's end; months that ended are
    closed. After maturity nothing is earned."""
    while meter.months_closed < terms.period:
        month_ends = posting_date(terms.opened_on, meter.months_closed + 1)
        if month_ends > today:
            break
        meter = close_month(count_days(meter, terms, balance, month_ends), terms)
    return count_days(meter, terms, balance, today) if meter.months_closed < terms.period else meter


def count_days(meter: AccrualState, terms: SavingsTerms, balance: int, until: date) -> AccrualState:
    """Counts the ends of day before `until`. Interest that is not posted yet stops growing where together it is the
    largest amount that there is."""
    days = (until - meter.accrued_to).days
    if days <= 0:
        return meter
    room = max(0, LARGEST_AMOUNT - meter.due_interest) * UNITS_PER_MINOR
    units = min(meter.accrued_units + interest_units(balance, terms.annual_rate_parts, days), room)
    return AccrualState(units, until, meter.months_closed, meter.due_interest, meter.due_tax)


def close_month(meter: AccrualState, terms: SavingsTerms) -> AccrualState:
    """Rounded here and nowhere else; then the tax on the rounded interest, rounded likewise."""
    interest = round_units(meter.accrued_units)
    tax = percent_of(interest, terms.tax_rate) if terms.tax_rate is not None else 0
    return AccrualState(
        0, meter.accrued_to, meter.months_closed + 1, meter.due_interest + interest, meter.due_tax + tax
    )


# What came in since the last posting and is still there, oldest first: the day from whose end on it earns, and the sum.
DepositLayers = tuple[tuple[date, int], ...]


def update_layers(layers: DepositLayers, before: int, after: int, day: date) -> DepositLayers:
    """The layers after a balance changed on a day: what came in is the newest, and what went out was the newest too."""
    if after > before:
        if layers and layers[-1][0] == day:
            return (*layers[:-1], (day, layers[-1][1] + after - before))
        return (*layers, (day, after - before))
    gone, kept = before - after, list(layers)
    while gone and kept:
        since, amount = kept.pop()
        if amount > gone:
            kept.append((since, amount - gone))
        gone -= min(gone, amount)
    return tuple(kept)


def drop_posted_layers(layers: DepositLayers, terms: SavingsTerms, meter: AccrualState) -> DepositLayers:
    """Without those that have earned since the last posting, or longer: they are one with what stood then."""
    posted_on = posting_date(terms.opened_on, meter.months_closed)
    return tuple((day, amount) for day, amount in layers if day > posted_on)


def forfeit(
    meter: AccrualState, terms: SavingsTerms, layers: DepositLayers, taken: int, today: date
) -> tuple[AccrualState, int]:
    """What the amount taken earned since the last posting is lost: the money that came last goes first. Months that
    are closed are earned for good. Contract: investments#savings"""
    lost, left = 0, taken
    for day, amount in (*reversed(layers), (posting_date(terms.opened_on, meter.months_closed), 0)):
        part = min(left, amount) if amount else left
        lost += interest_units(part, terms.annual_rate_parts, max(0, (today - day).days))
        left -= part
    lost = min(lost, meter.accrued_units)
    return AccrualState(
        meter.accrued_units - lost, meter.accrued_to, meter.months_closed, meter.due_interest, meter.due_tax
    ), lost


def unpaid(meter: AccrualState) -> int:
    """What the client has earned and not got yet, as it would be posted now, before tax."""
    return meter.due_interest + round_units(meter.accrued_units)
