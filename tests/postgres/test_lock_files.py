"""Lock files of a data directory: another account of the machine cannot open one, and so cannot take its lock."""

import contextlib
import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kasuwa.postgres.embedded.shared_cluster import use_cluster
from kasuwa.postgres.private_files import open_lock, open_log
from tests.running import memory_directory

TRY_TO_HOLD = """
import fcntl, sys
try:
    fcntl.flock(open(sys.argv[1], "rb"), fcntl.LOCK_EX | fcntl.LOCK_NB)
except PermissionError:
    sys.exit("refused")
"""


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that every account may enter and list."""
    with tempfile.TemporaryDirectory(dir=memory_directory(), ignore_cleanup_errors=True) as path:
        Path(path).chmod(0o755)
        yield Path(path)


@contextlib.contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_files_in_a_data_directory_are_their_owners_alone(open_directory: Path) -> None:
    with umask(0), use_cluster(open_directory):
        found = {path.name: mode_of(path) for path in open_directory.iterdir() if path.is_file()}
    assert found == {"postgres.lock": 0o600, "users.lock": 0o600, "postgres.log": 0o600}


def test_a_lock_file_that_others_may_read_is_closed_to_them(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.touch()
    lock.chmod(0o644)
    open_lock(lock).close()
    assert mode_of(lock) == 0o600


def test_a_lock_file_is_not_followed_to_another(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    (tmp_path / "lock").symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic links"):
        open_lock(tmp_path / "lock")


def test_a_log_begins_empty(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("before")
    with open_log(tmp_path / "log") as log:
        log.write(b"after")
    assert (tmp_path / "log").read_bytes() == b"after"


def test_a_lock_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    with open_lock(tmp_path / "lock") as one, open_lock(tmp_path / "lock") as other:
        fcntl.flock(one, fcntl.LOCK_EX)
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


# Acting as another account needs root. The mode that keeps others out is tested above without.
if os.geteuid() == 0:

    @pytest.mark.parametrize("name", ["postgres.lock", "users.lock"])
    def test_another_user_cannot_hold_a_lock(open_directory: Path, name: str) -> None:
        (open_directory / name).touch(mode=0o644)
        with use_cluster(open_directory):
            program = ["/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable, "-c", TRY_TO_HOLD]
            tried = subprocess.run([*program, open_directory / name], user="nobody", capture_output=True, text=True)
        assert (tried.returncode, tried.stderr) == (1, "refused\n")
