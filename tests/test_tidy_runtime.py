"""Checks the sources against the rules of source_rules_runtime.py, and each rule against an offender."""

import tomllib

import pytest

from tests.source_rules import REPOSITORY, Source, read_all, without_garbage_collection
from tests.source_rules_runtime import later_names, nested_loops

__all__ = ["without_garbage_collection"]
# One worker runs all rules, so that each file is parsed once.
pytestmark = pytest.mark.xdist_group("sources")

SERVICE = read_all("src/kasuwa")
FOLDERS = ("tests", "bench", "docs/recipes", "clients/generate", "clients/python/src")
RUNNER = "import asyncio\n\ndef start():\n    asyncio.run(work())\n\ndef begin():\n    return start()\n"


def test_no_coroutine_runs_an_event_loop_of_its_own() -> None:
    assert nested_loops(SERVICE) == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("import asyncio\nasync def f():\n    asyncio.run(g())", True),
        ("from kasuwa.runner import start\nasync def f():\n    start()", True),
        ("from kasuwa import runner\nasync def f():\n    with runner.begin():\n        await g()", True),
        ("from kasuwa.runner import begin\ndef f():\n    async def g():\n        begin()\n    return g", True),
        ("def g():\n    from kasuwa.runner import begin\n    begin()\nasync def f():\n    g()", True),
        ("from kasuwa.runner import begin\ndef f():\n    begin()", False),
        ("from kasuwa.runner import begin\nasync def f():\n    await asyncio.to_thread(begin)", False),
        ("def begin(): ...\nasync def f():\n    begin()", False),
    ],
)
def test_a_loop_inside_a_loop_is_noticed(text: str, wrong: bool) -> None:
    assert bool(nested_loops([Source("runner.py", RUNNER), Source("commands/x.py", text)])) is wrong


def test_nothing_needs_a_later_release_of_python_than_the_first_supported_one() -> None:
    others = [source for folder in FOLDERS for source in read_all(folder, f"{folder}/")]
    assert later_names([*SERVICE, *others]) == []


@pytest.mark.parametrize(
    "text",
    [
        'archive.extractall(place, filter="data")',
        "from tarfile import data_filter",
        "tarfile.TarFile.extraction_filter",
    ],
)
def test_a_name_of_a_later_release_is_noticed(text: str) -> None:
    assert later_names([Source("x.py", text)])


def test_types_and_style_are_checked_for_the_first_supported_version() -> None:
    """A later Python may run the checks: mypy then reports its names, and ruff its syntax."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    assert project["project"]["requires-python"] == ">=3.11"
    assert project["tool"]["mypy"]["python_version"] == "3.11"
    assert project["tool"]["ruff"]["target-version"] == "py311"
