"""An upgrade from this version, by a further migration that is made here: what it keeps, adds and refuses."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from kasuwa.postgres import migrate
from kasuwa.postgres.logins import Logins
from tests.running import Deployments

KEY = bytes(32)
# The migrations of this version, and the one that the next version adds.
KNOWN = [migration.name for migration in migrate.known_migrations()]
NEWEST = migrate.newest_known_version()
PROBE = f"{NEWEST + 1:04d}_probe.sql"
# What migrations do: a column with a default, an index, and a table of merchants' rows.
SECOND = """
    alter table transaction add column probe text not null default 'none';
    create index transaction_probe on transaction (merchant_id, probe) where probe <> 'none';
    create table probe (merchant_id bigint primary key, note text not null);
"""

KNOWN = [migration.name for migration in migrate.known_migrations()]
PROBE = f"{len(KNOWN) + 1:04d}_probe.sql"


@pytest.fixture
def next_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Returns what makes this process the next version: one that knows a further migration."""
    for known in migrate.known_migrations():
        (tmp_path / known.name).write_text(known.sql)
    (tmp_path / PROBE).write_text(SECOND)
    return lambda: monkeypatch.setattr(migrate, "MIGRATIONS", tmp_path)


def run_on(dsn: str, work: Callable[[Any], Awaitable[None]]) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(dsn)
        try:
            await work(connection)
        finally:
            await connection.close()

    asyncio.run(run())


def test_an_upgrade_applies_what_the_database_lacks_once(
    deployments: Deployments, next_version: Callable[[], None]
) -> None:
    async def work(connection: Any) -> None:
        assert await migrate.migrate(connection, "test", KEY) == KNOWN
        await connection.execute("insert into merchant (merchant_id, mid, name) values (1, 'GP0000001', 'Ada')")
        root = await connection.fetchval("select wrapped_root from deployment")
        next_version()
        assert await migrate.find_pending(connection, "test") == [PROBE]
        assert await migrate.migrate(connection, "test", KEY) == [PROBE]
        assert await migrate.migrate(connection, "test", KEY) == []
        assert await migrate.schema_version(connection) == migrate.newest_known_version()
        assert await connection.fetchval("select name from merchant") == "Ada"
        assert await connection.fetchval("select wrapped_root from deployment") == root

    run_on(deployments.new_database("upgraded_once"), work)


def test_a_migration_that_fails_leaves_the_database_as_it_was(
    deployments: Deployments, next_version: Callable[[], None], tmp_path: Path
) -> None:
    async def work(connection: Any) -> None:
        await migrate.migrate(connection, "test", KEY)
        next_version()
        (tmp_path / PROBE).write_text(SECOND + "alter table transaction add column probe text;")
        with pytest.raises(asyncpg.DuplicateColumnError):
            await migrate.migrate(connection, "test", KEY)
        assert await migrate.schema_version(connection) == NEWEST
        assert await connection.fetchval("select to_regclass('probe')") is None

    run_on(deployments.new_database("upgrade_failed"), work)


def test_a_new_table_of_merchants_has_row_security_after_an_upgrade(
    deployments: Deployments, next_version: Callable[[], None]
) -> None:
    name = "upgrade_logins"
    dsn = deployments.new_database(name)

    async def work(connection: Any) -> None:
        logins = Logins(f"{name} application", f"{name} reader")
        for login in (logins.application, logins.reader):
            await connection.execute(f'create role "{login}" login')
        await migrate.migrate(connection, "test", KEY, logins)
        next_version()
        await migrate.migrate(connection, "test", KEY, logins)
        policies = await connection.fetch("select policyname from pg_policies where tablename = 'probe' order by 1")
        assert [row[0] for row in policies] == ["every_login", "reader_merchant"]
        granted = "select has_table_privilege($1, 'probe', 'insert')"
        assert await connection.fetchval(granted, logins.application)
        assert not await connection.fetchval(granted, logins.reader)

    run_on(dsn, work)


def test_the_previous_version_serves_on_a_newer_schema_but_does_not_start_on_it(
    deployments: Deployments, next_version: Callable[[], None]
) -> None:
    with deployments.fresh("upgraded_below", KASUWA_CONSOLE="off") as deployment:
        shop = deployment.open_shop()
        assert shop.transfer(orderRef="before")["txnStatus"] == "successful"
        next_version()
        assert deployment.run_on_connection(migrate.apply_pending) == [PROBE]
        assert shop.transfer(orderRef="after")["txnStatus"] == "successful"
        assert shop.status_of("before") == "successful"
        rows = deployment.fetch("select order_ref, probe from transaction where order_ref in ('before', 'after')")
        assert {tuple(row) for row in rows} == {("before", "none"), ("after", "none")}
        shop.connection.close()
        refused = deployment.run_any_command("migrate")
        assert (refused.returncode, "newer than this kasuwa knows" in refused.stderr) == (1, True)
