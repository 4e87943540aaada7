"""Tests that need a Debian package which is not there: left out with one line, or an error."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import packages
from tests.source_rules import REPOSITORY, read_all

CONFTEST = """
from tests import packages
from tests.packages import pytest_terminal_summary

packages.may_install = lambda: False
"""
TESTS = """
from pathlib import Path

import pytest

from tests.packages import find_program, need_package


@pytest.fixture(scope="module")
def browser():
    need_package("chromium", Path("/nowhere/chromium"))


@pytest.mark.parametrize("n", range(3))
def test_a_page(browser, n): ...


def test_a_shell():
    find_program("no-such-shell", "zsh", Path("/nowhere/zsh"))


def test_what_is_there():
    assert find_program("sh", "dash", Path("/nowhere/sh")).name == "sh"
    need_package("coreutils", Path("/"))
"""


def run_tests(directory: Path, *options: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    (directory / "conftest.py").write_text(CONFTEST)
    (directory / "test_it.py").write_text(TESTS)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), packages.STRICT: "0", **environ}
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(directory), "-p", "no:cacheprovider"]
    return subprocess.run([*command, *options, str(directory)], env=environment, capture_output=True, text=True)


def test_one_line_names_the_packages_and_the_number_of_tests_without_them(tmp_path: Path) -> None:
    done = run_tests(tmp_path, "-n", "2")
    assert done.returncode == 0, done.stdout
    left_out = [line for line in done.stdout.splitlines() if line.startswith("left out")]
    assert left_out == [
        "left out: 3 that need chromium, 1 that need zsh. To run them: apt-get install chromium zsh",
    ]
    assert re.search(r"1 passed, 4 skipped", done.stdout)


def test_where_nothing_may_be_left_out_a_missing_package_is_an_error(tmp_path: Path) -> None:
    done = run_tests(tmp_path, "-n", "0", **{packages.STRICT: "1"})
    assert done.returncode == 1
    assert "/nowhere/zsh is missing: install the package zsh" in done.stdout
    assert re.search(r"1 failed, 1 passed, 3 errors", done.stdout)


def test_a_run_that_left_nothing_out_says_nothing_of_it() -> None:
    assert packages.describe_left_out(["Skipped: for another reason"]) is None


def test_tests_are_left_out_for_want_of_a_package_alone() -> None:
    skip = re.compile(r"pytest\.skip|mark\.skip|skipif|importorskip")
    found = [source.path for source in read_all("tests", "tests/") if skip.search(source.text)]
    assert found == ["tests/packages.py", "tests/test_packages.py"]


def test_root_installs_what_is_missing_and_others_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert not packages.may_install()
    assert not packages.install("zsh", Path("/nowhere/zsh"))
