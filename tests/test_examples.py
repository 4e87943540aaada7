"""The recorded examples of docs/examples are what the running service answers, and README.md names every action."""

import re
from collections.abc import Callable

from kasuwa.app import methods_of
from tests.examples import FOLDER, file_of, read, record
from tests.shop import Shop
from tests.walk.rows import NOW, ROWS

STALE = "run `python -m tests.examples`, and look at what has changed"


def test_every_action_has_its_recorded_example_and_there_is_no_other() -> None:
    assert {file_of(row) for row in ROWS} == set(FOLDER.glob("*.http")), STALE


def test_each_file_holds_the_request_of_its_action() -> None:
    for row in ROWS:
        assert read(file_of(row).read_text()) == (row.method, row.example), STALE


def test_each_recorded_request_is_answered_as_recorded(open_shop: Callable[..., Shop]) -> None:
    for path, text in record(open_shop(now=NOW)).items():
        assert text == path.read_text(), STALE


README_ROW = re.compile(r"^\| `PUT /(\w+)`.*?\| (.*) \|$", re.MULTILINE)


def test_the_readme_names_every_path_and_every_action_there() -> None:
    rows = dict(README_ROW.findall((FOLDER.parents[1] / "README.md").read_text()))
    for method in methods_of("test"):
        told = set(re.findall(r"[\w-]+", rows.pop(method.name)))
        assert {action.name for action in method.actions} - told == set(), method.name
    assert rows == {}
