"""docs/quickstart.md, followed as it is printed: every program, command and output, in an empty directory.

Only the installations are not made: the packages are those of this repository. The environment has the variables that
the page exports, with free ports.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kasuwa_client import Kasuwa
from tests.clients.typescript_package import SOURCE, shared_distribution
from tests.node import find_npm, install_npm_packages
from tests.packages import find_curl
from tests.printed_page import Block, Reader, Values, read_blocks, read_commands
from tests.running import DEMO_KEY, DEMO_MID, free_port
from tests.simulate.processes import run_command
from tests.source_rules import REPOSITORY

# One worker runs them all, so that they share a server.
pytestmark = pytest.mark.xdist_group("quickstart")

PAGE = REPOSITORY / "docs" / "quickstart.md"
BLOCKS = read_blocks(PAGE)
START, PYTHON, PAY, BREAK, TEST, TYPESCRIPT = (
    "Start the sandbox",
    "Python",
    "Pay an order",
    "Try to break it",
    "The same as a test",
    "TypeScript",
)
LINE_LENGTH = 120
SERVERS = frozenset({"kasuwa serve", "python shop.py", "node shop.mjs"})
# Plugins of our own tests that a reader does not have.
PYTEST_OPTIONS = "-p no:cacheprovider -p no:xdist -p no:schemathesis -p no:hypothesispytest"


def section(*names: str) -> list[Block]:
    """Returns the blocks of these sections, in the order of the names."""
    found = [block for name in names for block in BLOCKS if block.section == name]
    assert {block.section for block in found} == set(names)
    return found


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The server, started as on the page. Its value is what the page exports. The books are audited at the end."""
    directory = tmp_path_factory.mktemp("sandbox")
    port, console_port = str(free_port()), str(free_port())
    exported = {"KASUWA_URL": f"http://127.0.0.1:{port}", "KASUWA_MID": DEMO_MID, "KASUWA_KEY": DEMO_KEY}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {"KASUWA_DATA": str(directory / "data"), "PATH": path}
    ports = {"KASUWA_PORT": port, "KASUWA_CONSOLE_PORT": console_port}
    serve, *_ = [block for block in section(START) if block.language == "console"]
    with Reader(directory, {**environ, **ports}, Values(), SERVERS) as reader:
        reader.follow([serve])
        yield {**environ, **exported, "SHOP_PORT": str(free_port())}
        audited = run_command(["audit"], environ)
        assert (audited.returncode, audited.stderr) == (0, ""), audited


def test_the_page_exports_the_variables_that_its_commands_and_programs_use(sandbox: dict[str, str]) -> None:
    exported = dict(re.findall(r"(\w+)=(\S+)", "\n".join(section(START)[2].lines)))
    assert exported == {
        "KASUWA_URL": "http://127.0.0.1:8080",
        "KASUWA_MID": DEMO_MID,
        "KASUWA_KEY": DEMO_KEY,
        "SHOP_PORT": "9000",
    }
    used = {name for block in BLOCKS for line in block.lines for name in re.findall(r"\b(?:KASUWA|SHOP)_[A-Z]+", line)}
    assert used == set(exported)
    assert used < set(sandbox)


def test_the_shop_in_python_and_its_attacks_are_as_printed(sandbox: dict[str, str], tmp_path: Path) -> None:
    find_curl()
    with Reader(tmp_path, sandbox, Values(), SERVERS) as reader:
        reader.follow([*section(START)[3:], *section(PYTHON, PAY, BREAK)])


def test_the_shop_in_typescript_behaves_the_same(sandbox: dict[str, str], tmp_path: Path) -> None:
    """A merchant of its own, so that the numbers of its events are those of the page."""
    find_curl()
    install_client(tmp_path)
    with Kasuwa(mid=DEMO_MID, key=DEMO_KEY, base_url=sandbox["KASUWA_URL"]) as demo:
        merchant = demo.sandbox.new_merchant(name="TypeScript shop")
    environ = {**sandbox, "KASUWA_MID": merchant.mid, "KASUWA_KEY": merchant.key, "SHOP_PORT": str(free_port())}
    with Reader(tmp_path, environ, Values(), SERVERS) as reader:
        reader.follow([*section(START)[3:], *section(TYPESCRIPT, PAY, BREAK)])


