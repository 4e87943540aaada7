"""Look-ups that arrive together are read in one query: each gets its own row."""

import asyncio
from typing import Any

import pytest

from kasuwa.core.batched_query import BatchedQuery
from kasuwa.engine.reading import MAX_KEYS_PER_QUERY, ForeignRow, LookupBatcher

QUERY = BatchedQuery("a query", "")


class Readers:
    """A pool that records the queries and returns a row for every even key."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.fails = False

    async def fetch_requests(self, query: BatchedQuery, requests: list[tuple[int, int]]) -> list[Any]:
        await asyncio.sleep(0.001)
        self.asked.append(len(requests))
        if self.fails:
            raise ConnectionError("the database went away")
        found = [(n, merchant, key) for n, (key, merchant) in enumerate(requests, start=1)]
        return [row for row in reversed(found) if row[2] % 2 == 0]


async def ask(gatherer: LookupBatcher, many: int) -> list[Any]:
    return await asyncio.gather(
        *(gatherer.fetch_row_batched(7, QUERY, key, 7) for key in range(many)), return_exceptions=True
    )


def test_everybody_gets_the_row_of_its_own_key() -> None:
    readers = Readers()
    rows = asyncio.run(ask(LookupBatcher(readers), 300))  # type: ignore[arg-type]
    assert [None if row is None else row[1:] for row in rows] == [
        (7, key) if key % 2 == 0 else None for key in range(300)
    ]
    assert sum(readers.asked) == 300
    assert len(readers.asked) < 10
    assert max(readers.asked) <= MAX_KEYS_PER_QUERY


def test_a_failure_reaches_all_waiters_and_the_next_call_asks_again() -> None:
    readers = Readers()

    async def run() -> None:
        gatherer = LookupBatcher(readers)  # type: ignore[arg-type]
        readers.fails = True
        assert {type(answer) for answer in await ask(gatherer, 5)} == {ConnectionError}
        readers.fails = False
        assert (await gatherer.fetch_row_batched(7, QUERY, 2, 7))[1:] == (7, 2)

    asyncio.run(run())


def test_who_gave_up_waiting_does_not_disturb_the_others() -> None:
    async def run() -> None:
        gatherer = LookupBatcher(Readers())  # type: ignore[arg-type]
        first, second = gatherer.fetch_row_batched(7, QUERY, 2, 7), gatherer.fetch_row_batched(7, QUERY, 4, 7)
        first.cancel()
        assert (await second)[1:] == (7, 4)
        with pytest.raises(asyncio.CancelledError):
            await first

    asyncio.run(run())


def test_a_row_of_another_merchant_is_not_handed_out() -> None:
    async def run() -> None:
        gatherer = LookupBatcher(Readers())  # type: ignore[arg-type]
        own, foreign = gatherer.fetch_row_batched(7, QUERY, 2, 7), gatherer.fetch_row_batched(8, QUERY, 4, 7)
        assert (await own)[1:] == (7, 2)
        with pytest.raises(ForeignRow):
            await foreign

    asyncio.run(run())
