"""Failed tests run once more (tests/rerun.py), and what `.ci/run` makes of it."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packages import STRICT
from tests.source_rules import REPOSITORY

# A test that fails until it has run so many times, by the file of its name.
TESTS = """
from pathlib import Path

import pytest


def fail_times(times, name):
    mark = Path(name)
    count = len(mark.read_text()) if mark.exists() else 0
    mark.write_text("x" * (count + 1))
    assert count >= times


@pytest.mark.parametrize("n", range(4))
def test_that_passes(n): ...


@pytest.mark.xdist_group("group")
@pytest.mark.parametrize("n", range(FLAKY))
def test_that_passes_when_run_again(n):
    fail_times(1, f"again-{n}")


@pytest.fixture
def broken_once():
    fail_times(1, "fixture")


@pytest.mark.parametrize("n", range(ERRORS))
def test_whose_fixture_fails_once(broken_once, n): ...


@pytest.mark.parametrize("n", range(BROKEN))
def test_that_always_fails(n):
    raise AssertionError


@pytest.mark.parametrize("n", range(STOPPED))
def test_that_stops_the_run(n):
    fail_times(1, "first")
    pytest.exit("stopped", returncode=2)
"""
OPTIONS = ("-n", "1", "--dist=loadgroup", "-p", "no:schemathesis")


def run(directory: Path, flaky: int = 0, errors: int = 0, broken: int = 0) -> "subprocess.CompletedProcess[str]":
    text = TESTS.replace("FLAKY", str(flaky)).replace("ERRORS", str(errors)).replace("BROKEN", str(broken))
    (directory / "test_it.py").write_text(text.replace("STOPPED", "0"))
    return rerun(directory, *OPTIONS)


def rerun(directory: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    (directory / "pytest.ini").write_text("[pytest]\nempty_parameter_set_mark = xfail\n")
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "tests.rerun", *options]
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)


def test_a_few_failures_that_do_not_repeat_are_listed_as_unstable(tmp_path: Path) -> None:
    done = run(tmp_path, flaky=2, errors=1)
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-4:] == [
        "unstable: test_it.py::test_that_passes_when_run_again[0]",
        "unstable: test_it.py::test_that_passes_when_run_again[1]",
        "unstable: test_it.py::test_whose_fixture_fails_once[0]",
        "7 passed, 3 of them when they were run again",
    ]


@pytest.mark.parametrize(
    ("flaky", "broken", "message"),
    [(6, 0, "6 tests failed: too many to run again"), (1, 1, "2 tests failed: running them again")],
)
def test_many_failures_and_one_that_repeats_fail_the_run(tmp_path: Path, flaky: int, broken: int, message: str) -> None:
    done = run(tmp_path, flaky=flaky, broken=broken)
    assert done.returncode == 1, done.stdout
    assert message in done.stdout
    assert "unstable" not in done.stdout


def test_a_run_that_passes_ends_with_the_line_of_pytest(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout.splitlines()[-1]


def test_a_run_that_was_cut_short_fails_although_its_failures_would_pass(tmp_path: Path) -> None:
    text = TESTS.replace("FLAKY", "1").replace("ERRORS", "0").replace("BROKEN", "0").replace("STOPPED", "2")
    (tmp_path / "test_it.py").write_text(text)
    done = rerun(tmp_path, "-n", "0", "-p", "no:schemathesis")
    assert done.returncode == 2, done.stdout
    assert "again" not in done.stdout.splitlines()[-1]


def test_the_machine_runs_the_check_with_every_package_and_failures_again() -> None:
    """Shows the commands of `.ci/run` without running them."""
    script = (REPOSITORY / ".ci" / "run").read_text()
    assert f"export {STRICT}=1" in script
    (command,) = (line for line in script.splitlines() if line.startswith("make "))
    dry = ["make", "--dry-run", "--no-print-directory", *shlex.split(command)[1:]]
    shown = subprocess.run(dry, cwd=REPOSITORY, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    lines = [line.strip() for line in shown.stdout.splitlines()]
    assert lines[-1] == ".venv/bin/python -m tests.rerun"
    assert any(line.endswith("/mypy") for line in lines)
