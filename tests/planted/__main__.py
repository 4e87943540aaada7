"""Plants each bug in a copy of the sources and runs the test that must find it: `python -m tests.planted [WORDS]`.

With words, plants only the bugs whose names contain them. Ends with an error if a bug is not found, or if a test fails
without any bug. Prints one line per bug.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.planted.bugs import BUGS, Bug

REPOSITORY = Path(__file__).parents[2]
# What tests read of the repository besides the package.
COPIED = ("src", "tests", "docs", "clients", "deploy", "bench", "pyproject.toml", "Makefile")
SECONDS = 300
FAILED = 1  # pytest's exit code if tests ran and failed


def copy_sources(directory: Path) -> None:
    for name in COPIED:
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, directory / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
        else:
            shutil.copy(source, directory / name)


def run_test(directory: Path, test: str) -> tuple[int, str]:
    """Runs one test in a copy. Returns pytest's exit code and the end of its output."""
    environment = {**os.environ, "PYTHONPATH": str(directory / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", f"tests/{test}"]
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=SECONDS)
    return done.returncode, done.stdout[-2000:]


def plant(bug: Bug, directory: Path) -> bool:
    """Plants a bug, runs its test, and takes the bug out again. Returns whether the test failed."""
    path = directory / "src" / "kasuwa" / bug.file
    healthy = path.read_text()
    path.write_text(healthy.replace(bug.original, bug.planted))
    began = time.monotonic()
    try:
        code, output = run_test(directory, bug.test)
    except subprocess.TimeoutExpired:
        code, output = 0, "the test did not end"
    finally:
        path.write_text(healthy)
    word = "found" if code == FAILED else "NOT FOUND"
    print(f"{word:10} {time.monotonic() - began:6.1f} s  {bug.name}  ({bug.test})", flush=True)
    if code != FAILED:
        print(f"pytest ended with {code}:\n{output}", flush=True)
    return code == FAILED


def main(words: list[str]) -> int:
    chosen = [bug for bug in BUGS if all(word in bug.name for word in words)]
    with tempfile.TemporaryDirectory(prefix="kasuwa-planted-") as made:
        directory = Path(made)
        directory.chmod(0o755)  # as root, the tests' database runs as another user
        copy_sources(directory)
        for test in sorted({bug.test for bug in chosen}):
            code, output = run_test(directory, test)
            if code:
                print(f"{test} fails without any bug:\n{output}")
                return 1
        missed = [bug.name for bug in chosen if not plant(bug, directory)]
    print(f"{len(chosen) - len(missed)} of {len(chosen)} planted bugs were found")
    return 1 if missed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
