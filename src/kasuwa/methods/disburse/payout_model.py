"""Rows of the policy for money out: transfers that wait for approval, and counters of what was sent.

A transfer that waits is a pending `Transaction` with its money held, and a `TransferApproval`:

    waiting ──> approved    another party approved it: it is sent as any other
            ├─> rejected    it fails, and the hold is voided
            └─> expired     nobody decided for 72 hours: it fails, and the hold is voided
"""

from datetime import datetime
from typing import ClassVar

import msgspec

from kasuwa.core.callers import Caller
from kasuwa.core.decision import LoadedRows, Row
from kasuwa.core.references import row_key
from kasuwa.terms.payouts import COUNTERS, WindowLimits, counter_key, describe_limit, hour_and_day

EXPIRE = "disburse.expire"
EXPIRY_LANE = "schedule"

WAITING = "waiting"
APPROVED = "approved"
REJECTED = "rejected"
EXPIRED = "expired"


class TransferApproval(Row):
    """A transfer that waits, or waited, for the approval of another party."""

    table: ClassVar[str] = "transfer_approval"
    coded_columns: ClassVar[tuple[str, ...]] = (
        "txn_ref",
        "order_ref",
        "batch_ref",
        "amount",
        "state",
        "detail",
        "expires_at",
        "decided_by",
    )
    mutable_columns: ClassVar[tuple[str, ...]] = ("state", "decided_by", "decided_at", "row_code")

    txn_ref: str
    order_ref: str
    batch_ref: str | None
    amount: int
    state: str
    detail: str  # an ApprovalDetail
    created_at: datetime
    expires_at: datetime
    decided_by: str = ""  # as people read it: a key or an email address
    decided_at: datetime | None = None
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return False


class ApprovalDetail(msgspec.Struct, frozen=True):
    """The maker of a transfer that waits, and the reasons."""

    maker: Caller
    reasons: list[str]


APPROVAL_DETAIL_DECODER: "msgspec.json.Decoder[ApprovalDetail]" = msgspec.json.Decoder(ApprovalDetail)


def approval_key(merchant_id: int, txn_ref: str) -> bytes:
    return row_key(merchant_id, TransferApproval.table, txn_ref)


# --- counters -------------------------------------------------------------------------------------------------------


class PayoutCounter(Row):
    """The transfers of the current hour and day: of the merchant, to a beneficiary, or to a client.

    A transfer counts from when it is accepted. One that fails is taken off again, if its hour or day is still current.
    """

    table: ClassVar[str] = COUNTERS.table
    coded_columns: ClassVar[tuple[str, ...]] = COUNTERS.covered
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "hour_at",
        "hour_count",
        "hour_amount",
        "day_at",
        "day_count",
        "day_amount",
        "paid_at",
        "row_code",
    )

    hour_at: datetime  # when the hour and the day began
    hour_count: int
    hour_amount: int
    day_at: datetime
    day_count: int
    day_amount: int
    paid_at: datetime | None = None  # the first payment that a beneficiary received
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return False

    def find_exceeded(self, limits: WindowLimits, amount: int) -> list[str]:
        """Returns the limits that one more transfer of this amount would exceed."""
        after = {
            "hourly_count": self.hour_count + 1,
            "hourly_amount": self.hour_amount + amount,
            "daily_count": self.day_count + 1,
            "daily_amount": self.day_amount + amount,
        }
        bounds = {name: getattr(limits, name) for name in after}
        return [
            describe_limit(name, bound) for name, bound in bounds.items() if bound is not None and after[name] > bound
        ]


def find_counter(merchant_id: int, subject: str, now: datetime, rows: LoadedRows) -> PayoutCounter:
    """Returns the counter of a subject with the current hour and day. Those that are over count as zero."""
    key, (hour, day) = counter_key(merchant_id, subject), hour_and_day(now)
    counter = rows.get(PayoutCounter, key)
    if counter is None:
        return PayoutCounter(key, merchant_id, hour, 0, 0, day, 0, 0)
    changes: dict[str, object] = {}
    if counter.hour_at != hour:
        changes |= {"hour_at": hour, "hour_count": 0, "hour_amount": 0}
    if counter.day_at != day:
        changes |= {"day_at": day, "day_count": 0, "day_amount": 0}
    return msgspec.structs.replace(counter, **changes)


def add_to_counter(counter: PayoutCounter, amount: int) -> PayoutCounter:
    return msgspec.structs.replace(
        counter,
        hour_count=counter.hour_count + 1,
        hour_amount=counter.hour_amount + amount,
        day_count=counter.day_count + 1,
        day_amount=counter.day_amount + amount,
    )


def take_from_counter(counter: PayoutCounter, amount: int, counted_at: datetime) -> PayoutCounter:
    """Takes a failed transfer off, as far as the hour and the day in which it was counted are still current."""
    hour, day = hour_and_day(counted_at)
    changes: dict[str, object] = {}
    if counter.hour_at == hour:
        changes |= {"hour_count": counter.hour_count - 1, "hour_amount": counter.hour_amount - amount}
    if counter.day_at == day:
        changes |= {"day_count": counter.day_count - 1, "day_amount": counter.day_amount - amount}
    return msgspec.structs.replace(counter, **changes)
