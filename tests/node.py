"""Node.js for the tests: the node and npm of the system, and npm packages pinned by a lock file.

Packages are installed once per lock file, below the virtual environment, so that later runs need no network.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.made_once import digest_of
from tests.packages import find_program

CACHE = Path(sys.prefix) / "node"
NODE = Path("/usr/bin/node")
NPM = Path("/usr/bin/npm")
COMPILER = "node_modules/typescript/bin/tsc"
MANIFESTS = ("package.json", "package-lock.json")
# Prevents a hanging registry or program from blocking the run; both take seconds.
INSTALL_SECONDS = 600
RUN_SECONDS = 300


class NodeFailed(RuntimeError):
    """A program of Node.js ended with an error. The text is its output."""


def find_node() -> Path:
    """Returns the node of the PATH, else Debian's, which is needed then (see tests/packages.py)."""
    return find_program("node", "nodejs", NODE)


def find_npm() -> Path:
    """Returns the npm of the PATH, else Debian's, which is needed then (see tests/packages.py)."""
    find_node()
    return find_program("npm", "npm", NPM)


def install_npm_packages(folder: Path) -> Path:
    """Installs what the package-lock.json in `folder` pins, and returns the node_modules directory.

    `folder` itself is not written to. The directory is shared by all processes and runs with the same lock file.
    """
    npm = find_npm()
    place = place_of(folder)
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            _install(npm, folder, place)
    return place / "node_modules"


def place_of(folder: Path) -> Path:
    return CACHE / f"{folder.name}-{digest_of(*(folder / name for name in MANIFESTS))}"


def installed_packages(folder: Path) -> Path | None:
    """Returns the node_modules directory of `install_npm_packages`, or None if they are not installed."""
    packages = place_of(folder) / "node_modules"
    return packages if packages.exists() else None


def _install(npm: Path, folder: Path, place: Path) -> None:
    """Installs beside the final place and renames, so that an interrupted installation leaves nothing to find."""
    with tempfile.TemporaryDirectory(dir=CACHE) as temporary:
        fresh = Path(temporary, "packages")
        fresh.mkdir()
        for name in MANIFESTS:
            shutil.copy(folder / name, fresh)
        options = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
        run_program([npm, "ci", *options], fresh, INSTALL_SECONDS)
        fresh.rename(place)


def run_node(arguments: list[str | Path], folder: Path, environment: dict[str, str] | None = None) -> str:
    """Runs node in `folder` and returns its output, error stream included. Raises NodeFailed with that output."""
    return run_program([find_node(), *arguments], folder, RUN_SECONDS, environment)


def run_program(
    command: list[str | Path], folder: Path, seconds: float, environment: dict[str, str] | None = None
) -> str:
    """Runs a program and returns its output, error stream included. Raises NodeFailed with that output."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )
    if done.returncode != 0:
        raise NodeFailed(f"{command[0]} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout
