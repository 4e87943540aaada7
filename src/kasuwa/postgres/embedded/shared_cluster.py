"""Shares the embedded server between processes. Each user holds a shared lock, and the last one stops the server.

So one command may start the server and another join, and neither stops it while the other uses it. The system releases
the lock when a process ends, however it ends.
"""

import asyncio
import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from kasuwa.postgres.connections import connect_as_owner
from kasuwa.postgres.embedded import embedded
from kasuwa.postgres.embedded.account import EmbeddedError
from kasuwa.postgres.logins import create_embedded_logins
from kasuwa.postgres.private_files import open_lock

USERS_LOCK_FILE = "users.lock"


def has_cluster(directory: Path) -> bool:
    """Whether a cluster was created in this directory, running or not. Raises EmbeddedError if it is another user's."""
    return embedded.find(directory) is not None or (directory / "cluster" / "data").exists()


@contextlib.contextmanager
def use_cluster(directory: Path) -> Iterator[embedded.Cluster]:
    """Starts or joins the embedded server of a directory, with its logins. The last user stops it on exit. Raises
    EmbeddedError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = open_lock(directory / USERS_LOCK_FILE)
    except OSError as error:
        raise EmbeddedError(
            f"{directory} cannot be written ({error.strerror}): choose another data directory"
        ) from None
    with lock:
        # Waits for a process that is stopping the server.
        fcntl.flock(lock, fcntl.LOCK_SH)
        cluster = embedded.start(directory)
        try:
            asyncio.run(ensure_logins(cluster.dsn))
            yield cluster
        finally:
            # The exclusive lock is free only for the last user, and keeps others out until the server has stopped.
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                cluster.stop()


async def ensure_logins(dsn: str) -> None:
    """Creates the logins that an embedded server lacks."""
    connection = await connect_as_owner(dsn, {"application_name": "kasuwa logins"})
    try:
        await create_embedded_logins(connection)
    finally:
        await connection.close()
