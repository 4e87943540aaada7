"""The migration that gives tables plain names, on a populated database to which the previous version still writes."""

import asyncio
import contextlib
import re
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest

from kasuwa.db.migrate import apply_migration, known_migrations
from tests.running import NEWEST, OLDEST, Deployments
from tests.source_rules import read_all

NAME = "0021_plain_names.sql"
ROLE = "names_probe"
AT = datetime(2026, 1, 5, tzinfo=UTC)
# Statements of the previous version: how it writes, finds by ctid, locks, claims and deletes.
BOOK = "insert into book (key, merchant_id, version, listens) values ($1, $2, 1, true)"
JOB = """
    insert into job (key, merchant_id, kind, lane, reference, subject, due, run_at, claims, attempt, repeat, work)
    values ($1, $2, 'probe', 'probe', $3, $1, $4, $4, 0, 0, 'claim', '{}')
"""
REPEAT = "insert into repeat (key, merchant_id, digest, reply, open, expires_at) values ($1, $2, 'd', 'r', true, $3)"
NOTICE = "insert into notice (merchant_id, reference, what, at) values ($1, $2, 'the rail says otherwise', $3)"
AUDIT = """
    insert into audit (merchant_id, actor, address, what, about, before, after)
    values ($1, 'a', '', 'did', $2, '', '')
"""
RATE = "insert into rate (currency, buy, sell, set_at, set_by) values ('USD', 1, 2, $1, 'a')"
RAISE_VERSION = """
    update book t set version = version + 1, postings = postings + 1
    from (select $1::bytea as key) x, lateral (select r.ctid as place from book r where r.key = x.key offset 0) f
    where t.ctid = f.place and t.version = $2 returning t.version
"""
CLAIM = """
    update job j set leased_until = now(), claims = j.claims + 1
    where j.key = any(array(select key from job where lane = 'probe' order by due, seq limit 1 for update skip locked))
    returning j.reference
"""
UPSERT = """
    insert into repeat (key, merchant_id, digest, reply, open, expires_at) values ($1, $2, 'd', 'r2', false, $3)
    on conflict (key, merchant_id) do update set reply = excluded.reply, open = excluded.open
"""
CHAIN = """
    select bool_and(a.hash = audit_hash(a.previous, a.entry)) from (
        select x as entry, x.hash, lag(x.hash, 1, ''::bytea) over (order by x.seq) as previous from {table} x) a
"""
VIEWS = """
    select c.relname from pg_class c
    where c.relkind = 'v' and c.relnamespace = 'public'::regnamespace and c.relname <> 'paycode'
"""


async def write(connection: Any, number: int) -> None:
    """Writes the rows that the previous version would write for one merchant."""
    key = number.to_bytes(16, "big")
    await connection.execute(BOOK, key, number)
    await connection.execute(JOB, key, number, f"job-{number}", AT)
    await connection.execute(REPEAT, key, number, AT)
    await connection.execute(NOTICE, number, f"GP{number}", AT)
    await connection.execute(AUDIT, 1, f"subject-{number}")
    await connection.execute(RATE, AT)


async def migrate_while_old_statements_run(dsn: str) -> dict[str, Any]:
    async with contextlib.AsyncExitStack() as stack:
        connection = await asyncpg.connect(dsn)
        stack.push_async_callback(connection.close)
        await connection.execute("create table migration (version bigint primary key, name text not null)")
        [ours] = [migration for migration in known_migrations() if migration.name == NAME]
        for migration in known_migrations():
            if migration.version < ours.version:
                await apply_migration(connection, migration, tries=1)
        await connection.execute(f"create role {ROLE}")
        await connection.execute(f"grant usage on schema public to {ROLE}")
        await connection.execute(f"grant usage on all sequences in schema public to {ROLE}")
        await connection.execute(f"grant select, insert, update, delete on all tables in schema public to {ROLE}")
        old = await asyncpg.connect(dsn)
        stack.push_async_callback(old.close)
        await write(old, 1)
        prepared = await old.prepare(RAISE_VERSION)
        await prepared.fetch((1).to_bytes(16, "big"), 1)
        await apply_migration(connection, ours, tries=1)
        await old.execute(f"set role {ROLE}")
        await write(old, 2)
        raised = [row[0] for row in await prepared.fetch((1).to_bytes(16, "big"), 2)]
        claimed = [row[0] for row in await old.fetch(CLAIM)]
        await old.execute(UPSERT, (1).to_bytes(16, "big"), 1, AT)
        await old.execute("delete from job where key = $1", (2).to_bytes(16, "big"))
        await old.execute("reset role")
        return {
            "raised": raised,
            "claimed": claimed,
            "states": await connection.fetch(
                "select merchant_id, version, last_posting_seq, has_webhook from merchant_state order by merchant_id"
            ),
            "jobs": await connection.fetch(
                "select reference, claims, idempotency_claim from scheduled_job order by seq"
            ),
            "records": await connection.fetch(
                "select merchant_id, sealed_reply, is_in_progress from idempotency_record order by merchant_id"
            ),
            "notices": await connection.fetch("select message from operator_notice"),
            "audit": await connection.fetch("select seq, action, subject from audit_entry order by seq"),
            "chains": [await connection.fetchval(CHAIN.format(table=table)) for table in ("audit_entry", "audit")],
            "rates": await connection.fetchval("select count(*) from exchange_rate"),
            "views": {row[0] for row in await connection.fetch(VIEWS)},
            "indexes": await connection.fetchval("select to_regclass('scheduled_job_due') is not null"),
        }


@pytest.mark.parametrize("version", sorted({OLDEST, NEWEST}))
def test_rows_stay_and_the_version_before_writes_on_under_the_old_names(deployments: Deployments, version: int) -> None:
    cluster = deployments.cluster(version)
    name = f"names_{version}"
    asyncio.run(create(cluster.dsn, name))
    found = asyncio.run(migrate_while_old_statements_run(cluster.dsn_for(name)))
    assert found["raised"] == [3]
    assert found["claimed"] == ["job-1"]
    assert [tuple(row) for row in found["states"]] == [(1, 3, 2, True), (2, 1, 0, True)]
    assert [tuple(row) for row in found["jobs"]] == [("job-1", 1, b"claim")]
    assert [tuple(row) for row in found["records"]] == [(1, b"r2", False), (2, b"r", True)]
    assert [row[0] for row in found["notices"]] == ["the rail says otherwise"] * 2
    assert [tuple(row) for row in found["audit"]] == [(1, "did", "subject-1"), (2, "did", "subject-2")]
    assert found["chains"] == [True, True]
    assert found["rates"] == 2
    assert len(found["views"]) == 15
    assert found["indexes"]


async def create(dsn: str, name: str) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute(f'create database "{name}"')
    await connection.close()


def test_the_service_itself_uses_the_new_names_alone() -> None:
    [ours] = [migration for migration in known_migrations() if migration.name == NAME]
    old = re.findall(r"^alter table (\w+) rename to", ours.sql, re.MULTILINE)
    assert len(old) == 15
    used = re.compile(rf"\b(?:from|join|into|update) (?:{'|'.join(old)})\b(?! import)")
    assert [(source.path, found) for source in read_all("src/kasuwa") for found in used.findall(source.text)] == []
