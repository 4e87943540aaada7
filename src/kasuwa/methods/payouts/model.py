"""Payouts by schedule: the wallet is transferred to the merchant's own bank account. NGN alone, as all transfers are.

An active schedule has one job, for the next payout. The payout is an ordinary transfer with the ordinary fee, so it has
its own event, is asked after at the bank, and gives the money back if it fails. Its purpose adds the event of the
settlement once the bank has paid. Contract: resources#payouts
"""

from datetime import datetime, timedelta
from typing import ClassVar, Literal

from kasuwa.core.calendar import add_months, lagos_day, lagos_moment
from kasuwa.core.decision import FieldError, Row, refuse_fields
from kasuwa.core.references import row_key

PAY_OUT = "payouts.send"
LANE = "schedule"
CURRENCY = "NGN"

Frequency = Literal["daily", "weekly", "monthly", "above", "off"]
OFF = "off"
ABOVE = "above"

LEAST_REQUIRED = refuse_fields(FieldError("least", "required if frequency is above", "least_required"))
NO_ACCOUNT = refuse_fields(
    FieldError("bankcode", "required with the first schedule", "payout_account_missing"),
    FieldError("accountnumber", "required with the first", "payout_account_missing"),
)


class PayoutSchedule(Row):
    """The schedule by which the wallet is paid out to a bank account."""

    table: ClassVar[str] = "payout_schedule"
    coded_columns: ClassVar[tuple[str, ...]] = (
        "currency",
        "frequency",
        "least",
        "bank_code",
        "account_number",
        "set_by",
    )
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "frequency",
        "least",
        "bank_code",
        "account_number",
        "changed_at",
        "last_ref",
        "set_by",
        "row_code",
    )

    currency: str
    frequency: str
    least: int  # a smaller balance is not paid out
    bank_code: str
    account_number: str
    changed_at: datetime
    last_ref: str  # txnRef of the last payout; empty before the first
    set_by: str  # who made the schedule: a Caller as JSON
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return False


def schedule_key(merchant_id: int) -> bytes:
    return row_key(merchant_id, "payout schedule", CURRENCY)


def next_payout(frequency: str, now: datetime) -> datetime:
    """Returns the time of the next payout: at 09:00 in Lagos tomorrow, next Monday, or on the first of next month."""
    today = lagos_day(now)
    if frequency == "weekly":
        return lagos_moment(today + timedelta(days=8 - today.isoweekday()))
    if frequency == "monthly":
        return lagos_moment(add_months(today.replace(day=1), 1))
    return lagos_moment(today + timedelta(days=1))
