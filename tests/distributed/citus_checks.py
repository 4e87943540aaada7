"""The service on a database that Citus distributes over three servers: recorded examples, the audit, and kills.

`make test-citus CITUS=…` runs this file. It is not part of `make test`: Citus is built from its source
(docs/scaling.md). tests/db/test_distribution.py has what can be tested without it.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.distributed.nodes import WORKERS, Nodes, running_nodes
from tests.examples import record
from tests.running import Deployment, logins_of, running_deployment
from tests.simulate.load import LOAD_TRANSFERS, find_mismatches, new_merchant, running_load
from tests.simulate.processes import Service, is_fully_running, kill, run_command, running_service, wait_until
from tests.simulate.waiting import wait_for_all_to_end, wait_for_more
from tests.walk.rows import NOW

# How often each kind of process is killed, and after how many further replies.
ROUNDS = int(os.environ.get("ROUNDS", "3"))
REPLIES_BETWEEN = 20


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with running_nodes() as running:
        yield running


@pytest.fixture(scope="module")
def environ(nodes: Nodes, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {**logins_of(nodes.dsn, {}), "KASUWA_DATA": str(tmp_path_factory.mktemp("operator"))}


@pytest.fixture(scope="module")
def run(environ: dict[str, str]) -> Callable[..., str]:
    """Runs `kasuwa …` on a database that has its schema and the demo merchant, and was distributed then."""

    def run_one(*words: str) -> str:
        done = run_command(words, environ)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout

    run_one("migrate")
    assert "merchant_state: by merchant" in run_one("database", "distribute")
    return run_one


@pytest.fixture(scope="module")
def deployment(nodes: Nodes, environ: dict[str, str], run: Callable[..., str]) -> Iterator[Deployment]:
    with running_deployment(Path(environ["KASUWA_DATA"]), nodes.dsn, KASUWA_LONGEST_STEP_MS="500") as running:
        yield running


def test_what_is_distributed_stays_where_it_is(run: Callable[..., str]) -> None:
    assert run("database", "distribute") == "nothing to do: every table is where it belongs\n"
    assert run("migrate") == "nothing to do: the schema is up to date\n"


def test_the_trail_says_that_tables_were_distributed(deployment: Deployment) -> None:
    [[actor]] = deployment.fetch("select actor from audit_entry where action = 'distributed tables'")
    assert actor


def test_every_recorded_request_is_answered_as_recorded(deployment: Deployment) -> None:
    recorded = record(deployment.open_shop(now=NOW))
    assert [path.name for path, text in recorded.items() if text != path.read_text()] == []
    assert deployment.new_stderr() == ""


def test_the_books_are_in_order_after_the_examples(deployment: Deployment) -> None:
    assert deployment.run_any_command("audit").returncode == 0


def test_the_database_is_not_distributed_while_the_service_runs(deployment: Deployment) -> None:
    assert "connections of kasuwa are open" in deployment.run_refused_command("database", "distribute")


def test_the_reader_sees_the_rows_of_one_merchant_on_every_server(deployment: Deployment) -> None:
    done = deployment.run_any_command("doctor")
    seen = done.stdout + done.stderr
    assert "the database is distributed by merchant over 2 servers" in seen
    assert "the reader's login cannot write, and sees the rows of one merchant at a time" in seen


def kill_node(nodes: Nodes, name: str) -> None:
    """Kills all processes of a node at once, as a machine that fails, and starts it again."""
    first = int((nodes.node(name).directory / "cluster" / "data" / "postmaster.pid").read_text().split()[0])
    postmaster = psutil.Process(first)
    kill([postmaster, *postmaster.children(recursive=True)])
    wait_until(f"the node {name} is gone", lambda: not nodes.node(name).is_running())
    nodes.start(name)


def kill_service(service: Service) -> None:
    victims = service.child_processes("api")
    kill(victims)
    wait_until("all parts run again", lambda: is_fully_running(service, victims))


def test_kills_of_servers_and_processes_lose_nothing_and_double_nothing(
    nodes: Nodes, environ: dict[str, str], run: Callable[..., str], tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    # The one key opens the database.
    shutil.copy(Path(environ["KASUWA_DATA"]) / "secret.key", data)
    with running_service(data, {**environ, "KASUWA_DATA": str(data)}) as service:
        merchants = [new_merchant(service.port) for _ in range(4)]
        with running_load(service.port, merchants, tmp_path / "answers") as load:
            for number in range(ROUNDS):
                wait_for_more(load, REPLIES_BETWEEN)
                kill_node(nodes, WORKERS[number % len(WORKERS)])
                wait_for_more(load, REPLIES_BETWEEN)
                kill_service(service)
                wait_for_more(load, REPLIES_BETWEEN)
                kill_node(nodes, "coordinator")
            wait_for_more(load, REPLIES_BETWEEN)
            answers = load.stop()
        wait_for_all_to_end(service)
        assert find_mismatches(answers, service.query(LOAD_TRANSFERS)) == []
    run("audit")
