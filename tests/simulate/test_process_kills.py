"""Kill -9 under load: everything acknowledged is in the database once, as it was acknowledged, and every transfer ends.

Each protection was removed once to see these tests fail (in brackets: what happened then):
    the reply leaves only after its commit is durable      (reply before COMMIT, or synchronous_commit off: lost)
    a reference is one transfer                            (a second use as a new one: twice)
    a job whose lease expired is claimed again             (its hold never ends)
    `serve` restarts what died, also the database          (nothing answers)

The checker itself is tested below on losses, copies and wrong amounts made in a real database.
"""

import asyncio
import contextlib
import random
import signal
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import psutil
import pytest

from tests.simulate.load import (
    LOAD_TRANSFERS,
    Client,
    LoadProcess,
    LoggedReply,
    find_mismatches,
    new_merchant,
    running_load,
)
from tests.simulate.processes import (
    Service,
    child_pids,
    fault_count,
    get,
    is_alive,
    is_fully_running,
    kill,
    running_service,
    wait_until,
    with_connection,
)
from tests.simulate.waiting import wait_for_all_to_end, wait_for_more

pytestmark = pytest.mark.chaos

generator = random.Random(20)

WRITERS = "select pid from pg_stat_activity where application_name = 'kasuwa writer'"


# Transfers that a run under load must have acknowledged to have tested anything.
ENOUGH = 100


def finish_load(load: LoadProcess) -> list[LoggedReply]:
    """Stops the load when it has sent enough since the last kill and in all, and returns all replies."""
    wait_for_more(load, 1)
    wait_until("enough is acknowledged", lambda: load.acknowledged() > ENOUGH)
    return load.stop()


def check_books(service: Service, answers: list[LoggedReply]) -> None:
    assert len(answers) > ENOUGH
    assert find_mismatches(answers, service.query(LOAD_TRANSFERS)) == []
    assert service.broken_invariants() == []


# --- the API and the worker -------------------------------------------------------------------------------


def kill_plan() -> list[str]:
    kills = ["api"] * fault_count("kills of an API process") + ["worker"] * fault_count("kills of the job worker")
    kills += ["all"] * fault_count("kills of all of them at once")
    generator.shuffle(kills)
    return kills


def kill_once(service: Service, what: str) -> None:
    api, worker = service.child_processes("api"), service.child_processes("worker")
    victims = {"api": [generator.choice(api)], "worker": worker, "all": [*api, *worker]}[what]
    kill(victims)
    wait_until("all parts run again", lambda: is_fully_running(service, victims))


def test_kills_of_api_and_worker_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    with running_service(tmp_path / "data", workers=2) as service:
        merchants = [new_merchant(service.port) for _ in range(3)]
        with running_load(service.port, merchants, tmp_path / "answers") as load:
            for what in kill_plan():
                wait_for_more(load, 1)
                kill_once(service, what)
            answers = finish_load(load)
        wait_for_all_to_end(service)
        check_books(service, answers)
        assert {answer.http for answer in answers} <= {0, 200}


# --- PostgreSQL -------------------------------------------------------------------------------------------


def crash_database(service: Service, how: str) -> None:
    """Kills the database: its main process alone, all processes as by `-m immediate`, or one backend."""
    victim = wait_until("one is killed", partial(kill_of_database, service, how))
    wait_until("the victim is gone", lambda: not is_alive(victim))
    wait_until("PostgreSQL answers again", lambda: answers_queries(service))


def kill_of_database(service: Service, how: str) -> psutil.Process | None:
    """Kills a database process and returns which. Writers come and go, so one may be gone already."""
    writers = [row[0] for row in service.query(WRITERS)]
    with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
        victim = psutil.Process(generator.choice(writers)) if how == "backend" and writers else service.postmaster()
        if victim is not None:
            kill([victim], signal.SIGQUIT if how == "immediate" else signal.SIGKILL)
            return victim
    return None


def answers_queries(service: Service) -> bool:
    try:
        return service.query("select true")[0][0] is True
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return False


