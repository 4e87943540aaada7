"""The command lines that are printed in the documentation and in the help of commands.

They are the lines of code blocks of a shell, and code in running text that begins as a command does. A line is given
without its prompt and its comment.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.commands import leaf_commands
from tests.source_rules import REPOSITORY

PROGRAMS = ("kasuwa", "make", "python", ".venv/bin/python")
ASSIGNMENT = r"(?:[A-Z_]+=\S+ )*"
COMMAND = re.compile(rf"{ASSIGNMENT}(?:{'|'.join(map(re.escape, PROGRAMS))}) \S")
FENCE = re.compile(r"^ *```(\w*)$")
SHELLS = ("", "sh", "bash", "console")
CODE = re.compile(r"`([^`]+)`")
COMMENT = re.compile(r"\s+#\s.*$")
# The first bytes of what closes sign, which begin with these words.
SIGNED_BYTES = re.compile(r"kasuwa (proof|group|event|mark|head|close|evidence) 1")


def pages() -> list[Path]:
    """Returns the pages that users and developers read. Decisions tell of the past."""
    docs = [path for path in (REPOSITORY / "docs").rglob("*.md") if "decisions" not in path.parts]
    others = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md")
    clients = (f"clients/{language}/README.md" for language in ("python", "typescript", "php"))
    return sorted([*docs, *(REPOSITORY / name for name in (*others, *clients))])


def lines_of(text: str) -> Iterator[str]:
    """Yields the commands of a page."""
    language: str | None = None
    continued = ""
    for line in text.splitlines():
        if fence := FENCE.match(line):
            language = fence[1] if language is None else None
        elif language is None:
            yield from CODE.findall(line)
        elif language in SHELLS:
            joined = continued + line.strip().removeprefix("$ ")
            continued = joined.removesuffix("\\") if joined.endswith("\\") else ""
            if not continued:
                yield COMMENT.sub("", joined)


def commands_of(text: str) -> Iterator[str]:
    for line in lines_of(text):
        if COMMAND.match(line) and not SIGNED_BYTES.fullmatch(line):
            yield line


def printed_commands() -> dict[str, set[str]]:
    """Returns every command line with the places where it is printed: pages, and commands whose help has it."""
    found: dict[str, set[str]] = {}
    for path in pages():
        for line in commands_of(path.read_text()):
            found.setdefault(line, set()).add(path.relative_to(REPOSITORY).as_posix())
    for name, command in leaf_commands():
        for line in commands_of(
            f"{command.help} " + " ".join(str(one.help) for one in command.params if hasattr(one, "help"))
        ):
            found.setdefault(line, set()).add(f"kasuwa {name} --help")
    return found
