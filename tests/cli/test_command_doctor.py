"""`kasuwa doctor` and `kasuwa audit`: a healthy deployment is called healthy, and every sick one by its sickness.

That a sound state passes and a broken one does not is each test's own control.
"""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kasuwa.postgres.embedded import embedded
from tests.cli.test_command import (
    OTHER_SECRET,
    UNREACHABLE,
    Done,
    check_done,
    check_refused,
    new_database,
    prepared,
    run,
)
from tests.running import DEMO_MID
from tests.simulate.load import Client
from tests.simulate.processes import query, running_service, with_connection

LATE_JOB = """
    insert into scheduled_job (key, merchant_id, kind, lane, reference, subject, due, run_at, claims, attempt, work)
    values ('\\x00', 1, 'disburse.ask', 'bank', 'GP', '\\x00', now(), now() - interval '1 hour', 0, 0, '{}')
"""
NOTICE = (
    "insert into operator_notice (merchant_id, reference, message, at) "
    "values (1, 'GP', 'the rail says otherwise', now())"
)
SECOND_KEK = "insert into wrapped_key (purpose, version, kek, wrapped) values ('root', 0, 'other', '')"
UNREADABLE = "insert into key_move (purpose, version, unreadable) values ('seal', 1, 3)"
LATE_ROTATION = """
    insert into data_key (purpose, version, active_from, moves_from, refuses_from, retired_at)
    select 'seal', 2, at, at, at, at from (select now() - interval '2 days' as at) t
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[embedded.Cluster]:
    with prepared(tmp_path_factory.mktemp("doctor") / "pg") as running:
        yield running


@pytest.fixture
def ready(cluster: embedded.Cluster) -> str:
    return new_database(cluster, "template ready")


# --- doctor -------------------------------------------------------------------------------------------------


def check_sick(done: Done, *expected: str) -> None:
    """It says what is wrong, and how to mend it, on the line below."""
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    wrong = [n for n, line in enumerate(lines) if line.startswith("wrong")]
    assert len(wrong) == 1, done.stdout
    for words in expected:
        assert words in lines[wrong[0]]
    assert lines[wrong[0] + 1].startswith("       ")


def test_doctor_and_audit_find_nothing_wrong_with_a_healthy_deployment(tmp_path: Path) -> None:
    environ = {"KASUWA_DATA": str(tmp_path / "data")}
    with running_service(tmp_path / "data") as service:
        with Client(service.port) as client:
            client.transfer(orderRef="one")
        healthy = run("doctor", "", **environ, KASUWA_SECRET_KEY="")
        check_done(healthy, "the secret key opens this database", "commits are durable", "no job is late")
        assert "keys that encrypt: version 1 is 0 days old" in healthy.stdout
        assert all(line.startswith("ok") for line in healthy.stdout.splitlines())
        check_done(run("audit", "", **environ, KASUWA_SECRET_KEY=""), "the books are right")
        assert service.stop() == 0
        check_sick(run("doctor", "", **environ, KASUWA_SECRET_KEY=""), "no database runs")
        check_done(run("audit", "", **environ, KASUWA_SECRET_KEY=""), "the books are right")
        assert embedded.find(tmp_path / "data") is None, "what a command starts, it stops"


SICKNESSES: dict[str, tuple[str, str]] = {
    "newer schema": ("insert into migration (version, name) values (9999, 'later')", "newer"),
    "late job": (LATE_JOB, "late"),
    "notice": (NOTICE, "notice"),
    "second secret key": (SECOND_KEK, "another secret key opens this database too"),
    "late rotation": (LATE_ROTATION, "version 2 of the data key is not rolled out"),
    "unreadable": (UNREADABLE, "3 ciphertexts were opened by no key"),
}


@pytest.mark.parametrize("sickness", SICKNESSES)
def test_doctor_reports_the_problem_of_a_database(ready: str, sickness: str) -> None:
    check_done(run("doctor", ready))
    plant, expected = SICKNESSES[sickness]
    query(ready, plant)
    check_sick(run("doctor", ready), expected)


def test_doctor_advises_to_migrate_an_empty_database(cluster: embedded.Cluster) -> None:
    url = new_database(cluster)
    done = run("doctor", url)
    check_sick(done, "migration 0")
    assert "kasuwa migrate" in done.stdout


def test_doctor_reports_a_wrong_secret_key(ready: str) -> None:
    check_sick(run("doctor", ready, KASUWA_SECRET_KEY=OTHER_SECRET), "does not open this database")


def test_doctor_asks_live_for_a_key_that_signs_closes(ready: str) -> None:
    """Live asks for logins too, which this database lacks."""
    live, missing = {"KASUWA_ENVIRONMENT": "live"}, "wrong  nothing signs closes of the books"
    unsigned = run("doctor", ready, **live)
    assert (unsigned.returncode, missing in unsigned.stdout) == (1, True)
    assert "KASUWA_CLOSE_KEY is not set" in unsigned.stdout
    signed = run("doctor", ready, **live, KASUWA_CLOSE_KEY=OTHER_SECRET).stdout
    assert "ok     a key signs closes of the books" in signed
    assert missing in run("doctor", ready, **live, KASUWA_CLOSE_KEY="short").stdout


@pytest.mark.parametrize("address", [UNREACHABLE[0], UNREACHABLE[2]])
def test_doctor_reports_an_unreachable_database(address: str) -> None:
    check_sick(run("doctor", address), "the database cannot be reached")


def test_doctor_reports_settings_that_could_lose_data_in_a_crash(ready: str) -> None:
    query(ready, "alter system set full_page_writes = off")
    query(ready, "select pg_reload_conf()")
    try:
        check_sick(run("doctor", ready), "full_page_writes off")
    finally:
        query(ready, "alter system reset full_page_writes")
        query(ready, "select pg_reload_conf()")


def test_doctor_reports_a_database_user_who_cannot_create_roles(cluster: embedded.Cluster) -> None:
    query(cluster.dsn, "create role plain login")
    url = new_database(cluster, "owner plain").replace("kasuwa@", "plain@")
    check_done(run("migrate", url))
    check_sick(run("doctor", url), "guarded by triggers alone")


# --- audit --------------------------------------------------------------------------------------------------

BREAKS: dict[str, tuple[str, str]] = {
    "a balance": ("update account set posted = posted + 1 where name = 'wallet:main:NGN'", "wallet:main:NGN"),
    "a posting changed": ("update posting set amount = amount + 1 where seq = 1", "posting 1"),
    "a posting gone": ("delete from posting where seq = 2", "postings"),
    "a hold left": ("update account set held = held + 5 where name = 'wallet:main:NGN'", "wallet:main:NGN"),
    "a final transaction without its event": (
        "insert into transaction values ('\\x00', 1, 'transfer', 'GP|FD|mute', 'o', null, 'NGN', 5, 0, 0, 0,"
        " 'failed', null, '', '', '{}', '[]', now(), now())",
        "GP|FD|mute",
    ),
}


@pytest.mark.parametrize("what", BREAKS)
def test_the_audit_names_the_place_of_a_violation(ready: str, what: str) -> None:
    check_done(run("audit", ready), "the books are right")
    plant, place = BREAKS[what]
    asyncio.run(with_connection(ready, breaking(plant)))
    found = run("audit", ready)
    assert (found.returncode, found.stderr) == (1, "")
    assert any(line.startswith(f"merchant {DEMO_MID}: ") and place in line for line in found.stdout.splitlines())


def breaking(plant: str) -> Callable[[Any], Any]:
    """Returns a function that runs SQL with triggers switched off."""

    async def work(connection: Any) -> None:
        await connection.execute("set session_replication_role = replica")
        assert await connection.execute(plant) not in ("UPDATE 0", "DELETE 0")

    return work


def test_the_audit_of_an_empty_database_is_refused(cluster: embedded.Cluster) -> None:
    check_refused(run("audit", new_database(cluster)), "kasuwa migrate")
