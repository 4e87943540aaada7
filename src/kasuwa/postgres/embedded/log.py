"""Explains why the embedded PostgreSQL ended or does not start, from its log and the free disk space."""

import shutil
from pathlib import Path

LOG_FILE = "postgres.log"
# Levels of messages that PostgreSQL logs before it ends or when it cannot start.
SEVERE_LEVELS = ("PANIC", "FATAL")
# A server with less room than this may be unable to write its log (WAL), and then stops.
MIN_FREE_BYTES = 64 * 1024 * 1024
MEBIBYTE = 1024 * 1024
# Enough for the last lines, whatever a log has grown to.
TAIL_BYTES = 64 * 1024


def describe_failure(directory: Path) -> str:
    """Returns the most telling line of the server's log, and whether the disk is full."""
    reasons = [line for line in (last_severe_line(directory / LOG_FILE), describe_full_disk(directory)) if line]
    return "; ".join(reasons) or "its log is empty"


def last_severe_line(log: Path) -> str:
    """Returns the last severe line of a log, else its last line, else an empty text."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL_BYTES))
            lines = file.read().decode(errors="replace").strip().splitlines()
    except OSError:
        return ""
    severe = [line for line in lines if any(f"{word}:" in line for word in SEVERE_LEVELS)]
    return (severe or lines or [""])[-1].strip()


def describe_full_disk(directory: Path) -> str:
    """Returns a message if the disk is full, else an empty text. The server cannot log it on a full disk."""
    try:
        free = shutil.disk_usage(directory).free
    except OSError:
        return ""
    if free >= MIN_FREE_BYTES:
        return ""
    return f"the disk of {directory} is full: {free / MEBIBYTE:.1f} MiB are free, at least 64 are needed"
