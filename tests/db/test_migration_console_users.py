"""Console users of a database from before migration 0017: who had joined, and what still works for them."""

import asyncio
from typing import Any

import asyncpg
import pytest

from kasuwa.db import embedded
from kasuwa.db.migrate import Migration, apply_migration, known_migrations
from tests.running import NEWEST, OLDEST, running_cluster

PEOPLE = 17
BEFORE = """
    insert into console_user (email, mid, role, password) values
        ('Ada@example.com', 'GP0000001', 'merchant:owner', 'hash'), ('invited@example.com', 'GP0000001',
        'merchant:finance', null), ('linked@example.com', null, 'operator:admin', null),
        ('second@example.com', null, 'operator:admin', 'hash');
    insert into console_session (user_id, token_hash, rotated_at, csrf, is_whole, created_at, seen_at)
        select user_id, 'a', now(), 'c', true, now() - interval '1 hour', now() from console_user
        where email = 'linked@example.com';
    insert into approval (mid, kind, proposal, reason, proposed_by)
        select null, 'rate', '{}', 'why', user_id from console_user where email = 'linked@example.com';
    insert into sign_in_failure values ('x', 9, now());
"""


async def migrate_people(dsn: str) -> dict[str, Any]:
    connection = await asyncpg.connect(dsn)
    await connection.execute(
        "create table migration (version bigint primary key, name text not null, applied_at timestamptz default now())"
    )

    async def apply(migrations: list[Migration]) -> None:
        for migration in migrations:
            await apply_migration(connection, migration, tries=1)

    await apply([migration for migration in known_migrations() if migration.version < PEOPLE])
    await connection.execute(BEFORE)
    await apply([migration for migration in known_migrations() if migration.version >= PEOPLE])
    joined = await connection.fetch("select email from console_user where joined_at is not null order by email")
    verified = await connection.fetchval("select verified_at = created_at from console_session")
    # An address that was only invited may be invited and join elsewhere. One that has joined may be invited, but not
    # join.
    await connection.execute(
        "insert into console_user (email, mid, role) values ('ada@EXAMPLE.com', 'GP2', 'merchant:x')"
    )
    with pytest.raises(asyncpg.UniqueViolationError):
        await connection.execute("update console_user set joined_at = now() where mid = 'GP2'")
    with pytest.raises(asyncpg.UniqueViolationError):
        await connection.execute(
            "insert into console_user (email, mid, role) values ('ADA@example.com', 'GP2', 'merchant:x')"
        )
    approve = (
        "update approval set state = 'approved', decided_at = now(), decided_by = (select user_id from console_user"
    )
    await connection.execute(f"{approve} where email = 'second@example.com')")
    await connection.close()
    return {"joined": [row[0] for row in joined], "verified": verified}


@pytest.mark.parametrize("version", sorted({OLDEST, NEWEST}))
def test_people_of_before_go_on_as_they_were(version: int) -> None:
    with running_cluster(version) as cluster:
        assert isinstance(cluster, embedded.Cluster)
        found = asyncio.run(migrate_people(cluster.dsn))
    assert found == {"joined": ["Ada@example.com", "linked@example.com", "second@example.com"], "verified": True}
