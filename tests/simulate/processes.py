"""Real servers for the fault tests: started, found, killed, and cleaned up at the end.

`Service` is `python -m kasuwa serve` with its own data directory, its API and worker processes and its PostgreSQL.
Processes are found by their session, so they are found after their parent is dead too.
"""

import asyncio
import contextlib
import http.client
import os
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import asyncpg
import psutil

from kasuwa.audit.invariants.ledger import check_invariants
from kasuwa.postgres.embedded import embedded
from tests.command_processes import KasuwaProcess, is_service_process, run_kasuwa, service_processes
from tests.running import EMBEDDED, NEWEST, copy_cluster, free_port, start_database

T = TypeVar("T")
NO_VARIABLES: Mapping[str, str] = {}

# How many faults of each kind are made: by default, and with KASUWA_LONG=1 (make chaos).
COUNTS = {
    "kills of an API process": (4, 100),
    "kills of the job worker": (2, 50),
    "kills of all of them at once": (2, 50),
    "kills while plans fall due": (4, 60),
    "kills while loans are collected": (3, 60),
    "kills of a supervisor at its start": (2, 40),
    "kills of PostgreSQL": (4, 100),
    "kills of PostgreSQL during a commit": (2, 30),
    "promotions of a synchronous standby": (2, 50),
    "writer connections cut": (12, 600),
    "other connections cut": (15, 300),
    "stops of the database": (1, 10),
    "outages under load": (1, 10),
    "races for half a wallet": (3, 20),
    "references with copies": (50, 1000),
    "references with two bodies": (50, 500),
    "call-backs racing an answer": (20, 500),
    "seeds of rail faults": (2, 500),
    "shutdowns under load": (1, 20),
    "sequences of the model": (24, 20_000),
}

# Generous limits that only stop a test that hangs. They say nothing about speed.
READY_SECONDS = 120.0
STOP_SECONDS = 120.0
PROBE_SECONDS = 30.0
FIRST_POLL_SECONDS, LONGEST_POLL_SECONDS = 0.03, 0.3


def fault_count(what: str) -> int:
    short, long = COUNTS[what]
    return long if os.environ.get("KASUWA_LONG") == "1" else short


def wait_until(what: str, holds: Callable[[], Any], seconds: float = READY_SECONDS, every: float | None = None) -> Any:
    """Calls `holds` until it returns a true value, and returns that: soon at first and then less and less often, since
    asking takes processor time from what is waited for, or after each pause of `every`."""
    until, pause = time.monotonic() + seconds, every or FIRST_POLL_SECONDS
    while not (found := holds()):
        if time.monotonic() > until:
            raise AssertionError(f"still waiting after {seconds:.0f} s: {what}")
        time.sleep(pause)
        pause = every or min(1.3 * pause, LONGEST_POLL_SECONDS)
    return found


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment without settings of the person who runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KASUWA_")}
    return {**kept, **extra}


