"""`kasuwa serve`: starts the processes of a deployment, restarts those that die, and stops them in order.

The supervisor starts the embedded database (unless KASUWA_DATABASE_URL is set), then the API processes, one job
worker, the console and the metrics process. They wait until it has migrated. It restarts a process that dies, and the
embedded database too, ever more rarely if they keep dying (boot/supervisor_restarts.py). On SIGINT or SIGTERM API
processes answer the requests in flight, the worker finishes its jobs, and the database stops last.

The processes are forks of the supervisor, which has imported all the code: they start at once and share its memory.
"""

import asyncio
import contextlib
import gc
import http.client
import multiprocessing
import os
import signal
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg
import msgspec
import structlog

from kasuwa.boot import supervisor_watch
from kasuwa.boot.supervisor_restarts import Restarts
from kasuwa.boot.systemd_notify import notify_systemd
from kasuwa.cluster.sockets import make_sockets
from kasuwa.core.calendar import public_holidays
from kasuwa.observe import log
from kasuwa.observe.metrics import Metrics, SharedCounters
from kasuwa.postgres.embedded import embedded
from kasuwa.postgres.embedded.account import EmbeddedError
from kasuwa.postgres.embedded.log import describe_failure
from kasuwa.postgres.embedded.shared_cluster import has_cluster, use_cluster
from kasuwa.postgres.migrate import MigrationError
from kasuwa.postgres.pgbouncer import TransactionPooling
from kasuwa.settings.database_logins import LoginError, check_urls, embedded_url
from kasuwa.settings.settings import Settings, local_url
from kasuwa.settings.values import SettingsError

if TYPE_CHECKING:
    from kasuwa.boot.owners import SharedResources

# Processes of one kind stop at the same time, one kind after the other. Each kind has this long until it is killed.
STOP_SECONDS = 20.0
STOP_ORDER = ("console", "api", "worker", "metrics")
# The longest time from SIGTERM until the last process is gone. A service manager must not kill the supervisor earlier.
# The embedded database stops after that, within embedded.LONGEST_STOP_SECONDS.
LONGEST_STOP_SECONDS = STOP_SECONDS * len(STOP_ORDER)
READY_SECONDS = 30.0
POLL_SECONDS = 0.05

FORK = multiprocessing.get_context("fork")
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)

logger = structlog.get_logger("kasuwa.boot.supervise")


class ServeError(Exception):
    """The service cannot be started. The text says in one line why, and what to do."""


class PreparedSignal:
    """Tells the processes, which are started before the database is prepared, when it is.

    It is a pipe whose writing end the supervisor alone keeps open until then."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()

    def give(self) -> None:
        os.close(self._writing)

    def wait(self) -> None:
        """Returns when the signal was given, also long ago. For a process that was forked after `self` was made."""
        with contextlib.suppress(OSError):  # closed before the fork
            os.close(self._writing)
        os.read(self._reading, 1)


class ChildProcess(msgspec.Struct):
    counters: SharedCounters
    process: BaseProcess
    started_at: float
    restarts: Restarts
    is_end_seen: bool = False  # its end was recorded, and its next start is planned


def has_database(settings: Settings) -> bool:
    """Whether there is a database to open: one that is given, or a cluster in the data directory."""
    return settings.database_url is not None or has_cluster(settings.data)


@contextlib.contextmanager
def open_database(settings: Settings) -> Iterator[tuple[str, embedded.Cluster | None]]:
    """Yields the DSN of the configured database and None, or starts the embedded one and yields its DSN and cluster.
    The DSN is that of the application's login."""
    check_urls(settings)
    if settings.database_url is not None:
        yield settings.database_url, None
        return
    with use_cluster(settings.data) as cluster:
        yield embedded_url(cluster), cluster


def prepare(settings: Settings, dsn: str) -> None:
    # Imported here: it takes most of a second, and most commands do not need it.
    from kasuwa.boot.prepare import prepare as prepare_database

    try:
        asyncio.run(prepare_database(settings, dsn))
    except (LoginError, MigrationError, SettingsError, TransactionPooling) as error:
        raise ServeError(str(error)) from None
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError, ValueError) as error:
        raise ServeError(f"the database cannot be used: {one_line(error)}") from None