def install_client(project: Path) -> None:
    """Installs the files that are published, the compiler and the types of Node.js, as the page's npm commands do."""
    find_npm()
    modules = project / "node_modules"
    modules.mkdir()
    for installed in install_npm_packages(SOURCE).iterdir():
        (modules / installed.name).symlink_to(installed)
    built = shared_distribution()
    shutil.copytree(built / "dist", modules / "kasuwa-client" / "dist")
    shutil.copy(built / "package.json", modules / "kasuwa-client")


def test_the_tests_of_the_shop_pass_as_printed(sandbox: dict[str, str], tmp_path: Path) -> None:
    environ = {**sandbox, "KASUWA_TEST_URL": sandbox["KASUWA_URL"], "PYTEST_ADDOPTS": PYTEST_OPTIONS}
    programs = [block for block in section(PYTHON) if block.file is not None]
    with Reader(tmp_path, environ, Values(), SERVERS) as reader:
        reader.follow([*programs, *section(TEST)])


def test_the_python_programs_are_formatted_and_typed(tmp_path: Path) -> None:
    programs = {block.file: block.lines for block in BLOCKS if block.language == "python"}
    assert set(programs) == {"shop.py", "test_shop.py"}
    for name, lines in programs.items():
        (tmp_path / str(name)).write_text("\n".join([*lines, ""]))
    checks = (
        ["ruff", "format", "--check", "--config", str(REPOSITORY / "pyproject.toml"), "."],
        ["mypy", "--strict", "--cache-dir", str(REPOSITORY / ".mypy_cache"), "shop.py"],
    )
    for check in checks:
        done = subprocess.run([sys.executable, "-m", *check], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("language", "name"), [("python", "shop.py"), ("ts", "shop.mts")])
def test_the_application_has_thirty_lines_at_most(language: str, name: str) -> None:
    [program] = [block for block in BLOCKS if block.language == language and block.file == name]
    assert 20 < len(program.lines) <= 30, len(program.lines)
    assert max(map(len, program.lines)) <= LINE_LENGTH
    code = [re.sub(r"(//|#).*", "", line).rstrip() for line in program.lines]
    assert not [line for line in code if ";" in line.removesuffix(";")], "one statement per line"


def test_every_block_is_a_file_a_command_an_output_or_an_installation() -> None:
    shells = [line for block in BLOCKS if block.language == "sh" for line in block.lines]
    assert all(re.match(r"python3 -m venv |\. \.venv|pip install |npm install |export ", line) for line in shells)
    assert {block.language for block in BLOCKS} == {"sh", "console", "text", "python", "ts"}
    assert all(block.file for block in BLOCKS if block.language in {"python", "ts"})
    commands = [name for block in BLOCKS if block.language == "console" for name, _ in read_commands(block.lines)]
    assert set(commands) > SERVERS


@pytest.mark.parametrize(
    ("printed", "actual", "matches"),
    [
        (["paid GP94532259820261116I"], ["paid GP11111111120261117A"], True),
        (["paid GP94532259820261116I"], ["paid GP1"], False),
        (["1350597284 1350597284"], ["2000000000 2000000000"], True),
        (["1350597284", "1350597284"], ["2000000000", "2000000001"], False),
        (["1500.00"], ["1500.01"], False),
        (["a"], ["a", "b"], False),
        (["a", "…"], ["a", "b"], True),
        (["a", "…"], ["b"], False),
        (["a"], [], False),
    ],
)
def test_outputs_match_if_only_references_differ(printed: list[str], actual: list[str], matches: bool) -> None:
    assert Values().match(printed, actual) is matches
