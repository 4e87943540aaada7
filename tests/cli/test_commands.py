"""The command line as a whole: help, version, completion, and commands in a directory without data."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import kasuwa
from kasuwa.__main__ import COMMANDS, load_command
from tests.commands import PAGE, invoke, leaf_commands, paragraphs_of, write
from tests.packages import need_package
from tests.simulate.processes import clean_environment
from tests.source_rules import REPOSITORY

STALE = "run `python -m tests.commands`, and look at what has changed"
NOWHERE = ("--server", "http://127.0.0.1:9")

# A call of every command that does not create a database. serve and migrate do.
CALLS: dict[str, Sequence[str]] = {
    "dispute open": ("GP0000001", "GP1", "fraudulent"),
    "dispute outcome": ("GP0000001", "GP|DS|1", "won"),
    "dispute card-outcome": ("GP0000001", "CD1", "won"),
    "dispute evidence": ("GP0000001", "GP|DS|1"),
    "case export": ("GP|FD|1",),
    "case replay": ("no-such-file",),
    "reconcile disputes": (),
    "reconcile settlements": (),
    "reconcile unclaimed": (),
    "reconcile suspense": (),
    "reconcile assign": ("T1", "GP0000001", "--reason", "found", "--as", "ada@kasuwa.test"),
    "reconcile return": ("T1", "--reason", "unknown", "--as", "ada@kasuwa.test"),
    "reconcile import": (__file__, "--account", "rail:bank:NGN"),
    "reconcile feed": ("--account", "rail:card:NGN@paystack"),
    "reconcile mapping": ("--account", "rail:bank:NGN"),
    "reconcile show": ("--account", "rail:bank:NGN"),
    "reconcile clear-descriptions": (),
    "export books": (),
    "report tax": ("--month", "2026-01"),
    "status": (),
    "database distribute": (),
    "migrate": ("--dry-run",),
    "doctor": (),
    "audit": (),
    "close": (),
    "evidence": ("--out", "no-such-directory"),
    "restore-test": ("no-such-directory",),
    "verify": ("no-such-file", "--key", "00" * 32),
    "listen": NOWHERE,
    "log": NOWHERE,
    "certify": ("--app", "http://127.0.0.1:9/events"),
    "mcp": NOWHERE,
    "record": ("--to", "no-such-directory/flow.json", "true"),
    "trigger": ("GP|FD|1", *NOWHERE),
    **{f"world {act}": ("name", *NOWHERE) for act in ("snapshot", "restore", "fork", "delete")},
    "world list": NOWHERE,
    "world compare": ("name", "other", *NOWHERE),
    "world export": ("name", "file", "--passphrase", "a passphrase", *NOWHERE),
    "world import": ("no-such-file", "name", "--passphrase", "a passphrase", *NOWHERE),
    "keys list": (),
    "keys rotate": ("--root",),
    "keys drop": ("1",),
    "merchant list": (),
    "merchant add": ("Ada",),
    "merchant keys": ("GP0000001",),
    "merchant add-key": ("GP0000001", "--name", "payroll", "--scope", "payout"),
    "merchant roll-key": ("GP0000001",),
    "merchant revoke-key": ("GP0000001", "1"),
    "merchant roll-secret": ("GP0000001",),
    "merchant set": ("GP0000001", "--http-codes", "strict"),
    "merchant logo": ("GP0000001",),
    "user add": ("ada@kasuwa.test", "--role", "operator:admin"),
    "user link": ("ada@kasuwa.test",),
    "user list": (),
    "user disable": ("ada@kasuwa.test",),
    "bills refresh": (),
    "client export": ("GP0000001", "C1"),
    "client find": ("GP0000001", "--bvn", "12345678901"),
    "client erase": ("GP0000001", "C1", "--yes"),
    "customer export": ("GP0000001", "C1"),
    "customer find": ("GP0000001", "ada@example.com"),
    "customer erase": ("GP0000001", "C1", "--yes"),
    "mail bounced": (),  # with nothing on its standard input: no mail that needs a database
    "loan write-off": ("GP0000001", "L1"),
    "rail shadow": (),
    "rail accounts": (),
    "rail check": ("http://127.0.0.1:9", "--secret-file", "no-such-file"),
    "rates list": (),
    "rates set": ("USD", "--buy", "1500.00", "--sell", "1510.00"),
    "split add": ("GP0000001", "Obi", "058", "0000000000"),
    "split list": ("GP0000001",),
    "split statement": ("GP0000001", "R1"),
}
# These answer although there is no database, or ask a server instead.
ANSWERS = {
    "status": (1, "kasuwa: no server runs on {data}"),
    "migrate": (0, "would create a database in {data}\nwould apply 0001_baseline.sql\n"),
    "doctor": (1, "ok     environment test\nwrong  there is no database in {data}\n"),
    "mail bounced": (0, "nothing changed: "),
    "listen": (1, "kasuwa: "),
    "log": (1, "kasuwa: "),
    "certify": (2, "kasuwa: no check was run. nothing listens at http://127.0.0.1:9/events: "),
    "mcp": (1, "kasuwa: there is no Kasuwa server ready at http://127.0.0.1:9: no answer ("),
    "record": (1, "kasuwa: no-such-directory/flow.json cannot be written (there is no such directory)\n"),
    "rail check": (2, "kasuwa: no check was run. The secret cannot be read from no-such-file.\n"),
    "trigger": (1, "kasuwa: "),
    **{
        f"world {act}": (1, "kasuwa: http://127.0.0.1:9 cannot be reached: ")
        for act in ("snapshot", "restore", "fork", "list", "compare", "export", "delete")
    },
    "world import": (1, "kasuwa: no-such-file: No such file or directory"),
    "case replay": (1, "kasuwa: no-such-file cannot be read: No such file or directory\n"),
    "verify": (1, "kasuwa: no-such-file cannot be read: No such file or directory\n"),
}
# Runs the command, then prints the modules of commands that were imported.
MAIN_THEN_MODULES = """
import atexit, sys
from kasuwa.__main__ import main

