"""The model of thrift plans: cycles, contributions, pots and debts. (Contract: investments#thrift)"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import partial

from tests.simulate.model_books import (
    FAILED,
    INSUFFICIENT_FUNDS,
    MAX_AMOUNT,
    MIN_AMOUNT,
    SUCCESSFUL,
    WALLET,
    Id,
    Reply,
    Txn,
    add_months,
    midnight,
    money,
    refuse,
)
from tests.simulate.model_cards import CASHCODE_FEE
from tests.simulate.model_clients import CLOSED, Savings
from tests.simulate.model_loans import DAYS_APART
from tests.simulate.model_plans import Plans

MOST_TRIES = 3
OPEN, RUNNING, COMPLETED, CANCELLED = "open", "running", "completed", "cancelled"


@dataclass
class Debt:
    """A member's debt to the recipient of a cycle."""

    plan: "ThriftPlan"
    debtor: "Member"
    creditor: "Member"
    amount: int


@dataclass
class Member:
    savings: Savings
    contributed: int = 0
    received: int = 0
    owed: int = 0
    paid_on: date | None = None


@dataclass
class ThriftPlan:
    key: str
    amount: int
    frequency: str
    start: date
    size: int
    state: str = OPEN
    members: list[Member] = field(default_factory=list)
    begins: date | None = None
    cycle: int = 0  # cycles done
    tries: int = 0
    next_date: date | None = None
    run_at: datetime | None = None

    @property
    def account(self) -> str:
        return f"thrift:{self.key}:NGN"

    def date_of(self, cycle: int, today: date) -> date:
        begins = self.begins or max(self.start, today)
        apart = DAYS_APART.get(self.frequency)
        return add_months(begins, cycle - 1) if apart is None else begins + timedelta(days=apart * (cycle - 1))


