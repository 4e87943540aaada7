"""docs/architecture.md shows the imports and modules as they are."""

from tests.architecture import PAGE, draw, edges
from tests.source_rules import Source


def test_the_page_is_current() -> None:
    assert draw() == PAGE.read_text(), "run `python -m tests.architecture`"


def test_an_import_between_packages_is_drawn_once_and_in_its_direction() -> None:
    sources = [Source("postgres/connections.py", "from kasuwa.core import money"), Source("core/money.py", "")]
    assert edges(sources) == {("postgres", "core"): 1}
