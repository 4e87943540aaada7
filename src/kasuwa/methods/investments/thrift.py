"""Thrift plans: cycle dates, contributions to the pot, and debts.

In every cycle each member pays the plan's amount, and one of them, in the order of subscription, receives the pot. If a
member is still short after the last retry, the rest becomes a debt to the cycle's recipient. Debts are repaid first,
oldest first, from the debtor's later deposits and from its own pot.

The recipient's own contribution is never short: its savings pay it out of the pot, in the same posting group.

Contract: investments#thrift, investments#debts
"""

from collections.abc import Sequence
from datetime import date
from typing import Literal

import msgspec

from kasuwa.terms.loan_schedule import due_date

CycleFrequency = Literal["every_day", "every_week", "every_four_weeks", "every_month"]

# Days on which a cycle with a short member is retried before it runs with what there is. Contract: investments#pot
RETRY_DAYS = 3


class Debt(msgspec.Struct, frozen=True):
    """A debt of a member to the recipient of a cycle. Stored with the debtor's savings account."""

    thrift_id: str
    cycle: int
    debtor_position: int
    creditor: str  # savings id of the recipient
    amount: int

    @property
    def creditor_position(self) -> int:
        """The position of the recipient, which is the number of the cycle."""
        return self.cycle


class Repayment(msgspec.Struct, frozen=True):
    debt: Debt
    amount: int


class MemberFunds(msgspec.Struct, frozen=True):
    """A member's savings account in a cycle: available balance and debts."""

    savings_id: str
    available: int
    debts: tuple[Debt, ...] = ()


class ThriftCycle(msgspec.Struct, frozen=True):
    """The movements of one cycle."""

    contributions: tuple[int, ...]  # by position
    debts: tuple[Debt, ...]  # of members who were short
    repayments: tuple[Repayment, ...]  # by the recipient, out of the pot
    remaining_debts: tuple[Debt, ...]  # of the recipient

    @property
    def pot(self) -> int:
        return sum(self.contributions)


def cycle_date(begins: date, frequency: str, cycle: int) -> date:
    """Returns the date of a cycle. The first is 1. Months keep the first day, or end on the last day of the month."""
    return due_date(begins, frequency, cycle - 1)


def is_fully_funded(amount: int, cycle: int, members: Sequence[MemberFunds]) -> bool:
    """Returns whether every member but the recipient can pay the amount."""
    return all(member.available >= amount for n, member in enumerate(members, start=1) if n != cycle)


def run_cycle(thrift_id: str, amount: int, cycle: int, members: Sequence[MemberFunds]) -> ThriftCycle:
    """Computes one cycle. No member pays more than the amount or than it has."""
    recipient = members[cycle - 1]
    paid = [amount if n == cycle else min(amount, member.available) for n, member in enumerate(members, start=1)]
    debts = tuple(
        Debt(thrift_id, cycle, n, recipient.savings_id, amount - part)
        for n, part in enumerate(paid, start=1)
        if part < amount
    )
    # The recipient's balance after its own contribution has returned, and never more than the pot.
    received = min(sum(paid), recipient.available - amount + sum(paid))
    repayments, open_debts = repay(received, recipient.debts)
    return ThriftCycle(tuple(paid), debts, repayments, open_debts)


def repay(money: int, debts: Sequence[Debt]) -> tuple[tuple[Repayment, ...], tuple[Debt, ...]]:
    """Repays debts out of an amount, oldest first. Returns the repayments and the debts that are left."""
    repayments: list[Repayment] = []
    open_debts: list[Debt] = []
    for debt in debts:
        part = min(money, debt.amount)
        money -= part
        if part:
            repayments.append(Repayment(debt, part))
        if part < debt.amount:
            open_debts.append(msgspec.structs.replace(debt, amount=debt.amount - part))
    return tuple(repayments), tuple(open_debts)