def import_process_code() -> None:
    """Imports what the processes run. Not imported with this module, which commands import that need little of it."""
    from kasuwa.boot import app, prepare  # noqa: F401

    public_holidays()  # slow to load, so it is loaded before the forks: not in each of them, nor between two requests


def import_http_client() -> None:
    """Imports the client of outgoing requests, which loads the certificates of authorities. That takes as long as a
    quarter of all other imports, and they go on meanwhile: OpenSSL does it without the interpreter's lock."""
    import aiohttp  # noqa: F401


@contextlib.contextmanager
def importing_process_code() -> Iterator[None]:
    """Imports what the processes run in threads, while the block starts the database. The threads have ended when the
    block has: processes are forked without threads. No garbage is collected, because imports make none, and what they
    made is never looked through for garbage, by the processes neither."""
    threads = [threading.Thread(target=target) for target in (import_http_client, import_process_code)]
    gc.disable()
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join()
        gc.freeze()
        gc.enable()


def one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def run_child(
    settings: Settings,
    dsn: str,
    counters: SharedCounters,
    shared: "SharedResources",
    supervisor: int,
    wait_prepared: Callable[[], None],
    is_quiet: bool = False,
) -> None:
    """Runs a process of the deployment in a fork: sets up its own process group, signals, log and metrics first, and
    imports what it alone needs before it waits for the database. With `is_quiet`, it does not log why it fails: one
    before it did."""
    from kasuwa.boot import app

    supervisor_watch.exit_with_supervisor(supervisor)
    # With a group of its own, Ctrl-C reaches the supervisor alone, which then stops the processes in order. It is not a
    # session, because the kernel divides processor time between sessions first, however little some of them do.
    os.setpgid(0, 0)
    # A terminal may be set to stop processes that write to it from a background group.
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
    with contextlib.suppress(OSError):  # the process name that tools show, on Linux
        Path("/proc/self/comm").write_text(f"kasuwa {process_kind(counters.process_name)}")
    metrics = Metrics(counters)
    log.configure_logging(metrics, json_lines=not sys.stderr.isatty())
    try:
        app.import_code(process_kind(counters.process_name))
        wait_prepared()
        app.run_process(process_kind(counters.process_name), settings, dsn, metrics, shared)
    except Exception as error:
        # The default handler would print the error with its text, which may quote a request.
        if not is_quiet:
            logger.error("a part failed", part=counters.process_name, **log.describe_error(error))
        sys.exit(1)


def process_names(settings: Settings) -> list[str]:
    console = ["console"] if settings.console else []
    metrics = ["metrics"] if settings.metrics_port is not None else []
    return ["worker", *console, *metrics, *(f"api-{n + 1}" for n in range(settings.workers))]


def process_kind(part: str) -> str:
    return part.partition("-")[0]


def describe_exit(code: int) -> str:
    """Returns how a process ended. Python's exit codes are negative for a signal."""
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"


