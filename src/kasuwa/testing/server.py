"""Servers for tests: `serve()` starts one, `join_server()` shares one between the processes of a test run."""

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from kasuwa.testing.address import DEMO_KEY, DEMO_MID, ServerAddress
from kasuwa.testing.guardian import ENDED, LOG, READY, USERS

if TYPE_CHECKING:
    from kasuwa.testing.merchant import SandboxMerchant

# Deadlines that prevent hanging. A start takes a few seconds, a stop less than one.
READY_SECONDS = 120.0
STOP_SECONDS = 60.0
POLL_SECONDS = 0.02

# A server in memory starts and commits faster. One needs some 50 MB, and more for long test runs.
MEMORY, MEMORY_WANTED = Path("/dev/shm"), 2_000_000_000
LOG_LINES = 15
# The address of a running server that tests use instead of one of their own.
URL_VARIABLE = "KASUWA_TEST_URL"

# Settings of a server for tests. The console is not needed, and events go to receivers on this machine.
DEFAULT_ENVIRONMENT = {
    "KASUWA_ENVIRONMENT": "test",
    "KASUWA_CONSOLE": "off",
    "KASUWA_WEBHOOK_LOOPBACK": "on",
    # The same for all, so that each can import the files of worlds of the others. Nothing in them is a secret.
    "KASUWA_SECRET_KEY": b64encode(b"a server of tests has no secret.").decode(),
}


class ServerFailed(Exception):
    """A server did not start, or cannot be reached. Has the last lines of its output."""


class Server(ServerAddress):
    """A running server of the test environment."""

    def open_merchant(self, **options: Any) -> "SandboxMerchant":
        """Returns a new merchant, whose books are audited only if you call its `check_books`. Takes the options of
        `SandboxMerchant.shop`."""
        from kasuwa.testing.merchant import open_merchant

        return open_merchant(self, **options)

    @contextlib.contextmanager
    def merchant(self, **options: Any) -> Iterator["SandboxMerchant"]:
        """Creates a merchant for the block, and audits its books and those of its shops at the end. The options are
        those of `SandboxMerchant.shop`. Raises AssertionError if the books violate an invariant."""
        merchant = self.open_merchant(**options)
        try:
            yield merchant
        finally:
            merchant.close()
        merchant.check_books()


@contextlib.contextmanager
def serve(
    *, url: str | None = None, seed: str | None = None, workers: int = 1, settings: Mapping[str, str] = {}
) -> Iterator[Server]:
    """Runs a server with an empty database for the block, on free ports, in a temporary directory.

    The server stops at the end of the block, and also if this process is killed. Raises ServerFailed.

    url: the address of a running server, which is used instead; by default that of KASUWA_TEST_URL, if it is set.
    seed: makes keys, references and tokens the same in every run (KASUWA_SANDBOX_SEED).
    workers: the number of API processes.
    settings: further settings, by the names of their environment variables.
    """
    running = url or os.environ.get(URL_VARIABLE)
    if running:
        yield connect(running)
        return
    environment = {**DEFAULT_ENVIRONMENT, "KASUWA_WORKERS": str(workers), **settings}
    if seed is not None:
        environment["KASUWA_SANDBOX_SEED"] = seed
    directory = make_directory()
    with use(directory / USERS):
        launch(directory, environment)
        yield wait_ready(directory)
    wait_removed(directory)


# --- one server for several processes -----------------------------------------------------------------------------


@contextlib.contextmanager
def join_server(root: Path) -> Iterator[Server]:
    """Uses the server that the processes of one test run share, and starts it if there is none. `root` is a directory
    that only these processes use. The server stops after the last of them has left or died. Raises ServerFailed."""
    current = root / "kasuwa-server"
    with contextlib.ExitStack() as stack:
        with locked(root / "kasuwa-server.lock"):
            server = find_server(current, stack)
            if server is None:
                directory = make_directory()
                stack.enter_context(use(directory / USERS))
                launch(directory, DEFAULT_ENVIRONMENT)
                server = wait_ready(directory)
                current.write_text(str(directory))
        yield server


