"""The commit that this version was built from: a file that `make dist` writes, or that of the clone it runs from."""

import subprocess
from pathlib import Path

import kasuwa

PACKAGE = Path(kasuwa.__file__).parent
FILE = PACKAGE / "data" / "commit.txt"
# How git shortens a commit, and the time that it may take.
DIGITS, SECONDS = 12, 10.0


def find_commit() -> str | None:
    """Returns the commit, or None if neither a file nor a clone tells it."""
    if FILE.exists():
        return FILE.read_text().strip()
    clone = PACKAGE.parents[1]
    if not (clone / ".git").exists() or PACKAGE.parent.name != "src":
        return None
    try:
        command = ["git", "-C", str(clone), "rev-parse", f"--short={DIGITS}", "HEAD"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):  # there is no git
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def describe_version() -> str:
    """Returns the line of `kasuwa --version`."""
    commit = find_commit()
    return f"kasuwa {kasuwa.__version__}" + (f" ({commit})" if commit else "")
