"""Rows and states of reactivations of dormant savings that somebody asked for.

    waiting ──> approved    another party approved it: the savings are not dormant any more
            └─> rejected    the savings are as before

Only the newest of savings can be decided, only for 72 hours, and only while they are dormant.

Contract: investments#dormancy
"""

from datetime import datetime
from typing import ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from kasuwa.core.calendar import utc_text
from kasuwa.core.callers import Caller
from kasuwa.core.decision import Row
from kasuwa.core.references import row_key
from kasuwa.methods.investments.wire import WaitingReactivation

WAITING = "waiting"
APPROVED = "approved"
REJECTED = "rejected"


class SavingsReactivation(Row):
    """A reactivation that waits, or waited, for the approval of another party."""

    table: ClassVar[str] = "savings_reactivation"
    coded_columns: ClassVar[tuple[str, ...]] = ("savings_id", "n", "state", "detail", "expires_at", "decided_by")
    mutable_columns: ClassVar[tuple[str, ...]] = ("state", "detail", "decided_by", "decided_at", "row_code")

    savings_id: str
    n: int  # from 1
    state: str
    detail: str  # a ReactivationDetail
    created_at: datetime
    expires_at: datetime
    decided_by: str = ""  # as people read it: a key or an email address
    decided_at: datetime | None = None
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return False


class ReactivationDetail(msgspec.Struct, frozen=True):
    """The maker of a reactivation that waits, and the reason."""

    maker: Caller
    reason: str


DETAIL_DECODER: "msgspec.json.Decoder[ReactivationDetail]" = msgspec.json.Decoder(ReactivationDetail)


def reactivation_key(merchant_id: int, savings_id: str, n: int) -> bytes:
    return row_key(merchant_id, SavingsReactivation.table, f"{savings_id} {n}")


def can_be_decided(proposed: SavingsReactivation, now: datetime) -> bool:
    return proposed.state == WAITING and now < proposed.expires_at


def describe_waiting(proposed: SavingsReactivation | None, now: datetime) -> WaitingReactivation | UnsetType:
    """Returns the reactivation that can be decided, if there is one."""
    if proposed is None or not can_be_decided(proposed, now):
        return UNSET
    detail = DETAIL_DECODER.decode(proposed.detail)
    return WaitingReactivation(
        reason=detail.reason,
        proposed_by=detail.maker.label,
        proposed_at=utc_text(proposed.created_at),
        expires_at=utc_text(proposed.expires_at),
    )
