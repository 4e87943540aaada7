"""Loan interest: the installment schedule, what is owed on a date, and how a repayment is allocated.

Pure and exact: money in whole minor units, rates as fractions, no floats. Every amount is rounded half up once, and the
last installment takes the remainder. Contract: loans#request

    declining_equal_instalments   equal installments, interest on the balance: the rest of each is principal
    equal_principal               equal principal, interest on the balance
    flat                          equal principal, interest on the whole loan in every interval
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
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
PERCENT = re.compile(r"(100|[0-9]{1,2}(\.[0-9]{1,6})?)", re.ASCII)
MAX_TOLERANCE_DAYS = 365
# Buckets of loans by days late: none, and from these days on.
BUCKETS_FROM = (1, 31, 61, 91, 181)
BUCKETS: Final = ("0", "1-30", "31-60", "61-90", "91-180", "181+")


def find_bucket(days_late: int) -> int:
    """Returns the place in BUCKETS of a loan that is so many days late."""
    return bisect_right(BUCKETS_FROM, days_late)


class LendingSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """A merchant's settings for new loans. Contract: loans#request"""

    method: RepaymentMethod = EQUAL_INSTALLMENTS  # if a request names none
    tolerance_days: int = 0  # days after a due date before an installment is late
    penalty_rate: str = "0"  # percent of the overdue principal per day
    # What a repayment that is lost in a dispute, or that its rail takes back, does: its loan owes it again, or nothing.
    on_dispute: Literal["reinstate", "ignore"] = "reinstate"
    # Percent of the principal that is set aside for loss, one rate for each of BUCKETS. Empty: nothing is set aside.
    provision_rates: tuple[str, ...] = ()


def check_lending(lending: LendingSettings) -> None:
    """Raises ValueError if a setting is invalid."""
    if not 0 <= lending.tolerance_days <= MAX_TOLERANCE_DAYS:
        raise ValueError(f"lending: tolerance_days must be 0 to {MAX_TOLERANCE_DAYS}")
    if not PERCENT.fullmatch(lending.penalty_rate):
        raise ValueError("lending: penalty_rate must be a percentage with at most six decimals, as text")
    rates = lending.provision_rates
    if len(rates) not in (0, len(BUCKETS)) or not all(PERCENT.fullmatch(rate) for rate in rates):
        raise ValueError(
            f"lending: provision_rates must be {len(BUCKETS)} percentages as text, one for each of {BUCKETS}"
        )


# --- the schedule -----------------------------------------------------------------------------------------

# What is left out of an installment: its principal alone, or its interest too, which is spread over the installments
# after the grace, or becomes principal on the due date. Contract: loans#grace
PRINCIPAL_GRACE: Final = "principal"
SPREAD: Final = "spread"
CAPITALIZE: Final = "capitalize"
# Kinds of grace with which an installment does not ask for its interest.
INTEREST_GRACES: Final = (SPREAD, CAPITALIZE)


class Grace(msgspec.Struct, frozen=True, omit_defaults=True):
    """A grace period at the beginning of a schedule. Contract: loans#grace"""

    principal: int = 0  # number of installments without principal
    interest: int = 0  # number of those that do not ask for their interest either; at most `principal`
    capitalize: bool = False  # that interest becomes principal; else it is spread
    first_due: date | None = None  # the first due date, if it is not one interval after the beginning

    def find_kind(self, n: int) -> str:
        """Returns the grace of the n-th installment, "" for none."""
        if n <= self.interest:
            return CAPITALIZE if self.capitalize else SPREAD
        return PRINCIPAL_GRACE if n <= self.principal else ""


NO_GRACE = Grace()


class LoanTerms(msgspec.Struct, frozen=True):
    """The agreed terms of a loan."""

    principal: int  # in minor units
    rate: str  # percent per interval of `frequency`
    frequency: str
    period: int  # number of installments
    method: str = EQUAL_INSTALLMENTS
    tax: str = "0"  # percent of the interest
    grace: Grace = NO_GRACE

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
    grace: str = ""  # what is left out of it: one of the kinds above
    grown: int = 0  # interest of its interval that later installments ask for
    deferred: int = 0  # the part of `interest` that grew in earlier intervals
    pending: int = 0  # interest of its interval that becomes principal on the due date, and the tax on it
    pending_tax: int = 0
    starts: date | None = None  # first day of its interval if the due dates of the terms do not say it
    span: int = 0  # days that the rate of an interval is for, if its interval is a longer or shorter one

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


