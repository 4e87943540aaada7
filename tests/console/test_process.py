"""The console as a part of a deployment: started and looked after by serve, missed by /readyz, left out when told."""

import psutil
import pytest

from tests.running import Deployment, Deployments, free_port, is_part
from tests.work.eventlog import wait_until

pytestmark = pytest.mark.xdist_group("console")


def console_of(deployment: Deployment) -> psutil.Process | None:
    consoles = (process for process in psutil.process_iter() if is_part(process, "console", deployment.directory))
    return next(consoles, None)


def readiness(deployment: Deployment) -> str:
    with deployment.wire() as wire:
        return str(wire.send("GET", "/readyz").body["message"])


def test_a_console_that_dies_is_missed_and_started_again(deployments: Deployments) -> None:
    with deployments.fresh("console_dies") as running:
        first = console_of(running)
        assert first is not None
        first.kill()
        wait_until("it is missed", lambda: readiness(running) == "the console is not listening")
        wait_until("it is back", lambda: readiness(running) == "ready")
        again = console_of(running)
        assert again is not None
        assert again.pid != first.pid


def test_a_deployment_may_do_without_a_console(deployments: Deployments) -> None:
    with deployments.fresh("no_console", KASUWA_CONSOLE="off") as running:
        assert console_of(running) is None
        assert readiness(running) == "ready"
        assert "Console:" not in running.out.read_text()


def test_a_console_port_that_is_taken_is_said_at_once(deployment: Deployment) -> None:
    ports = ("--port", str(free_port()), "--console-port", str(deployment.console_port))
    assert "choose another --console-port" in deployment.refused_command("serve", *ports)
