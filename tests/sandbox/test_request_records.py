"""The recorder of requests in the test environment: how much it writes at a time, and of whom."""

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from kasuwa.sandbox.request_records import ADD, MAX_ROWS, PENDING_PER_MERCHANT, RequestRecord, RequestRecorder

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class RecordingPool:
    """Takes the place of a pool. `written` has the mid and request of every row."""

    def __init__(self) -> None:
        self.written: list[tuple[str, str]] = []

    @asynccontextmanager
    async def acquire(self) -> Any:
        yield self

    async def execute(self, statement: str, *columns: Any) -> None:
        if statement is ADD:
            self.written += zip(columns[0], columns[2], strict=True)


def record(merchants: int, requests: int) -> list[tuple[str, str]]:
    """Returns what is written of so many requests of each merchant."""
    pool = RecordingPool()
    recorder = RequestRecorder(pool)  # type: ignore[arg-type]
    for number in range(requests):
        for merchant in range(merchants):
            recorder.add(f"m{merchant}", RequestRecord(NOW, f"r{number}", "/disburse", "transfer", 200, 200, 1.5))
    asyncio.run(recorder.flush())
    return pool.written


def test_every_request_of_few_is_written() -> None:
    assert sorted(record(2, 3)) == [(f"m{merchant}", f"r{number}") for merchant in range(2) for number in range(3)]
    assert record(0, 0) == []


def test_of_one_busy_merchant_the_newest_requests_are_written() -> None:
    written = record(1, PENDING_PER_MERCHANT + 7)
    assert [request for _, request in written] == [f"r{number}" for number in range(7, PENDING_PER_MERCHANT + 7)]


def test_many_busy_merchants_share_the_rows_equally() -> None:
    counts = Counter(mid for mid, _ in record(100, 20))
    assert set(counts.values()) == {MAX_ROWS // 100}
    assert len(counts) == 100
    assert ("m7", "r19") in record(100, 20)


def test_each_merchant_gets_a_row_however_many_there_are() -> None:
    assert Counter(mid for mid, _ in record(MAX_ROWS + 5, 2)) == {f"m{number}": 1 for number in range(MAX_ROWS + 5)}