class FirstInterval(msgspec.Struct, frozen=True):
    """The interval in which a plan begins, as far as it is known."""

    share: Fraction = Fraction(1)  # of the interest of a whole interval that it is still to earn
    accrued: int = 0  # interest that it has earned before
    paid: int = 0  # of its interest
    paid_tax: int = 0


WHOLE_INTERVAL = FirstInterval()


class PlannedLine(msgspec.Struct, frozen=True):
    """One installment of a plan."""

    grace: str
    principal: int
    own: int  # interest of its interval, whoever asks for it
    share: int  # interest of earlier intervals that it asks for
    balance: int  # principal left after it, with what was capitalized


def plan_lines(
    terms: LoanTerms,
    graces: Sequence[str],
    first: FirstInterval = WHOLE_INTERVAL,
    *,
    carried: int = 0,
    own: Sequence[int] | None = None,
    whole_loan: int | None = None,
) -> list[PlannedLine]:
    """Splits an amount over installments, each with its kind of grace. The last one takes the remaining principal.

    `carried` is interest that grew before and is still to be asked for. `own` fixes the interest of every interval.
    `whole_loan` is what flat interest is of, if that is not the amount.
    """
    rate, tax, period = terms.interval_rate, parse_rate(terms.tax), len(graces)
    balance = terms.principal
    whole_loan = balance if whole_loan is None else whole_loan
    level, lines = 0, []
    for place, grace in enumerate(graces):
        base = whole_loan if terms.method == FLAT else balance
        whole, principal = share_half_up(base, rate), 0
        earns = whole if own is None else own[place]
        if own is None and not place and first is not WHOLE_INTERVAL:
            earns = first.accrued + share_half_up(base, rate * first.share)
        if not grace:
            if not place or graces[place - 1]:
                left = msgspec.structs.replace(terms, principal=balance, period=graces[place:].count(""))
                level = level_payment(left)
            principal = level - whole if terms.method == EQUAL_INSTALLMENTS else level
            principal = balance if place == period - 1 else min(principal, balance)
        elif grace == CAPITALIZE:
            paid, paid_tax = (first.paid, first.paid_tax) if not place else (0, 0)
            capital = max(0, earns - paid) + max(0, share_half_up(earns, tax) - paid_tax)
            balance, whole_loan = balance + capital, whole_loan + capital
        balance -= principal
        lines.append(PlannedLine(grace, principal, earns, 0, balance))
    return share_grown(lines, carried - (first.paid if graces[0] == SPREAD else 0))


def share_grown(lines: list[PlannedLine], carried: int) -> list[PlannedLine]:
    """Returns a plan whose installments after the last one of grace share what grew before, and what was carried."""
    total = carried + sum(line.own for line in lines if line.grace == SPREAD)
    if not total:
        return lines
    since = max((place for place, line in enumerate(lines, 1) if line.grace == SPREAD), default=0)
    asking = [place for place, line in enumerate(lines) if place >= since and line.grace not in INTEREST_GRACES]
    for i, place in enumerate(asking):
        share = total * (i + 1) // len(asking) - total * i // len(asking)
        lines[place] = msgspec.structs.replace(lines[place], share=share)
    return lines


def make_schedule(terms: LoanTerms, begins: date) -> list[ScheduledInstallment]:
    """Returns the schedule of a loan paid out on a date. The last installment takes the remaining principal.

    A first due date of its own that has passed by then does not count."""
    grace, tax = terms.grace, parse_rate(terms.tax)
    first_due = grace.first_due if grace.first_due is not None and grace.first_due > begins else None
    first, span = WHOLE_INTERVAL, 0
    if first_due is not None:
        span = (first_due - due_date(first_due, terms.frequency, -1)).days
        first = FirstInterval(Fraction((first_due - begins).days, span))
    lines: list[ScheduledInstallment] = []
    for n, plan in enumerate(plan_lines(terms, [grace.find_kind(n + 1) for n in range(terms.period)], first), 1):
        starts = None if first_due is None or n == 1 else lines[-1].due
        due = due_date(begins, terms.frequency, n) if first_due is None else due_date(first_due, terms.frequency, n - 1)
        asks = plan.grace not in INTEREST_GRACES
        interest = plan.own + plan.share if asks else 0
        is_capitalized = plan.grace == CAPITALIZE
        lines.append(
            ScheduledInstallment(
                n,
                due,
                plan.principal,
                interest,
                share_half_up(interest, tax),
                plan.balance,
                grace=plan.grace,
                grown=plan.own if plan.grace == SPREAD else 0,
                deferred=plan.share,
                pending=plan.own if is_capitalized else 0,
                pending_tax=share_half_up(plan.own, tax) if is_capitalized else 0,
                starts=starts,
                span=span if n == 1 else 0,
            )
        )
    return lines


