"""Checks which tests run on one worker, and that slow ones begin first."""

import pytest

from tests.running import NEWEST, OLDEST
from tests.scheduling import start_rank, unit_of

HTTP = "tests/methods/loans/test_http.py"


@pytest.mark.parametrize(
    ("nodeid", "unit"),
    [
        ("tests/core/test_money.py::test_a", "tests/core/test_money.py"),
        ("tests/core/test_money.py::test_a[1@2]", "tests/core/test_money.py"),
        ("tests/console/test_access.py::test_a[x]@console", "console"),
        ("tests/console/test_access.py::test_a@full console", "full console"),
        ("tests/simulate/test_model.py::test_a@model", "model"),
        ("tests/simulate/test_processes.py::test_a[2]", "tests/simulate/test_processes.py::test_a[2]"),
        ("tests/cli/test_command.py::test_a", "tests/cli/test_command.py::test_a"),
        (f"{HTTP}::test_a[pg18-1]", HTTP),
        (f"{HTTP}::test_a[pg15-1]", HTTP if NEWEST == OLDEST else "pg15"),
    ],
)
def test_a_test_is_distributed_with_its_group_or_file_or_alone(nodeid: str, unit: str) -> None:
    assert unit_of(nodeid) == unit


def test_slow_tests_begin_before_those_that_are_not_listed() -> None:
    slow = start_rank("tests/simulate/test_processes.py::test_a")
    assert slow < start_rank("tests/walk/test_bad_input.py::test_a") < start_rank("tests/core/test_money.py::test_a")
