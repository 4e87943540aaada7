"""`kasuwa.testing.serve`, and the server that several processes share: it ends with the last of them."""

import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from kasuwa.testing import ServerFailed, serve
from kasuwa.testing import server as server_module
from kasuwa.testing.guardian import DATA, USERS
from kasuwa.testing.server import join_server, last_output, use

# Past this bound something hangs.
DEADLINE_SECONDS = 300.0

# Joins the shared server, says where it is, and leaves when its standard input ends.
USER = """
import sys
from pathlib import Path
from kasuwa.testing.server import join_server
with join_server(Path(sys.argv[1])) as server:
    print(server.url, server.directory, flush=True)
    sys.stdin.read()
"""


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + DEADLINE_SECONDS
    while not is_so():
        assert time.monotonic() < until, what
        time.sleep(0.02)


def is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=10) as reply:
            return bool(reply.status == 200)
    except (OSError, http.client.HTTPException):
        return False


def processes_of(directory: Path, command: str = "") -> list[psutil.Process]:
    """The processes of the server with its data in a directory: guardian, supervisor, their forks and PostgreSQL. Or
    those among them that have a word in their command."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            words = process.cmdline()
            inside = process.cwd().startswith(str(directory)) or any(str(directory) in word for word in words)
            if inside and (not command or command in words):
                found.append(process)
        except psutil.Error:
            continue
    return found


class User:
    """Another process that uses the shared server."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, "-c", USER, str(root)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url, self.directory = "", Path()

    def wait_joined(self) -> None:
        assert self.process.stdout is not None
        output = self.process.stdout.readline().split()
        self.url, self.directory = output[0], Path(output[1])

    def end(self) -> None:
        self.process.communicate()


@pytest.fixture
def open_user(tmp_path: Path) -> Iterator[Callable[[], User]]:
    opened: list[User] = []

    def open_one() -> User:
        opened.append(User(tmp_path))
        return opened[-1]

    yield open_one
    for user in opened:
        user.end()


def test_a_shared_server_outlives_a_killed_user_and_ends_with_the_last(
    tmp_path: Path, open_user: Callable[[], User]
) -> None:
    first, second = open_user(), open_user()
    for user in (first, second):
        user.wait_joined()
    assert (first.url, first.directory) == (second.url, second.directory)
    first.process.kill()
    first.process.wait()
    wait_until(lambda: is_ready(second.url), "the server did not outlive a user")
    second.end()
    wait_until(lambda: not second.directory.exists(), "the directory is still there")
    assert not is_ready(second.url)
    wait_until(lambda: processes_of(second.directory) == [], "processes are left")
    # A server that is gone is not joined: the next user starts another.
    with join_server(tmp_path) as server:
        assert server.url != second.url
        assert server.directory is not None
        [guardian] = processes_of(server.directory, "kasuwa.testing.guardian")
        guardian.kill()
        wait_until(lambda: not is_ready(server.url), "the server outlived its guardian")
        wait_until(lambda: processes_of(server.directory or Path()) == [], "processes are left")
    shutil.rmtree(server.directory)  # which the guardian would have removed


def test_a_server_that_is_being_stopped_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / USERS
    path.touch()
    with use(path), use(path):
        pass
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import fcntl; f = open({str(path)!r}); fcntl.flock(f, fcntl.LOCK_EX); print(1, flush=1); input()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    with pytest.raises(BlockingIOError), use(path):
        pass
    holder.communicate(b"\n")


def test_a_fork_does_not_keep_the_server(tmp_path: Path) -> None:
    path = tmp_path / USERS
    path.touch()
    with use(path):
        child = os.fork()
        if child == 0:
            time.sleep(DEADLINE_SECONDS)
            os._exit(0)
    code = f"import fcntl; fcntl.flock(open({str(path)!r}), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    try:
        wait_until(
            lambda: subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode == 0,
            "the fork holds the lock",
        )
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_server_that_cannot_start_says_why_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(server_module, "MEMORY", tmp_path / "none")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("KASUWA_PORT", "of another server")  # settings of this process are not those of the server
    expected = re.escape("kasuwa serve did not start:\n") + "(.|\n)*KASUWA_WORKERS must be a whole number from 1 to 64"
    with pytest.raises(ServerFailed, match=expected), serve(workers=0):
        raise AssertionError("it cannot start")
    wait_until(lambda: list(tmp_path.iterdir()) == [], "the directory is still there")
    wait_until(lambda: processes_of(tmp_path) == [], "processes are left")


def test_a_running_server_is_used_by_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = re.escape("there is no Kasuwa server ready at http://127.0.0.1:9:")
    with pytest.raises(ServerFailed, match=expected), serve(url="http://127.0.0.1:9/"):
        raise AssertionError("nothing listens there")
    monkeypatch.setenv("KASUWA_TEST_URL", "http://127.0.0.1:9")
    with pytest.raises(ServerFailed, match=expected), serve():
        raise AssertionError("nothing listens there")


def test_the_output_of_a_server_that_wrote_nothing_says_so(tmp_path: Path) -> None:
    assert last_output(tmp_path / DATA) == "it wrote nothing"
