"""How many processors this process may use, and how many API processes that is worth."""

import os
from pathlib import Path

# The default for larger machines: each process opens up to 30 database connections when it is busy, and the embedded
# PostgreSQL takes 400.
MAX_DEFAULT_WORKERS = 8

CGROUP_ROOT = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")


def count_processors(root: Path = CGROUP_ROOT, own: Path = OWN_CGROUP) -> int:
    """Returns the number of processors that this process may run on, and that a container's limit allows."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = [limit for limit in (read_limit(root, own), read_first_version_limit(root)) if limit is not None]
    return max(1, min(count, *(int(limit) for limit in limits)) if limits else count)


def read_limit(root: Path, own: Path) -> float | None:
    """Returns the smallest limit of this process's control group and those above it, in processors. None if there is
    none, or if the system has no control groups of version 2."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return None
    path = next((line.partition("::")[2] for line in lines if line.startswith("0::")), None)
    if path is None:
        return None
    group = root / path.strip("/")
    limits = [
        read_quota(directory / "cpu.max") for directory in (group, *group.parents) if directory.is_relative_to(root)
    ]
    return min((limit for limit in limits if limit is not None), default=None)


def read_quota(file: Path) -> float | None:
    """Reads a file such as `200000 100000`: the time of all processors together, in a period. None for `max`."""
    try:
        quota, period = file.read_text().split()
        return int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None


def read_first_version_limit(root: Path) -> float | None:
    """Returns the limit of a control group of version 1, in processors. None if there is none."""
    try:
        quota = int((root / "cpu" / "cpu.cfs_quota_us").read_text())
        period = int((root / "cpu" / "cpu.cfs_period_us").read_text())
    except (OSError, ValueError):
        return None
    return quota / period if quota > 0 and period > 0 else None


def default_workers(processors: int | None = None) -> int:
    """Returns the number of API processes for a machine. Up to three processors one is best: PostgreSQL needs the
    others. From four on, every second one gets an API process."""
    count = count_processors() if processors is None else processors
    return max(1, min(count // 2, MAX_DEFAULT_WORKERS))
