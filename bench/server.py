"""The server under measurement: `kasuwa serve` as a process of its own, started as an operator would."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

from bench.results import MeasurementFailed

# Far beyond the target of five seconds: a late start is a figure, one that never comes is an error.
READY_SECONDS = 60.0
STOP_SECONDS = 30.0

# Much shorter than the seconds that are measured.
POLL_SECONDS = 0.01
COMMAND_RUNS = 5


@dataclass(frozen=True)
class Server:
    """A server that is ready."""

    port: int
    console_port: int
    process: psutil.Process
    start_seconds: float


@contextmanager
def running(directory: Path, dsn: str | None, workers: str = "1", python: str = sys.executable) -> Iterator[Server]:
    """Yields a server with this many API processes as soon as it is ready. Without a database address it uses its
    embedded one in the directory. `python` is the interpreter of the version to run."""
    directory.mkdir(parents=True, exist_ok=True)
    port, console_port = free_port(), free_port()
    log = directory / "serve.log"
    serve = f"-m kasuwa serve --port {port} --console-port {console_port} --workers {workers} --data".split()
    command = [python, *serve, str(directory)]
    with log.open("ab") as output:
        began = time.monotonic()
        process = subprocess.Popen(command, env=environment(dsn), stdout=output, stderr=output, process_group=0)
    try:
        wait_ready(process, port, log)
        yield Server(port, console_port, psutil.Process(process.pid), time.monotonic() - began)
    finally:
        stop(process)
        kill_orphaned_databases(directory)


def time_command(*words: str) -> float:
    """Returns how long a command takes: the median of several runs."""
    seconds = []
    for _ in range(COMMAND_RUNS):
        began = time.monotonic()
        done = subprocess.run([sys.executable, "-m", "kasuwa", *words], env=environment(None), capture_output=True)
        seconds.append(time.monotonic() - began)
        if done.returncode != 0:
            raise MeasurementFailed(f"kasuwa {' '.join(words)} ended with {done.returncode}")
    return median(seconds)


def environment(dsn: str | None) -> dict[str, str]:
    """Returns the environment without the caller's own settings: the defaults are measured, with compiled sources, as
    they are installed."""
    dropped = ("KASUWA_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return kept if dsn is None else {**kept, "KASUWA_DATABASE_URL": dsn}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not is_ready(port):
        if process.poll() is not None:
            raise MeasurementFailed(f"kasuwa serve ended with {process.returncode}: {tail(log)}")
        if time.monotonic() > deadline:
            raise MeasurementFailed(f"kasuwa serve was not ready within {READY_SECONDS:.0f} s: {tail(log)}")
        time.sleep(POLL_SECONDS)


def is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=2) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def tail(log: Path) -> str:
    return log.read_text(errors="replace")[-800:]


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stops the server. Kills what is left of it and its children, so that nothing outlives the benchmark."""
    if process.poll() is not None:
        return
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        print(f"kasuwa serve did not end within {STOP_SECONDS:.0f} s of SIGTERM: killed", file=sys.stderr)
        process.kill()
        process.wait()
    _, left = psutil.wait_procs(family, timeout=2)
    for child in left:
        child.kill()


def kill_orphaned_databases(directory: Path) -> None:
    """Kills the embedded PostgreSQL that a killed server left behind."""
    for written in directory.rglob("postmaster.pid"):
        try:
            os.kill(int(written.read_text().split()[0]), signal.SIGQUIT)
        except (OSError, ValueError, IndexError):
            continue
