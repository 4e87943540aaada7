"""A merchant's book: its counters, its business clock and its lock."""

from datetime import datetime, timedelta
from typing import ClassVar

from kasuwa.core.calendar import NEVER
from kasuwa.core.decision import Row


class Book(Row):
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


def business_now(book: Book, wall: datetime) -> datetime:
    if book.clock_fixed is not None:
        return book.clock_fixed
    return wall + timedelta(microseconds=book.clock_offset)


def wall_of(book: Book, due: datetime, wall: datetime) -> datetime:
    """When a business moment comes on the wall's clock; never, where the clock stands still before it."""
    if book.clock_fixed is not None:
        return wall if due <= book.clock_fixed else NEVER
    return due - timedelta(microseconds=book.clock_offset)
