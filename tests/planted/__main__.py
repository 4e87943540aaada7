"""Plants each bug in a copy of the sources and runs the test that must find it: `python -m tests.planted [WORDS]`.

With words, plants only the bugs whose names contain them. Ends with an error if a bug is not found, or if a test fails
without any bug. Prints one line per bug. A bug is found if its test fails: an error of a fixture, such as a server that
does not start, does not count.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.planted.bug import Bug
from tests.planted.bugs import BUGS

REPOSITORY = Path(__file__).parents[2]
# What tests read of the repository besides the package.
COPIED = ("src", "tests", "docs", "clients", "deploy", "bench", "pyproject.toml", "Makefile")
SECONDS = 300
HEALTHY_SECONDS = 900
# The last line of pytest's output if a test failed. Books that are wrong afterwards are an error besides.
FAILED = re.compile(r"^\d+ failed", re.MULTILINE)


def copy_sources(directory: Path) -> None:
    for name in COPIED:
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, directory / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
        else:
            shutil.copy(source, directory / name)


def run_tests(directory: Path, tests: list[str], seconds: int) -> tuple[int, str]:
    """Runs tests in a copy. Returns pytest's exit code and its output. Raises TimeoutExpired."""
    environment = {**os.environ, "PYTHONPATH": str(directory / "src")}
    # The modules of the server are compiled once, not for each bug.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    paths = [f"tests/{test}" for test in tests]
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", *paths]
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=seconds)
    return done.returncode, done.stdout


def plant(bug: Bug, directory: Path) -> bool:
    """Plants a bug, runs its test, and takes the bug out again. Returns whether the test failed."""
    path = directory / "src" / "kasuwa" / bug.file
    healthy = path.read_text()
    path.write_text(healthy.replace(bug.original, bug.planted))
    began = time.monotonic()
    try:
        _, output = run_tests(directory, [bug.test], SECONDS)
    except subprocess.TimeoutExpired:
        output = "the test did not end"
    finally:
        path.write_text(healthy)
    is_found = FAILED.search(output) is not None
    word = "found" if is_found else "NOT FOUND"
    print(f"{word:10} {time.monotonic() - began:6.1f} s  {bug.name}  ({bug.test})", flush=True)
    if not is_found:
        print(output[-2000:], flush=True)
    return is_found


def in_file_order(tests: set[str]) -> list[str]:
    """Returns tests of one file in its order: some build on what those before them left in the database."""
    text = (REPOSITORY / "tests" / min(tests).partition("::")[0]).read_text()
    return sorted(tests, key=lambda test: text.index(f"def {test.partition('::')[2].partition('[')[0]}("))


def plant_all(bugs: list[Bug], directory: Path) -> list[str]:
    """Plants bugs one by one, those of one test file together. Returns the names of those that were not found.

    Without a bug, all tests run in one process, where they share a service. If one fails, those of each file run by
    themselves: the files whose tests fail are named, and their bugs are not planted."""
    groups = [[bug for bug in bugs if bug.file_of_test == file] for file in sorted({bug.file_of_test for bug in bugs})]
    tests = [in_file_order({bug.test for bug in group}) for group in groups]
    are_healthy = run_tests(directory, [test for some in tests for test in some], HEALTHY_SECONDS * len(groups))[0] == 0
    missed: list[str] = []
    for group, some in zip(groups, tests, strict=True):
        code, output = (0, "") if are_healthy else run_tests(directory, some, HEALTHY_SECONDS)
        if code:
            print(f"{group[0].file_of_test} fails without any bug:\n{output[-2000:]}", flush=True)
            missed += [bug.name for bug in group]
        else:
            missed += [bug.name for bug in group if not plant(bug, directory)]
    return missed


def main(words: list[str]) -> int:
    chosen = [bug for bug in BUGS if all(word in bug.name for word in words)]
    with tempfile.TemporaryDirectory(prefix="kasuwa-planted-") as made:
        directory = Path(made)
        directory.chmod(0o755)  # as root, the tests' database runs as another user
        copy_sources(directory)
        missed = plant_all(chosen, directory) if chosen else []
    print("\n".join(f"NOT FOUND: {name}" for name in missed))
    print(f"{len(chosen) - len(missed)} of {len(chosen)} planted bugs were found")
    return 1 if missed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
