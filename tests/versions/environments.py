"""Environments with the oldest and with the newest versions of the dependencies that the package allows."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from tests.source_rules import REPOSITORY

Versions = Literal["oldest", "newest"]
OLDEST: Versions = "oldest"
NEWEST: Versions = "newest"
# The environments and their results, which stay for the next run.
ENVIRONMENTS = REPOSITORY / ".venv" / "versions"
# What the tests of this matrix need besides the service, in the pinned version.
TEST_TOOLS = ("pytest", "pytest-xdist", "hypothesis", "httpx", "psutil", "pyyaml", "standardwebhooks")
REQUIREMENT = re.compile(r"^([A-Za-z][A-Za-z0-9-]*)(\[[a-z,]+\])?(?:>=([0-9.]+))?", re.MULTILINE)
PIN = re.compile(r"^([A-Za-z][A-Za-z0-9-]*)==([0-9.]+)", re.MULTILINE)
FIRST_MINOR, LAST_MINOR = 11, 20


class Dependency(msgspec.Struct, frozen=True):
    """A line of requirements.in."""

    name: str
    extra: str
    floor: str

    def at(self, versions: Versions) -> str:
        """Returns the requirement that pip installs in an environment with these versions."""
        relation = "==" if versions == OLDEST else ">="
        return f"{self.name}{self.extra}{relation}{self.floor}"


def read_dependencies(file: str = "requirements.in") -> list[Dependency]:
    found = REQUIREMENT.findall((REPOSITORY / file).read_text())
    return [Dependency(name, extra, floor) for name, extra, floor in found]


def list_test_tools() -> list[str]:
    """Returns what the tests need besides, in the pinned version."""
    pins = dict(PIN.findall((REPOSITORY / "requirements-dev.txt").read_text()))
    return [f"{name}=={pins[name]}" for name in TEST_TOOLS]


def find_pythons() -> dict[str, Path]:
    """Returns the Pythons of this machine from 3.11 on, one of each minor version, in order."""
    places = [Path(sys.executable), *sorted(Path.home().glob(".pyenv/versions/*/bin/python"))]
    places += [Path(found) for n in range(FIRST_MINOR, LAST_MINOR) if (found := shutil.which(f"python3.{n}"))]
    pythons: dict[int, Path] = {}
    for place in places:
        asked = [str(place), "-c", "import sys; print(*sys.version_info[:2])"]
        done = subprocess.run(asked, capture_output=True, text=True)
        if done.returncode == 0:
            major, minor = map(int, done.stdout.split())
            if major == 3 and minor >= FIRST_MINOR:
                pythons.setdefault(minor, place)
    return {f"3.{minor}": pythons[minor] for minor in sorted(pythons)}


def build_wheels(place: Path) -> list[Path]:
    """Builds the wheels of the service and of the Python client with the pinned setuptools. Returns their paths."""
    for project in (REPOSITORY, REPOSITORY / "clients" / "python"):
        words = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--no-index"]
        command = [sys.executable, "-m", "pip", "wheel", *words, "--wheel-dir", str(place), str(project)]
        subprocess.run(command, check=True)
    return sorted(place.glob("*.whl"))


def make_environment(place: Path, python: Path, versions: Versions, wheels: list[Path]) -> Path:
    """Makes an environment with the wheels, or takes the kept one of the same requirements. Returns its Python. Raises
    CalledProcessError."""
    program, stamp = place / "bin" / "python", place / "requirements.txt"
    wanted = [*(one.at(versions) for one in read_dependencies()), *list_test_tools()]
    packages = [str(wheel) for wheel in wheels]
    if not stamp.exists() or stamp.read_text().split("\n") != wanted:
        subprocess.run([python, "-m", "venv", "--clear", place], check=True)
        # With all that the wheel needs, as its users get it.
        install(program, *packages, *wanted)
        stamp.write_text("\n".join(wanted))
    # The wheel is new in each run, under the same version.
    install(program, "--no-deps", "--no-index", "--force-reinstall", *packages)
    subprocess.run([program, "-m", "pip", "--disable-pip-version-check", "check"], check=True, capture_output=True)
    return program


def install(python: Path, *words: str) -> None:
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    subprocess.run([*command, *words], check=True)


def installed_versions(python: Path, names: Iterable[str]) -> Mapping[str, str]:
    """Returns the versions of packages in an environment."""
    program = "import sys, importlib.metadata as m; print(*(m.version(name) for name in sys.argv[1:]))"
    wanted = list(names)
    done = subprocess.run([python, "-c", program, *wanted], capture_output=True, text=True, check=True)
    return dict(zip(wanted, done.stdout.split(), strict=True))
