"""Interest on loans: the schedule that terms make, what is owed on a day, and where a repayment goes.

Pure and exact: money in whole minor units, rates as fractions, nothing through a float. Every figure is rounded
half up once, when it becomes money; what rounding leaves over goes to the last instalment. (Contract: loans#request)

    declining_equal_instalments   equal instalments; interest on the balance, the rest of the instalment is principal
    equal_principal               equal principal; interest on the balance
    flat                          equal principal; interest on the whole loan in every interval
"""

import re
from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal

import msgspec

from kasuwa.core.calendar import add_months

# A rate said for one interval is worth so many times as much for a year.
INTERVALS_A_YEAR = {"annualized": 1, "every_month": 12, "every_four_weeks": 13, "every_week": 52, "every_day": 365}

# How far apart instalments are, where that is a number of days.
INTERVAL_DAYS = {"every_four_weeks": 28, "every_week": 7, "every_day": 1}

EQUAL_INSTALLMENTS: Final = "declining_equal_instalments"
EQUAL_PRINCIPAL: Final = "equal_principal"
FLAT: Final = "flat"


def round_half_up(exact: Fraction) -> int:
    return (2 * exact.numerator + exact.denominator) // (2 * exact.denominator)


def rate_of(percent: str) -> Fraction:
    """A percentage as the fraction it is: "7.5" is 3/40."""
    return Fraction(Decimal(percent)) / 100


def convert_rate(rate: Fraction, given: str, wanted: str) -> Fraction:
    """The same nominal rate, said for another interval."""
    return rate * INTERVALS_A_YEAR[given] / INTERVALS_A_YEAR[wanted]


def installment_interval(frequency: str) -> str:
    """An instalment each interval that the rate is said for; a month where that is a year. Contract: loans#request"""
    return "every_month" if frequency == "annualized" else frequency


def due_date(begins: date, frequency: str, n: int) -> date:
    """The n-th instalment. Months keep the day they began on, or end with the month where that is too short."""
    days = INTERVAL_DAYS.get(frequency)
    return add_months(begins, n) if days is None else begins + timedelta(days=days * n)


# --- how a merchant lends -----------------------------------------------------------------------------------

RepaymentMethod = Literal["declining_equal_instalments", "equal_principal", "flat"]
DAILY_PERCENT = re.compile(r"(100|[0-9]{1,2}(\.[0-9]{1,6})?)", re.ASCII)
MOST_TOLERANCE_DAYS = 365


class LendingSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """A merchant's settings for new loans: the method where a request names none, the days after a due date on
    which nothing is late yet, and the penalty, in percent of the overdue principal a day. Contract: loans#request"""

    method: RepaymentMethod = EQUAL_INSTALLMENTS
    tolerance_days: int = 0
    penalty_rate: str = "0"


def check_lending(lending: LendingSettings) -> None:
    """Raises ValueError."""
    if not 0 <= lending.tolerance_days <= MOST_TOLERANCE_DAYS:
        raise ValueError(f"lending: tolerance_days must be 0 to {MOST_TOLERANCE_DAYS}")
    if not DAILY_PERCENT.fullmatch(lending.penalty_rate):
        raise ValueError("lending: penalty_rate must be a percentage with at most six decimals, as text")


# --- the schedule -----------------------------------------------------------------------------------------


class LoanTerms(msgspec.Struct, frozen=True):
    """What was agreed. `rate` and `tax` are percentages as text; no tax is "0"."""

    principal: int
    rate: str
    frequency: str
    period: int
    method: str = EQUAL_INSTALLMENTS
    tax: str = "0"

    @property
    def interval_rate(self) -> Fraction:
        """The rate of one interval between instalments."""
        return convert_rate(rate_of(self.rate), self.frequency, installment_interval(self.frequency))


class ScheduledInstallment(msgspec.Struct, frozen=True):
    """One line of a schedule; `balance` is the principal left after it."""

    n: int
    due: date
    principal: int
    interest: int
    tax: int
    balance: int

    @property
    def total(self) -> int:
        return self.principal + self.interest + self.tax


