"""A merchant's state row: its counters, its business clock, and the lock for all writes of the merchant."""

from datetime import datetime, timedelta
from typing import ClassVar

import msgspec

from kasuwa.core.calendar import NEVER
from kasuwa.core.decision import Row
from kasuwa.ledger.chain import EMPTY_CHAIN


class MerchantState(Row):
    """A merchant's counters and business clock. Its row is the merchant's write lock.

    Whoever writes anything of the merchant raises `version` while holding the row's lock."""

    table: ClassVar[str] = "merchant_state"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "version",
        "last_number",
        "last_posting_seq",
        "last_event_seq",
        "clock_offset_us",
        "clock_fixed_at",
        "faults",
        "decision_count",
        "posting_head",
        "event_head",
    )

    version: int
    last_number: int  # reference numbers used so far
    last_posting_seq: int  # number of the last posting
    last_event_seq: int  # number of the last event
    clock_offset_us: int  # business time minus wall time, in microseconds
    clock_fixed_at: datetime | None  # business time of a clock that stands still
    faults: str | None  # sandbox only: injected faults as JSON
    endpoints: str = (
        "{}"  # the kinds of events of each webhook endpoint by its number, as JSON (webhooks/signatures.py)
    )
    decision_count: int = 0  # how many decisions changed something of this merchant
    posting_head: bytes = EMPTY_CHAIN  # the value of the chain of posting groups after the last one (ledger/chain.py)
    event_head: bytes = EMPTY_CHAIN  # the value of the chain of events after the last one
    settings_version: int = 0  # how often the merchant's settings were changed


class SettingsChanged(msgspec.Struct, frozen=True):
    """Result of a submission whose merchant's settings have changed since they were read. Nothing is written."""


SETTINGS_CHANGED = SettingsChanged()


def business_now(state: MerchantState, wall_time: datetime) -> datetime:
    if state.clock_fixed_at is not None:
        return state.clock_fixed_at
    return wall_time + timedelta(microseconds=state.clock_offset_us) if state.clock_offset_us else wall_time


def to_wall_time(state: MerchantState, due: datetime, wall_time: datetime) -> datetime:
    """Converts a business time to wall time. Returns NEVER if the business clock is fixed before it."""
    if state.clock_fixed_at is not None:
        return wall_time if due <= state.clock_fixed_at else NEVER
    return due - timedelta(microseconds=state.clock_offset_us) if state.clock_offset_us else due
