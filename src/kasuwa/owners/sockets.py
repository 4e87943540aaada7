"""The sockets of a deployment's API processes, in a directory that only this user can enter."""

import shutil
import tempfile
from pathlib import Path

import msgspec

# The longest path of a socket that both Linux (107) and macOS (103) take.
MAX_PATH_BYTES = 103


class OwnerSockets(msgspec.Struct, frozen=True):
    """Made by the supervisor before it starts the processes. Call `remove` at the end."""

    directory: Path
    processes: int  # number of API processes

    @property
    def paths(self) -> list[Path]:
        return [self.directory / f"{number}.sock" for number in range(self.processes)]

    def number_of(self, process_name: str) -> int | None:
        """Returns the number of an API process, `api-1` being 0. None for a process that owns no merchants."""
        kind, _, number = process_name.partition("-")
        return int(number) - 1 if kind == "api" else None

    def remove(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)


def make_sockets(processes: int, data: Path) -> OwnerSockets | None:
    """Makes the directory, among the temporary files or else in the data directory. Returns None if neither can be
    written or has a path that is short enough: then every process decides for itself."""
    for parent in (None, data):
        try:
            made = OwnerSockets(Path(tempfile.mkdtemp(prefix="kasuwa-", dir=parent)), processes)
        except OSError:
            continue
        if len(bytes(made.paths[-1])) <= MAX_PATH_BYTES:
            return made
        made.remove()
    return None
