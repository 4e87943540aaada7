"""Thrift cycles: oracle values, cases by hand, and any sequence of deposits, defaults and repayments."""

import json
from datetime import date
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.methods.investments.thrift import (
    Debt,
    MemberFunds,
    Repayment,
    cycle_date,
    is_fully_funded,
    repay,
    run_cycle,
)

ORACLE = json.loads((Path(__file__).parents[2] / "data" / "schedule_oracles.json").read_text())["thrift"]


class Member(msgspec.Struct):
    """A member of the model: its savings, and what the plan's records would say of it."""

    name: str
    balance: int = 0
    debts: tuple[Debt, ...] = ()
    contributed: int = 0
    received: int = 0
    payouts: int = 0


class Plan:
    """The books of one plan, kept by hand: what the rules decide is played on them."""

    def __init__(self, amount: int, names: str) -> None:
        self.amount = amount
        self.members = [Member(name) for name in names]
        self.cycle = 0

    def seats(self) -> list[MemberFunds]:
        return [MemberFunds(member.name, member.balance, member.debts) for member in self.members]

    def run(self) -> None:
        self.cycle += 1
        turn = run_cycle("TH1", self.amount, self.cycle, self.seats())
        for member, part in zip(self.members, turn.contributions, strict=True):
            member.balance -= part
            member.contributed += part
        recipient = self.members[self.cycle - 1]
        recipient.balance += turn.pot
        recipient.received += turn.pot
        recipient.payouts += 1
        recipient.debts = turn.remaining_debts
        for debt in turn.debts:
            self.members[debt.debtor_position - 1].debts += (debt,)
        self.settle(recipient, turn.repayments)

    def deposit(self, position: int, money: int) -> None:
        member = self.members[position]
        member.balance += money
        repayments, member.debts = repay(money, member.debts)
        self.settle(member, repayments)

    def settle(self, debtor: Member, repayments: tuple[Repayment, ...]) -> None:
        for repaid in repayments:
            creditor = self.members[repaid.debt.creditor_position - 1]
            assert creditor.name == repaid.debt.creditor
            debtor.balance -= repaid.amount
            debtor.contributed += repaid.amount
            creditor.balance += repaid.amount
            creditor.received += repaid.amount


def test_the_cycles_of_the_oracle_fall_on_its_dates_and_leave_its_balances() -> None:
    terms = ORACLE["plan"]
    plan = Plan(int(terms["amount"]), "ABCDE")
    for member in plan.members:
        member.balance = 50_000
    for cycle in ORACLE["cycles"]:
        begins = date.fromisoformat(terms["start_date"])
        assert cycle_date(begins, terms["frequency"], cycle["cycle"]).isoformat() == cycle["date"]
        assert is_fully_funded(plan.amount, cycle["cycle"], plan.seats())
        plan.run()
        assert plan.members[plan.cycle - 1].name == cycle["recipient"]
        assert {member.name: member.balance - 50_000 for member in plan.members} == cycle["balances_after"]
        assert plan.members[plan.cycle - 1].received == cycle["pot"]


def test_days_and_weeks_are_counted_and_a_month_keeps_its_day() -> None:
    begins = date(2028, 1, 31)
    assert [cycle_date(begins, "every_day", n).day for n in (1, 2, 3)] == [31, 1, 2]
    assert cycle_date(begins, "every_week", 2) == date(2028, 2, 7)
    assert cycle_date(begins, "every_four_weeks", 3) == date(2028, 3, 27)
    assert [cycle_date(begins, "every_month", n).isoformat() for n in (2, 3, 13)] == [
        "2028-02-29",
        "2028-03-31",
        "2029-01-31",
    ]


def test_a_short_member_owes_the_recipient_and_repays_from_its_next_deposit() -> None:
    plan = Plan(100, "ABC")
    plan.deposit(0, 100)
    plan.deposit(1, 30)
    assert not is_fully_funded(100, 1, plan.seats())
    plan.run()
    owed = [(debt.debtor_position, debt.creditor, debt.amount) for m in plan.members for debt in m.debts]
    assert owed == [(2, "A", 70), (3, "A", 100)]
    assert [member.balance for member in plan.members] == [130, 0, 0]
    plan.deposit(1, 50)
    assert [member.balance for member in plan.members] == [180, 0, 0]
    plan.deposit(1, 50)
    assert [member.balance for member in plan.members] == [200, 30, 0]
    assert not plan.members[1].debts


def test_a_debt_is_taken_out_of_the_debtors_own_pot_before_it_sees_it() -> None:
    plan = Plan(100, "ABC")
    plan.deposit(0, 300)
    plan.deposit(2, 300)
    plan.run()
    assert [debt.amount for debt in plan.members[1].debts] == [100]
    plan.run()
    assert not plan.members[1].debts
    # B received A's and C's hundred and its own, which it did not have; a hundred went to A.
    assert [member.balance for member in plan.members] == [400, 100, 100]


def test_a_recipient_without_money_does_not_delay_the_cycle() -> None:
    assert is_fully_funded(100, 1, [MemberFunds("A", 0), MemberFunds("B", 100)])
    assert not is_fully_funded(100, 2, [MemberFunds("A", 0), MemberFunds("B", 100)])


def test_if_no_member_has_money_the_pot_is_the_recipients_own_contribution() -> None:
    turn = run_cycle("TH1", 100, 1, [MemberFunds("A", 0), MemberFunds("B", 0)])
    assert turn.contributions == (100, 0)
    assert turn.pot == 100
    assert [debt.amount for debt in turn.debts] == [100]


def test_debts_are_repaid_from_the_pot_and_not_from_own_savings() -> None:
    debts = (Debt("TH9", 1, 2, "Z", 1_000),)
    turn = run_cycle("TH1", 100, 1, [MemberFunds("A", 500, debts), MemberFunds("B", 100)])
    assert [repaid.amount for repaid in turn.repayments] == [200]
    assert [debt.amount for debt in turn.remaining_debts] == [800]


runs = st.lists(st.one_of(st.just("cycle"), st.tuples(st.integers(0, 5), st.integers(1, 400))), min_size=1, max_size=40)


@given(st.integers(2, 6), st.integers(1, 150), runs)
def test_money_is_conserved_and_everyone_receives_once(size: int, amount: int, run: list[object]) -> None:
    plan, brought = Plan(amount, "ABCDEF"[:size]), 0
    for step in [*run, *["cycle"] * size]:
        if isinstance(step, tuple):
            plan.deposit(step[0] % size, step[1])
            brought += step[1]
        elif plan.cycle < size:
            plan.run()
        assert sum(member.balance for member in plan.members) == brought
        assert min(member.balance for member in plan.members) >= 0
    owed_to = dict.fromkeys((member.name for member in plan.members), 0)
    for member in plan.members:
        owes = sum(debt.amount for debt in member.debts)
        assert member.contributed + owes == size * amount
        for debt in member.debts:
            owed_to[debt.creditor] += debt.amount
    for member in plan.members:
        assert member.payouts == 1
        assert member.received + owed_to[member.name] == size * amount


@given(st.integers(2, 6), st.integers(1, 150), runs)
def test_once_all_have_paid_all_debts_everyone_is_even(size: int, amount: int, run: list[object]) -> None:
    plan = Plan(amount, "ABCDEF"[:size])
    for step in [*run, *["cycle"] * size]:
        if isinstance(step, tuple):
            plan.deposit(step[0] % size, step[1])
        elif plan.cycle < size:
            plan.run()
    for position in range(size):
        plan.deposit(position, size * amount)
    assert all(not member.debts for member in plan.members)
    assert all(member.contributed == member.received == size * amount for member in plan.members)
