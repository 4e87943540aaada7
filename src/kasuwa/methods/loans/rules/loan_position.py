"""The position of a loan on a day: what is late, owed and due, its payoff, and the allocation of a repayment.

A position is computed from the loan's rows alone, for any day, and computing it twice changes nothing. The arrears job,
repayments and reads all compute it here, so none of them depends on another one having run before.

Contract: loans#repay
"""

from datetime import date, timedelta
from fractions import Fraction
from functools import cached_property

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.money import LARGEST_AMOUNT
from kasuwa.methods.loans.model import (
    ACTIVE,
    IN_ARREARS,
    OWING_STATES,
    REPAID,
    WRITTEN_OFF,
    Loan,
    LoanInstallment,
    installment_key,
)
from kasuwa.terms.loan_schedule import (
    FLAT,
    NOTHING,
    LoanAmounts,
    accrued_interest,
    allocate,
    charge_penalty,
    due_date,
    late_on,
    make_schedule,
    parse_rate,
    share_half_up,
    sum_amounts,
)


class LoanPosition(msgspec.Struct, frozen=True, dict=True):
    """A loan with its installments in order, with penalties charged up to `day`. A loan has up to 366 of them, so sums
    over them are computed once."""

    loan: Loan
    lines: tuple[LoanInstallment, ...]
    day: date

    @cached_property
    def owed(self) -> LoanAmounts:
        return sum_amounts(line.owed for line in self.lines)

    @cached_property
    def due(self) -> LoanAmounts:
        """The amounts owed of all installments due up to and including today."""
        return sum_amounts(line.owed for line in self.lines if line.due <= self.day)

    @cached_property
    def payoff(self) -> tuple[LoanAmounts, ...]:
        """The amounts that close the loan today, by installment: all that is due, the remaining principal, and the
        interest earned so far in the current interval. Interest that was prepaid is not refunded.
        Of a loan that was written off, all that was written off and not recovered. Contract: loans#payoff"""
        if self.loan.state == WRITTEN_OFF:
            return tuple(line.owed for line in self.lines)
        tax_rate, amounts, previous_due = parse_rate(self.loan.terms.tax), [], date.min
        for line in self.lines:
            has_begun = previous_due < self.day or line.accrued_on is not None
            earned = interest_earned(line, self.loan, self.day) if has_begun else 0
            tax = line.tax if earned == line.interest else share_half_up(earned, tax_rate)
            interest, tax = max(0, earned - line.paid_interest), max(0, tax - line.paid_tax)
            owed, previous_due = line.owed, line.due
            amounts.append(LoanAmounts(owed.penalty, 0, interest, tax, owed.principal))
        return tuple(amounts)

    @property
    def default_repayment(self) -> int:
        """The amount of a repayment without an amount: all that is due, else the next installment."""
        coming = next((line.owed.total for line in self.lines if line.owed.total), 0)
        return min(self.due.total or coming, sum_amounts(self.payoff).total)

    @property
    def next_change_on(self) -> date | None:
        """The next day on which the loan changes by time alone, or None."""
        late = [line for line in self.lines if is_late(line, self.loan, self.day)]
        if parse_rate(self.loan.penalty_rate) and any(line.owed.principal for line in late):
            return self.day + timedelta(days=1)
        coming = (late_on(line.due, self.loan.tolerance_days) for line in self.lines if line.owed.total)
        return next((day for day in coming if day > self.day), None)


def make_installments(loan: Loan, begins: date) -> tuple[LoanInstallment, ...]:
    """Returns the installments of a loan that is paid out on day `begins`."""
    merchant_id, loan_id = loan.merchant_id, loan.loan_id
    return tuple(
        LoanInstallment(
            installment_key(merchant_id, loan_id, i.n), merchant_id, loan_id, i.n, i.due, i.principal, i.interest, i.tax
        )
        for i in make_schedule(loan.terms, begins)
    )


def interval_start(loan: Loan, n: int) -> date:
    """Returns the first day of the interval that ends with installment n."""
    assert loan.disbursed_at is not None
    return due_date(lagos_day(loan.disbursed_at), loan.frequency, n - 1)


def interest_earned(line: LoanInstallment, loan: Loan, day: date) -> int:
    """Returns the interest of an installment earned up to a day. On the due date all of it is earned.

    If principal was prepaid within the interval, the row holds what was earned by then, and the remaining days earn
    the rest.
    """
    if day >= line.due:
        return line.interest
    since = line.accrued_on or interval_start(loan, line.n)
    return line.accrued + accrued_interest(line.interest - line.accrued, since, line.due, day)


