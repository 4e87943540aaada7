"""How a loan stands on a day: what is late, what is owed, what would close it, and what a repayment does to it.

Lateness is reckoned from the rows alone, up to any day, and twice is the same as once: the nightly job, a repayment and
a view all ask here, so none of them depends on another having run. (Contract: loans#request)
"""

from datetime import date, timedelta
from fractions import Fraction

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.loan_interest import (
    FLAT,
    LoanAmounts,
    accrued_interest,
    allocate,
    charge_penalty,
    due_date,
    late_on,
    make_schedule,
    rate_of,
    round_half_up,
    sum_amounts,
)
from kasuwa.core.money import LARGEST_AMOUNT
from kasuwa.methods.loans.model import ACTIVE, IN_ARREARS, OWING_STATES, REPAID, Loan, LoanInstallment, installment_key


class LoanPosition(msgspec.Struct, frozen=True):
    """A loan with its instalments, reckoned to a day."""

    loan: Loan
    lines: tuple[LoanInstallment, ...]
    day: date

    @property
    def owed(self) -> LoanAmounts:
        return sum_amounts(line.owed for line in self.lines)

    @property
    def due(self) -> LoanAmounts:
        """All that has fallen due, today's included."""
        return sum_amounts(line.owed for line in self.lines if line.due <= self.day)

    @property
    def payoff(self) -> tuple[LoanAmounts, ...]:
        """What closes the loan today, line by line: all of what is due, the principal, and the interest earned so far
        in the running interval. Interest paid ahead is not paid back. Contract: loans#request"""
        tax_rate, asked = rate_of(self.loan.terms.tax), []
        for line in self.lines:
            earned = interest_earned(line, self.loan, self.day)
            tax = line.tax if earned == line.interest else round_half_up(earned * tax_rate)
            interest, tax = max(0, earned - line.paid_interest), max(0, tax - line.paid_tax)
            asked.append(LoanAmounts(line.owed.penalty, 0, interest, tax, line.owed.principal))
        return tuple(asked)

    @property
    def default_repayment(self) -> int:
        """What a repayment is where no amount is said: all that is due, else the next instalment."""
        coming = next((line.owed.total for line in self.lines if line.owed.total), 0)
        return min(self.due.total or coming, sum_amounts(self.payoff).total)

    @property
    def next_change_on(self) -> date | None:
        """The next day on which time alone changes something."""
        late = [line for line in self.lines if is_late(line, self.loan, self.day)]
        if rate_of(self.loan.penalty_rate) and any(line.owed.principal for line in late):
            return self.day + timedelta(days=1)
        coming = (late_on(line.due, self.loan.tolerance_days) for line in self.lines if line.owed.total)
        return min((day for day in coming if day > self.day), default=None)


def make_installments(loan: Loan, begins: date) -> tuple[LoanInstallment, ...]:
    """The instalments of a loan that is paid out on a day."""
    merchant_id, loan_id = loan.merchant_id, loan.loan_id
    return tuple(
        LoanInstallment(
            installment_key(merchant_id, loan_id, i.n), merchant_id, loan_id, i.n, i.due, i.principal, i.interest, i.tax
        )
        for i in make_schedule(loan.terms, begins)
    )


def interval_start(loan: Loan, n: int) -> date:
    """The first day of the interval that installment n ends."""
    assert loan.disbursed_at is not None
    return due_date(lagos_day(loan.disbursed_at), loan.frequency, n - 1)


def interest_earned(line: LoanInstallment, loan: Loan, day: date) -> int:
    """The interest of an installment earned up to a day: all of it on the due date. If principal was paid ahead within
    the interval, what had been earned by then is kept on the line, and the days after it earn the rest."""
    since = line.accrued_on or interval_start(loan, line.n)
    return line.accrued + accrued_interest(line.interest - line.accrued, since, line.due, day)


def is_late(line: LoanInstallment, loan: Loan, day: date) -> bool:
    return line.owed.total > 0 and day >= late_on(line.due, loan.tolerance_days)


def compute_position(loan: Loan, lines: tuple[LoanInstallment, ...], day: date) -> LoanPosition:
    """The loan reckoned to a day: penalties charged, and late or not late."""
    if loan.state not in OWING_STATES or loan.aged_to is None:
        return LoanPosition(loan, lines, day)
    day = max(day, loan.aged_to)
    aged = age_lines(loan, lines, loan.aged_to, day)
    return LoanPosition(msgspec.structs.replace(loan, state=arrears_state(loan, aged, day), aged_to=day), aged, day)


def arrears_state(loan: Loan, lines: tuple[LoanInstallment, ...], day: date) -> str:
    return IN_ARREARS if any(is_late(line, loan, day) for line in lines) else ACTIVE


