"""Loan interest: the installment schedule, what is owed on a date, and how a repayment is allocated.

Pure and exact: money in whole minor units, rates as fractions, no floats. Every amount is rounded half up once, and the
last installment takes the remainder. Contract: loans#request

    declining_equal_instalments   equal installments, interest on the balance: the rest of each is principal
    equal_principal               equal principal, interest on the balance
    flat                          equal principal, interest on the whole loan in every interval
"""

import re
from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final, Literal

import msgspec

from kasuwa.core.calendar import add_months

# Intervals per year, by the frequency of a rate.
INTERVALS_A_YEAR = {"annualized": 1, "every_month": 12, "every_four_weeks": 13, "every_week": 52, "every_day": 365}

# Days between installments, for frequencies with a fixed number of days.
INTERVAL_DAYS = {"every_four_weeks": 28, "every_week": 7, "every_day": 1}

EQUAL_INSTALLMENTS: Final = "declining_equal_instalments"
EQUAL_PRINCIPAL: Final = "equal_principal"
FLAT: Final = "flat"


def round_half_up(exact: Fraction) -> int:
    return (2 * exact.numerator + exact.denominator) // (2 * exact.denominator)


def share_half_up(amount: int, rate: Fraction) -> int:
    """Returns `round_half_up(amount * rate)`, in less time: schedules have hundreds of installments."""
    return (2 * amount * rate.numerator + rate.denominator) // (2 * rate.denominator)


@lru_cache(maxsize=1024)
def parse_rate(percent: str) -> Fraction:
    """Converts a percentage to a fraction: "7.5" is 3/40."""
    return Fraction(Decimal(percent)) / 100


def convert_rate(rate: Fraction, from_interval: str, to_interval: str) -> Fraction:
    """Converts a nominal rate from one interval to another."""
    return rate * INTERVALS_A_YEAR[from_interval] / INTERVALS_A_YEAR[to_interval]


def installment_interval(frequency: str) -> str:
    """Returns the interval between installments: that of the rate, or a month for annual rates.

    Contract: loans#request
    """
    return "every_month" if frequency == "annualized" else frequency


def due_date(begins: date, frequency: str, n: int) -> date:
    """Returns the due date of the n-th installment. Months keep the first day, or end on the last day of the month."""
    days = INTERVAL_DAYS.get(frequency)
    return add_months(begins, n) if days is None else begins + timedelta(days=days * n)


# --- how a merchant lends -----------------------------------------------------------------------------------

RepaymentMethod = Literal["declining_equal_instalments", "equal_principal", "flat"]
DAILY_PERCENT = re.compile(r"(100|[0-9]{1,2}(\.[0-9]{1,6})?)", re.ASCII)
MAX_TOLERANCE_DAYS = 365


class LendingSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """A merchant's settings for new loans. Contract: loans#request"""

    method: RepaymentMethod = EQUAL_INSTALLMENTS  # if a request names none
    tolerance_days: int = 0  # days after a due date before an installment is late
    penalty_rate: str = "0"  # percent of the overdue principal per day
    # What a repayment that is lost in a dispute, or that its rail takes back, does: its loan owes it again, or nothing.
    on_dispute: Literal["reinstate", "ignore"] = "reinstate"


def check_lending(lending: LendingSettings) -> None:
    """Raises ValueError if a setting is invalid."""
    if not 0 <= lending.tolerance_days <= MAX_TOLERANCE_DAYS:
        raise ValueError(f"lending: tolerance_days must be 0 to {MAX_TOLERANCE_DAYS}")
    if not DAILY_PERCENT.fullmatch(lending.penalty_rate):
        raise ValueError("lending: penalty_rate must be a percentage with at most six decimals, as text")


# --- the schedule -----------------------------------------------------------------------------------------


class LoanTerms(msgspec.Struct, frozen=True):
    """The agreed terms of a loan."""

    principal: int  # in minor units
    rate: str  # percent per interval of `frequency`
    frequency: str
    period: int  # number of installments
    method: str = EQUAL_INSTALLMENTS
    tax: str = "0"  # percent of the interest

    @property
    def interval_rate(self) -> Fraction:
        """The rate of one interval between installments."""
        return convert_rate(parse_rate(self.rate), self.frequency, installment_interval(self.frequency))


class ScheduledInstallment(msgspec.Struct, frozen=True):
    """One line of a loan schedule. Amounts are in minor units."""

    n: int  # from 1
    due: date
    principal: int
    interest: int
    tax: int
    balance: int  # principal left after this installment

    @property
    def total(self) -> int:
        return self.principal + self.interest + self.tax


