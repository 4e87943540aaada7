"""Records of the servers that run on a data directory: `serve` writes one when it is ready, other commands find it.

A record is a file serve.<pid>.json in the data directory. Its server holds a lock on it, which the system releases when
the server ends, however it ends. So a file without a lock is what a killed server has left behind, and is ignored.
"""

import contextlib
import fcntl
import fnmatch
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kasuwa.postgres.private_files import open_lock

RECORD_FILES = "serve.*.json"


class ServerRecord(msgspec.Struct, kw_only=True):
    """Describes a running server. Holds no secret."""

    url: str
    console_url: str | None
    metrics_url: str | None
    environment: str
    version: str
    schema: int  # number of the newest migration of the database when the server started
    pid: int  # of the supervisor


@contextlib.contextmanager
def record_server(directory: Path, record: ServerRecord) -> Iterator[None]:
    """Keeps a record of this server until the end of the block, and removes those of dead ones. Raises OSError."""
    remove_stale_records(directory)
    path = directory / f"serve.{record.pid}.json"
    temporary = path.with_suffix(".new")
    with open_lock(temporary) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate()
        file.write(msgspec.json.encode(public_part(record)) + b"\n")
        file.flush()
        # Named last: under its name a record is always locked and complete.
        os.replace(temporary, path)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def public_part(record: ServerRecord) -> ServerRecord:
    """Returns the record alone, without the fields that a subclass adds, which may be secret."""
    return ServerRecord(**{name: getattr(record, name) for name in ServerRecord.__struct_fields__})


def find_servers(directory: Path) -> list[ServerRecord]:
    """Returns the records of the servers that run on a data directory, newest last. Changes nothing.

    Raises PermissionError if they are another user's."""
    records = [(path.stat().st_mtime, record) for path, record in read_records(directory) if record is not None]
    return [record for _, record in sorted(records, key=lambda one: one[0])]


def remove_stale_records(directory: Path) -> None:
    for path, record in read_records(directory):
        if record is None:
            path.unlink(missing_ok=True)


def read_records(directory: Path) -> Iterator[tuple[Path, ServerRecord | None]]:
    """Yields each record file of a directory with its record, or None if its server is dead."""
    try:
        names = fnmatch.filter(os.listdir(directory), RECORD_FILES)
    except (FileNotFoundError, NotADirectoryError):
        return
    for path in (directory / name for name in names):
        with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
            yield path, read_if_locked(file.fileno(), path)


def read_if_locked(descriptor: int, path: Path) -> ServerRecord | None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            return msgspec.json.decode(path.read_bytes(), type=ServerRecord)
    return None
