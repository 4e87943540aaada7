"""Sharing the embedded server: whoever uses one holds a lock on it, and the last to let go stops it.

So a command that found no server may start one, another may join in, and neither ends it under the other's feet.
The lock goes with its process, however that ends.
"""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from kasuwa.db import embedded
from kasuwa.db.private_files import open_lock

USERS_LOCK_FILE = "users.lock"


@contextlib.contextmanager
def use_cluster(directory: Path) -> Iterator[embedded.Cluster]:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = open_lock(directory / USERS_LOCK_FILE)
    except OSError as error:
        raise embedded.EmbeddedError(f"{directory} cannot be written ({error.strerror}): choose another") from None
    with lock:
        # Waits for one who is just stopping it.
        fcntl.flock(lock, fcntl.LOCK_SH)
        cluster = embedded.start(directory)
        try:
            yield cluster
        finally:
            # Alone, we keep others out until it has stopped; else somebody still uses it.
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                cluster.stop()
