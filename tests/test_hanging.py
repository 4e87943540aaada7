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
from tests.scheduling import make_scheduler

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
# Long enough for a test that does nothing.
SECONDS = 20


def test_a_test_that_waits_for_ever_fails_and_the_others_of_its_group_are_run(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(TESTS)
    settings = ("-o", f"faulthandler_timeout={SECONDS}", "-o", "faulthandler_exit_on_timeout=true")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "1", "--dist=loadgroup", "-p", "no:schemathesis", *settings],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert re.search("worker 'gw0' crashed while running 'test_it.py::test_that_waits_for_ever", done.stdout)
    assert "1 failed, 4 passed" in done.stdout
    assert "in test_that_waits_for_ever" in done.stderr


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
