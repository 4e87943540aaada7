"""How a loan stands on a day: what is late, what is owed, what would close it, and what a repayment does to it.

Lateness is reckoned from the rows alone, up to any day, and twice is the same as once: the nightly job, a repayment and
a view all ask here, so none of them depends on another having run. (D33)
"""

from datetime import date, timedelta
from fractions import Fraction

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.interest import (
    FLAT,
    Parts,
    add_parts,
    allocate,
    charge_penalty,
    due_date,
    interest_used,
    late_on,
    make_schedule,
    rate_of,
    round_half_up,
)
from kasuwa.core.money import LARGEST_AMOUNT
from kasuwa.methods.loans.decide import ACTIVE, IN_ARREARS, OWING, REPAID, Line, Loan, line_key


class Standing(msgspec.Struct, frozen=True):
    """A loan with its instalments, reckoned to a day."""

    loan: Loan
    lines: tuple[Line, ...]
    day: date

    @property
    def owed(self) -> Parts:
        return add_parts(line.owed for line in self.lines)

    @property
    def due(self) -> Parts:
        """All that has fallen due, today's included."""
        return add_parts(line.owed for line in self.lines if line.due <= self.day)

    @property
    def payoff(self) -> tuple[Parts, ...]:
        """What closes the loan today, line by line: all of what is due, the principal, and the interest earned so far
        in the running interval. Interest paid ahead is not paid back. Spec silent: D33"""
        tax_rate, asked = rate_of(self.loan.terms.tax), []
        for line in self.lines:
            earned = interest_earned(line, self.loan, self.day)
            tax = line.tax if earned == line.interest else round_half_up(earned * tax_rate)
            interest, tax = max(0, earned - line.paid_interest), max(0, tax - line.paid_tax)
            asked.append(Parts(line.owed.penalty, 0, interest, tax, line.owed.principal))
        return tuple(asked)

    @property
    def usual(self) -> int:
        """What a repayment is where no amount is said: all that is due, else the next instalment."""
        coming = next((line.owed.total for line in self.lines if line.owed.total), 0)
        return min(self.due.total or coming, add_parts(self.payoff).total)

    @property
    def next_change(self) -> date | None:
        """The next day on which time alone changes something."""
        late = [line for line in self.lines if is_late(line, self.loan, self.day)]
        if rate_of(self.loan.penalty_rate) and any(line.owed.principal for line in late):
            return self.day + timedelta(days=1)
        coming = (late_on(line.due, self.loan.tolerance_days) for line in self.lines if line.owed.total)
        return min((day for day in coming if day > self.day), default=None)


def plan_lines(loan: Loan, begins: date) -> tuple[Line, ...]:
    """The instalments of a loan that is paid out on a day."""
    merchant_id, loan_id = loan.merchant_id, loan.loan_id
    return tuple(
        Line(line_key(merchant_id, loan_id, i.n), merchant_id, loan_id, i.n, i.due, i.principal, i.interest, i.tax)
        for i in make_schedule(loan.terms, begins)
    )


def interval_start(loan: Loan, n: int) -> date:
    """The first day of the interval that installment n ends."""
    assert loan.disbursed_at is not None
    return due_date(lagos_day(loan.disbursed_at), loan.frequency, n - 1)


def interest_earned(line: Line, loan: Loan, day: date) -> int:
    """The interest of an installment earned up to a day: all of it on the due date. If principal was paid ahead within
    the interval, what had been earned by then is kept on the line, and the days after it earn the rest."""
    since = line.accrued_on or interval_start(loan, line.n)
    return line.accrued + interest_used(line.interest - line.accrued, since, line.due, day)


def is_late(line: Line, loan: Loan, day: date) -> bool:
    return line.owed.total > 0 and day >= late_on(line.due, loan.tolerance_days)


def stand(loan: Loan, lines: tuple[Line, ...], day: date) -> Standing:
    """The loan reckoned to a day: penalties charged, and late or not late."""
    if loan.state not in OWING or loan.aged_to is None:
        return Standing(loan, lines, day)
    day = max(day, loan.aged_to)
    aged = age_lines(loan, lines, loan.aged_to, day)
    return Standing(msgspec.structs.replace(loan, state=state_of(loan, aged, day), aged_to=day), aged, day)


def state_of(loan: Loan, lines: tuple[Line, ...], day: date) -> str:
    return IN_ARREARS if any(is_late(line, loan, day) for line in lines) else ACTIVE


def age_lines(loan: Loan, lines: tuple[Line, ...], aged_to: date, day: date) -> tuple[Line, ...]:
    """The lines with their late days charged. The penalties of a loan stop growing where together they are the largest
    amount that there is."""
    room = max(0, LARGEST_AMOUNT - sum(line.penalty for line in lines))
    aged = []
    for line in lines:
        charged = age_line(line, loan, aged_to, day)
        if charged.penalty - line.penalty > room:
            charged = msgspec.structs.replace(charged, penalty=line.penalty + room, carry=0)
        room -= charged.penalty - line.penalty
        aged.append(charged)
    return tuple(aged)


