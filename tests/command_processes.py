"""Starts `kasuwa …`, each time as a process of its own that is a fork of one which has imported all commands.

Importing takes most of a second, and the tests start more than a thousand processes. The process to fork from is the
fork server of the standard library: one for each process of pytest, started when it is first needed.
"""

import contextlib
import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from kasuwa.merchants.merchants import STALE_AFTER_SECONDS

COMMAND_SECONDS = 120.0
# A running service knows of what these commands change once the merchants that it keeps in memory are too old.
CHANGING_COMMANDS = ("merchant", "split", "rates", "bills", "client", "customer", "loan", "dispute", "rail")
READING_COMMANDS = ("list", "keys", "find", "export", "statement", "evidence", "shadow", "check")
FORK_SERVER = multiprocessing.get_context("forkserver")
FORK_SERVER.set_forkserver_preload([__name__])

# The sessions that processes were started in, by the directory of their data.
SESSIONS: dict[str, set[int]] = defaultdict(set)
# The services that were started, each with its database (see `database_of`).
SERVICES: list[tuple["KasuwaProcess", str | None]] = []


class KasuwaProcess(subprocess.Popen[bytes]):
    """A running command, in a session of its own. Its output goes to files."""

    def __init__(
        self, words: Sequence[str], environ: Mapping[str, str], *, out: Path, err: Path, given: Path | None = None
    ) -> None:
        self.args = ["kasuwa", *words]
        self.stdin = self.stdout = self.stderr = None
        self.returncode = None
        self._process = FORK_SERVER.Process(target=become_command, args=(list(words), dict(environ), out, err, given))
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid
        SESSIONS[environ.get("KASUWA_DATA", "")].add(self.pid)
        if words and words[0] == "serve":
            SERVICES.append((self, database_of(environ)))

    def __del__(self) -> None:
        """Does nothing: who started the process ends it."""

    def poll(self) -> int | None:
        self.returncode = self._process.exitcode
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return code

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)


def run_kasuwa(
    words: Sequence[str], environ: Mapping[str, str], seconds: float = COMMAND_SECONDS, given: bytes = b""
) -> "subprocess.CompletedProcess[str]":
    """Runs a command to its end, with this environment and this content on its standard input. What it changes is known
    to a running service afterwards.

    Raises subprocess.TimeoutExpired after so many seconds."""
    with tempfile.TemporaryDirectory(prefix="kasuwa-command-") as place:
        out, err, content = Path(place, "out"), Path(place, "err"), Path(place, "in")
        content.write_bytes(given)
        process = KasuwaProcess(words, environ, out=out, err=err, given=content)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        if may_concern_a_service(words, environ):
            time.sleep(STALE_AFTER_SECONDS)
        return subprocess.CompletedProcess(process.args, code, out.read_text(), err.read_text())


def may_concern_a_service(words: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Returns whether a command changes what a running service keeps in memory. A command that was refused may have
    done so too: the test shows that it has not."""
    if not words or words[0] not in CHANGING_COMMANDS or not set(words[1:2]).isdisjoint(READING_COMMANDS):
        return False
    SERVICES[:] = [(service, database) for service, database in SERVICES if service.poll() is None]
    own = database_of(environ)
    return any(own is None or database is None or own == database for _, database in SERVICES)


def database_of(environ: Mapping[str, str]) -> str | None:
    """Returns the address of a database without the login, or None if it may be any: the one of a data directory, or
    one behind a port, where a proxy may listen."""
    place = environ.get("KASUWA_DATABASE_URL", "").partition("@")[2]
    return place if "host=/" in place or "host=%2F" in place else None


def service_processes(directory: Path) -> list[psutil.Process]:
    """Returns the running processes of the deployment that keeps its data there, also of a supervisor that is dead."""
    found = []
    for pid in psutil.pids():
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if os.getsid(pid) in SESSIONS[str(directory)]:
                found.append(psutil.Process(pid))
    return found


def is_service_process(process: psutil.Process, name: str, directory: Path) -> bool:
    """Whether it is that part of the deployment which keeps its data there: a fork of `serve` by another name."""
    try:
        return os.getsid(process.pid) in SESSIONS[str(directory)] and process.name() == f"kasuwa {name}"
    except (psutil.Error, ProcessLookupError):
        return False


def become_command(words: list[str], environ: Mapping[str, str], out: Path, err: Path, given: Path | None) -> None:
    """Runs a command as `python -m kasuwa` would, in a process that was forked for it."""
    from kasuwa.__main__ import main

    os.setsid()
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    random.seed()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for path, descriptor in ((out, sys.stdout.fileno()), (err, sys.stderr.fileno())):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(opened, descriptor)
        os.close(opened)
    if given is not None:
        opened = os.open(given, os.O_RDONLY)
        os.dup2(opened, 0)
        os.close(opened)
        sys.stdin = os.fdopen(0)  # multiprocessing has replaced it
    sys.argv = ["kasuwa", *words]
    main()


def import_commands() -> None:
    """Imports what commands and the processes of `serve` would import one by one after the fork."""
    from kasuwa.__main__ import COMMANDS, load_command
    from kasuwa.api import scrape  # noqa: F401
    from kasuwa.boot import console, prepare  # noqa: F401
    from kasuwa.boot.supervise import import_process_code
    from kasuwa.console import server  # noqa: F401
    from kasuwa.core.calendar import public_holidays

    for name in COMMANDS:
        load_command(name)
    load_command("status").make_context("status", [])  # typer imports pydantic when it parses the first option
    import_process_code()
    public_holidays()
    # What was imported lives until the end: a collection of garbage in a fork would copy all of its memory.
    gc.collect()
    gc.freeze()


if "multiprocessing.forkserver" in sys.orig_argv[-1]:
    import_commands()
