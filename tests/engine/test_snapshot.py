"""A reply is read in one statement or in one snapshot, on a real database."""

import asyncio
import contextlib

import asyncpg
import pytest

from kasuwa.core.batched_query import BatchedQuery
from kasuwa.engine.reading import DatabaseReaderFactory, TornRead
from kasuwa.postgres.connections import connect, open_reader_pool
from kasuwa.postgres.merchant_rows import snapshot
from tests.rule_context import VAULT
from tests.running import NEWEST, Deployment, Deployments


@pytest.fixture
def deployment(deployments: Deployments) -> Deployment:
    return deployments.for_version(NEWEST)


def test_a_second_statement_outside_a_snapshot_is_refused(deployment: Deployment) -> None:
    async def run() -> None:
        readers = await open_reader_pool(deployment.dsn)
        try:
            reader = DatabaseReaderFactory(readers, readers, VAULT).for_one_reply(1)
            assert await reader.fetch("select 1") == [(1,)]
            with pytest.raises(TornRead):
                await reader.fetchrow("select 2")
            with pytest.raises(TornRead):
                reader.fetch_row_batched(BatchedQuery("select 3", ""), 1)
            with pytest.raises(TornRead):
                async with reader.snapshot():
                    pass
        finally:
            await readers.close()

    asyncio.run(run())


def test_statements_of_a_snapshot_see_one_state_and_the_next_reader_sees_the_newest(deployment: Deployment) -> None:
    async def run() -> None:
        readers = await open_reader_pool(deployment.dsn, max_size=1)
        owner = await connect(deployment.dsn, {})
        await owner.execute("reset role")
        await owner.execute("create table if not exists torn (n int); truncate torn")
        await owner.execute("grant select on torn to public")
        try:
            async with DatabaseReaderFactory(readers, readers, VAULT).for_one_reply(1).snapshot() as moment:
                assert (await moment.fetchrow("select count(*) from torn"))[0] == 0
                await owner.execute("insert into torn values (1)")
                assert (await moment.fetchrow("select count(*) from torn"))[0] == 0
            with contextlib.suppress(asyncpg.DivisionByZeroError):
                async with snapshot(readers, 1) as connection:
                    await connection.fetch("select 1 / 0")
            assert await readers.fetchval("select count(*) from torn") == 1
        finally:
            await owner.execute("drop table torn")
            await owner.close()
            await readers.close()

    asyncio.run(run())