def age_lines(loan: Loan, lines: tuple[LoanInstallment, ...], aged_to: date, day: date) -> tuple[LoanInstallment, ...]:
    """The lines with their late days charged. The penalties of a loan stop growing where together they are the largest
    amount that there is."""
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
    """Charge the late days since the loan was last reckoned; the principal has not changed since."""
    first = max(late_on(line.due, loan.tolerance_days), computed_to + timedelta(days=1))
    days, overdue = (day - first).days + 1, line.owed.principal
    if days <= 0 or not overdue or not rate_of(loan.penalty_rate):
        return line
    charged, carry = charge_penalty(line.carry, overdue, loan.penalty_rate, days)
    return msgspec.structs.replace(line, penalty=line.penalty + charged, carry=carry)


# --- a repayment ----------------------------------------------------------------------------------------------


class RepaymentResult(msgspec.Struct, frozen=True):
    """What a repayment does to a loan."""

    after: LoanPosition
    paid: tuple[LoanAmounts, ...]  # by installment
    waived: LoanAmounts  # interest and tax that are not asked for any more
    added: LoanAmounts  # interest and tax that rounding adds to a schedule that was computed anew
    excess: int  # what the loan has no use for


def allocate_repayment(position: LoanPosition, amount: int) -> RepaymentResult:
    """Applies a repayment. The payoff or more closes the loan. Less is spread over what is owed, and what it pays
    ahead lowers the principal of the remaining schedule."""
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


def spread_repayment(position: LoanPosition, amount: int) -> tuple[LoanAmounts, ...]:
    """Where less than the payoff goes: all penalties; what is due, oldest first, interest with its tax before
    principal; interest and tax earned in the running interval; then principal, noted on the running installment.
    Interest that is not earned yet is never taken. Contract: loans#request"""
    payoff, day = position.payoff, position.day
    is_due = [line.due <= day for line in position.lines]
    steps = (
        [LoanAmounts(penalty=parts.penalty) for parts in payoff],
        [
            msgspec.structs.replace(parts, penalty=0) if due else LoanAmounts()
            for parts, due in zip(payoff, is_due, strict=True)
        ],
        [LoanAmounts() if due else earned_parts(parts) for parts, due in zip(payoff, is_due, strict=True)],
    )
    paid = [LoanAmounts()] * len(payoff)
    for step in steps:
        taken = allocate(amount, step)
        amount -= sum_amounts(taken).total
        paid = [before + parts for before, parts in zip(paid, taken, strict=True)]
    if amount:
        running = is_due.index(False)
        paid[running] += LoanAmounts(principal=amount)
    return tuple(paid)


def earned_parts(parts: LoanAmounts) -> LoanAmounts:
    return LoanAmounts(interest=parts.interest, tax=parts.tax)


def recompute_schedule(position: LoanPosition, lines: tuple[LoanInstallment, ...]) -> tuple[LoanInstallment, ...]:
    """The schedule after principal was paid ahead: the installments that are not due yet, computed anew on the
    principal that is left, over the same due dates. The running one keeps the interest earned so far and adds that of
    its remaining days. At a flat rate the interest is that of the whole loan and does not change.

    Contract: loans#request
    """
    loan, day = position.loan, position.day
    past = [line for line in lines if line.due <= day]
    coming = [line for line in lines if line.due > day]
    asked = sum(line.principal for line in position.lines if line.due > day)
    left = asked - sum(line.paid_principal for line in coming)
    terms = msgspec.structs.replace(loan.terms, principal=left, period=len(coming))
    planned = make_schedule(terms, day)
    changed = []
    for line, plan in zip(coming, planned, strict=True):
        interest, accrued, accrued_on = plan.interest, 0, None
        if terms.method == FLAT:
            interest = line.interest
        elif line is coming[0]:
            accrued, accrued_on = interest_earned(line, loan, day), day
            whole = (line.due - interval_start(loan, line.n)).days
            interest = accrued + round_half_up(left * terms.interval_rate * Fraction((line.due - day).days, whole))
        interest = max(interest, line.paid_interest)
        changed.append(
            msgspec.structs.replace(
                line,
                principal=line.paid_principal + plan.principal,
                interest=interest,
                tax=max(round_half_up(interest * rate_of(terms.tax)), line.paid_tax),
                accrued=accrued,
                accrued_on=accrued_on,
            )
        )
    return (*past, *changed)


def schedule_changes(
    before: tuple[LoanInstallment, ...], after: tuple[LoanInstallment, ...]
) -> tuple[LoanAmounts, LoanAmounts]:
    """By how much interest and tax of a schedule went down, and by how much up."""
    interest = sum(line.interest for line in after) - sum(line.interest for line in before)
    tax = sum(line.tax for line in after) - sum(line.tax for line in before)
    return LoanAmounts(interest=max(0, -interest), tax=max(0, -tax)), LoanAmounts(
        interest=max(0, interest), tax=max(0, tax)
    )


def pay_installment(line: LoanInstallment, parts: LoanAmounts) -> LoanInstallment:
    """The installment with a payment noted. Principal paid ahead of its due date may exceed what it asked for."""
    paid_principal = line.paid_principal + parts.principal
    return msgspec.structs.replace(
        line,
        principal=max(line.principal, paid_principal),
        paid_penalty=line.paid_penalty + parts.penalty,
        paid_interest=line.paid_interest + parts.interest,
        paid_tax=line.paid_tax + parts.tax,
        paid_principal=paid_principal,
    )
