"""What keeps ending is started ever more rarely, and logged once a minute. What waits for the database does not end."""

from functools import partial
from pathlib import Path

import psutil
import pytest

from kasuwa.boot.supervisor_restarts import LOG_SECONDS, LONGEST_PAUSE_SECONDS, STABLE_SECONDS, Restarts
from tests.simulate.faulty_proxy import FaultyProxy
from tests.simulate.processes import Service, get, kill, running_database, running_service, wait_until

HALF_AN_HOUR = 1800
WAITING = "the database cannot be reached: waiting for it"


def run_for(seconds: float, life: float) -> tuple[int, int]:
    """Returns the starts and the lines of the log of a part that ends after each `life` seconds."""
    restarts, now, starts, lines = Restarts(), 0.0, 1, 0
    while now < seconds:
        ended = now + life
        lines += restarts.record_end(ended, now)
        now = max(ended, restarts.due_at)
        starts += 1
    return starts, lines


def test_what_keeps_ending_at_once_is_started_rarely_and_logged_once_a_minute() -> None:
    starts, lines = run_for(HALF_AN_HOUR, life=0.01)
    assert starts <= HALF_AN_HOUR / LONGEST_PAUSE_SECONDS + 10
    assert lines <= HALF_AN_HOUR / LOG_SECONDS + 1


def test_what_ends_after_a_long_life_is_started_and_logged_at_once() -> None:
    restarts = Restarts()
    for n in range(3):
        started_at = n * 1000.0
        assert restarts.record_end(started_at + STABLE_SECONDS, started_at)
        assert restarts.due_at == started_at + STABLE_SECONDS
        assert restarts.take_unlogged() == 1


def test_a_line_says_how_many_ends_it_stands_for() -> None:
    restarts, counts = Restarts(), []
    for n in range(100):
        if restarts.record_end(float(n), n - 0.1):
            counts.append(restarts.take_unlogged())
    assert counts == [1, 60]


def find_other(service: Service, kind: str, before: psutil.Process) -> psutil.Process | None:
    """Returns the process of a kind that runs in place of one before it, or None."""
    return next((process for process in service.child_processes(kind) if process != before), None)


def has_logged(service: Service, text: str, count: int) -> bool:
    return service.err.read_text().count(text) == count


@pytest.mark.chaos
def test_a_part_that_starts_while_the_database_is_away_waits_for_it(tmp_path: Path) -> None:
    """It is forked once, says so in one line, and works soon after the database is back."""
    with (
        running_database(tmp_path / "pg") as cluster,
        FaultyProxy(cluster).open_in_thread() as line,
        running_service(tmp_path / "data", {"KASUWA_DATABASE_URL": line.dsn}) as service,
    ):
        line.state = "refusing"
        for kind in ("worker", "api"):
            [killed] = service.child_processes(kind)
            kill([killed])
            waiting = wait_until(f"another {kind} runs", partial(find_other, service, kind, killed))
            wait_until(f"the {kind} waits", partial(has_logged, service, WAITING, 1 if kind == "worker" else 2))
            assert find_other(service, kind, killed) == waiting
        line.state = "passing"
        wait_until("it is ready", lambda: get(service.port, "/readyz") == 200)
        output = service.err.read_text()
        assert [output.count(text) for text in (WAITING, "started again", "a part failed")] == [2, 2, 0]
