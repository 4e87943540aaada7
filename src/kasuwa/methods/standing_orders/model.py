"""Rows and states of standing orders: amounts that leave a client's savings on a schedule.

    active ◀── pause, resume ──▶ paused
      │   └──────── cancel ────────┴──▶ cancelled
      └── what it pays is repaid, closed or over, or its savings are closed ──▶ ended

Postings, all in NGN, in one group for each payment:

    thrift debts  savings → savings of creditors        before anything else, as at every cash-out
    to savings    savings → savings                     a deposit; thrift debts of the receiving savings out of it
    to a thrift   savings → savings                     of the member, which the cycles of the plan draw on
    to a loan     savings → wallet, and the loan's      a repayment (methods/loans/model.py)

A payment is a transaction of kind deposit or repayment whose own reference (`customer_txnref`) is the order's. What
leaves savings forfeits interest as a cash-out does, but never closes them.

Contract: investments#standing-orders
"""

from datetime import date, datetime
from typing import ClassVar

import msgspec

from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.decision import Row
from kasuwa.core.money import format_minor
from kasuwa.core.references import row_key
from kasuwa.methods.standing_orders.wire import StandingOrderRecord
from kasuwa.terms.loan_schedule import due_date

ACTIVE = "active"
PAUSED = "paused"
ENDED = "ended"
CANCELLED = "cancelled"

SAVINGS = "savings"
LOAN = "loan"
THRIFT = "thrift"


class StandingOrder(Row):
    """A standing order. Its dates are computed from the first one, and counted when they are over."""

    table: ClassVar[str] = "standing_order"
    coded_columns: ClassVar[tuple[str, ...]] = (
        "order_id",
        "client_id",
        "savings_id",
        "pays",
        "target",
        "target_savings",
        "amount",
        "frequency",
        "from_date",
        "state",
    )
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "state",
        "dates",
        "next_at",
        "is_retry",
        "payments",
        "paid",
        "missed",
        "reason",
        "events",
        "row_code",
    )

    order_id: str
    number: int  # the merchant's running number; lists are ordered by it
    client_id: str
    savings_id: str  # that pay
    pays: str  # SAVINGS, LOAN or THRIFT
    target: str  # savings_id, loan_id or thrift_id
    target_savings: str  # that receive; "" if it pays a loan
    amount: int
    frequency: str
    from_date: date
    state: str
    created_at: datetime
    dates: int = 0  # that are over, paid or not
    next_at: datetime | None = None  # when its job is due; None unless it is active
    is_retry: bool = False  # whether the job tries a date again
    payments: int = 0
    paid: int = 0  # sum of the payments
    missed: int = 0  # dates that are over and were not paid for lack of money
    reason: str = ""  # why the last attempt failed, or why the order ended
    events: int = 0  # number of its events so far
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return False

    def find_date(self, number: int) -> date:
        """Returns a date of the schedule. The first is 1."""
        return due_date(self.from_date, self.frequency, number - 1)

    @property
    def next_due(self) -> date:
        """Returns the first date that is not over."""
        return self.find_date(self.dates + 1)


def order_key(merchant_id: int, order_id: str) -> bytes:
    return row_key(merchant_id, StandingOrder.table, order_id)


def make_order_record(order: StandingOrder) -> StandingOrderRecord:
    return StandingOrderRecord(
        order_id=order.order_id,
        client_id=order.client_id,
        savings_id=order.savings_id,
        target=order.target,
        pays=order.pays,  # type: ignore[arg-type]
        amount=format_minor(order.amount),
        frequency=order.frequency,  # type: ignore[arg-type]
        from_date=order.from_date.isoformat(),
        state=order.state,  # type: ignore[arg-type]
        next_date=None if order.next_at is None else lagos_day(order.next_at).isoformat(),
        is_retry=order.is_retry,
        payments=order.payments,
        paid=format_minor(order.paid),
        missed=order.missed,
        reason=order.reason or msgspec.UNSET,
        date_created=utc_text(order.created_at),
    )
