"""Opens files that only their owner may read or write."""

import os
from pathlib import Path
from typing import BinaryIO


def open_lock(path: Path) -> BinaryIO:
    """Opens a lock file, creating it if needed. Raises OSError.

    Anyone who can open the file, even for reading, can take its lock (flock). So other accounts lose access to a file
    whose permissions were widened, such as by `chmod -R`."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if os.fstat(descriptor).st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "r+b")


def open_log(path: Path) -> BinaryIO:
    """Opens a new or emptied file for writing."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb")


def sync_directory(directory: Path) -> None:
    """Makes the names of files in a directory as durable as the files."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
