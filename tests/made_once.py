"""Directories that are made once and used by all later runs: environments with packages of their own, and what a tool
makes of the same contents every time."""

import fcntl
import shutil
from collections.abc import Callable
from hashlib import sha256
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


def digest_of(*contents: bytes | Path) -> str:
    """Returns a name for what is made of some contents and of nothing else. A path stands for the content of its file.
    One of them is the module that makes it: it knows the options."""
    return sha256(b"\0".join(one.read_bytes() if isinstance(one, Path) else one for one in contents)).hexdigest()[:16]
