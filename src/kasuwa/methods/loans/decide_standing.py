"""How a loan stands on a day: what is late, what is owed, what would close it, and what a repayment does to it.

Lateness is reckoned from the rows alone, up to any day, and twice is the same as once: the nightly job, a repayment and
a view all ask here, so none of them depends on another having run. (D33)
"""

from datetime import date, timedelta

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.interest import (
    Parts,
    add_parts,
    allocate,
    charge_penalty,
    interest_used,
    late_on,
    make_schedule,
    rate_of,
    round_half_up,
)
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
        """What closes the loan today, line by line: all of what is due, the principal, and of the interval that runs
        the interest of the days used. Interest paid ahead is not paid back. Spec silent: D33"""
        assert self.loan.disbursed_at is not None
        begins, tax_rate, asked = lagos_day(self.loan.disbursed_at), rate_of(self.loan.terms.tax), []
        for line in self.lines:
            used = interest_used(line.interest, begins, line.due, self.day)
            tax = line.tax if used == line.interest else round_half_up(used * tax_rate)
            interest, tax = max(0, used - line.paid_interest), max(0, tax - line.paid_tax)
            asked.append(Parts(line.owed.penalty, 0, interest, tax, line.owed.principal))
            begins = line.due
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


def is_late(line: Line, loan: Loan, day: date) -> bool:
    return line.owed.total > 0 and day >= late_on(line.due, loan.tolerance_days)


def stand(loan: Loan, lines: tuple[Line, ...], day: date) -> Standing:
    """The loan reckoned to a day: penalties charged, and late or not late."""
    if loan.state not in OWING or loan.aged_to is None:
        return Standing(loan, lines, day)
    day = max(day, loan.aged_to)
    aged = tuple(age_line(line, loan, loan.aged_to, day) for line in lines)
    return Standing(msgspec.structs.replace(loan, state=state_of(loan, aged, day), aged_to=day), aged, day)


def state_of(loan: Loan, lines: tuple[Line, ...], day: date) -> str:
    return IN_ARREARS if any(is_late(line, loan, day) for line in lines) else ACTIVE


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
    """What a repayment does: where it went, what is not asked for any more, what was too much, and the loan after."""

    after: Standing
    paid: tuple[Parts, ...]
    forgiven: Parts
    excess: int


def repay(standing: Standing, amount: int) -> Repaid:
    """Exactly the payoff closes the loan; less goes to the oldest instalments. What is more has no place to go."""
    payoff = standing.payoff
    most = add_parts(payoff).total
    paid = payoff if amount >= most else tuple(allocate(amount, (line.owed for line in standing.lines)))
    lines = tuple(pay_line(line, parts) for line, parts in zip(standing.lines, paid, strict=True))
    after = msgspec.structs.replace(standing, lines=lines)
    if add_parts(after.payoff).total:
        state = state_of(standing.loan, lines, standing.day)
        after = msgspec.structs.replace(after, loan=msgspec.structs.replace(standing.loan, state=state))
        return Repaid(after, paid, Parts(), 0)
    forgiven = after.owed
    lines = tuple(msgspec.structs.replace(line, interest=line.paid_interest, tax=line.paid_tax) for line in lines)
    loan = msgspec.structs.replace(standing.loan, state=REPAID)
    return Repaid(Standing(loan, lines, standing.day), paid, forgiven, max(0, amount - most))


def pay_line(line: Line, parts: Parts) -> Line:
    return msgspec.structs.replace(
        line,
        paid_penalty=line.paid_penalty + parts.penalty,
        paid_interest=line.paid_interest + parts.interest,
        paid_tax=line.paid_tax + parts.tax,
        paid_principal=line.paid_principal + parts.principal,
    )