def is_late(line: LoanInstallment, loan: Loan, day: date) -> bool:
    # The first comparison is the cheapest, and decides for most installments.
    return day > line.due and day >= late_on(line.due, loan.tolerance_days) and line.owed.total > 0


def compute_position(loan: Loan, lines: tuple[LoanInstallment, ...], day: date) -> LoanPosition:
    """Returns the position of the loan on a day, with penalties charged and the arrears state set.

    A loan that owes nothing is returned unchanged. A day before the last computed one counts as that day.
    """
    if loan.state not in OWING_STATES or loan.aged_to is None:
        return LoanPosition(loan, lines, day)
    day = max(day, loan.aged_to)
    aged = age_lines(loan, lines, loan.aged_to, day)
    return LoanPosition(msgspec.structs.replace(loan, state=arrears_state(loan, aged, day), aged_to=day), aged, day)


def arrears_state(loan: Loan, lines: tuple[LoanInstallment, ...], day: date) -> str:
    return IN_ARREARS if any(is_late(line, loan, day) for line in lines) else ACTIVE


def age_lines(loan: Loan, lines: tuple[LoanInstallment, ...], aged_to: date, day: date) -> tuple[LoanInstallment, ...]:
    """Returns the installments with penalties charged for the late days after `aged_to`. All penalties of a loan
    together stop at the largest amount that an account can hold."""
    room = max(0, LARGEST_AMOUNT - sum(line.penalty for line in lines))
    aged = []
    for line in lines:
        charged = charge_late_days(line, loan, aged_to, day)
        if charged.penalty - line.penalty > room:
            charged = msgspec.structs.replace(charged, penalty=line.penalty + room, carry=0)
        room -= charged.penalty - line.penalty
        aged.append(charged)
    return tuple(aged)


def charge_late_days(line: LoanInstallment, loan: Loan, computed_to: date, day: date) -> LoanInstallment:
    """Charges the late days after `computed_to`. The overdue principal has not changed since that day."""
    if day <= line.due or not parse_rate(loan.penalty_rate):
        return line
    first = max(late_on(line.due, loan.tolerance_days), computed_to + timedelta(days=1))
    days = (day - first).days + 1
    if days <= 0:
        return line
    overdue = line.owed.principal
    if not overdue:
        return line
    charged, carry = charge_penalty(line.carry, overdue, loan.penalty_rate, days)
    return msgspec.structs.replace(line, penalty=line.penalty + charged, carry=carry)


# --- a repayment ----------------------------------------------------------------------------------------------


class RepaymentResult(msgspec.Struct, frozen=True):
    """The result of allocating a repayment to a loan."""

    after: LoanPosition
    paid: tuple[LoanAmounts, ...]  # by installment
    waived: LoanAmounts  # interest and tax that are no longer due
    added: LoanAmounts  # interest and tax that rounding adds to a recomputed schedule
    excess: int  # the amount above the payoff


def allocate_repayment(position: LoanPosition, amount: int) -> RepaymentResult:
    """Allocates a repayment. The payoff or more closes the loan. Less is spread over what is owed, and prepaid
    principal lowers the principal of the remaining schedule. Contract: loans#allocation"""
    if position.loan.state == WRITTEN_OFF:
        return recover_repayment(position, amount)
    payoff = position.payoff
    most = sum_amounts(payoff).total
    if amount >= most:
        lines = tuple(pay_installment(line, parts) for line, parts in zip(position.lines, payoff, strict=True))
        closed = tuple(msgspec.structs.replace(line, interest=line.paid_interest, tax=line.paid_tax) for line in lines)
        loan = msgspec.structs.replace(position.loan, state=REPAID)
        forgiven = sum_amounts(line.owed for line in lines)
        return RepaymentResult(LoanPosition(loan, closed, position.day), payoff, forgiven, LoanAmounts(), amount - most)
    paid = spread_repayment(position, amount)
    lines = tuple(pay_installment(line, parts) for line, parts in zip(position.lines, paid, strict=True))
    if any(parts.principal for line, parts in zip(lines, paid, strict=True) if line.due > position.day):
        lines = recompute_schedule(position, lines)
    loan = msgspec.structs.replace(position.loan, state=arrears_state(position.loan, lines, position.day))
    forgiven, added = schedule_changes(position.lines, lines)
    return RepaymentResult(LoanPosition(loan, lines, position.day), paid, forgiven, added, 0)