# --- what is owed -----------------------------------------------------------------------------------------


class LoanAmounts(msgspec.Struct, frozen=True):
    """Amounts owed or paid by component, in the order in which they are paid."""

    penalty: int = 0
    charge: int = 0
    vat: int = 0  # on the charges
    interest: int = 0
    tax: int = 0  # on the interest
    principal: int = 0

    @property
    def total(self) -> int:
        return self.penalty + self.charge + self.vat + self.interest + self.tax + self.principal

    def __add__(self, other: "LoanAmounts") -> "LoanAmounts":
        return LoanAmounts(
            self.penalty + other.penalty,
            self.charge + other.charge,
            self.vat + other.vat,
            self.interest + other.interest,
            self.tax + other.tax,
            self.principal + other.principal,
        )

    def __sub__(self, other: "LoanAmounts") -> "LoanAmounts":
        return LoanAmounts(
            self.penalty - other.penalty,
            self.charge - other.charge,
            self.vat - other.vat,
            self.interest - other.interest,
            self.tax - other.tax,
            self.principal - other.principal,
        )


NOTHING = LoanAmounts()


def sum_amounts(parts: Iterable[LoanAmounts]) -> LoanAmounts:
    penalty = charge = vat = interest = tax = principal = 0
    for part in parts:
        penalty += part.penalty
        charge += part.charge
        vat += part.vat
        interest += part.interest
        tax += part.tax
        principal += part.principal
    return LoanAmounts(penalty, charge, vat, interest, tax, principal)


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


def allocate(amount: int, owed: Iterable[LoanAmounts], order: Sequence[str] = ()) -> list[LoanAmounts]:
    """Splits a repayment over installments, oldest first. Each is paid in the order of allocate_to_installment, or in
    another one that a product has.

    Contract: loans#allocation
    """
    paid = []
    for parts in owed:
        part = NOTHING
        if amount:
            part = allocate_in_order(amount, parts, order) if order else allocate_to_installment(amount, parts)
        amount -= part.total
        paid.append(part)
    return paid


def allocate_to_installment(amount: int, owed: LoanAmounts) -> LoanAmounts:
    """Splits an amount over one installment: penalty, charges with their VAT, interest with its tax, principal."""
    penalty = min(amount, owed.penalty)
    charge, vat = split_with_tax(amount - penalty, owed.charge, owed.vat)
    rest = amount - penalty - charge - vat
    interest, tax = split_with_tax(rest, owed.interest, owed.tax)
    return LoanAmounts(penalty, charge, vat, interest, tax, min(rest - interest - tax, owed.principal))


def allocate_in_order(amount: int, owed: LoanAmounts, order: Sequence[str]) -> LoanAmounts:
    """Splits an amount over one installment, by the parts in an order. VAT and tax go with what they are on."""
    paid = NOTHING
    for name in order:
        rest = amount - paid.total
        if name == "penalty":
            paid += LoanAmounts(penalty=min(rest, owed.penalty))
        elif name == "charge":
            charge, vat = split_with_tax(rest, owed.charge, owed.vat)
            paid += LoanAmounts(charge=charge, vat=vat)
        elif name == "interest":
            interest, tax = split_with_tax(rest, owed.interest, owed.tax)
            paid += LoanAmounts(interest=interest, tax=tax)
        else:
            paid += LoanAmounts(principal=min(rest, owed.principal))
    return paid


def split_with_tax(amount: int, net: int, tax: int) -> tuple[int, int]:
    """Returns what an amount covers of something and of the tax on it. Paid in part, both are paid in proportion."""
    both = net + tax
    covered = min(amount, both)
    of_tax = (2 * covered * tax + both) // (2 * both) if both else 0
    return covered - of_tax, of_tax
