"""The recipes of docs/recipes run as their readers run them, against a running service, and leave books in order."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.accounting.exported_books import export_all, run_bean_check
from tests.running import Deployment

FOLDER = Path(__file__).parent.parent / "docs" / "recipes"
RECIPES = ("cooperative", "agent_banking", "checkout")
# A line of a recipe's page that its run prints: a figure that the recipe worked out and the service confirmed.
SUM_LINE = re.compile(r"^right: .+$", re.MULTILINE)
MID = re.compile(r"is merchant (GP\d{7});")


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_tells_its_story_and_its_books_are_right(deployment: Deployment, name: str, tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{deployment.port}"
    # With nothing but the standard library: -S leaves out whatever is installed beside it.
    command = [sys.executable, "-S", str(FOLDER / f"{name}.py"), "--address", address]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout[-2000:] + done.stderr
    assert done.stdout.endswith("\nThe books are right.\n")
    [mid] = MID.findall(done.stdout)
    assert deployment.broken_invariants([mid]) == []
    for line in SUM_LINE.findall((FOLDER / f"{name}.md").read_text()):
        assert f"   {line}\n" in done.stdout, line
    [(merchant_id,)] = deployment.fetch("select merchant_id from merchant where mid = $1 and current", mid)
    file = tmp_path / "books.beancount"
    file.write_text(deployment.run_on_connection(lambda connection: export_all(connection, "beancount", merchant_id)))
    assert run_bean_check(file) == ""


def test_every_recipe_is_documented_and_runs() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == set(RECIPES)
    for name in RECIPES:
        assert f"python docs/recipes/{name}.py" in (FOLDER / f"{name}.md").read_text()
