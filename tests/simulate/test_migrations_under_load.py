"""A migration while the service is busy and a long transaction holds its tables: no request fails, the migration gives
up its lock request again and again, and is applied when the tables are free.

Each protection was removed once to see these tests fail (in brackets: what happened then):
    a migration waits for its lock only briefly            (it waits forever, and requests hang behind it)
    it is tried again by itself                            (it fails, and the operator has to start it again)
    a newer schema does not make a service unready         (a load balancer would drop all instances)
"""

import asyncio
import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from structlog.testing import capture_logs

from kasuwa.postgres.migrate import Migration, apply_migration
from tests.simulate.load import LOAD_TRANSFERS, LoadProcess, find_mismatches, new_merchant, running_load
from tests.simulate.processes import Service, get, running_service, wait_until, with_connection
from tests.simulate.replicas import shared_directory
from tests.simulate.waiting import wait_for_more

pytestmark = pytest.mark.chaos

# Every kind of change that our migrations make to tables that requests write. New tables and views need no such lock.
KINDS = {
    "a column and a rule": "alter table transaction add column probe text not null default '';"
    "alter table transaction drop constraint transaction_amounts_check;"
    "alter table transaction add constraint transaction_amounts_check check (least(amount, fee, vat, duty, held) >= 0)",
    "an index": "create index transaction_probe on transaction (merchant_id, created_at) where kind = 'probe'",
    "a trigger": "create trigger posting_probe before truncate on posting execute function refuse_change()",
    "room in pages": "alter table transaction set (fillfactor = 50);"
    "alter table account set (fillfactor = 50);"
    "alter table scheduled_job set (vacuum_truncate = false)",
}
# The lock that a VACUUM or a long write holds: it blocks migrations only.
HOLD = "lock table transaction, posting, account, scheduled_job in share update exclusive mode"
APPLIED = "select count(*) from migration where version = $1"
RESULT_SECONDS = 60.0


@contextlib.contextmanager
def held_tables(dsn: str) -> Iterator[None]:
    """Locks the tables in a transaction until the end of the block."""
    with asyncio.Runner() as runner:
        connection = runner.run(asyncpg.connect(dsn))
        runner.run(connection.execute("begin"))
        runner.run(connection.execute(HOLD))
        try:
            yield
        finally:
            runner.run(connection.close())


def apply(dsn: str, migration: Migration) -> str:
    return asyncio.run(with_connection(dsn, lambda connection: apply_migration(connection, migration)))


def apply_while_tables_are_held(service: Service, load: LoadProcess, migration: Migration, entries: list[Any]) -> None:
    """Applies the migration while the tables are held: it gives up and tries again, and transfers go on meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        with held_tables(service.dsn):
            applying = pool.submit(apply, service.dsn, migration)
            for times in (1, 2):
                wait_until("it gives way", partial(gave_way, migration, entries, times))
                wait_for_more(load, 20)
            assert service.query(APPLIED, migration.version)[0][0] == 0
        assert applying.result(RESULT_SECONDS) == migration.name
    assert service.query(APPLIED, migration.version)[0][0] == 1


def gave_way(migration: Migration, entries: list[Any], times: int) -> bool:
    return sum(line.get("migration") == migration.name for line in entries) >= times


def test_migrations_under_load_fail_no_request_and_are_applied_in_the_end(tmp_path: Path) -> None:
    with shared_directory() as place, running_service(place / "data") as service, capture_logs() as logged:
        merchants = [new_merchant(service.port) for _ in range(3)]
        with running_load(service.port, merchants, tmp_path / "answers") as load:
            for number, (kind, sql) in enumerate(KINDS.items(), 9001):
                apply_while_tables_are_held(service, load, Migration(number, kind, sql), logged)
                wait_for_more(load, 20)
            answers = load.stop()
        assert {(answer.http, answer.status, answer.lost) for answer in answers} == {(200, 200, "")}
        assert get(service.port, "/readyz") == 200
        assert find_mismatches(answers, service.query(LOAD_TRANSFERS)) == []
        assert service.broken_invariants() == []
