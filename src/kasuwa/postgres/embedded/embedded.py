"""Starts and stops the PostgreSQL server that is installed as a wheel.

Only the wheel's programs are used. Its own `get_server` leaves servers behind after a kill, holds a lock that
shuts out other users and gives up after ten seconds.

The server outlives the process that started it, so that a kill -9 of that process interrupts no commit. The next start
finds the server and uses it. Whether a server runs is known from the lock (directory.py), which the system
releases when the last of the server's processes ends. A process id would not do: it may belong to another process by
now, or be visible from one container and not from another.

The account that the server runs as may not be allowed into the directories above the data, such as /root. It is not
for this program to change their permissions, and data stored elsewhere would be missing from backups. So the server is
started with the data directory as its working directory, and refers to it as /proc/self/cwd: that path does not lead
through the directories above.
"""

import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from kasuwa.postgres.embedded.account import (
    EmbeddedError,
    ServerAccount,
    check_owner,
    find_account,
    make_private,
    process_options,
    succeeds,
)
from kasuwa.postgres.embedded.directory import (
    PORT,
    create_cluster,
    make_directory,
    path_for_server,
    socket_directory,
    try_lock,
)
from kasuwa.postgres.embedded.log import LOG_FILE, describe_failure
from kasuwa.postgres.embedded.programs import find_programs, wheel_bin
from kasuwa.postgres.private_files import open_log

SUPERUSER = "kasuwa"
SETTINGS = {
    "cluster_name": "kasuwa",  # Shown beside its processes in ps.
    "listen_addresses": "",  # Only the Unix socket.
    "unix_socket_permissions": "0700",
    "max_connections": "400",  # A process opens up to 34 when it is busy; an idle one costs next to nothing.
    "shared_buffers": "256MB",  # Holds the hot accounts and indexes; small enough for a laptop.
    "max_wal_size": "4GB",  # Bulk writes would force a checkpoint every few seconds at the default of 1GB.
    "checkpoint_timeout": "15min",  # Fewer checkpoints, fewer full pages in the log; recovery stays short.
    "autovacuum_vacuum_cost_delay": "10ms",  # While it runs, p99 is a tenth longer; a third at the usual 2ms.
    "default_statistics_target": "20",  # Rows are found by key. At 100 an ANALYZE takes a core: p99 was 4 x as long.
    "fsync": "on",  # An acknowledged write survives a power cut.
    "synchronous_commit": "on",  # The same: 5 kills lost 46 acknowledged writes without it.
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",  # The log file is replaced only at a start; routine messages would fill it.
    "log_min_error_statement": "panic",  # Statements quote the content of rows, which must not be logged.
    "log_error_verbosity": "terse",  # The same: the DETAIL of errors quotes it too.
}

# Replaying max_wal_size after a crash takes minutes on a slow disk, and giving up would only restart the replay. A dead
# server is noticed at once.
START_SECONDS = 600

# A fast stop writes the changed pages in shared_buffers to disk. After this time the server is stopped at once, which
# loses nothing: the next start replays the log.
STOP_SECONDS = 60
LONGEST_STOP_SECONDS = 2 * STOP_SECONDS

# Messages of PostgreSQL's protocol 3.0 for probing the server, and the timeout of a probe.
PROTOCOL = 3 << 16
TERMINATE_MESSAGE = b"X\0\0\0\4"
CANNOT_CONNECT_NOW = b"57P03"
PROBE_TIMEOUT_SECONDS = 5


@dataclass(frozen=True)
class Cluster:
    """A running server of one data directory."""

    directory: Path

    @property
    def dsn(self) -> str:
        """The address of its database for the superuser that created it."""
        return self.dsn_for("kasuwa")

    def dsn_for(self, database: str, login: str = SUPERUSER) -> str:
        host = quote(str(socket_directory(self.directory)))
        return f"postgresql://{login}@/{quote(database, safe='')}?host={host}&port={PORT}"

    def is_running(self) -> bool:
        """Returns whether any process of the server is left, also while it starts, recovers or stops."""
        with try_lock(self.directory) as lock:
            return lock is None

    def stop(self, *, immediate: bool = False) -> None:
        """Stops the server and waits for its last process. `immediate` is like a power cut: the next start recovers."""
        if not immediate:
            send_signal(self.directory, "INT")
        if not send_signal(self.directory, "QUIT"):
            raise EmbeddedError(f"PostgreSQL in {self.directory} does not stop: end it by hand with kill")
        shutil.rmtree(socket_directory(self.directory), ignore_errors=True)


