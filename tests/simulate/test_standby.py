"""The primary is killed and its standby promoted: what was acknowledged is there, once, as it was acknowledged, and
the service goes on with the other without being started again.

Guarded protections, each taken away once to see these tests fail:
    several servers in KASUWA_DATABASE_URL, of which the primary is used      (the driver's own choice: 503 for ever)
    a commit waits for the standby                                            (asynchronous: lost, see below)
    a wait for the standby that was cancelled is no success                   (taken for one: acknowledged, see below)
"""

from pathlib import Path

import pytest

from tests.simulate.load import TRUTH, Answer, Load, faults_of, loading, new_merchant
from tests.simulate.processes import Service, pids_of_parts, serving, times, wait_until
from tests.simulate.replicas import replicated

pytestmark = pytest.mark.chaos

PENDING_HOLDS = "select count(*) from hold where state = 'pending'"
ENDS_SECONDS = 120.0


def wait_for_more(load: Load, count: int = 10) -> None:
    before = load.acknowledged()
    wait_until("transfers are acknowledged", lambda: load.acknowledged() >= before + count)


def check_answers(answers: list[Answer]) -> None:
    """The API answered all along: with the truth, or that it cannot be reached for a moment."""
    assert {(answer.http, answer.status, answer.lost) for answer in answers} <= {(200, 200, ""), (503, 204, "")}


def wait_for_all_to_end(service: Service) -> None:
    wait_until("every hold ends", lambda: service.query(PENDING_HOLDS)[0][0] == 0, ENDS_SECONDS)


def test_a_promoted_standby_has_all_that_was_acknowledged(tmp_path: Path) -> None:
    with replicated() as servers, serving(tmp_path / "data", {"KASUWA_DATABASE_URL": servers.dsn}) as service:
        merchants = [new_merchant(service.port) for _ in range(3)]
        parts = pids_of_parts(service)
        with loading(service.port, merchants, tmp_path / "answers") as load:
            for n in range(times("promotions of a synchronous standby")):
                servers.attach_standby()
                servers.make_synchronous()
                wait_for_more(load)
                servers.fail_over(all_at_once=n % 2 == 0)
                wait_for_more(load)
            answers = load.stop()
        wait_for_all_to_end(service)
        assert faults_of(answers, service.query(TRUTH)) == []
        assert service.broken_laws() == []
        check_answers(answers)
        assert pids_of_parts(service) == parts


def test_a_standby_that_nobody_waits_for_loses_and_the_check_says_so(tmp_path: Path) -> None:
    """The control of the test above: only the waiting is left out."""
    with replicated() as servers, serving(tmp_path / "data", {"KASUWA_DATABASE_URL": servers.dsn}) as service:
        merchant = new_merchant(service.port)
        with loading(service.port, [merchant], tmp_path / "answers") as load:
            servers.attach_standby()
            servers.detach_standby()
            wait_for_more(load)
            servers.fail_over(all_at_once=True)
            wait_for_more(load)
            answers = load.stop()
        found = faults_of(answers, service.query(TRUTH))
        assert any(fault.endswith("is there 0 times") for fault in found), found
