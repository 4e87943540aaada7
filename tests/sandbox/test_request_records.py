"""The recorder of requests in the test environment: how much it writes at a time, of whom, and what it leaves out."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from kasuwa.core.vault import Vault
from kasuwa.sandbox.request_bodies import MAX_BODY_BYTES
from kasuwa.sandbox.request_records import (
    ADD,
    LOCK,
    MAX_PENDING_BYTES,
    MAX_ROWS,
    PENDING_PER_MERCHANT,
    RequestRecord,
    RequestRecorder,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class RecordingPool:
    """Takes the place of a pool. `written` has the mid and request of every row."""

    def __init__(self) -> None:
        self.written: list[tuple[str, str]] = []
        self.is_open = asyncio.Event()  # a transaction waits for it
        self.is_open.set()
        self.on_write: Callable[[], None] = lambda: None
        self._is_locked = False

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator["RecordingPool"]:
        yield self

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        await self.is_open.wait()
        yield
        self._is_locked = False

    async def execute(self, statement: str, *columns: Any) -> None:
        if statement is LOCK:
            self._is_locked = True
        if statement is ADD:
            assert self._is_locked, "numbers follow the order of commits"
            self.written += zip(columns[0], columns[2], strict=True)
            self.on_write()


def make_recorder() -> tuple[RequestRecorder, RecordingPool]:
    pool = RecordingPool()
    return RequestRecorder(pool, Vault(bytes(32))), pool  # type: ignore[arg-type]


def add(recorder: RequestRecorder, merchant: int, request: int, body: bytes = b"{}") -> None:
    record = RequestRecord(NOW, f"r{request}", "/disburse", "transfer", 200, 200, 1.5, body, b"{}")
    recorder.add(f"m{merchant}", record)


def record(merchants: int, requests: int) -> list[tuple[str, str]]:
    """Returns what is written at once of so many requests of each merchant."""
    recorder, pool = make_recorder()
    for request in range(requests):
        for merchant in range(merchants):
            add(recorder, merchant, request)
    asyncio.run(recorder.flush())
    return pool.written


def test_every_request_of_few_is_written() -> None:
    assert sorted(record(2, 3)) == [(f"m{merchant}", f"r{number}") for merchant in range(2) for number in range(3)]
    assert record(0, 0) == []


def test_what_is_too_much_at_a_time_is_written_later_in_order() -> None:
    recorder, pool = make_recorder()
    for request in range(MAX_ROWS + 7):
        add(recorder, 0, request)
    asyncio.run(recorder.flush())
    assert len(pool.written) == MAX_ROWS
    asyncio.run(recorder.flush_merchant("m0"))
    assert pool.written == [("m0", f"r{number}") for number in range(MAX_ROWS + 7)]


def test_what_another_flush_has_taken_is_written_before_the_merchant_reads() -> None:
    async def read_meanwhile() -> tuple[bool, list[tuple[str, str]]]:
        recorder, pool = make_recorder()
        add(recorder, 0, 0)
        pool.is_open.clear()
        flushing = asyncio.create_task(recorder.flush())
        reading = asyncio.create_task(recorder.flush_merchant("m0"))
        for _ in range(10):
            await asyncio.sleep(0)
        was_early = reading.done()
        pool.is_open.set()
        await asyncio.gather(flushing, reading)
        return was_early, pool.written

    assert asyncio.run(read_meanwhile()) == (False, [("m0", "r0")])


def test_what_a_merchant_sends_meanwhile_is_written_later() -> None:
    recorder, pool = make_recorder()
    add(recorder, 0, 0)
    pool.on_write = lambda: add(recorder, 0, 1)
    asyncio.run(recorder.flush_merchant("m0"))
    assert pool.written == [("m0", "r0")]


def test_of_too_many_pending_requests_of_a_merchant_the_newest_are_written() -> None:
    assert PENDING_PER_MERCHANT == 1000
    recorder, pool = make_recorder()
    for request in range(PENDING_PER_MERCHANT + 1):
        add(recorder, 0, request)
    asyncio.run(recorder.flush_merchant("m0"))
    assert pool.written == [("m0", f"r{number}") for number in range(1, PENDING_PER_MERCHANT + 1)]


def test_bodies_wait_in_a_bounded_part_of_the_memory() -> None:
    recorder, pool = make_recorder()
    fitting = MAX_PENDING_BYTES // (MAX_BODY_BYTES + 2)
    for request in range(fitting + 5):
        add(recorder, 0, request, bytes(MAX_BODY_BYTES))
    add(recorder, 1, 0)
    asyncio.run(recorder.flush_merchant("m0"))
    assert Counter(mid for mid, _ in pool.written)["m0"] == fitting


def test_many_busy_merchants_share_the_rows_equally() -> None:
    counts = Counter(mid for mid, _ in record(100, 20))
    assert set(counts.values()) == {MAX_ROWS // 100}
    assert len(counts) == 100


def test_each_merchant_gets_a_row_however_many_there_are() -> None:
    assert Counter(mid for mid, _ in record(MAX_ROWS + 5, 2)) == {f"m{number}": 1 for number in range(MAX_ROWS + 5)}
