"""A pool refuses a second connection to a task that holds one, and every wait for a connection ends."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kasuwa.boot.readiness import find_pool_problem, watch_pool
from kasuwa.concurrency.exhaustion import PoolExhausted
from kasuwa.observe.metrics import POOL_SIZE, POOL_TIMEOUTS, POOL_USED, Metrics, SharedCounters
from kasuwa.postgres import connections
from kasuwa.postgres.connection_pool import NestedAcquire, Pool
from kasuwa.postgres.embedded import embedded
from tests.running import NEWEST, Deployments


@pytest.fixture
def cluster(deployments: Deployments) -> embedded.Cluster:
    return deployments.cluster(NEWEST)


def on_pool(cluster: embedded.Cluster, work: Callable[[Pool], Awaitable[None]], **options: Any) -> None:
    async def run() -> None:
        async with asyncio.timeout(60):
            opened = await connections.open_pool("probes", cluster.dsn, {}, **{"max_size": 2, **options})
            await work(opened)
            await opened.close()

    asyncio.run(run())


def test_a_second_connection_under_the_first_is_refused(cluster: embedded.Cluster) -> None:
    async def work(opened: Pool) -> None:
        async with opened.acquire() as connection:
            with pytest.raises(NestedAcquire, match=r"test_pooled\.py"):
                await opened.fetchval("select 1")
            assert await connection.fetchval("select 1") == 1
        assert await opened.fetchval("select 1") == 1

    on_pool(cluster, work)


def test_a_task_that_is_waited_for_under_a_connection_is_refused_another(cluster: embedded.Cluster) -> None:
    async def work(opened: Pool) -> None:
        async with opened.acquire():
            with pytest.raises(NestedAcquire):
                await asyncio.create_task(opened.fetchval("select 1"))

    on_pool(cluster, work)


def test_a_task_that_outlives_the_connection_it_was_started_under_may_take_one(cluster: embedded.Cluster) -> None:
    async def work(opened: Pool) -> None:
        released = asyncio.Event()

        async def later() -> Any:
            await released.wait()
            return await opened.fetchval("select 1")

        async with opened.acquire():
            started = asyncio.create_task(later())
        released.set()
        assert await started == 1

    on_pool(cluster, work)


def test_without_the_test_setting_one_warning_is_logged(
    cluster: embedded.Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RAISE_ON_NESTED_ACQUIRE")

    async def work(opened: Pool) -> None:
        async with opened.acquire():
            for _ in range(3):
                assert await opened.fetchval("select 1") == 1

    on_pool(cluster, work)
    output = capsys.readouterr()
    assert (output.out + output.err).count("taken under one of the same pool") == 1


def test_an_exhausted_pool_raises_is_counted_and_fails_readiness(cluster: embedded.Cluster) -> None:
    meter = Metrics(SharedCounters("api 1"))

    async def hold(opened: Pool, held: asyncio.Event, over: asyncio.Event) -> None:
        async with opened.acquire():
            held.set()
            await over.wait()

    async def work(opened: Pool) -> None:
        watch_pool(opened, meter)
        assert await find_pool_problem([opened]) is None
        held, over = asyncio.Event(), asyncio.Event()
        holding = asyncio.create_task(hold(opened, held, over))
        await held.wait()
        with pytest.raises(PoolExhausted):
            async with opened.acquire(seconds=0.05):
                pass
        assert await find_pool_problem([opened]) == "all 1 connections of the pool probes are in use"
        meter.publish()
        labels = ("api 1", "probes")
        assert (meter.series[POOL_USED.name, labels], meter.series[POOL_SIZE.name, labels]) == ([1], [1])
        assert meter.series[POOL_TIMEOUTS.name, ("probes",)] == [2]
        over.set()
        await holding
        assert await find_pool_problem([opened]) is None

    on_pool(cluster, work, max_size=1)


def test_a_pool_without_a_connection_has_the_time_to_open_one(cluster: embedded.Cluster) -> None:
    async def work(opened: Pool) -> None:
        opened.acquire_seconds = 0
        assert await opened.fetchval("select 1") == 1

    on_pool(cluster, work, max_size=1)


def test_a_statement_that_times_out_frees_its_connection(
    cluster: embedded.Cluster,
) -> None:
    async def work(opened: Pool) -> None:
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await opened.fetchval("select pg_sleep(600)")
        assert await opened.fetchval("select 1") == 1
        assert opened.used_count == 0

    # Long enough for the last statement on a slow machine, too.
    on_pool(cluster, work, max_size=1, statement_seconds=1.0)


LIMITS = {
    "lock_timeout": "4s",
    "idle_in_transaction_session_timeout": "5s",
}


def test_every_kind_of_connection_bounds_its_waits_on_the_server(cluster: embedded.Cluster) -> None:
    async def look() -> None:
        found = {}
        for opening in (
            connections.open_reader_pool,
            connections.open_console_pool,
            connections.open_operator_pool,
            connections.open_claim_pool,
        ):
            opened = await opening(cluster.dsn)
            found[opened.name] = {name: await opened.fetchval(f"show {name}") for name in LIMITS}
            await opened.close()
        assert found == dict.fromkeys(found, LIMITS)
        assert len(found) == 4
        writing = await connections.connect(cluster.dsn, connections.WRITER_SETTINGS)
        shown = [await writing.fetchval(f"show {name}") for name in LIMITS]
        assert shown == ["200ms", "2s"]
        await writing.close()

    asyncio.run(look())
