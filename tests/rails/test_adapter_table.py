"""Walks the table of adapters: every adapter of the service is in it, with a test, or a reason, for every row."""

import ast
from functools import cache

import pytest

from tests.rails.adapter_rows import EVERY, LOST, QUIET, ROWS, NotNeeded, Shown
from tests.rails.adapter_table import TABLE
from tests.rails.vendors.test_every_adapter import EVERY_ADAPTER, SILENT
from tests.rails.vendors.test_lost_orders import ORDERS
from tests.source_rules import REPOSITORY

FOLDER = REPOSITORY / "tests" / "rails"


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((FOLDER / path).read_text())
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


def test_every_adapter_that_the_service_makes_is_in_the_table() -> None:
    assert set(TABLE) == set(EVERY_ADAPTER)


@pytest.mark.parametrize("adapter", EVERY_ADAPTER)
def test_every_row_of_an_adapter_has_a_test_that_exists_or_a_reason(adapter: str) -> None:
    cells = TABLE[adapter]
    assert set(cells) == set(ROWS)
    for row, cell in cells.items():
        if isinstance(cell, NotNeeded):
            assert len(cell.reason) > 20, row
            continue
        assert isinstance(cell, Shown)
        assert cell.tests, row
        for test in cell.tests:
            path, _, name = test.partition("::")
            assert name in names_in(path), f"{row}: {test} does not exist"


@pytest.mark.parametrize("adapter", EVERY_ADAPTER)
def test_a_test_of_all_adapters_is_named_only_where_it_runs(adapter: str) -> None:
    """Tests that are parametrized by adapters run for those that name them."""
    cells = [cell for cell in TABLE[adapter].values() if isinstance(cell, Shown) and not cell.note]
    named = {test for cell in cells for test in cell.tests}
    assert QUIET in named
    assert (EVERY in named) == (adapter not in SILENT) or adapter.startswith("remote")
    assert LOST not in named or adapter in ORDERS


def test_every_row_is_shown_by_a_test_for_some_adapter() -> None:
    for row in ROWS:
        assert any(isinstance(cells[row], Shown) for cells in TABLE.values()), row
