"""Starting and stopping: requests in flight are answered before the service ends, and what a kill left behind is taken
over by the next start.

Each protection was removed once to see these tests fail (in brackets: what happened then):
    the API answers requests in flight before it ends      (connections closed without a reply)
    the database stops last                                (requests in flight get 503)
    a process whose parent is dead ends by itself          (two generations serve one port)
"""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
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
    Merchant,
    Reply,
    find_mismatches,
    new_merchant,
    running_load,
    transfer_body,
)
from tests.simulate.processes import Service, fault_count, get, is_alive, running_service, wait_until
from tests.simulate.waiting import wait_for_all_to_end

pytestmark = pytest.mark.chaos

BOOKS = "select * from {} order by 1, 2"
TABLES = ("transaction", "posting", "event", "account", "merchant", "merchant_key")
LOCK_MERCHANT = (
    "select 1 from merchant_state join merchant using (merchant_id) where mid = $1 for update of merchant_state"
)
WAITING = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'kasuwa writer'"


def contents(service: Service) -> dict[str, list[Any]]:
    return {table: [tuple(row) for row in service.query(BOOKS.format(table))] for table in TABLES}


def has_more(load: LoadProcess, count: int) -> bool:
    return load.acknowledged() > count


def everything(service: Service) -> list[psutil.Process]:
    postmaster = service.postmaster()
    return [*service.child_processes("api"), *service.child_processes("worker"), *([postmaster] if postmaster else [])]


# --- asked to stop ------------------------------------------------------------------------------------------


@contextmanager
def held_books(dsn: str, merchant: Merchant) -> Iterator[Callable[[], None]]:
    """Locks a merchant's state row, so that its requests stay in flight until the returned function is called."""
    loop = asyncio.new_event_loop()
    connection = loop.run_until_complete(take_lock(dsn, merchant))
    try:
        yield lambda: loop.run_until_complete(connection.execute("commit"))
    finally:
        loop.run_until_complete(let_go(connection))
        loop.close()


async def take_lock(dsn: str, merchant: Merchant) -> Any:
    connection = await asyncpg.connect(dsn)
    await connection.execute("begin")
    await connection.execute(LOCK_MERCHANT, merchant.mid)
    return connection


async def let_go(connection: Any) -> None:
    connection.terminate()  # by then its server may have stopped
    await asyncio.sleep(0.01)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_requests_in_flight_are_answered_before_it_stops(tmp_path: Path, how: signal.Signals) -> None:
    with running_service(tmp_path / "data", workers=2) as service:
        merchant = new_merchant(service.port)
        with held_books(service.dsn, merchant) as release:
            replies = ask_and_stop(service, merchant, release, how)
        assert service.supervisor.wait(60) == 0
        assert {(reply.http, reply.body["txnStatus"]) for reply in replies} == {(200, "successful")}
        assert everything(service) == []
        service.start()
        with Client(service.port, merchant) as client:
            for reply in replies:
                assert client.verify(reply.body["orderRef"])["txnStatus"] == "successful"
        assert service.broken_invariants() == []


def ask_and_stop(service: Service, merchant: Merchant, release: Callable[[], None], how: signal.Signals) -> list[Reply]:
    """Sends requests on many connections, then the signal, and only then lets them be answered."""
    with ExitStack() as stack:
        clients = [stack.enter_context(Client(service.port, merchant)) for _ in range(40)]
        for n, client in enumerate(clients):
            client.send("/disburse", transfer_body(orderRef=f"flight-{n}"))
        wait_until("the merchant's owner waits for the lock", lambda: service.query(WAITING)[0][0] == 1)
        service.supervisor.send_signal(how)
        wait_until("the door is closed", lambda: get(service.port, "/healthz") == 0)
        release()
        return [client.receive() for client in clients]


