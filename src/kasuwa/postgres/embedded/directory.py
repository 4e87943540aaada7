"""The directories of an embedded PostgreSQL: their lock, the data directory and the directory of its socket.

    postgres.lock           held by the process that creates the cluster, then by every process of its server
    postgres.log            log since the last start; postgres.log.1 is the one before
    cluster/data            the data directory proper
    cluster/socket          the Unix socket; no TCP address is listened on

`cluster` is open to its owner alone, so no password is asked for.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from kasuwa.postgres.embedded.account import EmbeddedError, ServerAccount, make_private, run_program, succeeds
from kasuwa.postgres.private_files import open_lock, sync_directory

LOCK_FILE = "postgres.lock"
PORT = 5432  # Only part of the socket's name.

# The longest path of a socket that both Linux (107) and macOS (103) take.
SOCKET_PATH_BYTES = 103


def make_directory(directory: Path) -> Path:
    """Creates the directory and its lock file. Returns its path without symbolic links. Raises EmbeddedError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        open_lock(directory / LOCK_FILE).close()
    except OSError as error:
        raise EmbeddedError(f"{directory} cannot be written ({error.strerror}): choose another") from error
    return directory.resolve()


@contextlib.contextmanager
def try_lock(directory: Path) -> Iterator[BinaryIO | None]:
    """Takes the lock, or yields None if another process holds it. Programs that were passed the lock keep it."""
    with open_lock(directory / LOCK_FILE) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            yield lock


def create_cluster(directory: Path, account: ServerAccount | None, programs: Path, lock: BinaryIO) -> None:
    """Creates the data directory with its database, or checks the version of an existing one.

    It is made under another name and renamed when it is complete."""
    cluster = directory / "cluster"
    make_private(cluster, account)
    if (cluster / "data").exists():
        make_private(cluster / "data", account)
        check_version(cluster / "data", account, programs)
        return
    fresh = cluster / "data.new"
    shutil.rmtree(fresh, ignore_errors=True)
    make_private(fresh, account)
    path = path_for_server(fresh, account)
    initdb = [str(programs / "initdb"), "-D", path]
    flags = ["-U", "kasuwa", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"]
    # Until there are old WAL segments to reuse, a commit waits for each new one: 35 ms at the default size of 16 MB.
    run_program([*initdb, *flags, "--wal-segsize=2"], account, fresh, lock)
    # In single-user mode, so that no server ever runs without its database.
    single = [str(programs / "postgres"), "--single", "-D", path, "-c", "fsync=off", "template1"]
    run_program(single, account, fresh, lock, "create database kasuwa\n")
    # Syncs all files at once. The steps above skipped it.
    run_program([*initdb, "--sync-only"], account, fresh, lock)
    fresh.rename(cluster / "data")
    sync_directory(cluster)


def check_version(data: Path, account: ServerAccount | None, programs: Path) -> None:
    version_file = data / "PG_VERSION"
    if not version_file.exists():
        raise EmbeddedError(f"{data} is not a data directory of PostgreSQL: move it away")
    # "postgres (PostgreSQL) 18.4"
    version = run_program([str(programs / "postgres"), "--version"], account, Path("/")).split()[2].partition(".")[0]
    data_version = version_file.read_text().strip()
    if data_version != version:
        raise EmbeddedError(
            f"{data} was made by PostgreSQL {data_version}, and this is PostgreSQL {version}: "
            f"dump it with {data_version} and load it here, or choose another data directory"
        )


def path_for_server(data: Path, account: ServerAccount | None) -> str:
    """Returns the path by which the account can reach the data directory. Raises EmbeddedError."""
    if account is None:
        return str(data)
    for path in (str(data), "/proc/self/cwd"):
        if succeeds(["/bin/sh", "-c", 'cd "$1"', "sh", path], account, data):
            return path
    raise EmbeddedError(
        f"account number {account.uid}, as which PostgreSQL runs here, may not enter {data}: "
        "choose a data directory below one that is open to others"
    )


def socket_directory(directory: Path) -> Path:
    """Returns the socket's directory: in the cluster, unless that path is too long or has a comma."""
    preferred = directory / "cluster" / "socket"
    if len(os.fsencode(preferred / f".s.PGSQL.{PORT}")) <= SOCKET_PATH_BYTES and "," not in str(preferred):
        return preferred
    return Path("/tmp", "kasuwa-" + hashlib.sha256(os.fsencode(directory)).hexdigest()[:12])