def start(directory: Path, *, options: Mapping[str, str] = {}, bin_directory: Path | None = None) -> Cluster:
    """Returns the server of a directory once it accepts connections. Starts it unless it runs already.

    `options` apply to a server that is started now; one that is already running keeps its own. PostgreSQL before 16
    leaves its working directory, so as root its programs need a data directory that others can enter.
    """
    directory = make_directory(directory)
    account = find_account(directory)
    deadline = time.monotonic() + START_SECONDS
    launched = False
    while not is_ready(directory):
        # While we hold the lock, no other process starts a server, and no process of an earlier server is left.
        with try_lock(directory) as lock:
            if lock is not None:
                if launched:
                    raise EmbeddedError(f"PostgreSQL in {directory} did not start: {describe_failure(directory)}")
                programs = find_programs(bin_directory or wheel_bin(), account)
                try:
                    create_cluster(directory, account, programs, lock)
                    launch(directory, account, server_command(directory, account, programs, options), lock)
                except OSError as error:
                    raise EmbeddedError(f"PostgreSQL in {directory} cannot be started: {error.strerror}") from error
                launched = True
        if time.monotonic() > deadline:
            raise EmbeddedError(f"PostgreSQL takes more than {START_SECONDS} s: see {directory}/postgres.log")
        time.sleep(0.01)
    return Cluster(directory)


def find(directory: Path) -> Cluster | None:
    """Returns the running server of a directory, or None if no server accepts connections."""
    directory = directory.resolve()
    check_owner(directory)
    return Cluster(directory) if is_ready(directory) else None


def server_command(
    directory: Path, account: ServerAccount | None, programs: Path, options: Mapping[str, str]
) -> list[str]:
    """Returns the command line of the server, with SETTINGS and then the caller's options."""
    sockets, cluster = socket_directory(directory), directory / "cluster"
    postgres = [str(programs / "postgres"), "-D", path_for_server(cluster / "data", account)]
    has_lz4 = succeeds([*postgres, "-C", "port", "-c", "wal_compression=lz4"], account, cluster / "data")
    settings = {
        **SETTINGS,
        # A commit waits for the log to be written, so a smaller log is faster. Pglz costs more time than it saves.
        "wal_compression": "lz4" if has_lz4 else "off",
        # Relative to the data directory: the account may not be able to reach it by its absolute path.
        "unix_socket_directories": "../socket" if sockets.parent == cluster else str(sockets),
        **options,
    }
    return [*postgres, *(part for name, value in settings.items() for part in ("-c", f"{name}={value}"))]


def launch(directory: Path, account: ServerAccount | None, command: list[str], lock: BinaryIO) -> None:
    """Starts the server detached from this process, and passes it the lock."""
    data, sockets = directory / "cluster" / "data", socket_directory(directory)
    make_private(sockets, account)
    # The lock was free, so these files are a dead server's. PostgreSQL removes them only if no process has the id that
    # they name: not if the system has given it to another process, or the dead server is still a zombie.
    (data / "postmaster.pid").unlink(missing_ok=True)
    (sockets / f".s.PGSQL.{PORT}.lock").unlink(missing_ok=True)
    log = directory / LOG_FILE
    if log.exists():
        log.replace(directory / "postgres.log.1")
    with open_log(log) as output:
        subprocess.run(
            ["/bin/sh", "-c", '"$@" &', "sh", *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            check=True,
            pass_fds=(lock.fileno(),),
            start_new_session=True,  # Otherwise Ctrl-C in the terminal would stop it before its users.
            **process_options(account, data),
        )


def is_ready(directory: Path) -> bool:
    """Returns whether a server accepts connections. During recovery it answers CANNOT_CONNECT_NOW."""
    answer = probe(directory)
    return answer != b"" and CANNOT_CONNECT_NOW not in answer


def probe(directory: Path) -> bytes:
    """Returns the server's answer to a connection attempt, empty if no server listens.

    Only the main process of a server listens, so surviving backends of a dead server are not taken for it. The file
    postmaster.pid would still say "ready".
    """
    names = b"user\0kasuwa\0database\0kasuwa\0\0"
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PROBE_TIMEOUT_SECONDS)
        try:
            connection.connect(str(socket_directory(directory) / f".s.PGSQL.{PORT}"))
            connection.sendall(struct.pack("!II", 8 + len(names), PROTOCOL) + names)
            answer = connection.recv(1024)
            connection.sendall(TERMINATE_MESSAGE)
        except OSError:
            return b""
    return answer


def send_signal(directory: Path, signal_name: str) -> bool:
    """Sends a stop signal. Returns whether all processes of the server ended within STOP_SECONDS."""
    deadline = time.monotonic() + STOP_SECONDS
    is_sent = False
    while time.monotonic() < deadline:
        with try_lock(directory) as lock:
            if lock is not None:
                return True
        # While the server answers, the process id in its file is its own.
        if not is_sent and probe(directory):
            # Sent by the owner of the file, so that a wrong id in it cannot make root end another process.
            kill = 'read pid < postmaster.pid && kill -s "$1" "$pid"'
            data = directory / "cluster" / "data"
            is_sent = succeeds(["/bin/sh", "-c", kill, "sh", signal_name], find_account(directory), data)
        time.sleep(0.01)
    return False
