"""The primary is killed and its standby promoted: everything acknowledged is there once, as it was acknowledged, and
the service continues with the new primary without a restart.

Each protection was removed once to see these tests fail (in brackets: what happened then):
    of the servers in KASUWA_DATABASE_URL the primary is used      (any server: the service does not start)
    a commit waits for the standby                                 (asynchronous: lost, see below)
    a canceled wait for the standby is not a success               (acknowledged)
    a commit that survived a crash waits for the standby too       (only looked up: acknowledged)
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from kasuwa.api.outcome import OUTCOME_UNKNOWN
from kasuwa.postgres.embedded import embedded
from tests.running import start_database
from tests.simulate.load import LOAD_TRANSFERS, Client, LoggedReply, Reply, find_mismatches, new_merchant, running_load
from tests.simulate.processes import (
    Service,
    child_pids,
    fault_count,
    kill,
    postmaster_of,
    running_database,
    running_service,
    wait_until,
)
from tests.simulate.replicas import running_pair, shared_directory
from tests.simulate.waiting import block_commits, wait_for_all_to_end, wait_for_more

pytestmark = [pytest.mark.chaos, pytest.mark.xdist_group("standby")]


def check_answers(answers: list[LoggedReply]) -> None:
    """Asserts that the API answered all the time: with the outcome, or that it is unavailable for a moment."""
    assert {(answer.http, answer.status, answer.lost) for answer in answers} <= {(200, 200, ""), (503, 204, "")}


def test_a_promoted_standby_has_all_that_was_acknowledged(tmp_path: Path) -> None:
    with running_pair() as servers, running_service(tmp_path / "data", {"KASUWA_DATABASE_URL": servers.dsn}) as service:
        merchants = [new_merchant(service.port) for _ in range(3)]
        parts = child_pids(service)
        with running_load(service.port, merchants, tmp_path / "answers") as load:
            for n in range(fault_count("promotions of a synchronous standby")):
                if n > 0:
                    servers.attach_standby()
                servers.make_synchronous()
                wait_for_more(load)
                servers.fail_over(all_at_once=n % 2 == 0)
                wait_for_more(load)
            answers = load.stop()
        wait_for_all_to_end(service)
        assert find_mismatches(answers, service.query(LOAD_TRANSFERS)) == []
        assert service.broken_invariants() == []
        check_answers(answers)
        assert child_pids(service) == parts


def test_a_standby_that_nobody_waits_for_loses_and_the_check_says_so(tmp_path: Path) -> None:
    """Control of the test above: only the waiting is removed."""
    with running_pair() as servers, running_service(tmp_path / "data", {"KASUWA_DATABASE_URL": servers.dsn}) as service:
        merchant = new_merchant(service.port)
        with running_load(service.port, [merchant], tmp_path / "answers") as load:
            servers.detach_standby()
            wait_for_more(load, 50)  # more than were under way when it was cut off
            servers.fail_over(all_at_once=True)
            wait_for_more(load)
            answers = load.stop()
        found = find_mismatches(answers, service.query(LOAD_TRANSFERS))
        assert any(fault.endswith("is there 0 times") for fault in found), found


# --- commits that wait for a standby ------------------------------------------------------------------------

WAITING = "select pid from pg_stat_activity where wait_event = 'SyncRep' and application_name = 'kasuwa writer'"
CANCEL = f"select pg_cancel_backend(pid) from ({WAITING}) waiting"


@pytest.fixture(scope="module")
def alone() -> Iterator[Service]:
    """A service whose database has no standby, for tests that make commits wait for one."""
    with (
        shared_directory() as place,
        running_database(place / "pg") as cluster,
        running_service(place / "data", {"KASUWA_DATABASE_URL": cluster.dsn}) as service,
    ):
        yield service


@contextmanager
def funding_that_waits(service: Service, way: str) -> "Iterator[Future[Reply]]":
    """A commit that waits for a missing standby, decided from the row cache or, if another process seems to have
    written the merchant, with locks. The wait ends with the block."""
    merchant = new_merchant(service.port)
    if way == "locked":
        service.query("update merchant_state b set version = version + 1 from merchant m where m.mid = $1"
            " and m.merchant_id = b.merchant_id", merchant.mid)  # fmt: skip
    block_commits(service)
    order = {"action": "fund_wallet", "currency": "NGN", "amount": "1.00"}
    with Client(service.port, merchant) as client, ThreadPoolExecutor(1) as pool:
        funding = pool.submit(client.put, "/sandbox", order)
        try:
            wait_until("the commit waits", lambda: service.query(WAITING))
            yield funding
        finally:
            # While every commit waits, the setting cannot be reset by SQL. Its file can be changed.
            (directory_of(service) / "cluster" / "data" / "postgresql.auto.conf").write_text("")
            service.query("select pg_reload_conf()")


def directory_of(service: Service) -> Path:
    return service.data.with_name("pg")


@pytest.mark.parametrize("way", ["on memory", "locked"])
def test_a_wait_for_the_standby_that_was_cancelled_is_no_success(alone: Service, way: str) -> None:
    with funding_that_waits(alone, way) as funding:
        wait_until("it is answered", lambda: alone.query(CANCEL) is not None and funding.done())
    reply = funding.result()
    assert (reply.http, reply.body["status"], reply.body["message"]) == (
        503,
        OUTCOME_UNKNOWN.code,
        OUTCOME_UNKNOWN.message,
    )


def test_a_commit_that_was_kept_in_a_crash_is_answered_when_the_standby_has_it(alone: Service) -> None:
    directory = directory_of(alone)
    with funding_that_waits(alone, "on memory") as funding:
        kill([wait_until("PostgreSQL runs", lambda: postmaster_of(directory))])
        wait_until("PostgreSQL is gone", lambda: not embedded.Cluster(directory).is_running())
        start_database(directory)
        wait_until("who asks after it waits too, or was told", lambda: alone.query(WAITING) or funding.done())
        assert not funding.done() or funding.result().http == 503
    assert (funding.result().http, funding.result().body["status"]) in {(200, 200), (503, 204)}
    assert alone.broken_invariants() == []
