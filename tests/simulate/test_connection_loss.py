"""The database goes away and comes back, as one connection or as a whole. Nothing acknowledged is lost, nothing is done
twice, no request gets HTTP 500, and no process has to be restarted.

Each protection was removed once to see these tests fail (in brackets: what happened then):
    a batch whose connection is lost before COMMIT is run again       (needless 503 or 500)
    a COMMIT whose answer is lost is looked up before it is repeated  (repeated: done twice; taken for done: lost)
    a decision that the database refuses is tried alone               (the rest of its batch fails too)
"""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kasuwa.boot import composition
from kasuwa.boot.prepare import prepare
from kasuwa.core.decision import Context, Decision, LoadedRows, Needs
from kasuwa.engine.batch import RuleFailure, Submission
from kasuwa.postgres.embedded import embedded
from kasuwa.settings.settings import Settings
from kasuwa.transactions.transactions import Transaction, transaction_key
from tests.running import start_database
from tests.simulate.load import (
    LOAD_TRANSFERS,
    Client,
    LoggedReply,
    Merchant,
    Reply,
    find_mismatches,
    new_merchant,
    running_load,
)
from tests.simulate.processes import (
    Service,
    broken_invariants,
    fault_count,
    query,
    running_database,
    running_service,
    wait_until,
    with_connection,
)
from tests.simulate.waiting import block_commits, wait_for_all_to_end, wait_for_more

pytestmark = pytest.mark.chaos

CUT = "select pg_terminate_backend(pid) from pg_stat_activity where application_name like $1"


def check_books(service: Service, answers: list[LoggedReply]) -> None:
    wait_for_all_to_end(service)
    assert find_mismatches(answers, service.query(LOAD_TRANSFERS)) == []
    assert service.broken_invariants() == []


# --- connections -----------------------------------------------------------------------------------------------


def cut_under_load(service: Service, tmp_path: Path, who: str, count: int) -> list[LoggedReply]:
    merchants = [new_merchant(service.port) for _ in range(3)]
    with running_load(service.port, merchants, tmp_path / "answers") as load:
        cut = 0
        while cut < count:
            wait_for_more(load)
            cut += sum(row[0] for row in service.query(CUT, who))
        wait_for_more(load)
        return load.stop()


def test_cutting_the_writers_connection_goes_unnoticed(tmp_path: Path) -> None:
    with running_service(tmp_path / "data") as service:
        answers = cut_under_load(service, tmp_path, "kasuwa writer", fault_count("writer connections cut"))
        check_books(service, answers)
        assert {(answer.http, answer.status) for answer in answers} == {(200, 200)}


def test_cutting_every_connection_is_at_worst_a_503(tmp_path: Path) -> None:
    with running_service(tmp_path / "data", workers=2) as service:
        answers = cut_under_load(service, tmp_path, "kasuwa %", fault_count("other connections cut"))
        assert {(answer.http, answer.status) for answer in answers} <= {(200, 200), (503, 204)}
        check_books(service, answers)


# --- the whole database ----------------------------------------------------------------------------------------


@contextmanager
def serving_on(cluster: embedded.Cluster, tmp_path: Path) -> Iterator[Service]:
    """Starts a service on a database that the test can stop and start."""
    with running_service(tmp_path / "data", {"KASUWA_DATABASE_URL": cluster.dsn}) as service:
        yield service


def test_a_database_that_was_away_for_seconds_is_used_again_without_a_restart(tmp_path: Path) -> None:
    with running_database(tmp_path / "pg") as cluster, serving_on(cluster, tmp_path) as service:
        merchants = [new_merchant(service.port) for _ in range(3)]
        pids = [process.pid for process in service.child_processes("api")]
        with running_load(service.port, merchants, tmp_path / "answers") as load:
            for _ in range(fault_count("stops of the database")):
                wait_for_more(load)
                cluster.stop()
                time.sleep(3)
                start_database(tmp_path / "pg")
                wait_for_more(load)
            answers = load.stop()
        assert {(answer.http, answer.status) for answer in answers} <= {(200, 200), (503, 204)}
        assert [process.pid for process in service.child_processes("api")] == pids
        check_books(service, answers)


# --- a crash in the middle of a COMMIT -----------------------------------------------------------------------

# Runs inside COMMIT, before it is written, so the crash leaves nothing of the transaction.
HANG_IN_COMMIT = """
    do $do$ begin execute format($function$
        create or replace function hang() returns trigger language plpgsql as $$ begin
            if pg_postmaster_start_time() < %L then perform pg_sleep(60); end if; return null;
        end $$ $function$, now()); end $do$;
    drop trigger if exists hang on posting;
    create constraint trigger hang after insert on posting
        deferrable initially deferred for each row execute function hang();
"""
HANGING = "select count(*) from pg_stat_activity where application_name = 'kasuwa writer' and wait_event = $1"
# So that an uncommitted transaction is not on disk either, as in any crash within the default 0.2 s.
LAZY_LOG = {"wal_writer_delay": "10s"}


def crash(directory: Path) -> None:
    pid = int((directory / "cluster" / "data" / "postmaster.pid").read_text().split()[0])
    os.kill(pid, signal.SIGKILL)
    start_database(directory, options=LAZY_LOG)


def fund(service: Service, merchant: Merchant) -> Reply:
    with Client(service.port, merchant) as client:
        return client.put("/sandbox", {"action": "fund_wallet", "currency": "NGN", "amount": "1.00"})


