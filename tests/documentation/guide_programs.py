"""The code of docs/guides as programs: read from the pages, run as they are printed, and compared with what they show.

A page is a program in each language: its blocks of that language, in order. A block whose first comment names a file
is saved under that name instead. What a program prints is in the comment behind each print statement. Commands are run
block by block: the JSON below a sample is the last reply. There, `…` as a value stands for any value, and as a
name for further fields. References, times, days and account numbers differ from run to run: each stands for the value
that it was first compared with, also in later commands. The day in a reference also stands for itself.
"""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from kasuwa_client import Kasuwa
from tests.clients.typescript_package import SOURCE, shared_distribution
from tests.node import COMPILER, find_node, install_npm_packages, run_program
from tests.packages import find_curl, find_php
from tests.source_rules import REPOSITORY

GUIDES = REPOSITORY / "docs" / "guides"
# Without the pages that have no programs. The commands of certify.md are run by tests/certify, those of cases.md by
# tests/cases, those of assistants.md by tests/assistant.
PAGES = sorted(path for path in GUIDES.glob("*.md") if path.stem not in ("README", "certify", "cases", "assistants"))
LANGUAGES = ("sh", "python", "ts", "php")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"(?:<\?php\n)?(?:#|//) ([\w.-]+\.(?:sh|py|mts|php))\b")
OUTPUT = {
    "python": re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE),
    "ts": re.compile(r"^ *console\.log\(.*\); // (.*)$", re.MULTILINE),
    "php": re.compile(r"^ *echo .*; // (.*)$", re.MULTILINE),
}
# Forms of values that differ from run to run.
VARYING = re.compile(
    "|".join(
        (
            r"GP\|[A-Z]{2}\|\d{9}\|\d{8}[A-Z]",
            r"GP\d{17}[A-Z]",
            r"KSW\|GVC\|\d+\|\w{22}",
            r"(?:CL|CU|IN|LN|RC|SC|SH|SO|SV)\w{22}",
            r"ST\d{8}[A-Z]{3}",
            r"evt_\w+",
            r"[a-z0-9]{8}\.\d{10}",
            r"\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|\+01:00))?",
            r"https?://127\.0\.0\.1:\d+/\S+",
            r"\b\d{10}\b",
        )
    )
)
# The day of Lagos in a reference.
REFERENCE_DAY = re.compile(r"GP\d{9}(\d{4})(\d\d)(\d\d)[A-Z]")
ACCEPTED = (200, 202, "success")
RUN_SECONDS = 120.0


class CodeBlock(NamedTuple):
    language: str
    code: str
    file: str | None


def read_blocks(page: Path) -> list[CodeBlock]:
    found = []
    for language, code in FENCE.findall(page.read_text()):
        named = FILE.match(code)
        found.append(CodeBlock(language, code, named[1] if named else None))
    return found


def program_of(page: Path, language: str) -> str:
    return "".join(block.code for block in read_blocks(page) if block.language == language and block.file is None)


def expected_output(program: str, language: str) -> list[str]:
    return OUTPUT[language].findall(program)


def save_files(directory: Path) -> None:
    """Saves the files that the pages name."""
    for page in PAGES:
        for block in read_blocks(page):
            if block.file is not None:
                (directory / block.file).write_text(block.code)


# --- programs -------------------------------------------------------------------------------------------------------


def run_python(program: str, environ: Mapping[str, str]) -> list[str]:
    """Runs a program in this process, which has imported the client already. Closes the clients that it leaves open, as
    the end of a process would."""
    output, before = io.StringIO(), dict(os.environ)
    names: dict[str, Any] = {"__name__": "__main__"}
    os.environ |= environ
    try:
        with contextlib.redirect_stdout(output):
            exec(compile(program, "guide.py", "exec"), names)
    finally:
        for client in names.values():
            if isinstance(client, Kasuwa):
                client.close()
        os.environ.clear()
        os.environ |= before
    return output.getvalue().splitlines()


def run_php(program: str, directory: Path, environ: Mapping[str, str]) -> list[str]:
    place = directory / "guide.php"
    place.write_text(program)
    return run_program([find_php(), place], directory, RUN_SECONDS, dict(environ)).splitlines()


def compile_typescript(directory: Path) -> None:
    """Compiles the programs of all pages, and the files that they name, against the published client."""
    modules = directory / "node_modules"
    modules.mkdir()
    for installed in install_npm_packages(SOURCE).iterdir():
        (modules / installed.name).symlink_to(installed)
    (modules / "kasuwa-client").symlink_to(shared_distribution())
    for page in PAGES:
        (directory / f"{page.stem}.mts").write_text(program_of(page, "ts"))
    options = (
        "--strict",
        "--noUncheckedIndexedAccess",
        "--target",
        "es2022",
        "--module",
        "nodenext",
        "--types",
        "node",
    )
    sources = [path.name for path in directory.glob("*.mts")]
    run_program([find_node(), COMPILER, *options, "--skipLibCheck", *sources], directory, RUN_SECONDS)


