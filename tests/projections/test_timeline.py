"""A long timeline is cut: it shows the newest entries and how many are left out."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kasuwa.projections.timeline import MAX_ENTRIES, MAX_REPLY_BYTES, TimelineEntry, render_timeline

START = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)


def story(entries: int, **more: Any) -> list[TimelineEntry]:
    return [TimelineEntry(START + timedelta(seconds=n), 0, "posting", str(n), more) for n in range(entries)]


@pytest.mark.parametrize("entries", [1, MAX_ENTRIES])
def test_a_short_timeline_is_shown_whole(entries: int) -> None:
    assert [line["said"] for line in render_timeline(story(entries))] == [str(n) for n in range(entries)]


def test_the_oldest_entries_are_left_out_and_counted() -> None:
    first, *lines = render_timeline(story(MAX_ENTRIES + 7), {"transactions": 3, "events": 0})
    assert (first["what"], first["said"]) == ("left out", "3 earlier transactions, 7 earlier entries")
    assert [line["said"] for line in lines] == [str(n) for n in range(7, MAX_ENTRIES + 7)]


def test_long_entries_are_left_out_by_their_bytes() -> None:
    first, *lines = render_timeline(story(5, payload="x" * (MAX_REPLY_BYTES // 2 - 1_000)))
    assert first["said"] == "3 earlier entries"
    assert [line["said"] for line in lines] == ["3", "4"]


def test_one_entry_beyond_the_bound_is_shown_alone() -> None:
    assert [line["what"] for line in render_timeline(story(2, payload="x" * MAX_REPLY_BYTES))] == [
        "left out",
        "posting",
    ]
