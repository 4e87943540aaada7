"""Files that only their owner may open."""

import os
from pathlib import Path
from typing import BinaryIO


def open_lock(path: Path) -> BinaryIO:
    """The lock file, made if it is not there. Raises OSError.

    A lock (flock) can be taken by whoever can open its file, also for reading only. So nobody else may: a file that was
    made with other rights by an earlier version is closed to others."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if os.fstat(descriptor).st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "r+b")


def open_log(path: Path) -> BinaryIO:
    """An empty file to write to."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb")


def sync_directory(directory: Path) -> None:
    """Makes the names of files in a directory as durable as the files."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