def find_server(current: Path, stack: contextlib.ExitStack) -> Server | None:
    """Returns the server whose directory is named in a file, and enters its use into `stack`. Waits for one that is not
    ready at the moment. Returns None if there is none, if its guardian stops it, or if it has ended."""
    if not current.exists():
        return None
    directory = Path(current.read_text())
    joining = contextlib.ExitStack()
    try:
        joining.enter_context(use(directory / USERS))
        server = read_ready(directory)
        if server is None:
            raise ServerFailed("the server has ended")
        wait_answer(server.url, directory)
    except (OSError, ServerFailed):
        joining.close()
        return None
    stack.push(joining)
    return server


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    with path.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def use(path: Path) -> Iterator[None]:
    """Holds the lock that keeps a server running. Raises BlockingIOError if the server is being stopped."""
    with path.open("rb") as users:
        fcntl.flock(users, fcntl.LOCK_SH | fcntl.LOCK_NB)
        forget_in_forks(users)
        yield


def forget_in_forks(users: BinaryIO) -> None:
    """Closes the file in forks of this process, which would otherwise hold the lock after this process has ended."""

    def close() -> None:
        with contextlib.suppress(OSError):
            users.close()

    os.register_at_fork(after_in_child=close)


# --- starting and stopping ----------------------------------------------------------------------------------------


def make_directory() -> Path:
    """Returns a new directory for a server, in memory if there is plenty. If root starts the server, PostgreSQL runs as
    another user, who must be able to enter the directory."""
    has_memory = MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > MEMORY_WANTED
    directory = Path(tempfile.mkdtemp(prefix="kasuwa-testing-", dir=MEMORY if has_memory else None))
    directory.chmod(0o711)
    (directory / USERS).touch()
    return directory


def launch(directory: Path, settings: Mapping[str, str]) -> None:
    """Starts a guardian with its server. The settings of this process (KASUWA_…) do not apply to it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KASUWA_")}
    command = [sys.executable, "-m", "kasuwa.testing.guardian", str(directory)]
    subprocess.run(
        command,
        env={**environment, **settings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        check=True,
    )


def wait_ready(directory: Path) -> Server:
    until = time.monotonic() + READY_SECONDS
    while True:
        server = read_ready(directory)
        if server is not None:
            return server
        if (directory / ENDED).exists() or time.monotonic() > until:
            raise ServerFailed(f"kasuwa serve did not start:\n{last_output(directory)}")
        time.sleep(POLL_SECONDS)


def wait_answer(url: str, directory: Path) -> None:
    """Waits until a running server is ready: a busy one may say for a moment that it is not. Raises ServerFailed if it
    has ended or stays so, and OSError if nothing listens any more."""
    until = time.monotonic() + READY_SECONDS
    while not (directory / ENDED).exists() and time.monotonic() < until:
        try:
            ask(url)
            return
        except (urllib.error.HTTPError, TimeoutError):
            time.sleep(POLL_SECONDS)
    raise ServerFailed(f"the server at {url} has ended, or is not ready")


def read_ready(directory: Path) -> Server | None:
    try:
        announced = json.loads((directory / READY).read_bytes())
    except FileNotFoundError:
        return None
    return Server(announced["url"], announced["demo"]["mid"], announced["demo"]["key"], directory)


def last_output(directory: Path) -> str:
    """Returns the last lines that the server wrote, without the announcement of its demo key."""
    with contextlib.suppress(OSError):
        return "\n".join((directory / LOG).read_text(errors="replace").splitlines()[-LOG_LINES:])
    return "it wrote nothing"


def wait_removed(directory: Path) -> None:
    """Waits until the guardian has stopped the server and removed its directory."""
    until = time.monotonic() + STOP_SECONDS
    while directory.exists():
        if time.monotonic() > until:
            raise ServerFailed(f"the server in {directory} did not stop")
        time.sleep(POLL_SECONDS)


def ask(url: str) -> None:
    """Raises OSError if the server at the address is not ready."""
    with urllib.request.urlopen(f"{url}/readyz", timeout=10):
        return


def connect(url: str, mid: str = DEMO_MID, key: str = DEMO_KEY) -> Server:
    """Returns the running server at an address. Raises ServerFailed if it is not ready."""
    server = Server(url.rstrip("/"), mid, key)
    try:
        ask(server.url)
    except (OSError, ValueError) as error:
        raise ServerFailed(f"there is no Kasuwa server ready at {server.url}: {error}") from None
    return server
