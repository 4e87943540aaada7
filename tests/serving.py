"""`kasuwa serve` as a program starts it: on ports that it chooses, with a ready file."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.running import terminated_with_us
from tests.simulate.processes import clean_environment, wait_until

STOP_SECONDS = 60.0
FREE_PORTS = ("--port", "0", "--console-port", "0")


class Serving:
    """A running `kasuwa serve`, with its announcement."""

    def __init__(self, process: "subprocess.Popen[bytes]", directory: Path, ready: dict[str, Any]) -> None:
        self.process = process
        self.directory = directory
        self.ready = ready

    @property
    def stdout(self) -> str:
        return (self.directory / "out").read_text()

    @property
    def stderr(self) -> str:
        return (self.directory / "err").read_text()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_SECONDS)


@contextmanager
def serving(
    directory: Path,
    environ: Mapping[str, str],
    words: Sequence[str] = FREE_PORTS,
    program: Sequence[str] = (sys.executable, "-m", "kasuwa"),
) -> Iterator[Serving]:
    """Starts a server with its ready file and its output in a directory, and waits until it is ready."""
    ready = directory / "ready.json"
    command = [*program, "serve", *words, "--ready-file", str(ready)]
    with (directory / "out").open("wb") as out, (directory / "err").open("wb") as err:
        process = subprocess.Popen(command, env=clean_environment(environ), stdout=out, stderr=err, cwd=directory)
    try:
        with terminated_with_us(process.pid, signal.SIGTERM):
            wait_until("it is ready or has ended", lambda: ready.exists() or process.poll() is not None)
            assert process.poll() is None, (directory / "err").read_text()
            yield Serving(process, directory, json.loads(ready.read_text()))
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)