def level_payment(terms: LoanTerms) -> int:
    """What each instalment pays before tax: principal and interest together, or the principal alone."""
    rate, amount = terms.interval_rate, Fraction(terms.principal)
    if terms.method != EQUAL_INSTALLMENTS or not rate:
        return round_half_up(amount / terms.period)
    growth = (1 + rate) ** terms.period
    return round_half_up(amount * rate * growth / (growth - 1))


def make_schedule(terms: LoanTerms, begins: date) -> list[ScheduledInstallment]:
    """Instalments of a loan paid out on a day. The last takes what is left: no part is ever negative."""
    level, rate, tax = level_payment(terms), terms.interval_rate, rate_of(terms.tax)
    balance, lines = terms.principal, []
    for n in range(1, terms.period + 1):
        interest = round_half_up((terms.principal if terms.method == FLAT else balance) * rate)
        principal = level - interest if terms.method == EQUAL_INSTALLMENTS else level
        principal = balance if n == terms.period else min(principal, balance)
        balance -= principal
        due = due_date(begins, terms.frequency, n)
        lines.append(ScheduledInstallment(n, due, principal, interest, round_half_up(interest * tax), balance))
    return lines


# --- what is owed -----------------------------------------------------------------------------------------


class LoanAmounts(msgspec.Struct, frozen=True):
    """The parts of what is owed, or of what is paid, in the order in which they are paid."""

    penalty: int = 0
    fee: int = 0
    interest: int = 0
    tax: int = 0
    principal: int = 0

    @property
    def total(self) -> int:
        return self.penalty + self.fee + self.interest + self.tax + self.principal

    def __add__(self, other: "LoanAmounts") -> "LoanAmounts":
        return LoanAmounts(*(getattr(self, name) + getattr(other, name) for name in self.__struct_fields__))

    def __sub__(self, other: "LoanAmounts") -> "LoanAmounts":
        return LoanAmounts(*(getattr(self, name) - getattr(other, name) for name in self.__struct_fields__))


ZERO_AMOUNTS = LoanAmounts()


def sum_amounts(parts: Iterable[LoanAmounts]) -> LoanAmounts:
    return sum(parts, ZERO_AMOUNTS)


def accrued_interest(interest: int, begins: date, due: date, day: date) -> int:
    """What an interval's interest comes to on a day within it, by the days used."""
    if day >= due:
        return interest
    return round_half_up(Fraction(interest * max(0, (day - begins).days), (due - begins).days))


def late_on(due: date, tolerance_days: int) -> date:
    """The first day on which what was due is late."""
    return due + timedelta(days=tolerance_days + 1)


# A penalty's rate has at most six decimals in percent, so a day's penalty is a whole number of these.
PENALTY_UNITS_PER_MINOR = 10**8


def charge_penalty(carry: int, overdue_principal: int, daily_percent: str, days: int = 1) -> tuple[int, int]:
    """Late days: the penalty to charge, and what rounding has left over of all days so far. However the days are
    cut up, the sum of charges is the exact penalty rounded once."""
    exact = carry + int(overdue_principal * days * rate_of(daily_percent) * PENALTY_UNITS_PER_MINOR)
    charged = round_half_up(Fraction(exact, PENALTY_UNITS_PER_MINOR))
    return charged, exact - charged * PENALTY_UNITS_PER_MINOR


# --- where a repayment goes ---------------------------------------------------------------------------------


def allocate(amount: int, owed: Iterable[LoanAmounts]) -> list[LoanAmounts]:
    """Penalty, fee, interest with its tax, principal: the oldest instalment first. Contract: loans#request"""
    paid = []
    for parts in owed:
        taken = allocate_to_installment(amount, parts)
        amount -= taken.total
        paid.append(taken)
    return paid


def allocate_to_installment(amount: int, owed: LoanAmounts) -> LoanAmounts:
    penalty = min(amount, owed.penalty)
    fee = min(amount - penalty, owed.fee)
    left = amount - penalty - fee
    # Interest that cannot be paid whole brings its share of the tax along.
    both = owed.interest + owed.tax
    charged = min(left, both)
    tax = round_half_up(Fraction(charged * owed.tax, both)) if both else 0
    return LoanAmounts(penalty, fee, charged - tax, tax, min(left - charged, owed.principal))
