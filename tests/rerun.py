"""Runs the tests, and those that failed once more by themselves: `python -m tests.rerun [OPTIONS OF PYTEST]`.

A loaded machine can make a test fail that waits for something. If at most FEW tests failed, exactly these run again,
one after the other. If they pass, the run passes, and each is listed at the end as unstable. More failures, a failure
that repeats, or a run that was cut short fails. `.ci/run` uses it; people see every failure (`make test`).
"""

import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

FEW = 5
# Where pytest's cache keeps the tests that failed. Written when a run ends.
FAILED = Path(".pytest_cache/v/cache/lastfailed")


def split_group(nodeid: str) -> tuple[str, str]:
    """Returns the name of a test and the group that xdist has appended to it, or an empty one."""
    if nodeid.rfind("@") > max(nodeid.rfind("]"), nodeid.rfind("::")):
        name, _, group = nodeid.rpartition("@")
        return name, group
    return nodeid, ""


def run_pytest(*words: str) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *words]).returncode


def count_tests(report: Path) -> int:
    """Returns the number of tests in a report of pytest, without those that were left out."""
    suites = ET.parse(report).getroot().iter("testsuite")
    return sum(int(suite.attrib["tests"]) - int(suite.attrib["skipped"]) for suite in suites)


def main(options: list[str]) -> int:
    FAILED.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="kasuwa-tests-") as place:
        report = Path(place, "report.xml")
        code = run_pytest(*options, f"--junitxml={report}")
        if code != pytest.ExitCode.TESTS_FAILED or not FAILED.exists():
            return code
        count = count_tests(report)
    failed = sorted(split_group(name)[0] for name in json.loads(FAILED.read_text()))
    if len(failed) > FEW:
        print(f"{len(failed)} tests failed: too many to run again", flush=True)
        return code
    print(f"{len(failed)} tests failed: running them again", flush=True)
    again = run_pytest(*options, "-n", "0", *failed)
    if again:
        return again
    print("\n".join(f"unstable: {name}" for name in failed))
    print(f"{count} passed, {len(failed)} of them when they were run again", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
