"""Directories that are made once and used by all later runs, such as environments with packages of their own."""

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path


def made_once(place: Path, make: Callable[[Path], None]) -> Path:
    """Returns a directory, and makes it first if that has not succeeded before. One process makes it at a time."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with (place.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # An environment cannot be renamed: the mark is written last, and one without it is made anew.
        if not (place / "complete").exists():
            shutil.rmtree(place, ignore_errors=True)
            make(place)
            (place / "complete").touch()
    return place
