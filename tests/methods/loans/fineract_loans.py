"""Loans of Apache Fineract's own end-to-end tests, played here: their dates, acts and numbers, with our words for them.

Their installments are due every 15 days, or after 30, where ours are a month apart. So a day of theirs stands for ours
by the due date before it: two days after their second due date are two days after ours. An installment that they ask
for on the day of the payout, as a down payment, is our first one. Loans that are due monthly keep their days.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from kasuwa.core.decision import Context, Decision, LoadedRows, NeedsMore, Refusal
from kasuwa.methods.loans.model import need_loan
from kasuwa.methods.loans.rules.loan_record import make_loan_record
from kasuwa.methods.loans.rules.reverse import on_repayment_taken
from kasuwa.methods.loans.wire import LoanRecord
from kasuwa.transactions.purpose import TakenMoney
from tests.methods.loans.in_memory_lender import Lender
from tests.methods.loans.test_repay import collect, kobo

INTEREST_FREE = {"interestRate": "0", "interestFrequency": "every_month"}
FLAT_12 = {"interestRate": "12", "interestFrequency": "annualized"}
LOAN_750 = {"amount": "750.00", "period": 3, "interestSettings": INTEREST_FREE}
LOAN_3000 = {"amount": "3000.00", "period": 3, "interestSettings": FLAT_12, "method": "flat"}


def at(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 9, tzinfo=UTC)


class TheirLoan(NamedTuple):
    """A loan without interest, in installments of equal principal."""

    amount: str
    due: list[date]  # their due dates
    begins: date


class Act(NamedTuple):
    """One act of a scenario, or what it expects after the acts before it."""

    day: str  # of theirs, as month and day; a year is named if it is not the one of the payout
    what: str
    of: str  # an amount, the number of a repayment or a charge, or a part of a repayment such as "50.00 of 2"


class Played(NamedTuple):
    """A scenario with the name that it has there, and what it expects at its end."""

    name: str
    loan: TheirLoan
    acts: list[Act]
    # Of each installment what is due with charges, and what of it is paid. Left out where a rule here differs.
    rows: Sequence[tuple[str, str]] = ()
    split: Sequence[tuple[str, str]] = ()  # of each repayment its principal and its charges, as it was made


def monthly(amount: str, begins: date, period: int = 3) -> TheirLoan:
    months = [begins.month + n for n in range(1, period + 1)]
    return TheirLoan(amount, [begins.replace(month=month) for month in months], begins)


def every_15_days(amount: str, begins: date) -> TheirLoan:
    """Returns a loan with a quarter of it as a down payment, and three installments."""
    return TheirLoan(amount, [begins + timedelta(days=15 * n) for n in range(4)], begins)


def in_30_days(begins: date) -> TheirLoan:
    return TheirLoan("1000.00", [begins + timedelta(days=30)], begins)


PAID, OPEN = ("250.00", "250.00"), ("250.00", "0.00")  # rows


def repay(amount: str, *days: str) -> list[Act]:
    """Returns repayments of one amount."""
    return [Act(day, "repay", amount) for day in days]


def ends(day: str, owed: str, overpaid: str = "0.00") -> list[Act]:
    state = "is closed" if owed == "0.00" else "is open"
    return [Act(day, "owes", owed), Act(day, "has", overpaid), Act(day, state, "")]


class Player:
    """A loan that is paid out, on which the acts of a scenario are done one after another."""

    def __init__(self, loan: TheirLoan) -> None:
        self.theirs = loan
        begins = loan.begins if loan.due[0] > loan.begins else date(loan.begins.year - 1, 12, 1)
        self.lender = Lender(start=at(begins))
        self.loan_id = self.lender.lend(amount=loan.amount, period=len(loan.due), interestSettings=INTEREST_FREE)
        ours = [line.due for line in self.lender.lines(self.loan_id)]
        self.days = [*zip(loan.due, ours, strict=True)]
        if loan.due[0] > loan.begins:
            self.days.insert(0, (loan.begins, begins))
        self.repaid: list[str] = []
        self.split: list[tuple[str, str]] = []
        self.charged: list[str] = []

    def day(self, theirs: str) -> date:
        """Returns the day here that stands for one of theirs."""
        named = date.fromisoformat(theirs if theirs.count("-") == 2 else f"{self.theirs.begins.year}-{theirs}")
        before, ours = max(pair for pair in self.days if pair[0] <= named)
        return ours + (named - before)

    def do(self, act: Act) -> None:
        """Does an act, or checks what is expected."""
        self.lender.pass_days((at(self.day(act.day)) - self.lender.now).days)
        reply: Any = None
        if act.what == "repay":
            reply = self.lender.repay(self.loan_id, act.of)
            self.repaid.append(reply.txn_ref)
            parts = reply.allocation
            self.split.append((parts.principal, parts.charges or "0.00"))
        elif act.what == "pay":
            self.pay(act.of)
        elif act.what == "take":
            self.take(*act.of.split(" of "))
        elif act.what == "reverse":
            reply = self.lender.reverse(self.repaid[int(act.of) - 1])
        elif act.what == "charge":
            reply = self.lender.charge(self.loan_id, act.of)
            self.charged.append(f"A{self.lender.loan(self.loan_id).acts}")
        elif act.what == "waive":
            reply = self.lender.waive(self.loan_id, charge_id=self.charged[int(act.of) - 1])
        elif act.what == "owes":
            assert self.record().outstanding.total == act.of
        elif act.what == "has":
            assert self.lender.client().credit == kobo(act.of)
        else:
            assert self.record().state.startswith({"is open": "active", "is closed": "closed_repaid"}[act.what])
        assert not isinstance(reply, Refusal), (act, reply)

    def pay(self, amount: str) -> None:
        """Lets a payment by card succeed. It may be above what is owed."""
        self.repaid.append(f"GP{len(self.repaid) + 1}")
        collect(self.lender, self.loan_id, kobo(amount), txn_ref=self.repaid[-1])

    def take(self, amount: str, n: str) -> None:
        """Lets a dispute take a part of the n-th repayment."""
        txn_ref = self.repaid[int(n) - 1]
        taken = TakenMoney(txn_ref, self.loan_id, kobo(amount), "disputed")

        def rule(context: Context, rows: LoadedRows) -> Decision | NeedsMore:
            effects = on_repayment_taken(taken, context, rows)
            if isinstance(effects, NeedsMore):
                return effects
            assert effects.rows
            decision: Decision = Decision()
            decision.add(effects)
            return decision

        needs = need_loan(self.lender.merchant, self.loan_id)
        assert isinstance(self.lender.submit(needs, rule), Decision)

    def record(self) -> LoanRecord:
        lender = self.lender
        return make_loan_record(lender.loan(self.loan_id), tuple(lender.lines(self.loan_id)), lender.now)


def play(played: Played) -> Player:
    """Returns the player of a scenario that went as expected."""
    player = Player(played.loan)
    for act in played.acts:
        player.do(act)
    if played.rows:
        assert [(line.total, line.paid) for line in player.record().schedule] == [*played.rows]
    if played.split:
        assert player.split == [*played.split]
    return player
