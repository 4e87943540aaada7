"""The sockets of a deployment's API processes, in a directory that only this user can enter."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import msgspec

# The longest path of a socket that both Linux (107) and macOS (103) take.
MAX_PATH_BYTES = 103
LOCK_NAME = "lock"


class OwnerSockets(msgspec.Struct, frozen=True):
    """Made by the supervisor before it starts the processes. Call `remove` at the end."""

    directory: Path
    processes: int  # number of API processes
    # Descriptor of a locked file in the directory. The lock ends with the last process that inherited it, however it
    # ended: then the directory is nobody's, and the next start removes it.
    lock: int = -1

    @property
    def paths(self) -> list[Path]:
        return [self.directory / f"{number}.sock" for number in range(self.processes)]

    def read_process_number(self, process_name: str) -> int | None:
        """Returns the number of an API process, `api-1` being 0. None for a process that owns no merchants."""
        kind, _, number = process_name.partition("-")
        return int(number) - 1 if kind == "api" else None

    def remove(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)
        if self.lock >= 0:
            os.close(self.lock)


def make_sockets(processes: int, data: Path) -> OwnerSockets | None:
    """Makes the directory, among the temporary files or else in the data directory. Returns None if neither can be
    written or has a path that is short enough: then every process decides for itself."""
    prefix = f"kasuwa-{hashlib.sha256(os.fsencode(data.absolute())).hexdigest()[:4]}"  # short: see MAX_PATH_BYTES
    for parent in (Path(tempfile.gettempdir()), data):
        remove_abandoned(parent, prefix)
        try:
            directory = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            sockets = OwnerSockets(directory, processes, lock_directory(directory))
        except OSError:
            continue
        if len(bytes(sockets.paths[-1])) <= MAX_PATH_BYTES:
            return sockets
        sockets.remove()
    return None


def lock_directory(directory: Path) -> int:
    descriptor = os.open(directory / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def remove_abandoned(parent: Path, prefix: str) -> None:
    """Removes the directories of supervisors of the same data directory that were killed before they could."""
    for directory in parent.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            descriptor = os.open(directory / LOCK_NAME, os.O_RDWR | os.O_NOFOLLOW)
            try:
                if os.fstat(descriptor).st_uid == os.getuid():
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(directory, ignore_errors=True)
            finally:
                os.close(descriptor)
