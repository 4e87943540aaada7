"""docs/commands.md, written from the help of the commands by `python -m tests.commands`; cli/test_commands.py
compares."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import structlog
from typer.core import TyperGroup
from typer.testing import CliRunner, Result

from kasuwa.__main__ import COMMANDS, command, load_command
from tests.source_rules import REPOSITORY

PAGE = REPOSITORY / "docs" / "commands.md"
HEAD = """\
# Commands

Written from the commands' own help by `python -m tests.commands`. `kasuwa -h` lists them, and `-h` after a command
explains it. [operating.md](operating.md) has the settings, which every command reads from the environment.

Only `serve` and `migrate` create a database. All other commands say so if the data directory has none, and create
nothing. They work while the service runs, and also while it does not: they start the embedded database for as long as
they need it. An error is one line on standard error, and the exit code is 1. A wrong option or argument has the exit
code 2.

`kasuwa --install-completion` installs completion of commands and options for bash, zsh or fish;
`kasuwa --show-completion` prints the script instead. `kasuwa --version` prints the version and the
commit that it was built from.
"""


def leaf_commands() -> Iterator[tuple[str, Any]]:
    """Yields every command with its full name, such as `merchant add`."""
    for name in COMMANDS:
        loaded = load_command(name)
        if isinstance(loaded, TyperGroup):
            yield from ((f"{name} {sub}", found) for sub, found in loaded.commands.items())
        else:
            yield name, loaded


def is_option(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "option")


def usage_of(name: str, found: Any) -> str:
    options = [parameter for parameter in found.params if is_option(parameter)]
    required = [f"{one.opts[0]} {one.name.upper()}" for one in options if one.required]
    arguments = [one.name.upper() for one in found.params if not is_option(one)]
    optional = ["[OPTIONS]"] if len(options) > len(required) else []
    return " ".join(["kasuwa", name, *arguments, *required, *optional])


def paragraphs_of(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("\n\n")]


def option_rows(found: Any) -> list[str]:
    return [f"| `{spelling_of(one)}` | {meaning_of(one)} |" for one in found.params if is_option(one)]


def spelling_of(option: Any) -> str:
    return str(option.opts[0] if option.is_flag else f"{option.opts[0]} {option.name.upper()}")


def meaning_of(option: Any) -> str:
    """The help of an option, with its variable and its default if these are declared."""
    variable = f" Or {option.envvar} in the environment." if option.envvar else ""
    default = f" Default: `{option.default}`." if option.default not in (None, False) else ""
    return f"{option.help or ''}{variable}{default}".replace("|", "\\|")


def section_of(name: str, found: Any) -> list[str]:
    rows = option_rows(found)
    table = ["| Option | Meaning |", "|---|---|", *rows, ""] if rows else []
    text = [line for part in paragraphs_of(found.help or "") for line in (part, "")]
    return [f"## {name}", "", "```", usage_of(name, found), "```", "", *text, *table]


def write() -> str:
    lines = [line for name, found in leaf_commands() for line in section_of(name, found)]
    return HEAD + "\n" + "\n".join(lines)


def invoke(words: Sequence[str], environ: Mapping[str, str]) -> Result:
    """Runs a command in this process, which keeps its own log configuration."""
    cleared = {name: None for name in os.environ if name.startswith("KASUWA_")}
    logging = structlog.get_config()
    try:
        return CliRunner().invoke(command, words, env={**cleared, **environ}, prog_name="kasuwa")
    finally:
        structlog.configure(**logging)


if __name__ == "__main__":
    PAGE.write_text(write())
    print(f"written to {PAGE}")