def run_typescript(page: Path, directory: Path, environ: Mapping[str, str]) -> list[str]:
    return run_program([find_node(), f"{page.stem}.mjs"], directory, RUN_SECONDS, dict(environ)).splitlines()


# --- commands -------------------------------------------------------------------------------------------------------


class Samples(NamedTuple):
    """A block of commands, and the reply that the page shows for its last command, or None."""

    commands: str
    shown: Any


def read_samples(page: Path) -> Iterator[Samples]:
    commands = ""
    for block in read_blocks(page):
        if block.language == "sh" and block.file is None:
            if commands:
                yield Samples(commands, None)
            commands = block.code
        elif block.language == "json":
            yield Samples(commands, json.loads(block.code))
            commands = ""
    if commands:
        yield Samples(commands, None)


class ShellReader:
    """Runs the commands of a page in order, with the values of this run in place of those that the page shows."""

    def __init__(self, directory: Path, environ: Mapping[str, str]) -> None:
        self._directory = directory
        self._environ = {**os.environ, **environ}
        self._actual: dict[str, str] = {}

    def follow(self, samples: Samples) -> None:
        replies = self.run(samples.commands)
        others = replies if samples.shown is None else replies[:-1]
        for reply in others:
            assert reply["status"] in ACCEPTED, (samples.commands, reply)
        if samples.shown is not None:
            fault = self.compare(samples.shown, replies[-1], "reply")
            assert fault is None, f"{fault}\n{json.dumps(replies[-1], indent=2, ensure_ascii=False)}"

    def run(self, commands: str) -> list[Any]:
        """Returns the replies of all requests that the commands send."""
        find_curl()
        filled = VARYING.sub(lambda found: self._actual.get(found[0], found[0]), commands)
        done = subprocess.run(
            ["sh", "-e", "-c", filled],
            cwd=self._directory,
            env=self._environ,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return list(decode_all(done.stdout))

    def compare(self, shown: Any, actual: Any, place: str) -> str | None:
        """Returns the first difference, or None."""
        if shown == "…":
            return None
        if isinstance(shown, dict) and isinstance(actual, dict):
            names = set(shown) - {"…"}
            if (names - set(actual)) if "…" in shown else (names ^ set(actual)):
                return f"{place} has the fields {sorted(actual)}"
            faults = (self.compare(shown[name], actual[name], f"{place}.{name}") for name in shown if name != "…")
            return next((fault for fault in faults if fault), None)
        if isinstance(shown, list) and isinstance(actual, list) and len(shown) == len(actual):
            pairs = enumerate(zip(shown, actual, strict=True))
            faults = (self.compare(*pair, f"{place}.{number}") for number, pair in pairs)
            return next((fault for fault in faults if fault), None)
        if isinstance(shown, str) and isinstance(actual, str) and VARYING.fullmatch(shown):
            if (day := REFERENCE_DAY.fullmatch(shown)) and (own_day := REFERENCE_DAY.fullmatch(actual)):
                self._actual.setdefault("-".join(day.groups()), "-".join(own_day.groups()))
            return None if self._actual.setdefault(shown, actual) == actual else f"{place} is {actual!r}"
        return None if shown == actual else f"{place} is {actual!r}, not {shown!r}"


def decode_all(text: str) -> Iterator[Any]:
    """Yields the JSON values that follow each other in a text."""
    decoder, place = json.JSONDecoder(), 0
    while place < len(text.rstrip()):
        value, place = decoder.raw_decode(text, place)
        yield value
        place += len(text[place:]) - len(text[place:].lstrip())


def record_replies(page: Path, directory: Path, environ: Mapping[str, str]) -> None:
    """Writes the replies below those commands of a page that have an empty block of JSON."""
    reader, text, commands = ShellReader(directory, environ), page.read_text(), ""
    for block in read_blocks(page):
        if block.language == "sh" and block.file is None:
            commands = block.code
            replies = reader.run(commands)
        elif block.language == "json" and not block.code.strip():
            pretty = json.dumps(replies[-1], indent=2, ensure_ascii=False)
            text = text.replace("```json\n```", f"```json\n{pretty}\n```", 1)
            reader.compare(replies[-1], replies[-1], "")
        elif block.language == "json":
            print(page.name, reader.compare(json.loads(block.code), replies[-1], "reply"))
    page.write_text(text)


if __name__ == "__main__":
    record_replies(Path(sys.argv[1]), Path.cwd(), {})
