"""The planted bugs fit today's code. `make planted` shows that each is found, which takes too long for every run."""

import ast
from pathlib import Path

import pytest

from tests.planted.bug import Bug
from tests.planted.bugs import BUGS

REPOSITORY = Path(__file__).parents[2]
LEAST_BUGS = 40


def test_there_are_enough_bugs_and_each_has_a_name_of_its_own() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= LEAST_BUGS


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_fits_the_code_and_names_a_test(bug: Bug) -> None:
    source = (REPOSITORY / "src" / "kasuwa" / bug.file).read_text()
    assert source.count(bug.original) == 1
    ast.parse(source.replace(bug.original, bug.planted))
    file, _, test = bug.test.partition("::")
    assert f"def {test.partition('[')[0]}(" in (REPOSITORY / "tests" / file).read_text()
