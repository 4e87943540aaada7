"""Thrift: when a plan's cycles fall, what each member pays into the pot, and how debts are made and repaid.
Contract: investments#thrift

Every cycle each member pays the plan's amount and one of them, in the order of subscription, receives the pot. What a
member is short of when the cycle can wait no longer is a debt to that cycle's recipient. Debts are repaid before
anything else out of what the debtor deposits later and out of its own pot, the oldest first.

The recipient's own contribution is never short: it goes out of its savings and comes back in the same group.
"""

from collections.abc import Sequence
from datetime import date
from typing import Literal

import msgspec

from kasuwa.core.loan_interest import due_date

CycleFrequency = Literal["every_day", "every_week", "every_four_weeks", "every_month"]

# A cycle in which somebody is short is tried again on so many days, then it pays what it has.
# Contract: investments#thrift
RETRY_DAYS = 3


class Debt(msgspec.Struct, frozen=True):
    """What a member still owes the recipient of a cycle. It is kept with the debtor's savings."""

    thrift_id: str
    cycle: int
    debtor_position: int
    creditor: str
    amount: int

    @property
    def creditor_position(self) -> int:
        """The recipient of a cycle is the member of that position."""
        return self.cycle


class Repayment(msgspec.Struct, frozen=True):
    debt: Debt
    amount: int


class MemberFunds(msgspec.Struct, frozen=True):
    """A member as its turn sees it: its savings, and what they can pay."""

    savings_id: str
    available: int
    debts: tuple[Debt, ...] = ()


class ThriftCycle(msgspec.Struct, frozen=True):
    """What one cycle moves: contributions by position, the debts they leave behind, and what the recipient repays."""

    contributions: tuple[int, ...]
    debts: tuple[Debt, ...]
    repayments: tuple[Repayment, ...]
    remaining_debts: tuple[Debt, ...]

    @property
    def pot(self) -> int:
        return sum(self.contributions)


def cycle_date(begins: date, frequency: str, cycle: int) -> date:
    """When a cycle (the first is 1) falls. Months keep the day they began on, or end with a month that is shorter."""
    return due_date(begins, frequency, cycle - 1)


def is_fully_funded(amount: int, cycle: int, seats: Sequence[MemberFunds]) -> bool:
    """Whether every member but the recipient can pay."""
    return all(seat.available >= amount for n, seat in enumerate(seats, start=1) if n != cycle)


def run_cycle(thrift_id: str, amount: int, cycle: int, seats: Sequence[MemberFunds]) -> ThriftCycle:
    """One cycle, with what there is: nobody pays more than the amount or more than they have."""
    recipient = seats[cycle - 1]
    paid = [amount if n == cycle else min(amount, seat.available) for n, seat in enumerate(seats, start=1)]
    debts = tuple(
        Debt(thrift_id, cycle, n, recipient.savings_id, amount - part)
        for n, part in enumerate(paid, start=1)
        if part < amount
    )
    # What is there once the recipient's own contribution has come back, and never more than the pot.
    received = min(sum(paid), recipient.available - amount + sum(paid))
    repayments, left = repay(received, recipient.debts)
    return ThriftCycle(tuple(paid), debts, repayments, left)


def repay(money: int, debts: Sequence[Debt]) -> tuple[tuple[Repayment, ...], tuple[Debt, ...]]:
    """What money that arrives repays, the oldest debt first, and the debts that are left."""
    repayments: list[Repayment] = []
    left: list[Debt] = []
    for debt in debts:
        part = min(money, debt.amount)
        money -= part
        if part:
            repayments.append(Repayment(debt, part))
        if part < debt.amount:
            left.append(msgspec.structs.replace(debt, amount=debt.amount - part))
    return tuple(repayments), tuple(left)
