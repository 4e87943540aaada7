"""The statements of the stores: every text that a store passes to a reader, with its place."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import kasuwa
from kasuwa.core.batched_query import BatchedQuery
from tests.source_rules_sql import QUERY_METHODS

ROOT = Path(kasuwa.__file__).parent


def store_statements() -> Iterator[tuple[str, str]]:
    """Yields the module and constant, such as `methods/payment/store.py BY_KEYS`, and the text of each statement."""
    for path in sorted(ROOT.rglob("store.py")):
        place = path.relative_to(ROOT)
        module = importlib.import_module(".".join(("kasuwa", *place.with_suffix("").parts)))
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in QUERY_METHODS
                and node.args
                and isinstance(node.args[0], ast.Name)
                and isinstance(query := getattr(module, node.args[0].id, None), str | BatchedQuery)
            ):
                yield f"{place} {node.args[0].id}", query if isinstance(query, str) else query.of_many
