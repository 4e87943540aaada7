"""The two commands of README.md on a fresh machine: a minimal Debian, an ordinary user, no package besides.

Run by `make test-fresh`, which needs root and takes as long as all tests do, for each release of Debian. FRESH_SUITES
and FRESH_TESTS choose among the releases and the tests.
"""

import json
import os
import re
import signal
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fresh.fresh_machine import SOURCES, SUITES, FreshMachine, fresh_machine
from tests.running import free_port
from tests.simulate.processes import wait_until

CHOSEN = os.environ.get("FRESH_SUITES", " ".join(SUITES)).split()
TESTS = os.environ.get("FRESH_TESTS", "")
SETUP_SECONDS = 1800.0


@pytest.fixture(scope="module", params=CHOSEN)
def machine(request: pytest.FixtureRequest) -> Iterator[FreshMachine]:
    with fresh_machine(request.param) as made:
        yield made


def test_make_serve_reaches_readiness(machine: FreshMachine, tmp_path: Path) -> None:
    port, output = free_port(), tmp_path / "output"
    ports = [f"KASUWA_PORT={port}", f"KASUWA_CONSOLE_PORT={free_port()}"]
    process = machine.start("env", *ports, "make", "serve", output=output)
    try:
        wait_until(
            "make serve says that it listens",
            lambda: "listens on" in output.read_text() or process.poll() is not None,
            SETUP_SECONDS,
        )
        assert process.poll() is None, output.read_text()[-3000:]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as reply:
            assert json.load(reply)["status"] == 200
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_until("nothing of the machine runs any more", lambda: not machine.list_processes())


def test_make_test_passes_and_says_what_it_left_out(machine: FreshMachine, tmp_path: Path) -> None:
    output = tmp_path / "output"
    code = machine.start("make", "test", f"TESTS={TESTS}", output=output).wait()
    text = output.read_text()
    assert code == 0, text[-5000:]
    assert re.search(r"^left out: .*apt-get install ", text, re.MULTILINE), text[-3000:]
    assert not (machine.root / SOURCES.lstrip("/") / "data").exists()
