"""The account that the embedded PostgreSQL runs as, and how its programs are run.

PostgreSQL refuses to run as root. Started by root, it runs as the owner of the data, else as `postgres` or `nobody`.
"""

import contextlib
import os
import pwd
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO


class EmbeddedError(Exception):
    """The embedded PostgreSQL cannot be used. The message says in one line what is wrong and how to fix it."""


@dataclass(frozen=True)
class ServerAccount:
    """An account other than root's, by number: the owner of a restored cluster may have no name on this machine."""

    uid: int
    gid: int


def find_account(directory: Path) -> ServerAccount | None:
    """Returns the account that PostgreSQL runs as, or None for the current one. Raises EmbeddedError."""
    check_owner(directory)
    if os.geteuid() != 0:
        return None
    cluster = directory / "cluster"
    if cluster.exists() and cluster.stat().st_uid != 0:
        return ServerAccount(cluster.stat().st_uid, cluster.stat().st_gid)
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return ServerAccount(entry.pw_uid, entry.pw_gid)
    raise EmbeddedError("PostgreSQL does not run as root, and there is no account postgres: add one")


def check_owner(directory: Path) -> None:
    cluster = directory / "cluster"
    if cluster.exists() and os.geteuid() not in (0, cluster.stat().st_uid):
        raise EmbeddedError(
            f"{cluster} belongs to another account (number {cluster.stat().st_uid}; root makes it so): "
            "run as that account or as root, or choose another directory"
        )


def run_program(
    command: list[str],
    account: ServerAccount | None,
    directory: Path,
    lock: BinaryIO | None = None,
    text: str = "",
) -> str:
    """Runs a program as the account, in the directory, with `text` as its input. Returns its output.

    If the lock is passed, the program holds it too: should this process be killed, no other starts a server meanwhile.
    Raises EmbeddedError with the program's last line if it fails.
    """
    name = Path(command[0]).name
    files = () if lock is None else (lock.fileno(),)
    options = process_options(account, directory)
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, pass_fds=files, **options)
    except OSError as error:
        raise EmbeddedError(f"{name} cannot be run in {directory}: {error.strerror}") from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise EmbeddedError(f"{name} failed in {directory}: {lines[-1]}")
    return str(done.stdout)


def process_options(account: ServerAccount | None, directory: Path) -> dict[str, Any]:
    """Returns the subprocess options of every program. Drops variables such as PGDATA and PGOPTIONS.

    The time zone is named because initdb would compare that of the system with all that it knows, which takes as long
    as the rest of it. The server is told its own (embedded.SETTINGS)."""
    options: dict[str, Any] = {"cwd": directory, "env": {"LC_ALL": "C", "TZ": "UTC", "PATH": os.defpath}}
    if account is not None:
        options |= {"user": account.uid, "group": account.gid, "extra_groups": []}
    return options


def succeeds(command: list[str], account: ServerAccount | None, directory: Path) -> bool:
    try:
        run_program(command, account, directory)
    except EmbeddedError:
        return False
    return True


def make_private(path: Path, account: ServerAccount | None) -> None:
    """Creates a directory that only the account can enter. One of root's becomes the account's, with all in it."""
    uid = os.geteuid() if account is None else account.uid
    path.mkdir(mode=0o700, exist_ok=True)
    if account is not None and path.lstat().st_uid == 0:
        for part in (path, *path.rglob("*")):
            os.chown(part, account.uid, account.gid, follow_symlinks=False)
    check_private(path, uid)
    path.chmod(0o700)


def check_private(path: Path, uid: int) -> None:
    """Raises EmbeddedError unless the path is a directory of the account: another account may have created it."""
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != uid:
        raise EmbeddedError(f"{path} is not a directory of account number {uid}, who needs it: move it away")
