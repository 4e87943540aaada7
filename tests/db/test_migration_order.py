"""The migration that gives rows a sequence, on a database that already has rows."""

import asyncio
import contextlib
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest

from kasuwa.db.migrate import apply_migration, known_migrations
from tests.running import NEWEST, OLDEST, Deployments

BEFORE, NAME = 13, "0018_order.sql"
AT = datetime(2026, 1, 5, tzinfo=UTC)
TRANSACTION = """
    insert into transaction (key, merchant_id, kind, txn_ref, order_ref, currency, amount, fee, vat, duty, status,
        message, digest, detail, trail, created_at)
    values ($1, 1, 'payment', $2, 'shared', 'NGN', 1, 0, 0, 0, 'pending', '', '', '{}', '[]', $3)
"""
JOB = """
    insert into job (key, merchant_id, kind, lane, reference, subject, due, run_at, claims, attempt, work)
    values ($1, 1, 'probe', 'probe', $2, $1, $3, $3, 0, 0, '{}')
"""
NEWEST_FIRST = "select txn_ref from transaction order by created_at desc, seq desc, key desc"
FIRST_DUE = "select reference from job order by due, seq"


async def create(dsn: str, name: str) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute(f'create database "{name}"')
    await connection.close()


async def write(connection: Any, *names: str) -> None:
    for name in names:
        await connection.execute(TRANSACTION, name.encode(), name, AT)
        await connection.execute(JOB, name.encode(), name, AT)


async def migrate_with_rows(dsn: str) -> tuple[list[str], list[str]]:
    async with contextlib.AsyncExitStack() as stack:
        connection = await asyncpg.connect(dsn)
        stack.push_async_callback(connection.close)
        await connection.execute("create table migration (version bigint primary key, name text not null)")
        for migration in known_migrations():
            if migration.version <= BEFORE:
                await apply_migration(connection, migration, tries=1)
        await write(connection, "old-b", "old-a")
        [ours] = [migration for migration in known_migrations() if migration.name == NAME]
        await apply_migration(connection, ours, tries=1)
        # As the previous version inserts them, without the new column.
        await write(connection, "new-2", "new-1", "new-3")
        newest, due = await connection.fetch(NEWEST_FIRST), await connection.fetch(FIRST_DUE)
        return [row[0] for row in newest], [row[0] for row in due]


@pytest.mark.parametrize("version", sorted({OLDEST, NEWEST}))
def test_rows_that_were_there_come_before_those_written_later(deployments: Deployments, version: int) -> None:
    cluster = deployments.cluster(version)
    asyncio.run(create(cluster.dsn, "ordered"))
    newest, due = asyncio.run(migrate_with_rows(cluster.dsn_for("ordered")))
    assert newest == ["new-3", "new-1", "new-2", "old-b", "old-a"]
    assert sorted(due[:2]) == ["old-a", "old-b"]
    assert due[2:] == ["new-2", "new-1", "new-3"]
