"""Runs the example rail of docs/recipes/rail, and rails that differ from it by one fault."""

import asyncio
import contextlib
import http.client
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from kasuwa.rails.remote.signing import RemoteSecret
from tests.running import free_port, stop, terminated_with_us
from tests.source_rules import REPOSITORY

FOLDER = REPOSITORY / "docs" / "recipes" / "rail"
SECRET = RemoteSecret("key-1", "a secret of the example rail, 1234567890")
START_SECONDS = 120.0


class ExampleRail:
    """An example rail in a process of its own. `changes` are replacements in its sources: a fault."""

    def __init__(self, directory: Path, changes: Mapping[str, str] | None = None, **options: str) -> None:
        self.directory = directory
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._stack = contextlib.ExitStack()
        self.options = {"port": str(self.port), "data": str(directory / "rail.db"), **options}
        (directory / "secret").write_text(SECRET.secret)
        write_rail(directory, changes or {})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> "ExampleRail":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start(self) -> None:
        # With nothing but the standard library: -S leaves out whatever is installed beside it.
        command = [sys.executable, "-S", "example_full_rail.py", "--secret-file", "secret"]
        options = [word for name, value in self.options.items() for word in (f"--{name}", value)]
        errors = self._stack.enter_context((self.directory / "errors").open("wb"))
        self._process = subprocess.Popen([*command, *options], cwd=self.directory, stderr=errors)
        self._stack.callback(stop, self._process)
        self._stack.enter_context(terminated_with_us(self._process.pid, signal.SIGTERM))
        self.wait_ready()

    def wait_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            with (
                contextlib.suppress(OSError),
                contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port)) as wire,
            ):
                wire.connect()
                return
            if time.monotonic() > deadline:
                raise AssertionError((self.directory / "errors").read_text())
            time.sleep(0.02)

    async def restart(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        await asyncio.to_thread(self.start)


def write_rail(directory: Path, changes: Mapping[str, str]) -> None:
    """Writes the sources of the rail. Raises AssertionError if a change does not match exactly one place."""
    texts = {path.name: path.read_text() for path in FOLDER.glob("*.py")}
    for old, new in changes.items():
        found = [name for name, text in texts.items() if old in text]
        assert sum(text.count(old) for text in texts.values()) == 1, old
        texts[found[0]] = texts[found[0]].replace(old, new)
    for name, text in texts.items():
        (directory / name).write_text(text)


@contextlib.contextmanager
def running_rail(directory: Path, changes: Mapping[str, str] | None = None, **options: str) -> Iterator[ExampleRail]:
    with ExampleRail(directory, changes, **options) as rail:
        yield rail
