"""A machine that is booted by a real systemd, in a container of systemd-nspawn. Needs root.

Its Debian is that of image.py, with systemd, kept in .venv/deploy. Commands are run in it by nsenter. The network is
that of the machine which runs the tests.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil

from tests.deploy.dockerfile import context_files
from tests.deploy.image import BUILD_PATH, CACHE, SUITE, WHEELS, copy_tree, debian_base, run_step, wheels
from tests.packages import need_package
from tests.running import terminated_with_us
from tests.source_rules import REPOSITORY

# The copy of the repository in the machine.
SOURCES = "/srv/kasuwa"
BOOT_SECONDS = 60.0


class Machine:
    def __init__(self, root: Path, container: "subprocess.Popen[bytes]") -> None:
        self.root = root
        self._container = container

    def first_process(self) -> psutil.Process | None:
        """Returns the systemd of the machine, or None if it has not been started yet."""
        found = psutil.Process(self._container.pid).children()
        return found[0] if found and found[0].name() == "systemd" else None

    def run(self, *words: str, directory: str = "/") -> "subprocess.CompletedProcess[str]":
        """Runs a command in the machine, with its files, processes and host name."""
        first = self.first_process()
        assert first is not None, "the machine is not running"
        entered = ["nsenter", f"--target={first.pid}", "--mount", "--pid", "--uts", "--ipc", f"--wdns={directory}"]
        return subprocess.run([*entered, *words], env={"PATH": BUILD_PATH}, capture_output=True, text=True)

    def run_script(self, script: str) -> None:
        """Runs lines of a shell as root in the copy of the repository. Each must succeed."""
        done = self.run("sh", "-eu", "-c", script, directory=SOURCES)
        assert done.returncode == 0, f"{script}: {done.stdout[-2000:]}{done.stderr[-2000:]}{self.journal()}"

    def properties(self, unit: str, *names: str) -> dict[str, str]:
        output = self.run("systemctl", "show", unit, *(f"--property={name}" for name in names)).stdout
        return dict(line.split("=", 1) for line in output.splitlines())

    def journal(self) -> str:
        return self.run("journalctl", "--no-pager", "--boot", "--lines=40").stdout


def machine_base() -> Path:
    """Returns the directory of a Debian with systemd, made once."""
    kept = CACHE / f"machine-{SUITE}"
    if not kept.exists():
        with tempfile.TemporaryDirectory(prefix="stage-", dir=CACHE) as place:
            root = Path(place, "root")
            root.mkdir()
            subprocess.run(["tar", "--extract", "--file", debian_base(), "--directory", root], check=True)
            install = "apt-get update && apt-get install --yes --no-install-recommends systemd openssl"
            run_step(root, "/", ("sh", "-c", f"export DEBIAN_FRONTEND=noninteractive; {install}"))
            root.rename(kept)
    return kept


@contextlib.contextmanager
def running_machine(settings: Mapping[str, str]) -> Iterator[Machine]:
    """Boots a new machine with a copy of the repository. pip finds the pinned wheels in a directory of it."""
    need_package("mmdebstrap", Path("/usr/bin/mmdebstrap"))
    need_package("systemd-container", Path("/usr/bin/systemd-nspawn"))
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="machine-", dir=CACHE) as place:
        root = Path(place, "root")
        copy_tree(machine_base(), root)
        for path in (*context_files(), Path("deploy/kasuwa.service")):
            copy = root / SOURCES.lstrip("/") / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / path, copy)
        pip = f"[global]\nno-index = true\nfind-links = {WHEELS}\n"
        (root / "etc/pip.conf").write_text(pip)
        (root / "etc/kasuwa").mkdir(mode=0o700)
        (root / "etc/kasuwa/settings").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        with booted(root) as machine:
            yield machine


@contextlib.contextmanager
def booted(root: Path) -> Iterator[Machine]:
    words = ["--quiet", "--register=no", "--keep-unit", "--console=pipe", f"--bind-ro={wheels()}:{WHEELS}"]
    command = ["systemd-nspawn", "--boot", f"--directory={root}", *words]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    container = subprocess.Popen(command, start_new_session=True, **quiet)  # type: ignore[call-overload]
    machine = Machine(root, container)
    first: psutil.Process | None = None
    try:
        until = time.monotonic() + BOOT_SECONDS
        while (first := machine.first_process()) is None or not is_up(machine):
            assert container.poll() is None, "systemd-nspawn ended"
            assert time.monotonic() < until, machine.journal()
            time.sleep(0.2)
        with terminated_with_us(first.pid, signal.SIGKILL):
            yield machine
    finally:
        # All processes of the machine end with its first one.
        if first is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(first.pid, signal.SIGKILL)
        else:
            container.kill()
        container.wait()


def is_up(machine: Machine) -> bool:
    return machine.run("systemctl", "is-active", "multi-user.target").stdout == "active\n"
