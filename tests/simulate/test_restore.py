"""Restores a busy service to a moment in the past with the commands of docs/operating.md: the books are exactly what
they were then, and the service continues from there.

The protection was removed once to see this test fail (in brackets: what happened then):
    the log is replayed up to the named moment        (without recovery_target_name: later transfers are there)
"""

import asyncio
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kasuwa.postgres.embedded.programs import find_tool
from tests.command_processes import COMMAND_SECONDS
from tests.running import EMBEDDED
from tests.simulate.load import Client, new_merchant, running_load
from tests.simulate.processes import (
    Service,
    broken_invariants,
    running_database,
    running_service,
    wait_until,
    with_connection,
)
from tests.simulate.replicas import shared_directory
from tests.simulate.waiting import wait_for_more

pytestmark = pytest.mark.chaos

OPERATING = Path(__file__).parents[2] / "docs" / "operating.md"
POSTINGS = "select count(*) from posting"
ARCHIVED = "select last_archived_wal >= $1 from pg_stat_archiver"
# The tables of the books. Jobs and deliveries are not included: the lock below does not stop them.
BOOKS = ("merchant_state", "account", "posting", "transaction", "event")


class Recipe:
    """The shell commands under "Backups", and the directories that they use."""

    def __init__(self, place: Path, dsn: str, secret: Path) -> None:
        section = OPERATING.read_text().partition("\n## Backups\n")[2].partition("\n## ")[0]
        self.keep_log, self.copy, self.restore = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
        self.restored = place / "restored"
        self._environ = {
            "PATH": f"{find_tool('psql').parent}:{os.environ['PATH']}",
            "DATABASE": dsn,
            "LOG": str(place / "log"),
            "BASE": str(place / "base"),
            "SECRET": str(secret),
            "RESTORED": str(self.restored),
        }

    def run(self, commands: str) -> None:
        done = subprocess.run(
            ["/bin/sh", "-euc", commands], env=self._environ, capture_output=True, text=True, timeout=COMMAND_SECONDS
        )
        assert done.returncode == 0, done.stderr


def make_log_directory(place: Path, owner: Path) -> None:
    """Makes the directory writable for PostgreSQL's account, which differs from ours if we are root."""
    (place / "log").mkdir()
    shutil.chown(place / "log", owner.stat().st_uid, owner.stat().st_gid)


async def read_books(connection: Any) -> dict[str, list[str]]:
    rows = {table: await connection.fetch(f"select t::text from {table} t order by 1") for table in BOOKS}
    return {table: [row[0] for row in found] for table, found in rows.items()}


async def name_moment(connection: Any) -> dict[str, list[str]]:
    """Names the moment "before" in the middle of the load and returns the books. The lock stops every writer."""
    async with connection.transaction():
        await connection.execute("lock table merchant_state in exclusive mode")
        books = await read_books(connection)
        await connection.execute("select pg_create_restore_point('before')")
    return books


def wait_until_archived(service: Service) -> None:
    """Waits until the current log is archived, which archive_timeout would do a minute later."""
    segment = service.query("select pg_walfile_name(pg_switch_wal())")[0][0]
    wait_until("the log is archived", lambda: service.query(ARCHIVED, segment)[0][0])


def live_through_the_day(service: Service, recipe: Recipe, log: Path) -> dict[str, list[str]]:
    """Makes a base backup and names a moment while transfers run. Returns the books at that moment."""
    merchants = [new_merchant(service.port) for _ in range(3)]
    with running_load(service.port, merchants, log) as load:
        wait_for_more(load, 20)
        recipe.run(recipe.copy)
        wait_for_more(load, 20)
        books = asyncio.run(with_connection(service.dsn, name_moment))
        assert len(books["posting"]) > 0
        wait_until("money moves on", lambda: service.query(POSTINGS)[0][0] > len(books["posting"]))
        load.stop()
    wait_until_archived(service)
    return books


def test_the_books_are_restored_to_a_moment_and_the_service_goes_on(tmp_path: Path) -> None:
    with shared_directory() as place:
        with running_database(place / "data", version=EMBEDDED) as cluster:
            recipe = Recipe(place, cluster.dsn, place / "data" / "secret.key")
            make_log_directory(place, place / "data" / "cluster")
            recipe.run(recipe.keep_log)
        with running_service(place / "data") as service:
            books = live_through_the_day(service, recipe, tmp_path / "answers")
        recipe.run(recipe.restore)
        with running_database(recipe.restored, version=EMBEDDED) as restored:
            assert asyncio.run(with_connection(restored.dsn, read_books)) == books
            assert broken_invariants(restored.dsn) == []
        with running_service(recipe.restored) as service:
            with Client(service.port) as client:
                assert client.transfer(orderRef="afterwards").body["txnStatus"] == "successful"
            assert service.broken_invariants() == []
