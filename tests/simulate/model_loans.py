"""The model of one loan: its schedule, its payoff on a day, and the allocation of a repayment. (Contract:
loans#request)

Implemented apart from the service, in fractions, and without penalties. It is used by the model of the whole API and by
the property test of the loan's rules (tests/methods/loans/test_early_repayment.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction

from tests.simulate.model_books import add_months

DAYS_APART = {"every_four_weeks": 28, "every_week": 7, "every_day": 1}


def half_up(exact: Fraction) -> int:
    return (2 * exact.numerator + exact.denominator) // (2 * exact.denominator)


@dataclass
class Installment:
    """An installment. `principal` is what is still owed; `interest` and `tax` are the totals; `earned` is the interest
    earned by `since`."""

    begins: date
    due: date
    principal: int
    interest: int
    tax: int
    since: date
    earned: int = 0
    paid_interest: int = 0
    paid_tax: int = 0

    @property
    def charges(self) -> tuple[int, int]:
        return self.interest - self.paid_interest, self.tax - self.paid_tax

    @property
    def owed(self) -> int:
        return self.principal + sum(self.charges)


@dataclass
class RepaymentSplit:
    """The parts of a repayment, and by how much it changed the schedule."""

    interest: int = 0
    tax: int = 0
    principal: int = 0
    interest_change: int = 0
    tax_change: int = 0


@dataclass
class Loan:
    key: str
    client: int
    amount: int
    rate: Fraction
    frequency: str
    period: int
    method: str
    tax: Fraction
    state: str = "pending_approval"
    lines: list[Installment] = field(default_factory=list)
    # Whether it was late at its last change.
    is_in_arrears: bool = False

    @property
    def is_owed(self) -> bool:
        return self.state == "active"

    def account(self, part: str) -> str:
        return f"loan_{part}:{self.key}:NGN"

    def owed(self, part: str) -> int:
        if part == "principal":
            return sum(line.principal for line in self.lines)
        return sum(line.charges[part == "tax"] for line in self.lines)

    # --- the schedule ---------------------------------------------------------------------------------------------

    def pay_out(self, today: date) -> None:
        dates = [today, *(self.due(today, n) for n in range(1, self.period + 1))]
        parts = list(self.split(self.amount, self.period))
        self.lines = [
            Installment(begins, due, principal, interest, half_up(interest * self.tax), begins)
            for begins, due, (principal, interest) in zip(dates, dates[1:], parts, strict=False)
        ]
        self.state = "active"

    def due(self, begins: date, n: int) -> date:
        apart = DAYS_APART.get(self.frequency)
        return add_months(begins, n) if apart is None else begins + timedelta(days=apart * n)

    def split(self, amount: int, period: int) -> Iterator[tuple[int, int]]:
        """Returns principal and interest of each installment of an amount; the last one takes the remainder."""
        level, left = self.level(amount, period), amount
        for n in range(1, period + 1):
            interest = half_up((self.amount if self.method == "flat" else left) * self.rate)
            principal = level - interest if self.method == "declining_equal_instalments" else level
            principal = left if n == period else min(principal, left)
            yield principal, interest
            left -= principal

    def level(self, amount: int, period: int) -> int:
        if self.method != "declining_equal_instalments" or not self.rate:
            return half_up(Fraction(amount, period))
        return half_up(amount * self.rate / (1 - (1 + self.rate) ** -period))

    # --- what is owed on a day --------------------------------------------------------------------------------------

    def earned(self, line: Installment, today: date) -> int:
        if today >= line.due:
            return line.interest
        days, whole = max(0, (today - line.since).days), (line.due - line.since).days
        return line.earned + half_up(Fraction((line.interest - line.earned) * days, whole))

    def payoff_of(self, line: Installment, today: date) -> tuple[int, int, int]:
        """Returns the interest, tax and principal of an installment that closing the loan requires."""
        interest = self.earned(line, today)
        tax = line.tax if interest == line.interest else half_up(interest * self.tax)
        return max(0, interest - line.paid_interest), max(0, tax - line.paid_tax), line.principal

    def payoff(self, today: date) -> int:
        return sum(sum(self.payoff_of(line, today)) for line in self.lines)

    def default_repayment(self, today: date) -> int:
        """Returns all that is due, else the next installment, but at most the payoff."""
        due = sum(line.owed for line in self.lines if line.due <= today)
        coming = next((line.owed for line in self.lines if line.owed), 0)
        return min(due or coming, self.payoff(today))

    def is_late(self, today: date) -> bool:
        return any(line.owed and today > line.due for line in self.lines)

    def next_late_day(self) -> date | None:
        """Returns the day on which a loan that is not in arrears becomes late, or None."""
        if not self.is_owed or self.is_in_arrears:
            return None
        return next((line.due + timedelta(days=1) for line in self.lines if line.owed), None)

    # --- a repayment ------------------------------------------------------------------------------------------------

    def repay(self, amount: int, today: date) -> RepaymentSplit:
        """Applies a repayment of at most the payoff, which closes the loan."""
        asked = self.owed("interest"), self.owed("tax")
        done = RepaymentSplit()
        if amount == self.payoff(today):
            for line in self.lines:
                self.apply_payment(done, line, *self.payoff_of(line, today))
            self.state, self.lines = "closed_repaid", []
        else:
            left = self.pay_charges(done, amount, today)
            if left:
                self.pay_ahead(done, left, today)
        done.interest_change = self.owed("interest") - (asked[0] - done.interest)
        done.tax_change = self.owed("tax") - (asked[1] - done.tax)
        return done

    def pay_charges(self, done: RepaymentSplit, amount: int, today: date) -> int:
        """Pays what is due, oldest first, then the interest and tax earned in the current interval."""
        for line in self.lines:
            interest, tax, principal = self.payoff_of(line, today)
            both = min(amount, interest + tax)
            part = half_up(Fraction(both * tax, interest + tax)) if interest + tax else 0
            paid = min(amount - both, principal) if line.due <= today else 0
            self.apply_payment(done, line, both - part, part, paid)
            amount -= both + paid
        return amount

    def pay_ahead(self, done: RepaymentSplit, amount: int, today: date) -> None:
        """Reduces the principal by the rest, and computes the future installments again."""
        coming = [line for line in self.lines if line.due > today]
        left = sum(line.principal for line in coming) - amount
        done.principal += amount
        for line, (principal, interest) in zip(coming, self.split(left, len(coming)), strict=True):
            line.principal = principal
            if self.method == "flat":
                continue
            if line is coming[0]:
                line.earned, line.since = self.earned(line, today), today
                days, whole = (line.due - today).days, (line.due - line.begins).days
                interest = line.earned + half_up(left * self.rate * days / whole)
            line.interest, line.tax = interest, half_up(interest * self.tax)

    def apply_payment(self, done: RepaymentSplit, line: Installment, interest: int, tax: int, principal: int) -> None:
        line.paid_interest, line.paid_tax = line.paid_interest + interest, line.paid_tax + tax
        line.principal -= principal
        done.interest, done.tax, done.principal = done.interest + interest, done.tax + tax, done.principal + principal
