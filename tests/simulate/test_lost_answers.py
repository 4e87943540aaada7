"""The answer to one message is lost on one connection of a running service, and the connection stays open and silent:
the service goes on by itself, whichever process it belongs to and whatever the message was.

The short form loses one answer of each kind. With KASUWA_LONG=1 every kind is lost for every role of connections that
sends it, and the longest recovery is printed. Only the service's own deadlines end the waits: no connection is cut, and
no process restarted. tests/postgres/test_lost_answers.py does the same to the writer alone, with short deadlines.
"""

import os
import time
from pathlib import Path

import pytest

from tests.simulate.answer_proxy import AnswerProxy
from tests.simulate.load import LOAD_TRANSFERS, Client, LoadProcess, find_mismatches, new_merchant, running_load
from tests.simulate.processes import (
    Service,
    broken_invariants,
    get,
    query,
    running_database,
    running_service,
    wait_until,
)
from tests.simulate.waiting import wait_for_holds, wait_for_more

pytestmark = pytest.mark.chaos

# What the short form loses: each kind of message once, and every process and kind of connection at least once.
SHORT = [
    ("kasuwa writer", "Startup"),
    ("kasuwa writer", "Execute"),
    ("kasuwa reader", "Bind"),
    ("kasuwa lists", "Parse"),
    ("kasuwa worker", "Sync"),
    ("kasuwa presence", "Describe"),
]
# Long enough for what is done every few seconds.
OBSERVED_SECONDS = 12.0
END_BACKENDS = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1"
# Sent once for each connection or each statement: it is seen again when the connections of a role are made anew.
SENT_AT_FIRST = ("Startup", "Parse", "Describe", "Flush", "Query")


def use_service(service: Service) -> None:
    """Sends what the load does not: reads of lists."""
    with Client(service.port) as client:
        client.put("/transactions", {"action": "list"})
        client.put("/resources", {"inquire": "wallet"})


def list_faults(service: Service, line: AnswerProxy) -> list[tuple[str, str]]:
    """Returns the roles and kinds of messages to lose: in the long form all that the service sends now."""
    if os.environ.get("KASUWA_LONG") != "1":
        return SHORT
    before, until = line.sent.copy(), time.monotonic() + OBSERVED_SECONDS
    while time.monotonic() < until:
        use_service(service)
    seen = [pair for pair, count in line.sent.items() if count > before[pair] and pair[0]]
    roles = {role for role, _ in seen}
    return sorted({*seen, *((role, kind) for role in roles for kind in SENT_AT_FIRST if (role, kind) in line.sent)})


def lose_one(service: Service, line: AnswerProxy, dsn: str, fault: tuple[str, str], load: LoadProcess) -> float:
    """Loses an answer. Returns how long it took until writes were acknowledged again and the service was ready."""
    role, kind = fault
    line.lose_answer(role, kind)
    if kind in SENT_AT_FIRST:
        query(dsn, END_BACKENDS, role)

    def is_lost() -> bool:
        use_service(service)
        return line.lost.is_set()

    wait_until(f"the answer to {kind} of {role} is lost", is_lost)
    lost_at = time.monotonic()
    wait_for_more(load)
    wait_until(f"it is ready after {kind} of {role}", lambda: get(service.port, "/readyz") == 200)
    return time.monotonic() - lost_at


def test_after_each_lost_answer_the_service_goes_on_by_itself(tmp_path: Path) -> None:
    with (
        running_database(tmp_path / "pg") as cluster,
        AnswerProxy(cluster).open_in_thread() as line,
        running_service(tmp_path / "data", {"KASUWA_DATABASE_URL": line.dsn}) as service,
    ):
        merchants = [new_merchant(service.port) for _ in range(3)]
        pids = {process.pid for kind in ("api", "worker") for process in service.child_processes(kind)}
        with running_load(service.port, merchants, tmp_path / "answers") as load:
            wait_for_more(load)
            faults = list_faults(service, line)
            seconds = {fault: lose_one(service, line, cluster.dsn, fault, load) for fault in faults}
            answers = load.stop()
        slowest = max(seconds, key=lambda fault: seconds[fault])
        print(f"{len(seconds)} answers lost; the longest recovery took {seconds[slowest]:.1f} s: {' '.join(slowest)}")
        wait_for_holds(cluster.dsn)
        assert {(answer.http, answer.status) for answer in answers} <= {(200, 200), (503, 204)}
        assert find_mismatches(answers, query(cluster.dsn, LOAD_TRANSFERS)) == []
        assert broken_invariants(cluster.dsn) == []
        assert {process.pid for kind in ("api", "worker") for process in service.child_processes(kind)} == pids