def run_command(words: Sequence[str], environ: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """Runs `kasuwa …` to its end."""
    return run_kasuwa(words, clean_environment(environ))


def get(port: int, path: str) -> int:
    """Returns the HTTP status of a GET, or 0 if nothing answers."""
    return probe(port, path)[0]


def probe(port: int, path: str) -> tuple[int, str]:
    """Returns the HTTP status of a GET and the API process that replied: its request ids share a prefix."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PROBE_SECONDS)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.headers["x-request-id"].partition("-")[0]
    except (OSError, http.client.HTTPException):
        return 0, ""
    finally:
        connection.close()


# --- the service --------------------------------------------------------------------------------------------


class Service:
    """`kasuwa serve` on a port of its own, with every process of its data directory."""

    def __init__(
        self, data: Path, environ: Mapping[str, str], *, workers: int = 1, options: Sequence[str] = ()
    ) -> None:
        self.data = data
        self.workers = workers
        self.port = free_port()
        self.out = data.with_name(data.name + ".out")
        self.err = data.with_name(data.name + ".err")
        own_settings = {"KASUWA_DATA": str(data), "KASUWA_PORT": str(self.port), "KASUWA_WORKERS": str(workers)}
        # No console: these tests are about money, and the console would only be one more process to start.
        own_settings["KASUWA_CONSOLE"] = "off"
        self._given = {**own_settings, **environ}
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self._watchers: list[subprocess.Popen[bytes]] = []

    @property
    def supervisor(self) -> "subprocess.Popen[bytes]":
        assert self._process is not None, "not started"
        return self._process

    @property
    def dsn(self) -> str:
        return self._given.get("KASUWA_DATABASE_URL") or embedded.Cluster(self.data.resolve()).dsn

    def start(self) -> None:
        self.launch()
        answering: set[str] = set()
        wait_until("every API process is ready", lambda: self._is_ready(answering))

    def launch(self) -> None:
        """Starts the service without waiting."""
        self.out.write_bytes(b"")
        words = ["serve", *self._options]
        self._process = KasuwaProcess(words, clean_environment(self._given), out=self.out, err=self.err)
        self._watchers.append(start_watcher(self._process.pid))

    def _is_ready(self, answering: set[str]) -> bool:
        assert self.supervisor.poll() is None, self.err.read_text()
        status, process = probe(self.port, "/readyz")
        if status == 200:
            answering.add(process)
        workers = int(self._given["KASUWA_WORKERS"])
        if len(answering) > workers:
            answering.clear()  # A process whose supervisor was killed replied before it stopped: ask all again.
        return len(answering) == workers and b"Ctrl-C" in self.out.read_bytes()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Stops the service and returns its exit code."""
        self.supervisor.send_signal(how)
        code = self.supervisor.wait(STOP_SECONDS)
        self._dismiss_watchers()
        return code

    def child_processes(self, name: str) -> list[psutil.Process]:
        """Returns the running processes of one kind, `api` or `worker`, whoever their parent is now."""
        return [
            process
            for process in service_processes(self.data)
            if is_service_process(process, name, self.data) and is_alive(process)
        ]

    def postmaster(self) -> psutil.Process | None:
        return postmaster_of(self.data)

    def query(self, sql: str, *values: object) -> list[Any]:
        return query(self.dsn, sql, *values)

    def broken_invariants(self) -> list[str]:
        return broken_invariants(self.dsn)

    def clean_up(self) -> None:
        """Ends all that is left, first by a polite signal. Safe to call in any state."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_SECONDS / 2)
            self._process.kill()
            self._process.wait()
        for process in [*self.child_processes("api"), *self.child_processes("worker")]:
            with contextlib.suppress(psutil.Error):
                process.kill()
            wait_until(f"process {process.pid} is gone", partial(is_gone, process))
        end_database(self.data)
        self._dismiss_watchers()

    def _dismiss_watchers(self) -> None:
        while self._watchers:
            self._watchers.pop().communicate(b"done\n")


def kill(processes: Sequence[psutil.Process], how: int = signal.SIGKILL) -> None:
    for process in processes:
        os.kill(process.pid, how)


def child_pids(service: Service) -> set[int]:
    return {process.pid for name in ("api", "worker") for process in service.child_processes(name)}


def is_fully_running(service: Service, killed: Sequence[psutil.Process]) -> bool:
    """Returns whether all parts run, and none is one that was killed."""
    parts = child_pids(service)
    return len(parts) == service.workers + 1 and not parts & {process.pid for process in killed}


@contextlib.contextmanager
def running_service(data: Path, environ: Mapping[str, str] = NO_VARIABLES, *, workers: int = 1) -> Iterator[Service]:
    """Runs a service, on a database of its own unless it gets an address."""
    if "KASUWA_DATABASE_URL" not in environ:
        copy_cluster(data, EMBEDDED)
    service = Service(data, environ, workers=workers)
    try:
        service.start()
        yield service
    finally:
        service.clean_up()


def start_watcher(pid: int) -> "subprocess.Popen[bytes]":
    """Starts a process that stops another one if this test process is killed, which closes the pipe between them."""
    watch = ["/bin/sh", "-c", f"read said || kill {pid}"]
    return subprocess.Popen(watch, stdin=subprocess.PIPE, start_new_session=True)


def is_alive(process: psutil.Process) -> bool:
    """Returns whether a process runs. A zombie counts as dead: the parent that would reap it may be dead too."""
    with contextlib.suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def is_gone(process: psutil.Process) -> bool:
    return not is_alive(process)


# --- the database -------------------------------------------------------------------------------------------


@contextlib.contextmanager
def running_database(
    directory: Path, options: Mapping[str, str] = NO_VARIABLES, version: int = NEWEST
) -> Iterator[embedded.Cluster]:
    """A PostgreSQL of the test's own, for a service that gets its address or for direct use."""
    try:
        yield start_database(directory, options, version)
    finally:
        end_database(directory)


def postmaster_of(directory: Path) -> psutil.Process | None:
    """Returns the main process of the PostgreSQL of a directory, if it runs."""
    try:
        pid = int((directory / "cluster" / "data" / "postmaster.pid").read_text().split()[0])
        process = psutil.Process(pid)
        return process if "postgres" in process.name() and is_alive(process) else None
    except (FileNotFoundError, IndexError, psutil.Error):
        return None


def end_database(directory: Path) -> None:
    if (directory / "postgres.lock").exists():
        embedded.Cluster(directory.resolve()).stop(immediate=True)


async def with_connection(dsn: str, work: Callable[[Any], Awaitable[T]]) -> T:
    connection = await asyncpg.connect(dsn)
    try:
        return await work(connection)
    finally:
        await connection.close()


def query(dsn: str, sql: str, *values: object) -> list[Any]:
    return asyncio.run(with_connection(dsn, lambda connection: connection.fetch(sql, *values)))


def broken_invariants(dsn: str) -> list[str]:
    """Returns every violation of an invariant in the whole database."""
    return asyncio.run(with_connection(dsn, check_invariants))
