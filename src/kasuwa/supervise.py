"""`kasuwa serve`: start the parts, keep them alive, stop them in order.

One supervisor starts the database (unless it is given one), migrates, then starts the API processes, one
job worker and the console. A part that dies is started again; the database is watched too, where it is ours. On
SIGINT or SIGTERM the API processes answer what is in flight, the worker finishes its jobs, and the database stops last.
"""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator

import asyncpg
import msgspec

from kasuwa import app
from kasuwa.db import embedded
from kasuwa.db.borrow import borrow
from kasuwa.db.migrate import MigrationError
from kasuwa.settings import Settings, SettingsError

STOP_SECONDS = 20.0
READY_SECONDS = 30.0
LOOK_SECONDS = 0.05
# A part that dies at once again and again must not spin.
RESTART_SECONDS = 0.3


class CannotServe(Exception):
    """Why not, and what to do about it, in one line."""


class Part(msgspec.Struct):
    name: str
    process: subprocess.Popen[bytes]
    started_at: float


@contextlib.contextmanager
def open_database(settings: Settings) -> Iterator[tuple[str, embedded.Cluster | None]]:
    """The given database, or the embedded one of the data directory, for as long as it is needed."""
    if settings.database_url is not None:
        yield settings.database_url, None
        return
    with borrow(settings.data) as cluster:
        yield cluster.dsn, cluster


def prepare(settings: Settings, dsn: str) -> None:
    try:
        asyncio.run(app.prepare(settings, dsn))
    except (MigrationError, SettingsError) as error:
        raise CannotServe(str(error)) from None
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError, ValueError) as error:
        raise CannotServe(f"the database cannot be used: {one_line(error)}") from None


def one_line(error: BaseException) -> str:
    said = " ".join(str(error).split())
    return said or type(error).__name__


def check_port(host: str, port: int, option: str = "--port") -> None:
    """Granian shares ports between processes, so a port that is taken would not be noticed later."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CannotServe(
                f"cannot listen on {host}:{port} ({error.strerror}): stop what uses it, or choose another {option}"
            ) from None


def environment_of(settings: Settings, dsn: str) -> dict[str, str]:
    """The settings as the parts read them: nothing secret is on a command line."""
    found = {name: getattr(settings, name) for name in Settings.__struct_fields__}
    found["database_url"] = dsn
    given = {f"KASUWA_{name.upper()}": str(value) for name, value in found.items() if value is not None}
    return {**os.environ, **given}


def parts_of(settings: Settings) -> list[str]:
    console = ["console"] if settings.console == "on" else []
    return ["worker", *console, *["api"] * settings.workers]


class Supervisor:
    def __init__(self, settings: Settings, dsn: str, cluster: embedded.Cluster | None) -> None:
        self._settings = settings
        self._cluster = cluster
        self._environment = environment_of(settings, dsn)
        self._parts: list[Part] = []
        self._stopping = False

    def run(self, announce: Callable[[], None]) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: setattr(self, "_stopping", True))
        try:
            for name in parts_of(self._settings):
                self._parts.append(self._start(name))
            if self._wait_ready():
                announce()
            while not self._stopping:
                time.sleep(LOOK_SECONDS)
                self._restart_dead()
        finally:
            self._stop()

    def _start(self, name: str) -> Part:
        # A session of their own: Ctrl-C reaches the supervisor alone, which then stops them in order.
        process = subprocess.Popen(
            [sys.executable, "-m", "kasuwa.app", name], env=self._environment, start_new_session=True
        )
        return Part(name, process, time.monotonic())

    def _wait_ready(self) -> bool:
        until = time.monotonic() + READY_SECONDS
        host = f"[{self._settings.host}]" if ":" in self._settings.host else self._settings.host
        while time.monotonic() < until and not self._stopping:
            self._restart_dead()
            try:
                with urllib.request.urlopen(f"http://{host}:{self._settings.port}/readyz", timeout=2):
                    return True
            except (OSError, urllib.error.HTTPError):
                time.sleep(LOOK_SECONDS)
        if self._stopping:
            return False
        raise CannotServe("the service did not become ready; `kasuwa doctor` says what is wrong")

    def _restart_dead(self) -> None:
        if self._cluster is not None and not self._cluster.is_running():
            # Killed again while it starts, it is looked after at the next turn.
            with contextlib.suppress(embedded.EmbeddedError):
                self._cluster = embedded.start(self._settings.data)
        for n, part in enumerate(self._parts):
            if part.process.poll() is not None and time.monotonic() - part.started_at > RESTART_SECONDS:
                self._parts[n] = self._start(part.name)

    def _stop(self) -> None:
        for wanted in ("console", "api", "worker"):
            stopped = [part.process for part in self._parts if part.name == wanted]
            for process in stopped:
                process.terminate()
            for process in stopped:
                try:
                    process.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
