"""Interest accrual on savings: daily on the end-of-day balance, Actual/365, exact until it is posted.

An annual rate is stored in hundred-millionths of the balance. Interest accrues in units of 1/36,500,000,000 of a minor
unit, so each day adds a whole number of units and nothing is rounded before a posting date.

No job runs daily. Interest depends only on the balance and on how many days it stood, so it is computed on demand:
before every balance change and on posting dates. `accrue_to` also closes every month that ended in between, so a job
that runs late changes no amount. tests/methods/investments/test_accrual.py compares it with a day-by-day calculation.

Contract: investments#savings
"""

from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import msgspec

from kasuwa.core.calendar import add_months
from kasuwa.core.money import LARGEST_AMOUNT, compute_percent
from kasuwa.terms.loan_schedule import INTERVALS_A_YEAR

# A rate has at most six decimals of a percent.
PARTS_PER_PERCENT = 1_000_000
UNITS_PER_MINOR = 365 * 100 * PARTS_PER_PERCENT

# Largest annual rate of new savings, in percent. Contract: investments#rate
MAX_ANNUAL_PERCENT = 1000


class SavingsTerms(msgspec.Struct, frozen=True):
    """The agreed terms of a savings account. Its interest is posted monthly; that of a fixed deposit when a term ends.

    What is said of months here holds for the terms of fixed deposits alike."""

    annual_rate_parts: int  # in hundred-millionths of the balance
    tax_rate: str | None  # percent of the interest; None if it is not taxed
    opened_on: date
    period: int  # in months, or in terms
    term_days: int = 0  # of a fixed deposit; 0 for other savings
    rolls_over: bool = False  # whether a new term begins whenever one ends

    @property
    def matures_on(self) -> date:
        return self.posting_date(self.period)

    def posting_date(self, number: int) -> date:
        return posting_date(self.opened_on, number, self.term_days)


class AccrualState(msgspec.Struct, frozen=True):
    """The interest accrued so far."""

    accrued_units: int  # of the running month
    accrued_to: date  # the first day whose end-of-day balance has not been accrued yet
    months_closed: int
    due_interest: int = 0  # of closed months, not paid yet
    due_tax: int = 0  # on due_interest


def annual_parts(rate: str, frequency: str) -> int:
    """Converts a rate in percent per interval to an annual rate in parts.

    Raises ValueError if it is negative or has more decimals than a part can represent.
    """
    parts = Fraction(Decimal(rate)) * INTERVALS_A_YEAR[frequency] * PARTS_PER_PERCENT
    if parts.denominator != 1 or parts < 0:
        raise ValueError(f"not a rate: {rate!r}")
    return parts.numerator


@lru_cache(maxsize=1024)
def posting_date(opened_on: date, number: int, term_days: int = 0) -> date:
    """Returns the date on which the n-th month since opening ends, or the n-th term of so many days.

    For months it is the opening's day of the month, or the last day of a shorter month.
    """
    if term_days:
        return opened_on + timedelta(days=term_days * number)
    return add_months(opened_on, number)


def interest_units(balance: int, annual: int, days: int) -> int:
    """Returns the interest units that a balance earns over a number of days."""
    return balance * annual * days


def round_units(units: int) -> int:
    """Rounds interest units half up to minor units."""
    return (units * 2 + UNITS_PER_MINOR) // (UNITS_PER_MINOR * 2)


def accrue_to(state: AccrualState, terms: SavingsTerms, balance: int, today: date) -> AccrualState:
    """Accrues an unchanged balance up to the end of yesterday and closes every month that ended.

    `balance` must not have changed since `accrued_to`. Nothing is earned after maturity.
    """
    while is_running(state, terms):
        month_ends = terms.posting_date(state.months_closed + 1)
        if month_ends > today:
            break
        state = close_month(accrue_days(state, terms, balance, month_ends), terms)
    return accrue_days(state, terms, balance, today) if is_running(state, terms) else state


def is_running(state: AccrualState, terms: SavingsTerms) -> bool:
    """Returns whether a month or term follows those that are closed."""
    return terms.rolls_over or state.months_closed < terms.period


def accrue_days(state: AccrualState, terms: SavingsTerms, balance: int, until: date) -> AccrualState:
    """Accrues the days before `until`. Unposted interest is capped at LARGEST_AMOUNT."""
    days = (until - state.accrued_to).days
    if days <= 0:
        return state
    room = max(0, LARGEST_AMOUNT - state.due_interest) * UNITS_PER_MINOR
    units = min(state.accrued_units + interest_units(balance, terms.annual_rate_parts, days), room)
    return AccrualState(units, until, state.months_closed, state.due_interest, state.due_tax)


def close_month(state: AccrualState, terms: SavingsTerms) -> AccrualState:
    """Moves the month's interest to what is due. Rounds it, then taxes the rounded interest.

    This is the only place where interest is rounded.
    """
    interest = round_units(state.accrued_units)
    tax = compute_percent(interest, terms.tax_rate) if terms.tax_rate is not None else 0
    return AccrualState(
        0, state.accrued_to, state.months_closed + 1, state.due_interest + interest, state.due_tax + tax
    )


# Deposits since the last posting that have not been withdrawn, oldest first: (first earning day, amount).
DepositLayers = tuple[tuple[date, int], ...]


def update_layers(layers: DepositLayers, before: int, after: int, day: date) -> DepositLayers:
    """Returns the layers after a balance change on a day. Withdrawals consume the newest layers first."""
    if after > before:
        if layers and layers[-1][0] == day:
            return (*layers[:-1], (day, layers[-1][1] + after - before))
        return (*layers, (day, after - before))
    withdrawn, remaining = before - after, list(layers)
    while withdrawn and remaining:
        since, amount = remaining.pop()
        if amount > withdrawn:
            remaining.append((since, amount - withdrawn))
        withdrawn -= min(withdrawn, amount)
    return tuple(remaining)


def drop_posted_layers(layers: DepositLayers, terms: SavingsTerms, state: AccrualState) -> DepositLayers:
    """Drops the layers that began on or before the last posting date: they now earn like the rest of the balance."""
    posted_on = terms.posting_date(state.months_closed)
    return tuple((day, amount) for day, amount in layers if day > posted_on)


def forfeit_interest(
    state: AccrualState, terms: SavingsTerms, layers: DepositLayers, withdrawn: int, today: date
) -> tuple[AccrualState, int]:
    """Removes the interest that a withdrawn amount earned since the last posting. Returns the state and the units lost.

    Withdrawals consume the newest deposits first. Interest of closed months is never forfeited.
    Contract: investments#forfeit
    """
    lost, rest = 0, withdrawn
    for day, amount in (*reversed(layers), (terms.posting_date(state.months_closed), 0)):
        part = min(rest, amount) if amount else rest
        lost += interest_units(part, terms.annual_rate_parts, max(0, (today - day).days))
        rest -= part
    lost = min(lost, state.accrued_units)
    return AccrualState(
        state.accrued_units - lost, state.accrued_to, state.months_closed, state.due_interest, state.due_tax
    ), lost


def unpaid_interest(state: AccrualState) -> int:
    """Returns the interest that has been earned and not been paid, before tax, as if it were posted now."""
    return state.due_interest + round_units(state.accrued_units)
