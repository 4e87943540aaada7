"""A merchant's book: its counters, its business clock and its lock."""

from datetime import datetime, timedelta
from typing import ClassVar

from kasuwa.core.calendar import NEVER
from kasuwa.core.decision import Row


class MerchantState(Row):
    """A merchant's counters and clock, and its lock: whoever changes anything of the merchant raises `version`."""

    table: ClassVar[str] = "merchant_state"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "version",
        "last_number",
        "last_posting_seq",
        "last_event_seq",
        "clock_offset_us",
        "clock_fixed_at",
        "has_webhook",
        "faults",
        "decision_count",
    )

    version: int
    last_number: int
    last_posting_seq: int
    last_event_seq: int
    clock_offset_us: int
    clock_fixed_at: datetime | None
    faults: str | None
    has_webhook: bool = False
    decision_count: int = 0  # how many decisions changed something of this merchant


def business_now(state: MerchantState, wall_time: datetime) -> datetime:
    if state.clock_fixed_at is not None:
        return state.clock_fixed_at
    return wall_time + timedelta(microseconds=state.clock_offset_us)


def to_wall_time(state: MerchantState, due: datetime, wall_time: datetime) -> datetime:
    """When a business moment comes on the wall's clock; never, where the clock stands still before it."""
    if state.clock_fixed_at is not None:
        return wall_time if due <= state.clock_fixed_at else NEVER
    return due - timedelta(microseconds=state.clock_offset_us)