def recover_repayment(position: LoanPosition, amount: int) -> RepaymentResult:
    """Allocates what is paid of a loan that was written off, oldest installment first. It stays written off.

    Contract: loans#recovered
    """
    paid = tuple(allocate(amount, position.payoff))
    lines = tuple(pay_installment(line, parts) for line, parts in zip(position.lines, paid, strict=True))
    excess = amount - sum_amounts(paid).total
    return RepaymentResult(msgspec.structs.replace(position, lines=lines), paid, LoanAmounts(), LoanAmounts(), excess)


def spread_repayment(position: LoanPosition, amount: int) -> tuple[LoanAmounts, ...]:
    """Returns what each installment gets of a repayment that is less than the payoff. The order is:

    1. all penalties,
    2. what is due, oldest first, interest with its tax before principal,
    3. interest and tax earned in the current interval,
    4. principal, recorded on the current installment.

    Interest that is not earned yet is never taken. Contract: loans#allocation
    """
    payoff, day = position.payoff, position.day
    is_due = [line.due <= day for line in position.lines]
    steps = (
        (LoanAmounts(penalty=parts.penalty) for parts in payoff),
        (
            msgspec.structs.replace(parts, penalty=0) if due else NOTHING
            for parts, due in zip(payoff, is_due, strict=True)
        ),
        (NOTHING if due else earned_parts(parts) for parts, due in zip(payoff, is_due, strict=True)),
    )
    paid = [NOTHING] * len(payoff)
    for step in steps:
        allocation = allocate(amount, step)
        amount -= sum_amounts(allocation).total
        paid = [before + parts for before, parts in zip(paid, allocation, strict=True)]
    if amount:
        running = is_due.index(False)
        paid[running] += LoanAmounts(principal=amount)
    return tuple(paid)


def earned_parts(parts: LoanAmounts) -> LoanAmounts:
    return LoanAmounts(interest=parts.interest, tax=parts.tax)


def recompute_schedule(position: LoanPosition, lines: tuple[LoanInstallment, ...]) -> tuple[LoanInstallment, ...]:
    """Returns the installments after principal was prepaid, given `lines` with the payment recorded.

    Installments that are not due yet are recomputed on the remaining principal, over the same due dates. The current
    one keeps the interest earned so far and adds that of its remaining days. At a flat rate interest is charged on the
    whole loan and does not change. Contract: loans#allocation
    """
    loan, day = position.loan, position.day
    past = [line for line in lines if line.due <= day]
    coming = [line for line in lines if line.due > day]
    future_principal = sum(line.principal for line in position.lines if line.due > day)
    principal = future_principal - sum(line.paid_principal for line in coming)
    terms = msgspec.structs.replace(loan.terms, principal=principal, period=len(coming))
    planned = make_schedule(terms, day)
    changed = []
    for line, plan in zip(coming, planned, strict=True):
        interest, accrued, accrued_on = plan.interest, 0, None
        if terms.method == FLAT:
            interest = line.interest
        elif line is coming[0]:
            accrued, accrued_on = interest_earned(line, loan, day), day
            whole = (line.due - interval_start(loan, line.n)).days
            interest = accrued + share_half_up(principal, terms.interval_rate * Fraction((line.due - day).days, whole))
        interest = max(interest, line.paid_interest)
        changed.append(
            msgspec.structs.replace(
                line,
                principal=line.paid_principal + plan.principal,
                interest=interest,
                tax=max(share_half_up(interest, parse_rate(terms.tax)), line.paid_tax),
                accrued=accrued,
                accrued_on=accrued_on,
            )
        )
    return (*past, *changed)


def schedule_changes(
    before: tuple[LoanInstallment, ...], after: tuple[LoanInstallment, ...]
) -> tuple[LoanAmounts, LoanAmounts]:
    """Returns the decrease and the increase of a schedule's interest and tax."""
    interest = sum(line.interest for line in after) - sum(line.interest for line in before)
    tax = sum(line.tax for line in after) - sum(line.tax for line in before)
    return LoanAmounts(interest=max(0, -interest), tax=max(0, -tax)), LoanAmounts(
        interest=max(0, interest), tax=max(0, tax)
    )


def pay_installment(line: LoanInstallment, parts: LoanAmounts) -> LoanInstallment:
    """Returns the installment with a payment recorded. Prepaid principal may exceed the principal due; it raises it."""
    if not parts.total:
        return line
    paid_principal = line.paid_principal + parts.principal
    return msgspec.structs.replace(
        line,
        principal=max(line.principal, paid_principal),
        paid_penalty=line.paid_penalty + parts.penalty,
        paid_interest=line.paid_interest + parts.interest,
        paid_tax=line.paid_tax + parts.tax,
        paid_principal=paid_principal,
    )
