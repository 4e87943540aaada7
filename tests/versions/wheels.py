"""Asks the registry for which Python and machine every dependency has a wheel: `python -m tests.versions.wheels`.

Where one has none, pip would have to compile. Nothing is installed. Of each dependency the pinned version is looked
for, and the oldest that is allowed. Those that have one wheel for everything are not asked for. The exit code is 1 if
one is missing."""

import itertools
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import distribution

from tests.source_rules import REPOSITORY
from tests.versions.environments import OLDEST, PIN, read_dependencies

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
MACHINES = ("x86_64", "aarch64")
# What pip accepts on a system with glibc 2.34, such as Debian 12.
PLATFORMS = ("manylinux2014", "manylinux_2_17", "manylinux_2_28", "manylinux_2_34")
# pip waits for the registry most of the time.
AT_ONCE = 8


def wanted_versions() -> list[list[str]]:
    """Returns two lists of requirements: the pinned versions, and the floors."""
    pinned = PIN.findall((REPOSITORY / "requirements.txt").read_text())
    floors = read_dependencies()
    return [
        [f"{name}=={version}" for name, version in pinned if is_compiled(name)],
        [one.at(OLDEST) for one in floors if is_compiled(one.name)],
    ]


def is_compiled(name: str) -> bool:
    return "\nRoot-Is-Purelib: false" in (distribution(name).read_text("WHEEL") or "")


def find_missing(python: str, machine: str, wanted: Sequence[str]) -> str:
    """Returns the first error of pip, or an empty text if all wheels are there."""
    platforms = [word for platform in PLATFORMS for word in ("--platform", f"{platform}_{machine}")]
    with tempfile.TemporaryDirectory() as nowhere:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--dry-run"]
        command += ["--no-deps", "--ignore-installed", "--target", nowhere, "--only-binary", ":all:"]
        command += ["--implementation", "cp", "--python-version", python, *platforms, *wanted]
        done = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return "" if done.returncode == 0 else (lines or ["ERROR: pip failed"])[0]


def main(pythons: Sequence[str]) -> None:
    asked = list(itertools.product(pythons or PYTHONS, MACHINES, wanted_versions()))
    is_complete = True
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for (python, machine, wanted), missing in zip(
            asked, pool.map(find_missing, *zip(*asked, strict=True)), strict=True
        ):
            is_complete = is_complete and not missing
            print(f"Python {python} on {machine}, {len(wanted)} wheels: {missing or 'all'}", flush=True)
    sys.exit(not is_complete)


if __name__ == "__main__":
    main(sys.argv[1:])
