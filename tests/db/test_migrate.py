"""A migration that does not get its lock gives up for a moment, and in the end says what to do."""

import asyncio
from collections.abc import Iterator

import asyncpg
import pytest
from structlog.testing import capture_logs

from kasuwa.db import embedded
from kasuwa.db.migrate import Migration, MigrationError, apply_migration
from tests.running import running_cluster

MIGRATION = Migration(1, "0001_probe.sql", "alter table probe add column more text")


@pytest.fixture(scope="module")
def cluster() -> Iterator[embedded.Cluster]:
    with running_cluster() as cluster:
        yield cluster


async def apply_while_held(dsn: str) -> bool:
    """Returns whether the migration was refused while the table was locked, and applied afterwards."""
    holder, applier = await asyncpg.connect(dsn), await asyncpg.connect(dsn)
    await holder.execute("create table migration (version bigint, name text); create table probe (id bigint)")
    await holder.execute("begin; select * from probe")
    with pytest.raises(MigrationError, match=r"0001_probe\.sql cannot be applied.*pg_stat_activity"):
        await apply_migration(applier, MIGRATION, tries=2)
    refused = not await holder.fetchval("select exists (select 1 from migration)")
    await holder.execute("rollback")
    await apply_migration(applier, MIGRATION, tries=1)
    applied = await holder.fetchval("select exists (select 1 from migration)")
    await holder.close()
    await applier.close()
    return refused and bool(applied)


def test_a_migration_that_is_never_let_in_says_what_to_do(cluster: embedded.Cluster) -> None:
    with capture_logs() as logged:
        assert asyncio.run(apply_while_held(cluster.dsn))
    assert [line["tries"] for line in logged] == [1, 2]
