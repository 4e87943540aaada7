"""`make test-versions`: main tests with the oldest and the newest versions of the dependencies, on each Python.

Writes docs/versions.md from the last result of each environment, so that a run with some of the Pythons keeps the
others. The exit code is 1 if a test failed."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from tests.source_rules import REPOSITORY
from tests.versions.environments import (
    ENVIRONMENTS,
    NEWEST,
    OLDEST,
    Versions,
    build_wheels,
    find_pythons,
    installed_versions,
    make_environment,
    read_dependencies,
)

PAGE = REPOSITORY / "docs" / "versions.md"
# What uses each dependency: money and the wire, the server over HTTP on its own database, sealed columns, pages, PDF.
TESTS = (
    "tests/core",
    "tests/wire",
    "tests/ledger",
    "tests/postgres/test_embedded.py",
    "tests/methods/disburse/test_http.py",
    "tests/methods/virtualcard/test_http.py",
    "tests/methods/statements/test_files.py",
    "tests/reconciliation/test_formats.py",
    "tests/documentation/test_site.py",
)
HEAD = """\
# Versions that were tested

Written by `make test-versions`: the wheel of the service with the oldest versions that `requirements.in` allows, and
with the newest in the registry. The tests are those of money, the wire and the embedded database, and of requests to a
running server.
"""
COUNTS = re.compile(r"(\d+) (passed|failed|error|skipped)")


class Row(msgspec.Struct, frozen=True):
    """The result of one environment."""

    python: str
    # The full version of Python.
    release: str
    # Which versions of the dependencies.
    versions: Versions
    # What the page says: the number of tests, or why there are none.
    result: str
    # Whether nothing failed.
    is_good: bool
    # What was installed.
    installed: dict[str, str]


def run(minor: str, python: Path, versions: Versions, wheels: list[Path]) -> Row:
    place = ENVIRONMENTS / f"{minor}-{versions}"
    release = subprocess.run([python, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    try:
        program = make_environment(place, python, versions, wheels)
    except subprocess.CalledProcessError as error:
        reason = f"cannot be installed (exit code {error.returncode})"
        return Row(minor, release, versions, reason, False, {})
    command = [str(program), "-m", "pytest", "-n", "1", "-q", "--tb=short", "-p", "no:cacheprovider", *TESTS]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    (place / "output.txt").write_text(done.stdout + done.stderr)
    lines = done.stdout.splitlines()
    counts = ", ".join(" ".join(found) for found in COUNTS.findall(lines[-1] if lines else ""))
    installed = dict(installed_versions(program, [one.name for one in read_dependencies()]))
    return Row(minor, release, versions, counts or "did not run", done.returncode == 0, installed)


def render(rows: Iterable[Row]) -> str:
    """Returns the page."""
    shown = sorted(rows, key=lambda row: (int(row.python.partition(".")[2]), row.versions != OLDEST))
    lines = [HEAD, "| Python | Dependencies | Tests |", "|---|---|---|"]
    for row in shown:
        lines.append(f"| {row.release} | {row.versions} | {row.result} |")
    lines += ["", "| Dependency | Oldest | Newest |", "|---|---|---|"]
    known = {row.versions: row.installed for row in shown if row.installed}
    for one in read_dependencies():
        lines.append(f"| {one.name} | {known.get(OLDEST, {}).get(one.name)} | {known.get(NEWEST, {}).get(one.name)} |")
    return "\n".join(lines) + "\n"


def main(chosen: Sequence[str]) -> None:
    pythons = find_pythons()
    rows = []
    with tempfile.TemporaryDirectory() as place:
        wheels = build_wheels(Path(place))
        for minor in chosen or pythons:
            for versions in (OLDEST, NEWEST):
                row = run(minor, pythons[minor], versions, wheels)
                print(f"Python {minor}, {versions}: {row.result}", flush=True)
                (ENVIRONMENTS / f"{minor}-{versions}.json").write_bytes(msgspec.json.encode(row))
                rows.append(row)
    kept = [msgspec.json.decode(path.read_bytes(), type=Row) for path in ENVIRONMENTS.glob("*.json")]
    PAGE.write_text(render(kept))
    print(f"The table is in {PAGE.relative_to(REPOSITORY)}; what failed is in {ENVIRONMENTS.relative_to(REPOSITORY)}")
    sys.exit(not all(row.is_good for row in rows))


if __name__ == "__main__":
    main(sys.argv[1:])
