"""The unit of deploy/kasuwa.service, installed by the lines of docs/deployment.md and run by a real systemd.

`make test-deploy` runs this file, as root. It is not part of `make test`, because it takes a minute.
"""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.deploy.machine import SOURCES, Machine, running_machine
from tests.merchant_client import HttpConnection, MerchantClient
from tests.running import DEMO_KEY, DEMO_MID, free_port
from tests.source_rules import REPOSITORY

RESTART_SECONDS = 120.0
UNIT = "kasuwa.service"


def documented_lines() -> list[str]:
    """Returns the shell blocks of the section about systemd: install, make the secrets, start, run commands."""
    text = (REPOSITORY / "docs" / "deployment.md").read_text()
    section = text.partition("\n## systemd\n")[2].partition("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def machine(port: int) -> Iterator[Machine]:
    """A machine on which the documented lines were run, with the embedded database, which is said to take four lines
    less in the unit. Its schema is made by the service, so the lines that name another database are left out."""
    # The file of settings overrides those of the unit.
    settings = {"KASUWA_PORT": str(port), "KASUWA_CONSOLE_PORT": str(free_port()), "KASUWA_ENVIRONMENT": "test"}
    install, secrets, start, _ = documented_lines()
    with running_machine(settings) as booted:
        unit = booted.root / SOURCES.lstrip("/") / "deploy" / UNIT
        lines = unit.read_text().splitlines(keepends=True)
        kept = [line for line in lines if "database_" not in line]
        assert len(lines) - len(kept) == 4
        unit.write_text("".join(kept))
        for block in (install, secrets, start):
            booted.run_script("".join(line for line in block.splitlines(keepends=True) if "DATABASE_" not in line))
        # No wait: the start has returned because the service is ready.
        assert is_ready(port), booted.journal()
        yield booted


def is_ready(port: int) -> bool:
    try:
        with HttpConnection("127.0.0.1", port) as wire:
            return wire.send("GET", "/readyz").http == 200
    except OSError:
        return False


def service_processes(machine: Machine) -> list[psutil.Process]:
    """Returns the processes of the service's user, the embedded database among them."""
    first = machine.first_process()
    assert first is not None
    return [child for child in first.children(recursive=True) if child.uids().real == 10001]


def main_process(machine: Machine) -> psutil.Process:
    """Returns the supervisor: the child of systemd that is not the database."""
    found = [
        process
        for process in service_processes(machine)
        if process.cmdline()[-2:] == ["/opt/kasuwa/bin/kasuwa", "serve"]
    ]
    pids = {process.pid for process in found}
    (supervisor,) = [process for process in found if process.ppid() not in pids]
    return supervisor


def test_the_service_that_systemd_runs_is_confined(machine: Machine) -> None:
    supervisor = main_process(machine)
    secret = (machine.root / "etc/kasuwa/secret_key").read_text().strip()
    processes = service_processes(machine)
    assert {"postgres", "kasuwa api", "kasuwa worker", "kasuwa console"} <= {process.name() for process in processes}
    for process in processes:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        fields = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
        assert set(fields["Uid"]) == {"10001"}
        assert (fields["CapEff"], fields["CapBnd"]) == (["0" * 16], ["0" * 16])
        assert (fields["NoNewPrivs"], fields["Seccomp"]) == (["1"], ["2"])
        assert secret not in Path(f"/proc/{process.pid}/environ").read_text()
    mounted = [line.split() for line in Path(f"/proc/{supervisor.pid}/mounts").read_text().splitlines()]
    options = {place: flags.split(",") for _, place, _, flags, *_ in mounted}
    assert "ro" in options["/"]
    assert "rw" in options["/var/lib/kasuwa"]


def test_a_service_that_is_killed_is_started_again_with_its_books(machine: Machine, port: int) -> None:
    with HttpConnection("127.0.0.1", port) as wire:
        shop = MerchantClient(wire, DEMO_MID, DEMO_KEY)
        sent = shop.transfer(amount="10.00")
        assert sent["status"] == 200
    before = main_process(machine)
    before.kill()
    until = time.monotonic() + RESTART_SECONDS
    while machine.properties(UNIT, "ActiveState", "NRestarts") != {"ActiveState": "active", "NRestarts": "1"}:
        assert time.monotonic() < until, machine.journal()
        time.sleep(0.2)
    assert main_process(machine).pid != before.pid
    with HttpConnection("127.0.0.1", port) as wire:
        assert MerchantClient(wire, DEMO_MID, DEMO_KEY).verify(sent["txnRef"])["txnStatus"] == "successful"


def test_a_stop_ends_well_and_leaves_no_process(machine: Machine) -> None:
    machine.run_script("systemctl stop kasuwa")
    found = machine.properties(UNIT, "ActiveState", "Result", "ExecMainStatus")
    assert found == {"ActiveState": "inactive", "Result": "success", "ExecMainStatus": "0"}
    assert service_processes(machine) == []


def test_a_missing_secret_fails_the_start_by_name(machine: Machine) -> None:
    machine.run_script("mv /etc/kasuwa/secret_key /etc/kasuwa/moved")
    done = machine.run("systemctl", "start", "kasuwa")
    assert done.returncode != 0
    assert machine.properties(UNIT, "ActiveState")["ActiveState"] != "active"
    machine.run_script("systemctl stop kasuwa; mv /etc/kasuwa/moved /etc/kasuwa/secret_key; systemctl start kasuwa")
