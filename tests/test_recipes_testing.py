"""The example applications of docs/recipes/testing: their tests run as a user would run them, on the server of ours."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kasuwa.testing import Events, SandboxMerchant
from tests.running import Deployment

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "recipes" / "testing"
PYTEST = (
    "-m",
    "pytest",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:schemathesis",
    "-p",
    "no:hypothesispytest",
    "-p",
    "no:xdist",
)
# Starlette prefers another HTTP client for its test client.
EXAMPLES = {
    "pytest": (("-W", "error", *PYTEST), "6 passed"),
    "unittest": (("-W", "error", "-m", "unittest", "--verbose"), "Ran 3 tests"),
    "django": (("-W", "error", "manage.py", "test"), "Ran 3 tests"),
    "fastapi": ((*PYTEST, "-W", "ignore::DeprecationWarning"), "4 passed"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_tests_of_an_example_pass(deployment: Deployment, tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    shutil.copytree(FOLDER / name, place, ignore=shutil.ignore_patterns("__pycache__"))
    (place / "pytest.ini").write_text("[pytest]\n")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "KASUWA_"))}
    environment = {**kept, "KASUWA_TEST_URL": f"http://127.0.0.1:{deployment.port}"}
    command, expected = EXAMPLES[name]
    done = subprocess.run([sys.executable, *command], cwd=place, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert expected in done.stdout + done.stderr
    assert "Exception ignored" not in done.stderr, "a connection was left open"


def test_every_example_is_run() -> None:
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} == set(EXAMPLES)


def test_the_page_names_every_method_option_and_fixture() -> None:
    page = (FOLDER / "README.md").read_text()
    public = [name for kind in (SandboxMerchant, Events) for name in vars(kind) if not name.startswith("_")]
    unnamed = {"timelines", "references", "merchants", "close", "connect", "flush", "async_client", "url"}
    assert [name for name in public if f"`{name}" not in page and name not in unnamed and f".{name}" not in page] == []
    plugins = ("testing/plugin.py", "integration/pytest_plugin.py")
    plugin = "\n".join((ROOT / "src" / "kasuwa" / name).read_text() for name in plugins)
    for word in {*re.findall(r"--kasuwa-[a-z-]+", plugin), *re.findall(r"^def (kasuwa\w*)\(", plugin, re.MULTILINE)}:
        assert word in page, word
