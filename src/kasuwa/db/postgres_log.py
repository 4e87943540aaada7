"""Why the embedded PostgreSQL ended or does not start: what its log says, and whether its disk is full."""

import shutil
from pathlib import Path

LOG_FILE = "postgres.log"
# PostgreSQL's own words for what ends it or keeps it from starting.
SEVERE_LEVELS = ("PANIC", "FATAL")
# A server with less room than this may be unable to write its log (WAL), and then stops.
MIN_FREE_BYTES = 64 * 1024 * 1024
MEBIBYTE = 1024 * 1024
# Enough for the last lines, whatever a log has grown to.
TAIL_BYTES = 64 * 1024


def describe_failure(directory: Path) -> str:
    """The line of the server's log that says most of its end, and the state of the disk where that is the reason."""
    said = [line for line in (last_severe_line(directory / LOG_FILE), describe_full_disk(directory)) if line]
    return "; ".join(said) or "it said nothing"


def last_severe_line(log: Path) -> str:
    """The last severe line of a log, or else its last line; empty where there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL_BYTES))
            lines = file.read().decode(errors="replace").strip().splitlines()
    except OSError:
        return ""
    severe = [line for line in lines if any(f"{word}:" in line for word in SEVERE_LEVELS)]
    return (severe or lines or [""])[-1].strip()


def describe_full_disk(directory: Path) -> str:
    """That the disk is full, which a server cannot write into a log on that disk; empty where it is not."""
    try:
        free = shutil.disk_usage(directory).free
    except OSError:
        return ""
    if free >= MIN_FREE_BYTES:
        return ""
    return f"the disk of {directory} is full: {free / MEBIBYTE:.1f} MiB are free, at least 64 are needed"
