"""Facts about the machine of a run, and a directory on its disk.

Ratios can be compared between machines; absolute figures only with these facts.
"""

import os
import platform
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from bench.postgres import query

SETTINGS = ("server_version", "fsync", "synchronous_commit", "shared_buffers", "max_wal_size")


def facts(dsn: str, directory: Path) -> dict[str, str]:
    """Returns the facts about the machine that explain a surprising figure."""
    shown = query(dsn, "".join(f"show {name};" for name in SETTINGS))
    settings = dict(zip(SETTINGS, (row[0] for row in shown), strict=True))
    return {
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "architecture": platform.machine(),
        "memory": f"{psutil.virtual_memory().total / 1e9:.0f} GB",
        "python": platform.python_version(),
        "PostgreSQL": settings.pop("server_version"),
        **settings,
        "file system": file_system(directory),
        "load average before": f"{psutil.getloadavg()[0]:.2f}",
    }


def file_system(directory: Path) -> str:
    """Returns the type of the file system. On tmpfs a commit costs nothing, and every figure would be wrong."""
    mounts = [part for part in psutil.disk_partitions(all=True) if directory.is_relative_to(part.mountpoint)]
    return max(mounts, key=lambda part: len(part.mountpoint)).fstype if mounts else "unknown"


@contextmanager
def bench_directory() -> Iterator[Path]:
    """Returns a directory on a disk. /tmp is often in memory, where a commit costs nothing.

    It is open to others, because PostgreSQL does not run as root and must be able to enter it.
    """
    parent = "/var/tmp" if os.path.isdir("/var/tmp") else None
    with tempfile.TemporaryDirectory(prefix="kasuwa-bench-", dir=parent, ignore_cleanup_errors=True) as made:
        os.chmod(made, 0o755)
        yield Path(made)