def level_payment(terms: LoanTerms) -> int:
    """Returns the constant part of each installment: principal and interest before tax for equal installments, the
    principal alone for other methods."""
    rate, amount = terms.interval_rate, Fraction(terms.principal)
    if terms.method != EQUAL_INSTALLMENTS or not rate:
        return round_half_up(amount / terms.period)
    growth = (1 + rate) ** terms.period
    return round_half_up(amount * rate * growth / (growth - 1))


def make_schedule(terms: LoanTerms, begins: date) -> list[ScheduledInstallment]:
    """Returns the schedule of a loan paid out on a date. The last installment takes the remaining principal."""
    level, rate, tax = level_payment(terms), terms.interval_rate, parse_rate(terms.tax)
    balance, lines = terms.principal, []
    for n in range(1, terms.period + 1):
        interest = share_half_up(terms.principal if terms.method == FLAT else balance, rate)
        principal = level - interest if terms.method == EQUAL_INSTALLMENTS else level
        principal = balance if n == terms.period else min(principal, balance)
        balance -= principal
        due = due_date(begins, terms.frequency, n)
        lines.append(ScheduledInstallment(n, due, principal, interest, share_half_up(interest, tax), balance))
    return lines


# --- what is owed -----------------------------------------------------------------------------------------


class LoanAmounts(msgspec.Struct, frozen=True):
    """Amounts owed or paid by component, in the order in which they are paid."""

    penalty: int = 0
    fee: int = 0
    interest: int = 0
    tax: int = 0
    principal: int = 0

    @property
    def total(self) -> int:
        return self.penalty + self.fee + self.interest + self.tax + self.principal

    def __add__(self, other: "LoanAmounts") -> "LoanAmounts":
        return LoanAmounts(
            self.penalty + other.penalty,
            self.fee + other.fee,
            self.interest + other.interest,
            self.tax + other.tax,
            self.principal + other.principal,
        )

    def __sub__(self, other: "LoanAmounts") -> "LoanAmounts":
        return LoanAmounts(
            self.penalty - other.penalty,
            self.fee - other.fee,
            self.interest - other.interest,
            self.tax - other.tax,
            self.principal - other.principal,
        )


NOTHING = LoanAmounts()


def sum_amounts(parts: Iterable[LoanAmounts]) -> LoanAmounts:
    penalty = fee = interest = tax = principal = 0
    for part in parts:
        penalty += part.penalty
        fee += part.fee
        interest += part.interest
        tax += part.tax
        principal += part.principal
    return LoanAmounts(penalty, fee, interest, tax, principal)


def accrued_interest(interest: int, begins: date, due: date, day: date) -> int:
    """Returns an interval's interest accrued by a date within it, in proportion to the days."""
    if day >= due:
        return interest
    passed, days = max(0, (day - begins).days), (due - begins).days
    return (2 * interest * passed + days) // (2 * days)


def late_on(due: date, tolerance_days: int) -> date:
    """Returns the first day on which an installment is late."""
    return due + timedelta(days=tolerance_days + 1)


# Units of a minor unit in which penalties are carried exactly: a penalty rate has at most six decimals of a percent.
PENALTY_UNITS_PER_MINOR = 10**8


def charge_penalty(carry: int, overdue_principal: int, daily_percent: str, days: int = 1) -> tuple[int, int]:
    """Returns the penalty to charge for late days, and the rounding remainder to carry to the next charge.

    However the days are divided into charges, their sum is the exact penalty rounded once.
    """
    exact = carry + int(overdue_principal * days * parse_rate(daily_percent) * PENALTY_UNITS_PER_MINOR)
    charged = round_half_up(Fraction(exact, PENALTY_UNITS_PER_MINOR))
    return charged, exact - charged * PENALTY_UNITS_PER_MINOR


# --- where a repayment goes ---------------------------------------------------------------------------------


def allocate(amount: int, owed: Iterable[LoanAmounts]) -> list[LoanAmounts]:
    """Splits a repayment over installments, oldest first. Each is paid in the order of allocate_to_installment.

    Contract: loans#allocation
    """
    paid = []
    for parts in owed:
        part = allocate_to_installment(amount, parts) if amount else NOTHING
        amount -= part.total
        paid.append(part)
    return paid


def allocate_to_installment(amount: int, owed: LoanAmounts) -> LoanAmounts:
    """Splits an amount over one installment: penalty, fee, interest with its tax, principal."""
    penalty = min(amount, owed.penalty)
    fee = min(amount - penalty, owed.fee)
    rest = amount - penalty - fee
    # Partly paid interest is paid with a proportional share of its tax.
    both = owed.interest + owed.tax
    charged = min(rest, both)
    tax = (2 * charged * owed.tax + both) // (2 * both) if both else 0
    return LoanAmounts(penalty, fee, charged - tax, tax, min(rest - charged, owed.principal))