def test_a_stop_under_load_and_a_start_on_the_same_data_keep_everything(tmp_path: Path) -> None:
    with running_service(tmp_path / "data", workers=2) as service:
        merchants = [new_merchant(service.port) for _ in range(2)]
        with running_load(service.port, merchants, tmp_path / "answers") as load:
            for _ in range(fault_count("shutdowns under load")):
                before = load.acknowledged()
                wait_until("some are acknowledged", partial(has_more, load, before + 50))
                assert service.stop() == 0
                assert everything(service) == []
                service.start()
            answers = load.stop()
        assert {(answer.http, answer.status) for answer in answers} <= {(200, 200), (503, 204), (0, 0)}
        wait_for_all_to_end(service)
        assert find_mismatches(answers, service.query(LOAD_TRANSFERS)) == []
        kept = contents(service)
        service.stop()
        service.start()
        assert contents(service) == kept
        assert service.broken_invariants() == []


# --- not asked ------------------------------------------------------------------------------------------------


def test_parts_whose_supervisor_was_killed_stop_and_the_next_start_takes_over(tmp_path: Path) -> None:
    with running_service(tmp_path / "data", workers=2) as service:
        with Client(service.port) as client:
            assert client.transfer(orderRef="before").body["txnStatus"] == "successful"
        orphans = [*service.child_processes("api"), *service.child_processes("worker")]
        left_over = service.postmaster()
        assert len(orphans) == 3
        service.supervisor.kill()
        service.supervisor.wait()
        wait_until("the parts go by themselves", lambda: not any(map(is_alive, orphans)))
        assert left_over is not None
        assert is_alive(left_over), "the database outlives the kill, so that no commit is cut off"
        service.start()
        with Client(service.port) as client:
            assert client.verify("before")["txnStatus"] == "successful"
            assert client.transfer(orderRef="after").body["txnStatus"] == "successful"
        assert service.stop() == 0
        assert everything(service) == []
        assert not is_alive(left_over), "the next start takes it over, and stops it in the end"


def test_a_supervisor_killed_at_its_start_leaves_nobody_on_its_port(tmp_path: Path) -> None:
    """The parts are forked within the first second. One that is forked just before the kill must notice it too."""
    with running_service(tmp_path / "data", workers=2) as service:
        assert service.stop() == 0
        for moment in range(fault_count("kills of a supervisor at its start")):
            service.launch()
            wait_until("the parts are being forked", lambda: service.child_processes("worker"), every=0.001)
            time.sleep(moment * 0.03)
            service.supervisor.kill()
            service.supervisor.wait()
            service.start()
            with Client(service.port) as client:
                assert client.transfer(orderRef=f"after {moment}").body["txnStatus"] == "successful"
            assert service.stop() == 0
        assert everything(service) == []


def test_a_part_whose_supervisor_died_before_it_ran_ends_at_once() -> None:
    """A process that is forked late sees the adopting process as its parent, so it is told the process id of the
    supervisor."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    program = (
        f"from kasuwa.boot import supervisor_watch; supervisor_watch.exit_with_supervisor({dead.pid}); print('goes on')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_start_finds_its_way_after_everything_was_killed(tmp_path: Path) -> None:
    with running_service(tmp_path / "data") as service:
        with Client(service.port) as client:
            client.transfer(orderRef="before")
        for process in [psutil.Process(service.supervisor.pid), *everything(service)]:
            process.kill()
        service.supervisor.wait()
        wait_until("all are gone", lambda: not everything(service))
        service.start()
        with Client(service.port) as client:
            assert client.verify("before")["txnStatus"] == "successful"
        assert service.broken_invariants() == []


def test_a_second_service_on_the_same_data_does_not_end_the_first(tmp_path: Path) -> None:
    """Both share the database of the data directory. When the second stops, the first must keep it."""
    with running_service(tmp_path / "data") as first:
        second = Service(tmp_path / "data", {})
        second.out = second.out.with_suffix(".second")
        second.start()
        assert second.stop() == 0
        wait_until("the first is ready", lambda: get(first.port, "/readyz") == 200)
        with Client(first.port) as client:
            assert client.transfer(orderRef="alone again").body["txnStatus"] == "successful"
        assert first.stop() == 0