def print_imported():
    print(*(name for name in sys.modules if name.startswith("kasuwa.commands.")), file=sys.stderr)

atexit.register(print_imported)
main()
"""
# Runs the command, or another statement, then prints the packages that were imported.
MAIN_THEN_PACKAGES = """
import atexit, sys
from kasuwa.__main__ import main

atexit.register(lambda: print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stderr))
"""
# Packages that take long to import, and are of no use to a command that prints a list or asks a server.
SLOW_PACKAGES = {
    "aiohttp",
    "asyncio",
    "asyncpg",
    "cryptography",
    "granian",
    "holidays",
    "jinja2",
    "markdown_it",
    "pydantic",
    "rich",
    "segno",
    "structlog",
    "uvloop",
}
NO_DATABASE = (1, "kasuwa: there is no database in {data}: start one with `kasuwa serve`, ")


# --- help -----------------------------------------------------------------------------------------------------


def test_the_page_of_commands_is_current() -> None:
    assert PAGE.read_text() == write(), STALE


def test_the_list_of_commands_has_the_help_that_each_command_has() -> None:
    for name, (_, text) in COMMANDS.items():
        assert paragraphs_of(load_command(name).help)[0] == text, name


@pytest.mark.parametrize("words", ["--help", "--version", "status --data no-such-directory"])
def test_help_and_status_import_nothing_that_is_slow(words: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", MAIN_THEN_PACKAGES + "main()", *words.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    imported = set(done.stderr.split())
    assert {"kasuwa", "typer"} <= imported
    assert imported & SLOW_PACKAGES == set()


def test_a_service_starts_without_what_renders_documentation_and_tracebacks() -> None:
    statement = (
        "from kasuwa.__main__ import load_command\nload_command('serve')\n"
        "from kasuwa.boot.supervise import import_process_code\nimport_process_code()"
    )
    command = [sys.executable, "-c", MAIN_THEN_PACKAGES + statement]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    imported = set(done.stderr.split())
    assert {"asyncpg", "holidays", "structlog"} <= imported
    assert not {"markdown_it", "rich"} & imported


def test_rich_can_be_imported_after_a_command_that_was_loaded_without() -> None:
    statement = "from kasuwa.__main__ import load_command\nload_command('serve')\nimport rich.table"
    command = [sys.executable, "-c", MAIN_THEN_PACKAGES + statement]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert {"rich", "structlog"} <= set(done.stderr.split())


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_and_every_group_explains_itself(flag: str) -> None:
    leaves = {tuple(name.split()) for name, _ in leaf_commands()}
    for words in [(), *leaves, *{leaf[:1] for leaf in leaves}]:
        shown = invoke([*words, flag], {})
        assert shown.exit_code == 0, words
        assert " ".join(["Usage: kasuwa", *words]) in shown.output


def test_every_option_and_every_command_has_a_help_text() -> None:
    for name, found in leaf_commands():
        assert found.help, name
        for parameter in found.params:
            if parameter.param_type_name == "option":
                assert parameter.help, (name, parameter.name)


def test_the_version_is_printed() -> None:
    asked = ["git", "-C", str(REPOSITORY), "rev-parse", "--short=12", "HEAD"]
    done = subprocess.run(asked, capture_output=True, text=True)
    commit = f" ({done.stdout.strip()})" if done.returncode == 0 else ""
    assert invoke(["--version"], {}).output == f"kasuwa {kasuwa.__version__}{commit}\n"


def test_a_mistyped_command_is_answered_with_the_right_one() -> None:
    refused = invoke(["merchnat", "list"], {})
    assert refused.exit_code == 2
    assert "Did you mean 'merchant'?" in refused.output


# --- a directory without data ------------------------------------------------------------------------------------


def test_only_commands_without_a_database_are_left_out_of_the_calls() -> None:
    # The simulators of vendors run until they are stopped, and keep nothing (cli/test_command_twin.py).
    named = {name for name, _ in leaf_commands() if not name.startswith("twin ")}
    # The documentation needs no database (tests/documentation/test_site.py).
    assert named == {"serve", "docs", *CALLS}


@pytest.mark.parametrize("name", CALLS)
def test_a_command_without_a_database_says_so_and_creates_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data"
    done = invoke([*name.split(), *CALLS[name]], {"KASUWA_DATA": str(data), "HOME": str(tmp_path)})
    code, text = ANSWERS.get(name, NO_DATABASE)
    assert done.exit_code == code, done.output
    assert done.output.startswith(text.format(data=data)), done.output
    assert list(tmp_path.iterdir()) == []


# --- completion --------------------------------------------------------------------------------------------------


def complete(shell: str, line: str) -> tuple[str, set[str]]:
    """Returns the answer to a shell at the end of a line, and the modules of commands that were imported for it."""
    words = line.split(" ")
    environ = {
        "_KASUWA_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
    }
    done = subprocess.run(
        [sys.executable, "-c", MAIN_THEN_MODULES], env=clean_environment(environ), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, set(done.stderr.split())


def test_bash_completes_commands_and_groups_without_importing_them() -> None:
    shown, imported = complete("bash", "kasuwa ")
    assert shown.split() == list(COMMANDS)
    assert imported == {"kasuwa.commands.plain_values"}  # which is no command


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kasuwa me", ["merchant"]),
        (
            "kasuwa merchant ",
            ["list", "add", "keys", "add-key", "roll-key", "revoke-key", "roll-secret", "set", "logo"],
        ),
        ("kasuwa merchant roll-key --o", ["--overlap-hours"]),
        ("kasuwa serve --ready", ["--ready-file"]),
    ],
)
def test_bash_completes_the_commands_of_a_group_and_options(line: str, expected: list[str]) -> None:
    assert complete("bash", line)[0].split() == expected


def test_zsh_completes_the_commands_of_a_group_with_their_help() -> None:
    shown, imported = complete("zsh", "kasuwa merchant ")
    assert shown.startswith('_arguments \'*: :(("list":"List all merchants')
    assert '"roll-key":' in shown
    assert "kasuwa.commands.merchant" in imported
    assert "kasuwa.commands.client" not in imported


def run_in_shell(shell: str, script: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run([*shell.split(), script], env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout


def test_the_script_for_bash_completes_in_a_shell() -> None:
    script = """
        eval "$(kasuwa --show-completion)"
        COMP_WORDS=(kasuwa merchant ro) COMP_CWORD=2
        _kasuwa_completion kasuwa
        echo "${COMPREPLY[@]}"
    """
    assert run_in_shell("bash -c", script) == "roll-key roll-secret\n"


def test_the_script_for_zsh_completes_in_a_shell() -> None:
    """_arguments, which shows the completions in a terminal, prints them here."""
    need_package("zsh", Path("/usr/bin/zsh"))
    script = """
        autoload -U compinit && compinit -D -u
        eval "$(kasuwa --show-completion)"
        _arguments() { print -r -- "$@" }
        words=(kasuwa merchant ro) CURRENT=3
        $_comps[kasuwa]
    """
    assert '("roll-key":"Replace a key' in run_in_shell("zsh -f -c", script)