def test_kills_of_postgresql_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    with running_service(tmp_path / "data") as service:
        merchants = [new_merchant(service.port) for _ in range(3)]
        parts = child_pids(service)
        with running_load(service.port, merchants, tmp_path / "answers") as load:
            for n in range(fault_count("kills of PostgreSQL")):
                wait_for_more(load, 1)
                crash_database(service, ("postmaster", "immediate", "backend")[n % 3])
            answers = finish_load(load)
        wait_for_all_to_end(service)
        check_books(service, answers)
        # The API answered all the time: with the outcome, or that the service is unavailable for a moment.
        found = {(answer.http, answer.status, answer.lost) for answer in answers}
        assert found <= {(200, 200, ""), (503, 204, "")}
        assert child_pids(service) == parts


def is_started_again(service: Service, killed: psutil.Process) -> bool:
    assert service.supervisor.poll() is None, service.err.read_text()
    return service.postmaster() not in (None, killed)


def test_a_database_that_is_killed_while_it_starts_is_started_again(tmp_path: Path) -> None:
    """Guards against a supervisor that gives up, and stops the API, when one restart fails."""
    with running_service(tmp_path / "data") as service:
        parts = child_pids(service)
        for _ in range(3):
            killed = wait_until("PostgreSQL runs", service.postmaster)
            kill([killed])
            # As soon as the next server process exists, long before it has recovered.
            wait_until("it is started again", partial(is_started_again, service, killed), every=0.001)
        wait_until("the service is ready", lambda: get(service.port, "/readyz") == 200)
        assert child_pids(service) == parts
        with Client(service.port) as client:
            assert client.transfer(orderRef="after").body["txnStatus"] == "successful"


# --- the control: the check sees what is planted ----------------------------------------------------------

PLANTS = {
    "a loss": ("delete from transaction where order_ref = $1", "is there 0 times"),
    "a copy": (
        "insert into transaction select '\\x00', merchant_id, kind, 'GP|FD|copy', order_ref, batch_ref, "
        " currency, amount, fee, vat, duty, status, code, message, digest, detail, trail, created_at, final_at"
        " from transaction where order_ref = $1",
        "is there 2 times",
    ),
    "another amount": (
        "update transaction set amount = amount + 1 where order_ref = $1",
        "was acknowledged under",
    ),
    "another end": (
        "update transaction set status = 'failed' where order_ref = $1",
        "was acknowledged as successful",
    ),
    "money moved twice": (
        "insert into posting select merchant_id, -seq, group_seq, reference, debit, credit, amount, "
        " debit_after, credit_after, kind, at from posting p where reference = (select txn_ref from transaction t"
        " where t.order_ref = $1 and t.merchant_id = p.merchant_id)",
        "left the wallet",
    ),
}


def test_the_check_finds_every_planted_loss_copy_and_change(tmp_path: Path) -> None:
    with running_service(tmp_path / "data") as service:
        with running_load(service.port, [new_merchant(service.port)], tmp_path / "answers") as load:
            wait_until("some are acknowledged", lambda: load.acknowledged() > 20)
            answers = load.stop()
        wait_for_all_to_end(service)
        assert find_mismatches(answers, service.query(LOAD_TRANSFERS)) == []
        victim = next(answer for answer in answers if answer.txn_status == "successful").order_ref
        for what, (plant, expected) in PLANTS.items():
            check = partial(check_planted, plant=plant, victim=victim, answers=answers)
            found = asyncio.run(with_connection(service.dsn, check))
            assert any(fault.startswith(victim) and expected in fault for fault in found), (what, found)
        with Client(service.port) as client:
            client.transfer(orderRef="load-by-nobody")
        assert find_mismatches(answers, service.query(LOAD_TRANSFERS)) == ["load-by-nobody: nobody was told"]


async def check_planted(connection: Any, plant: str, victim: str, answers: list[LoggedReply]) -> list[str]:
    """Makes a violation in a transaction that is rolled back, so that the next one finds the books unchanged."""
    transaction = connection.transaction()
    await transaction.start()
    try:
        await connection.execute("set local session_replication_role = replica")
        await connection.execute(plant, victim)
        return find_mismatches(answers, await connection.fetch(LOAD_TRANSFERS))
    finally:
        await transaction.rollback()


def test_the_check_names_an_order_that_was_never_acknowledged() -> None:
    assert find_mismatches([LoggedReply("load-1", 100, 0, lost="EOFError")], []) == [
        "load-1: never acknowledged",
        "load-1: is there 0 times",
    ]