def age_line(line: Line, loan: Loan, aged_to: date, day: date) -> Line:
    """Charge the late days since the loan was last reckoned; the principal has not changed since."""
    first = max(late_on(line.due, loan.tolerance_days), aged_to + timedelta(days=1))
    days, overdue = (day - first).days + 1, line.owed.principal
    if days <= 0 or not overdue or not rate_of(loan.penalty_rate):
        return line
    charged, carry = charge_penalty(line.carry, overdue, loan.penalty_rate, days)
    return msgspec.structs.replace(line, penalty=line.penalty + charged, carry=carry)


# --- a repayment ----------------------------------------------------------------------------------------------


class Repaid(msgspec.Struct, frozen=True):
    """What a repayment does to a loan."""

    after: Standing
    paid: tuple[Parts, ...]  # by installment
    forgiven: Parts  # interest and tax that are not asked for any more
    added: Parts  # interest and tax that rounding adds to a schedule that was computed anew
    excess: int  # what the loan has no use for


def repay(standing: Standing, amount: int) -> Repaid:
    """Applies a repayment. The payoff or more closes the loan. Less is spread over what is owed, and what it pays
    ahead lowers the principal of the remaining schedule."""
    payoff = standing.payoff
    most = add_parts(payoff).total
    if amount >= most:
        lines = tuple(pay_line(line, parts) for line, parts in zip(standing.lines, payoff, strict=True))
        closed = tuple(msgspec.structs.replace(line, interest=line.paid_interest, tax=line.paid_tax) for line in lines)
        loan = msgspec.structs.replace(standing.loan, state=REPAID)
        forgiven = add_parts(line.owed for line in lines)
        return Repaid(Standing(loan, closed, standing.day), payoff, forgiven, Parts(), amount - most)
    paid = spread(standing, amount)
    lines = tuple(pay_line(line, parts) for line, parts in zip(standing.lines, paid, strict=True))
    if any(parts.principal for line, parts in zip(lines, paid, strict=True) if line.due > standing.day):
        lines = replan(standing, lines)
    loan = msgspec.structs.replace(standing.loan, state=state_of(standing.loan, lines, standing.day))
    forgiven, added = changes_of(standing.lines, lines)
    return Repaid(Standing(loan, lines, standing.day), paid, forgiven, added, 0)


def spread(standing: Standing, amount: int) -> tuple[Parts, ...]:
    """Where less than the payoff goes: all penalties; what is due, oldest first, interest with its tax before
    principal; interest and tax earned in the running interval; then principal, noted on the running installment.
    Interest that is not earned yet is never taken. Spec silent: D33"""
    payoff, day = standing.payoff, standing.day
    is_due = [line.due <= day for line in standing.lines]
    steps = (
        [Parts(penalty=parts.penalty) for parts in payoff],
        [
            msgspec.structs.replace(parts, penalty=0) if due else Parts()
            for parts, due in zip(payoff, is_due, strict=True)
        ],
        [Parts() if due else earned_of(parts) for parts, due in zip(payoff, is_due, strict=True)],
    )
    paid = [Parts()] * len(payoff)
    for step in steps:
        taken = allocate(amount, step)
        amount -= add_parts(taken).total
        paid = [before + parts for before, parts in zip(paid, taken, strict=True)]
    if amount:
        running = is_due.index(False)
        paid[running] += Parts(principal=amount)
    return tuple(paid)


def earned_of(parts: Parts) -> Parts:
    return Parts(interest=parts.interest, tax=parts.tax)


def replan(standing: Standing, lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The schedule after principal was paid ahead: the installments that are not due yet, computed anew on the
    principal that is left, over the same due dates. The running one keeps the interest earned so far and adds that of
    its remaining days. At a flat rate the interest is that of the whole loan and does not change. Spec silent: D33"""
    loan, day = standing.loan, standing.day
    past = [line for line in lines if line.due <= day]
    coming = [line for line in lines if line.due > day]
    asked = sum(line.principal for line in standing.lines if line.due > day)
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
            interest = accrued + round_half_up(left * terms.rate_each * Fraction((line.due - day).days, whole))
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


def changes_of(before: tuple[Line, ...], after: tuple[Line, ...]) -> tuple[Parts, Parts]:
    """By how much interest and tax of a schedule went down, and by how much up."""
    interest = sum(line.interest for line in after) - sum(line.interest for line in before)
    tax = sum(line.tax for line in after) - sum(line.tax for line in before)
    return Parts(interest=max(0, -interest), tax=max(0, -tax)), Parts(interest=max(0, interest), tax=max(0, tax))


def pay_line(line: Line, parts: Parts) -> Line:
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