class Supervisor:
    def __init__(self, settings: Settings, dsn: str, cluster: embedded.Cluster | None) -> None:
        self._settings = settings
        self._dsn = dsn
        self._cluster = cluster
        # The shared memory of all processes' metrics. Created before the first fork, so that all share it.
        self._counters = [SharedCounters(name) for name in process_names(settings)]
        self._parts: list[ChildProcess] = []
        self._shared: SharedResources | None = None
        self._prepared = PreparedSignal()
        self._stopping = False
        self._parent = os.getppid()
        # The error of the last attempt to restart the database. Empty before the first attempt, None while it runs.
        self._database_trouble: str | None = None
        self._database_restarts = Restarts()

    def run(self, prepare: Callable[[], None], announce: Callable[[], None]) -> None:
        """Starts the processes, calls `prepare` and, when they are ready, `announce`. Returns when they are stopped."""
        import_process_code()
        self._shared = self._make_shared()
        try:
            self._parts += [self._start(counters, Restarts()) for counters in self._counters]
            prepare()
            self._prepared.give()
            for number in STOP_SIGNALS:
                signal.signal(number, lambda *_: setattr(self, "_stopping", True))
            if self._wait_ready():
                announce()
                notify_systemd("READY=1")
            while not self._stopping and not supervisor_watch.has_ended(self._settings.stop_with, self._parent):
                time.sleep(POLL_SECONDS)
                self._restart_dead()
        finally:
            self._stop()

    def _make_shared(self) -> "SharedResources":
        """Returns what the processes share: with several API processes or hosts also the sockets by which they reach
        each other, and with several API processes the rate limits."""
        from kasuwa.boot.owners import SharedResources, make_peer_host
        from kasuwa.http.shared_buckets import SharedBuckets, SharedLimits

        workers, host = self._settings.workers, make_peer_host(self._settings)
        if workers == 1 and host is None:
            return SharedResources(self._counters)
        sockets = make_sockets(workers, self._settings.data)
        if sockets is None:
            logger.warning("no directory for sockets can be made: each API process decides for itself, which is slow")
        limits = None if workers == 1 else SharedLimits(SharedBuckets(), SharedBuckets(), SharedBuckets())
        return SharedResources(self._counters, sockets, limits, host)

    def _start(self, counters: SharedCounters, restarts: Restarts) -> ChildProcess:
        is_quiet = restarts.unlogged_count > 0
        process = FORK.Process(
            target=run_child,
            args=(self._settings, self._dsn, counters, self._shared, os.getpid(), self._prepared.wait, is_quiet),
        )
        # Blocked until the fork has replaced the supervisor's handlers: a signal before that would be lost.
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        process.start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
        return ChildProcess(counters, process, time.monotonic(), restarts)

    def _wait_ready(self) -> bool:
        until = time.monotonic() + READY_SECONDS
        while time.monotonic() < until and not self._stopping:
            self._restart_dead()
            if self._is_ready():
                return True
            time.sleep(POLL_SECONDS)
        if self._stopping:
            return False
        raise ServeError("the service did not become ready; `kasuwa doctor` says what is wrong")

    def _is_ready(self) -> bool:
        """Asks /readyz, and the metrics process, which is no part of that."""
        settings = self._settings
        urls = [f"{local_url(settings.host, settings.port)}/readyz"]
        if settings.metrics_port is not None:
            urls.append(f"{local_url(settings.metrics_host, settings.metrics_port)}/metrics")
        try:
            for url in urls:
                urllib.request.urlopen(url, timeout=2).close()
        except (OSError, http.client.HTTPException):
            return False
        return True

    def _restart_dead(self) -> None:
        if self._cluster is not None and not self._cluster.is_running():
            self._restart_database()
        for n, part in enumerate(self._parts):
            code, now = part.process.exitcode, time.monotonic()
            if code is None:
                continue
            if not part.is_end_seen:
                part.is_end_seen = True
                if part.restarts.record_end(now, part.started_at):
                    name, count = part.counters.process_name, part.restarts.take_unlogged()
                    logger.error("a part ended and is started again", part=name, how=describe_exit(code), times=count)
            if now >= part.restarts.due_at:
                self._parts[n] = self._start(part.counters, part.restarts)

    def _restart_database(self) -> None:
        """Restarts the embedded database, or leaves it to a later check. Logs each reason of a failure once."""
        began_at = time.monotonic()
        if began_at < self._database_restarts.due_at:
            return
        if self._database_trouble is None:
            self._database_trouble = ""
            logger.error("the database ended and is started again", why=describe_failure(self._settings.data))
        try:
            self._cluster = embedded.start(self._settings.data)
        except EmbeddedError as error:
            if str(error) != self._database_trouble:
                self._database_trouble = str(error)
                logger.error("the database cannot be started", why=str(error))
            self._database_restarts.record_end(time.monotonic(), began_at)
        else:
            self._database_trouble, self._database_restarts = None, Restarts()

    def _stop(self) -> None:
        notify_systemd("STOPPING=1")
        for wanted in STOP_ORDER:
            stopped = [part.process for part in self._parts if process_kind(part.counters.process_name) == wanted]
            for process in stopped:
                process.terminate()
            until = time.monotonic() + STOP_SECONDS
            for process in stopped:
                process.join(max(0.0, until - time.monotonic()))
                if process.exitcode is None:
                    process.kill()
                    process.join()
        if self._shared is not None and self._shared.sockets is not None:
            self._shared.sockets.remove()
