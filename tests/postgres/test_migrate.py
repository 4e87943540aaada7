"""Migrations: each table and column has a comment, and one that does not get its lock gives up for a moment."""

import asyncio
import re
from collections.abc import Iterator

import asyncpg
import pytest
from structlog.testing import capture_logs

from kasuwa.postgres.embedded import embedded
from kasuwa.postgres.migrate import Migration, MigrationError, apply_migration, known_migrations
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


TABLE = re.compile(r"(--[^\n]*\n)?create (?:unlogged )?table (\w+) \(\n(.*?)\n\)", re.DOTALL)
NOT_COLUMNS = ("primary key ", "constraint ", "check ", "unique ")


def find_uncommented(sql: str) -> list[str]:
    """Returns the tables, and the columns of them, that have no comment above or beside them."""
    found = []
    for comment, table, body in TABLE.findall(sql):
        if not comment:
            found.append(table)
        above = ""
        for line in body.splitlines():
            is_column = re.match(r"    [a-z]", line) and not line.strip().startswith(NOT_COLUMNS)
            if is_column and " -- " not in line and not above.startswith("    -- "):
                found.append(f"{table}.{line.split()[0]}")
            above = line
    return found


def test_every_table_and_column_of_the_migrations_has_a_comment() -> None:
    migrations = known_migrations()
    assert sum(len(TABLE.findall(migration.sql)) for migration in migrations) > 100
    assert [name for migration in migrations for name in find_uncommented(migration.sql)] == []


def test_a_column_without_a_comment_is_found() -> None:
    sql = (
        "\n-- A probe.\ncreate table probe (\n    a bigint,  -- one\n    -- two\n    b text not null,\n    c text\n);\n"
    )
    assert find_uncommented(sql) == ["probe.c"]
    assert find_uncommented(sql.replace("-- A probe.\n", "")) == ["probe", "probe.c"]
