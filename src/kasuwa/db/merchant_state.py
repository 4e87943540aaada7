"""A merchant's book: its counters, its business clock and its lock."""

from datetime import datetime, timedelta
from typing import ClassVar

from kasuwa.core.calendar import NEVER
from kasuwa.core.decision import Row


class MerchantState(Row):
    """A merchant's counters and clock, and its lock: whoever changes anything of the merchant raises `version`."""

    table: ClassVar[str] = "book"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "version",
        "numbers",
        "postings",
        "events",
        "clock_offset",
        "clock_fixed",
        "listens",
        "faults",
        "decisions",
    )

    version: int
    numbers: int
    postings: int
    events: int
    clock_offset: int
    clock_fixed: datetime | None
    faults: str | None
    listens: bool = False
    decisions: int = 0  # how many decisions changed something of this merchant


def business_now(state: MerchantState, wall_time: datetime) -> datetime:
    if state.clock_fixed is not None:
        return state.clock_fixed
    return wall_time + timedelta(microseconds=state.clock_offset)


def to_wall_time(state: MerchantState, due: datetime, wall_time: datetime) -> datetime:
    """When a business moment comes on the wall's clock; never, where the clock stands still before it."""
    if state.clock_fixed is not None:
        return wall_time if due <= state.clock_fixed else NEVER
    return due - timedelta(microseconds=state.clock_offset)
