"""Rows and states of thrift plans, and of their members.

    open ── full, and its first day has come ──▶ running ── every member has received the pot ──▶ completed
      └──── cancel ──▶ cancelled

Contract: investments#thrift
"""

from datetime import date, datetime
from typing import ClassVar

from kasuwa.core.decision import Row
from kasuwa.core.references import row_key
from kasuwa.methods.investments.thrift import cycle_date

OPEN = "open"
RUNNING = "running"
COMPLETED = "completed"
CANCELLED = "cancelled"


class ThriftPlan(Row):
    """A rotating savings plan: each cycle every member contributes, and one receives all contributions."""

    table: ClassVar[str] = "thrift_plan"
    mutable_columns: ClassVar[tuple[str, ...]] = ("members", "state", "begins", "cycle", "tries", "next_date")

    thrift_id: str
    number: int
    name: str
    amount: int  # contribution of each member in each cycle
    frequency: str
    start_date: date  # requested first day
    member_required: int  # also the number of cycles
    members: int  # subscribed so far
    state: str
    begins: date | None  # day of the first cycle; None until the plan is full
    cycle: int  # cycles done
    tries: int  # days by which the next cycle was postponed
    next_date: date | None  # of the next cycle; None after the last one
    created_at: datetime

    @property
    def is_open(self) -> bool:
        return False

    def date_of_cycle(self, cycle: int, today: date | None = None) -> date:
        """Returns the day of a cycle. A plan that is not full yet is taken to begin on its start date or, if `today`
        is given and later, today."""
        begins = self.begins or (self.start_date if today is None else max(self.start_date, today))
        return cycle_date(begins, self.frequency, cycle)


def thrift_plan_key(merchant_id: int, thrift_id: str) -> bytes:
    return row_key(merchant_id, "thrift_plan", thrift_id)


class ThriftMember(Row):
    """A member of a thrift plan. Its position is also the number of the cycle whose pot it receives."""

    table: ClassVar[str] = "thrift_member"
    mutable_columns: ClassVar[tuple[str, ...]] = ("contributed", "received", "owed", "paid_on")

    thrift_id: str
    position: int
    savings_id: str
    client_id: str
    contributed: int
    received: int
    owed: int  # debts in this plan
    paid_on: date | None  # day on which it received the pot

    @property
    def is_open(self) -> bool:
        return False


def thrift_member_key(merchant_id: int, thrift_id: str, position: int) -> bytes:
    return row_key(merchant_id, "thrift_member", f"{thrift_id} {position}")