class Thrift(Plans):
    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self.thrifts: dict[str, ThriftPlan] = {}
        self.debts: list[Debt] = []  # oldest first

    # --- plans and members ---------------------------------------------------------------------------------------

    def create_thrift(self, key: str, amount: int, frequency: str, start: date, size: int) -> Reply:
        if start < self.today:
            return refuse(104, "start_date")
        self.thrifts[key] = ThriftPlan(key, amount, frequency, start, size, next_date=start)
        return {"status": 200}

    def subscribe(self, key: str, savings_key: str) -> Reply:
        plan, savings = self.thrifts[key], self.savings[savings_key]
        if not savings.is_open:
            return refuse(104, CLOSED)
        if plan.state in (OPEN, RUNNING) and any(member.savings is savings for member in plan.members):
            return refuse(104, "subscribed")
        if plan.state != OPEN:
            return refuse(104, plan.state)
        if len(plan.members) == plan.size:
            return refuse(104, "full")
        plan.members.append(Member(savings))
        if len(plan.members) == plan.size:
            plan.begins = plan.next_date = max(plan.start, self.today)
            plan.state = RUNNING if plan.begins == self.today else OPEN
            plan.run_at = max(self.now, midnight(plan.begins))
        return {"status": 200}

    def cancel_thrift(self, key: str) -> Reply:
        plan = self.thrifts[key]
        if plan.state != OPEN:
            return refuse(104, plan.state)
        plan.state, plan.next_date, plan.run_at = CANCELLED, None, None
        self.reached["thrift cancelled"] += 1
        self.close_emptied(plan)
        return {"status": 200}

    def is_closable(self, savings: Savings) -> bool:
        is_member = any(
            member.savings is savings
            for plan in self.thrifts.values()
            if plan.state in (OPEN, RUNNING)
            for member in plan.members
        )
        is_creditor = any(debt.creditor.savings is savings for debt in self.debts)
        return super().is_closable(savings) and not is_member and not self.debts_of(savings) and not is_creditor

    def close_emptied(self, plan: ThriftPlan) -> None:
        for member in plan.members:
            self.close_if_over(member.savings)

    def expected_thrift(self, key: str) -> Reply:
        plan = self.thrifts[key]
        is_waiting = plan.state == OPEN and plan.begins is None
        coming = plan.date_of(1, self.today) if is_waiting else plan.next_date
        reply: Reply = {"state": plan.state, "members": len(plan.members), "cycle": plan.cycle}
        return {**reply, "amount": money(plan.amount), "next_date": coming and coming.isoformat()}

    def expected_members(self, key: str) -> list[Reply]:
        plan = self.thrifts[key]
        return [
            {
                "position": position,
                "payout_date": (member.paid_on or plan.date_of(position, self.today)).isoformat(),
                "contributed": money(member.contributed),
                "received": money(member.received),
                "owed": money(member.owed),
            }
            for position, member in enumerate(plan.members, start=1)
        ]

    # --- cycles --------------------------------------------------------------------------------------------------

    def thrift_changes(self) -> Iterator[tuple[datetime, int, partial[None]]]:
        for plan in self.thrifts.values():
            if plan.run_at is not None:
                yield plan.run_at, 3, partial(self.run_cycle, plan)

    def run_cycle(self, plan: ThriftPlan) -> None:
        """Runs the next cycle, or postpones it to the next day while a member is short, three times at most."""
        recipient, plan.state = plan.members[plan.cycle], RUNNING
        others = [member for member in plan.members if member is not recipient]
        is_short = any(self.available(member.savings.account) < plan.amount for member in others)
        if is_short and plan.tries < MOST_TRIES:
            plan.tries, plan.next_date = plan.tries + 1, self.today + timedelta(days=1)
            plan.run_at = midnight(plan.next_date)
            return
        self.reached["thrift cycle with a debt" if is_short else "thrift cycle"] += 1
        before = {id(member): self.posted[member.savings.account] for member in plan.members}
        for member in plan.members:
            member.savings.record_deposit(before[id(member)])
        self.pay_pot(plan, recipient, others)
        for member in plan.members:
            left = before[id(member)] - self.posted[member.savings.account]
            if left > 0:
                member.savings.take(left, forfeits=False)
        self.end_cycle(plan)

    def pay_pot(self, plan: ThriftPlan, recipient: Member, others: list[Member]) -> None:
        had, pot, owed = self.available(recipient.savings.account), plan.amount, 0
        recipient.contributed += plan.amount
        for member in others:
            paid = min(plan.amount, self.available(member.savings.account))
            self.move((member.savings.account, recipient.savings.account, paid))
            member.contributed, pot = member.contributed + paid, pot + paid
            if paid < plan.amount:
                member.owed += plan.amount - paid
                owed += plan.amount - paid
                self.debts.append(Debt(plan, member, recipient, plan.amount - paid))
        recipient.received += pot
        recipient.paid_on = self.today
        recipient.savings.had_money = True
        repaid = self.repay_debts(recipient.savings, min(pot, had - plan.amount + pot))
        self.add_event(
            "thrift_payout",
            plan.key,
            SUCCESSFUL,
            pot,
            method="wallet",
            thrift_id=Id(plan.key),
            savings_id=Id(recipient.savings.key),
            client_id=Id(f"client {recipient.savings.client}"),
            cycle=plan.cycle + 1,
            cycles=plan.size,
            owed=money(owed),
            repaid=money(repaid),
        )

    def end_cycle(self, plan: ThriftPlan) -> None:
        assert plan.run_at is not None
        plan.cycle, plan.tries = plan.cycle + 1, 0
        if plan.cycle == plan.size:
            plan.state, plan.next_date, plan.run_at = COMPLETED, None, None
            self.reached["thrift completed"] += 1
            self.close_emptied(plan)
            return
        plan.next_date = plan.date_of(plan.cycle + 1, self.today)
        plan.run_at = max(midnight(plan.next_date), plan.run_at + timedelta(seconds=1))

    # --- debts ---------------------------------------------------------------------------------------------------

    def debts_of(self, savings: Savings) -> list[Debt]:
        return [debt for debt in self.debts if debt.debtor.savings is savings]

    def repay_debts(self, savings: Savings, amount: int) -> int:
        """Repays debts out of an amount, oldest first. Returns how much was repaid."""
        left = amount
        for debt in self.debts_of(savings):
            part = min(max(0, left), debt.amount)
            if not part:
                continue
            self.reached["thrift debt repaid"] += 1
            left -= part
            debt.amount -= part
            debt.debtor.owed, debt.debtor.contributed = debt.debtor.owed - part, debt.debtor.contributed + part
            debt.creditor.received += part
            creditor = debt.creditor.savings
            self.move((savings.account, creditor.account, part))
            assert creditor.is_open
            creditor.had_money = True
        self.debts = [debt for debt in self.debts if debt.amount]
        return amount - left

    def receive(self, savings: Savings, amount: int) -> None:
        super().receive(savings, amount)
        self.repay_debts(savings, amount)

    def cash_out(self, key: str, of: str, client: int, amount: int, method: str, pin: str) -> Reply:
        """Cashes out what is left after the debts. Cash forfeits the interest of the newest money. A transfer or
        cashcode is debited later, and forfeits that of the newest money which the debts have left."""
        savings = self.savings[of]
        available = self.available(savings.account)
        owed = min(available, sum(debt.amount for debt in self.debts_of(savings)))
        is_allowed = savings.is_open and client == savings.client and amount <= MAX_AMOUNT["NGN"]
        if not owed or not is_allowed or (amount < MIN_AMOUNT["NGN"] and amount != available):
            return super().cash_out(key, of, client, amount, method, pin)
        fee = {"cash": 0, "transfer": self.transfer_fee(amount), "cashcode": CASHCODE_FEE["ATM"]}[method]
        if available - owed < amount or self.available(WALLET) < fee + self.vat(fee):
            return INSUFFICIENT_FUNDS
        self.reached["debts repaid before a cash-out"] += 1
        if method != "cash":
            self.leave_for_debts(savings, owed)
            return super().cash_out(key, of, client, amount, method, pin)
        reply = super().cash_out(key, of, client, amount, method, pin)
        self.leave_for_debts(savings, owed)
        if not self.posted[savings.account] and self.is_closable(savings):
            savings.is_open = False
        return {**reply, "balance": money(self.available(savings.account))}

    def leave_for_debts(self, savings: Savings, amount: int) -> None:
        """Repays debts out of money that stood in the savings. It keeps what it has earned."""
        savings.record_deposit(self.posted[savings.account])
        savings.take(self.repay_debts(savings, amount), forfeits=False)

    def on_end(self, txn: Txn) -> None:
        super().on_end(txn)
        if txn.status == FAILED and txn.purpose in self.savings and txn.kind in ("transfer", "cashcode"):
            savings = self.savings[txn.purpose]
            self.leave_for_debts(savings, self.available(savings.account))