def balance(service: Service, merchant: Merchant) -> str:
    with Client(service.port, merchant) as client:
        return client.wallet()["balance"]


def prepare_merchant(service: Service, way: str) -> Merchant:
    """Makes a merchant whose next write is decided from the row cache or, if another process seems to have written it,
    with locks."""
    merchant = new_merchant(service.port)
    if way == "locked":
        service.query("update merchant_state b set version = version + 1 from merchant m where m.mid = $1"
            " and m.merchant_id = b.merchant_id", merchant.mid)  # fmt: skip
    return merchant


def fund_during_crash(service: Service, directory: Path, merchant: Merchant, event: str) -> Reply:
    """Returns the reply to a funding during whose COMMIT the database crashed. Other writes come before the look-up, so
    that the transaction id that was never written is assigned again."""
    with ThreadPoolExecutor(1) as pool:
        funding = pool.submit(fund, service, merchant)
        wait_until("the commit hangs", lambda: service.query(HANGING, event)[0][0])
        # While every commit hangs, the setting cannot be reset by SQL. Its file can be changed before a start.
        (directory / "cluster" / "data" / "postgresql.auto.conf").write_text("")
        crash(directory)
        for _ in range(20):
            service.query("select pg_current_xact_id()")
        return funding.result()


@pytest.fixture(scope="module")
def crashing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Path]]:
    """A service, and the directory of its database, which tests crash and start again."""
    place = tmp_path_factory.mktemp("crashing")
    with running_database(place / "pg", LAZY_LOG) as cluster, serving_on(cluster, place) as service:
        yield service, place / "pg"


@pytest.mark.xdist_group("crashes")
@pytest.mark.parametrize("way", ["on memory", "locked"])
def test_a_commit_that_was_lost_in_a_crash_is_not_taken_for_another(crashing: tuple[Service, Path], way: str) -> None:
    """After a crash, PostgreSQL assigns transaction ids again that were never written to its log."""
    service, directory = crashing
    for _ in range(fault_count("kills of PostgreSQL during a commit")):
        merchant = prepare_merchant(service, way)
        asyncio.run(with_connection(service.dsn, lambda connection: connection.execute(HANG_IN_COMMIT)))
        reply = fund_during_crash(service, directory, merchant, "PgSleep")
        found = (reply.http, reply.body["status"], balance(service, merchant))
        assert found in {(200, 200, "10000001.00"), (503, 204, "10000000.00")}
    assert service.broken_invariants() == []


@pytest.mark.xdist_group("crashes")
@pytest.mark.parametrize("way", ["on memory", "locked"])
def test_a_commit_that_was_kept_in_a_crash_is_not_done_again(crashing: tuple[Service, Path], way: str) -> None:
    """A COMMIT that waits for a standby is on disk already: only its answer is lost."""
    service, directory = crashing
    for _ in range(fault_count("kills of PostgreSQL during a commit")):
        merchant = prepare_merchant(service, way)
        block_commits(service)
        reply = fund_during_crash(service, directory, merchant, "SyncRep")
        assert (reply.http, reply.body["status"]) in {(200, 200), (503, 204)}
        assert balance(service, merchant) == "10000001.00"
    assert service.broken_invariants() == []


# --- poison -------------------------------------------------------------------------------------------------------


def order(context: Context, rows: LoadedRows, order_ref: str, amount: int) -> Decision:
    """Returns a transaction row. The database refuses it if the amount is not above zero."""
    merchant_id, now = context.merchant.merchant_id, datetime.now(UTC)
    row = Transaction(
        key=transaction_key(merchant_id, "probe", order_ref),
        merchant_id=merchant_id,
        kind="probe",
        txn_ref=f"probe {order_ref}",
        order_ref=order_ref,
        batch_ref=None,
        currency="NGN",
        amount=amount,
        fee=0,
        vat=0,
        duty=0,
        status="failed",
        code=None,
        message="",
        digest=b"",
        detail="{}",
        trail="[]",
        created_at=now,
        final_at=now,
    )
    return Decision(reply=order_ref, rows=(row,))


async def submit_with_poison(dsn: str, data: Path, poisoned: set[int]) -> list[Any]:
    settings = Settings(data=data, database_url=dsn)
    await prepare(settings, dsn)
    services = await composition.Services.build(settings, dsn)
    services.writer.start()
    merchant = await services.merchant_directory.get_by_id(1)

    def submission(n: int) -> Submission:
        amount = -1 if n in poisoned else 1
        needs = Needs(((Transaction, transaction_key(merchant.merchant_id, "probe", str(n))),))
        return Submission(merchant, needs, lambda c, s: order(c, s, str(n), amount), os.urandom(32))

    try:
        return list(await asyncio.gather(*(services.writer.submit(submission(n)) for n in range(50))))
    finally:
        await services.close()


def test_a_decision_that_the_database_refuses_does_not_fail_its_neighbours(tmp_path: Path) -> None:
    poisoned = {7, 23}
    with running_database(tmp_path) as cluster:
        results = asyncio.run(submit_with_poison(cluster.dsn, tmp_path, poisoned))
        assert {n for n, result in enumerate(results) if isinstance(result, RuleFailure)} == poisoned
        assert [result.reply for result in results if isinstance(result, Decision)] == [
            str(n) for n in range(50) if n not in poisoned
        ]
        kept = query(cluster.dsn, "select order_ref from transaction where kind = 'probe'")
        assert {int(row[0]) for row in kept} == set(range(50)) - poisoned
        assert not [invariant for invariant in broken_invariants(cluster.dsn) if "event" not in invariant]
