"""The recorded examples of docs/examples are what the running service answers."""

from collections.abc import Callable

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
