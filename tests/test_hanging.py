"""A test that waits for ever fails by its name, and the others are run (pyproject.toml, tests/browser.py)."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from playwright.sync_api import Error as PlaywrightError

from tests.browser import BROWSER_GROUP, browser, ending
from tests.source_rules import REPOSITORY

__all__ = ["browser"]
pytestmark = BROWSER_GROUP

CONFTEST = """
from tests.scheduling import count_time_again, make_scheduler

def pytest_exception_interact(node):
    count_time_again(node)


def pytest_xdist_make_scheduler(config, log):
    return make_scheduler(config, log)
"""
TESTS = """
import threading

import pytest

pytestmark = pytest.mark.xdist_group("group")


def test_before(): ...


def test_that_waits_for_ever():
    threading.Event().wait()


@pytest.mark.parametrize("n", range(3))
def test_after(n): ...
"""
ENDS_ITS_WORKER = """
import os


def test_it():
    os._exit(1)
"""
FAILS_AND_WAITS = """
import threading

import pytest


@pytest.fixture
def place():
    yield
    threading.Event().wait()


def test_it(place):
    raise AssertionError
"""
# Long enough for a test that does nothing.
SECONDS = 20


def run_tests(place: Path, *files: str) -> "subprocess.CompletedProcess[str]":
    """Runs files of tests on one worker, as those of the repository are run, but for their time."""
    (place / "conftest.py").write_text(CONFTEST)
    for number, text in enumerate(files):
        (place / f"test_{number}.py").write_text(text)
    settings = ("-o", f"faulthandler_timeout={SECONDS}", "-o", "faulthandler_exit_on_timeout=true")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "1", "--dist=loadgroup", "-p", "no:schemathesis", *settings],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_a_test_that_waits_for_ever_fails_and_the_others_of_its_group_are_run(tmp_path: Path) -> None:
    done = run_tests(tmp_path, TESTS)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert re.search("worker 'gw0' crashed while running 'test_0.py::test_that_waits_for_ever", done.stdout)
    assert "1 failed, 4 passed" in done.stdout
    assert "in test_that_waits_for_ever" in done.stderr


def test_after_a_worker_has_ended_the_next_one_runs_all_that_is_left(tmp_path: Path) -> None:
    """Each file is a unit of one test: a worker begins none before it knows of another."""
    done = run_tests(tmp_path, ENDS_ITS_WORKER, *["def test_it(): ..."] * 3)
    assert "1 failed, 3 passed" in done.stdout


def test_a_test_that_has_failed_and_waits_for_ever_is_ended_too(tmp_path: Path) -> None:
    done = run_tests(tmp_path, FAILS_AND_WAITS, "def test_it(): ...")
    assert "1 passed" in done.stdout
    assert "worker 'gw0' crashed while running 'test_0.py::test_it'" in done.stdout
    assert "in place" in done.stderr


def test_the_tests_of_this_repository_have_an_end() -> None:
    options = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    assert options["faulthandler_exit_on_timeout"] is True
    assert 0 < options["faulthandler_timeout"] <= 1200


def test_a_script_of_a_page_that_never_ends_is_ended_with_its_browser(browser: Browser) -> None:
    """The last test here, since it ends the browser."""
    page = browser.new_page()
    with ending(0.0), pytest.raises(PlaywrightError, match="closed"):
        page.evaluate("new Promise(() => {})")
    assert not browser.is_connected()
