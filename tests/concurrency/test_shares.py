"""Slow reads of one merchant leave connections for the others, on a real database."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from kasuwa.concurrency.exhaustion import PoolExhausted
from kasuwa.concurrency.shares import Shares
from kasuwa.core.batched_query import Requests, batched_query
from kasuwa.engine.reading import DatabaseReaderFactory
from kasuwa.postgres.connections import connect, open_reader_pool
from tests.rule_context import VAULT
from tests.running import NEWEST, Deployment, Deployments

BUSY, OTHER = 1, 2
LOCK = 815
# Waits for as long as the test holds the lock.
SLOW = f"select pg_advisory_lock_shared({LOCK}), pg_advisory_unlock_shared({LOCK})"
BY_KEY = batched_query("select u.n, u.key from", Requests((("key", "bigint"),)), "")
# Only stops a test that hangs.
GENEROUS_SECONDS = 30


@pytest.fixture
def deployment(deployments: Deployments) -> Deployment:
    return deployments.for_version(NEWEST)


async def with_busy_merchant(
    dsn: str, test: Callable[[DatabaseReaderFactory, list[asyncio.Task[object]]], Awaitable[None]]
) -> None:
    """Runs three times as many slow reads of one merchant as there are connections, by statement and by snapshot."""
    readers, holder = await open_reader_pool(dsn), await connect(dsn, {})
    reading = DatabaseReaderFactory(readers, readers, VAULT)

    async def read_snapshot() -> object:
        async with reading.for_one_reply(BUSY).snapshot() as moment:
            return await moment.fetch(SLOW)

    try:
        await holder.execute(f"select pg_advisory_lock({LOCK})")
        slow: list[asyncio.Task[object]] = []
        for number in range(3 * readers.size):
            one = read_snapshot() if number % 2 else reading.for_one_reply(BUSY).fetch(SLOW)
            slow.append(asyncio.ensure_future(one))
        while readers.used_count < reading.shares.max_held:
            await asyncio.sleep(0.005)
        await test(reading, slow)
    finally:
        await holder.execute(f"select pg_advisory_unlock({LOCK})")
        await asyncio.wait(slow, timeout=GENEROUS_SECONDS)
        await holder.close()
        await readers.close()
    assert [task.exception() for task in slow] == [None] * len(slow)
    assert reading.shares.held_by(BUSY) == 0


def test_a_merchant_with_many_slow_reads_holds_half_of_the_connections(deployment: Deployment) -> None:
    async def others_are_answered(reading: DatabaseReaderFactory, slow: list[asyncio.Task[object]]) -> None:
        async with asyncio.timeout(GENEROUS_SECONDS):
            assert await reading.for_one_reply(OTHER).fetch("select 1") == [(1,)]
            assert (await reading.for_one_reply(OTHER).fetchrow("select 2"))[0] == 2
            assert tuple(await reading.for_one_reply(OTHER).fetch_row_batched(BY_KEY, OTHER)) == (1, OTHER)
            async with reading.for_one_reply(OTHER).snapshot() as moment:
                assert await moment.fetch("select 3") == [(3,)]
        assert not any(task.done() for task in slow)
        assert (reading.lists.used_count, reading.lists.size) == (4, 8)

    asyncio.run(with_busy_merchant(deployment.dsn, others_are_answered))


def test_rows_by_key_are_answered_to_the_busy_merchant_too(deployment: Deployment) -> None:
    async def verify_is_answered(reading: DatabaseReaderFactory, slow: list[asyncio.Task[object]]) -> None:
        async with asyncio.timeout(GENEROUS_SECONDS):
            assert tuple(await reading.for_one_reply(BUSY).fetch_row_batched(BY_KEY, BUSY)) == (1, BUSY)
        assert not any(task.done() for task in slow)

    asyncio.run(with_busy_merchant(deployment.dsn, verify_is_answered))


# --- the queue ----------------------------------------------------------------------------------------------


def test_places_are_handed_over_in_the_order_of_asking() -> None:
    async def run() -> None:
        shares: Shares[int] = Shares(1)
        order = []

        async def wait(number: int) -> None:
            await shares.wait(BUSY)
            order.append(number)
            shares.release(BUSY)

        assert shares.try_acquire(BUSY)
        assert not shares.try_acquire(BUSY)
        assert shares.try_acquire(OTHER)
        tasks = [asyncio.create_task(wait(number)) for number in range(5)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        shares.release(BUSY)
        await asyncio.wait(tasks)
        assert order == [0, 2, 3, 4]
        assert (shares.held_by(BUSY), shares.held_by(OTHER)) == (0, 1)

    asyncio.run(run())


def test_a_place_that_is_handed_to_one_who_leaves_is_not_lost() -> None:
    async def run() -> None:
        shares: Shares[int] = Shares(1)
        assert shares.try_acquire(BUSY)
        leaving = asyncio.create_task(shares.wait(BUSY))
        await asyncio.sleep(0)
        shares.release(BUSY)
        leaving.cancel()
        await asyncio.wait([leaving])
        assert shares.held_by(BUSY) == 0
        assert shares.try_acquire(BUSY)

    asyncio.run(run())


def test_waiting_too_long_for_a_share_raises_and_takes_no_share() -> None:
    async def run() -> None:
        shares: Shares[int] = Shares(1, wait_seconds=0.01)
        assert shares.try_acquire(BUSY)
        with pytest.raises(PoolExhausted, match="share"):
            await shares.wait(BUSY)
        shares.release(BUSY)
        assert shares.held_by(BUSY) == 0

    asyncio.run(run())
