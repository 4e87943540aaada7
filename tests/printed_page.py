"""Runs a page of documentation as it is printed: saves its programs, types its commands, and compares its outputs.

Three kinds of code blocks are read. A block after a line that ends in "`name`:" is a file. In a `console` block, a line
that begins with `$ ` is a command (continued after a backslash), and the lines below it are its output; a last line
`…` stands for output that is not shown. A `text` block is what the server that was started last prints next.

References, account numbers, ports and durations differ from run to run. The first time that one is compared it may be
any value of its form; from then on it stands for that value, also in commands.
"""

import re
import signal
import subprocess
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from tests.running import stop, terminated_with_us
from tests.simulate.processes import clean_environment, wait_until

FORMS = {
    "reference": r"\bGP\d{17}[A-Z]\b",
    "account": r"\b\d{10}\b",
    "port": r"(?<=127\.0\.0\.1:)\d+\b",
    "duration": r"\b\d+\.\d\ds\b",
}
VARYING = re.compile("|".join(f"(?P<{name}>{form})" for name, form in FORMS.items()))
HEADING = re.compile(r"^## (.+)$")
FENCE = re.compile(r"^```(\w+)$")
FILE = re.compile(r"`([\w.]+)`:$")
NOT_SHOWN = "…"
# Prevents a hanging command from blocking the run; they take seconds.
END_SECONDS = 120.0


class Block(NamedTuple):
    section: str
    language: str
    lines: list[str]
    file: str | None  # the name to save it under


def read_blocks(page: Path) -> list[Block]:
    return list(_blocks(iter(page.read_text().splitlines())))


def _blocks(lines: Iterator[str]) -> Iterator[Block]:
    section, before = "", ""
    for line in lines:
        if heading := HEADING.match(line):
            section = heading[1]
        if fence := FENCE.match(line):
            text = list(iter(lambda: next(lines), "```"))
            named = FILE.search(before)
            yield Block(section, fence[1], text, named[1] if named else None)
        if line:
            before = line


def read_commands(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yields each command of a console block with its output."""
    command: list[str] = []
    output: list[str] = []
    for line in lines:
        if command and command[-1].endswith("\\"):
            command.append(line)
        elif line.startswith("$ "):
            if command:
                yield "\n".join(command), output
            command, output = [line.removeprefix("$ ")], []
        else:
            output.append(line)
    yield "\n".join(command), output


class Values:
    """The values of this run for the varying values of the page."""

    def __init__(self) -> None:
        self._actual: dict[str, str] = {}

    def fill_in(self, command: str) -> str:
        return VARYING.sub(lambda found: self._actual.get(found[0], found[0]), command)

    def match(self, printed: list[str], actual: list[str]) -> bool:
        """Compares outputs, and keeps the values of a match."""
        is_shortened = printed[-1:] == [NOT_SHOWN]
        shown = printed[:-1] if is_shortened else printed
        if len(actual) < len(shown) or (len(actual) > len(shown) and not is_shortened):
            return False
        found = dict(self._actual)
        if all(match_line(*pair, found) for pair in zip(shown, actual[: len(shown)], strict=True)):
            self._actual = found
            return True
        return False


def match_line(printed: str, actual: str, values: dict[str, str]) -> bool:
    """Compares two lines, and adds the values that are compared for the first time."""
    forms, names, end = [], [], 0
    for found in VARYING.finditer(printed):
        known = values.get(found[0])
        form = re.escape(known) if known is not None else FORMS[str(found.lastgroup)]
        forms += [re.escape(printed[end : found.start()]), f"({form})"]
        names.append(found[0])
        end = found.end()
    same = re.fullmatch("".join(forms) + re.escape(printed[end:]), actual)
    if same is None:
        return False
    return all(values.setdefault(name, value) == value for name, value in zip(names, same.groups(), strict=True))


class Program:
    """A command of the page, run by bash, with its output so far."""

    def __init__(self, command: str, directory: Path, environ: Mapping[str, str], stack: ExitStack) -> None:
        self._command = command
        self._lines_read = 0
        number = len(list(directory.glob("*.out")))
        self._out, self._err = directory / f"{number}.out", directory / f"{number}.err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                ["/bin/bash", "-c", command], cwd=directory, env=environ, stdout=out, stderr=err
            )
        stack.callback(stop, self.process)
        stack.enter_context(terminated_with_us(self.process.pid, signal.SIGTERM))

    def expect(self, printed: list[str], values: Values) -> None:
        """Waits until the new output is that of the page. Raises AssertionError if it is not."""

        def is_printed() -> bool:
            has_ended = self.process.poll() is not None
            return values.match(printed, self._new_lines()) or has_ended

        wait_until(f"{self._command} prints {printed}", is_printed)
        new = self._new_lines()
        assert values.match(printed, new), f"{self._command}\nprints {new}\nnot    {printed}\n{self._err.read_text()}"
        self._lines_read += len(new)

    def expect_end(self) -> None:
        assert self.process.wait(END_SECONDS) == 0, f"{self._command}\n{self._out.read_text()}{self._err.read_text()}"

    def _new_lines(self) -> list[str]:
        """Returns the lines that were not compared yet. The last one counts when it is complete or the program over."""
        is_over = self.process.poll() is not None
        text = self._out.read_text()
        lines = text.splitlines() if is_over else text.split("\n")[:-1]
        return lines[self._lines_read :]


class Reader:
    """Follows a page in one directory. Servers run until the end."""

    def __init__(self, directory: Path, environ: Mapping[str, str], values: Values, servers: Container[str]) -> None:
        self._directory = directory
        self._environ = {**clean_environment(environ), "PYTHONUNBUFFERED": "1"}
        self._values = values
        self._server_commands = servers
        self._servers: list[Program] = []
        self._stack = ExitStack()

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def follow(self, blocks: Iterable[Block]) -> None:
        """Saves files, runs commands and compares outputs. Raises AssertionError where the page is wrong."""
        for block in blocks:
            if block.file is not None:
                (self._directory / block.file).write_text("\n".join([*block.lines, ""]))
            elif block.language == "console":
                for command, output in read_commands(block.lines):
                    self._run(command, output)
            elif block.language == "text":
                self._servers[-1].expect(block.lines, self._values)

    def _run(self, command: str, output: list[str]) -> None:
        program = Program(self._values.fill_in(command), self._directory, self._environ, self._stack)
        if command in self._server_commands:
            program.expect(output, self._values)
            self._servers.append(program)
        else:
            program.expect_end()
            program.expect(output, self._values)
