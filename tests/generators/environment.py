"""A virtual environment for tools that read the OpenAPI documents, apart from ours: their pins must not bind ours.

It is made once per content of requirements.txt, below our own environment, and used by all later runs.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from tests.made_once import digest_of, made_once

REQUIREMENTS = Path(__file__).parent / "requirements.txt"
CACHE = Path(sys.prefix) / "generators"
# Prevents a hanging index or program from blocking the run; both take seconds, or minutes on a busy machine.
INSTALL_SECONDS = 1200
RUN_SECONDS = 1200
# A generator runs for seconds: optimizing its code, and collecting garbage by threads, cost more than they save.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class ToolFailed(RuntimeError):
    """A tool ended with an error. The text is its output."""


def tools_directory() -> Path:
    """Returns the directory of the tools' programs. Makes the environment first if there is none."""

    def make(place: Path) -> None:
        venv.create(place)
        # Most modules are never imported: compiling all of them takes as long as the rest.
        options = ("--quiet", "--no-compile", "--require-hashes", "-r", str(REQUIREMENTS))
        pip = (Path(sys.executable), "-m", "pip", "--python", place / "bin" / "python", "--disable-pip-version-check")
        run_tool([*pip, "install", *options], CACHE, INSTALL_SECONDS)

    return made_once(CACHE / digest_of(REQUIREMENTS), make) / "bin"


def run_tool(command: list[str | Path], folder: Path, seconds: float = RUN_SECONDS) -> str:
    """Runs a program and returns its output, error stream included. Raises ToolFailed with that output."""
    program = Path(command[0])
    path = f"{program.parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "NO_COLOR": "1", "JAVA_TOOL_OPTIONS": JAVA_OPTIONS}
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(
            command, cwd=folder, env=environment, stdout=output, stderr=output, timeout=seconds, check=False
        )
        output.seek(0)
        text = output.read()
    if done.returncode != 0:
        raise ToolFailed(f"{program.name} ended with {done.returncode}:\n{text}")
    return text
