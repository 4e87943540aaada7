"""Kills of servers and processes on a database that Citus distributes. `make test-citus CITUS=…` runs this file."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import psutil

from tests.distributed.nodes import WORKERS, Nodes
from tests.simulate.load import LOAD_TRANSFERS, find_mismatches, new_merchant, running_load
from tests.simulate.processes import Service, is_fully_running, kill, running_service, wait_until
from tests.simulate.waiting import wait_for_all_to_end, wait_for_more

# How often each kind of process is killed, and after how many further replies.
ROUNDS = int(os.environ.get("ROUNDS", "3"))
REPLIES_BETWEEN = 20


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
