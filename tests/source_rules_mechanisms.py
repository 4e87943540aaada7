"""The rules of the house about mechanisms: one for each purpose."""

import ast
import re
from collections.abc import Iterable, Mapping

from tests.source_rules import Source

# --- one struct for the rows of a table -------------------------------------------------------------------------------

CREATED_TABLE = re.compile(r"create (?:unlogged )?table (\w+) \((.*?)\n\)", re.DOTALL)
COLUMN = re.compile(r"^    (?!primary |unique |constraint |check )(\w+) ", re.MULTILINE)
# A struct that has nearly all columns of a table, and nothing else, is the row of the table.
MIN_COLUMNS = 6
MIN_SHARE = 0.8


def read_tables(schema: str) -> dict[str, set[str]]:
    """Returns the columns of each table that a schema creates."""
    return {table: set(COLUMN.findall(body)) for table, body in CREATED_TABLE.findall(schema)}


def list_fields(node: ast.ClassDef) -> set[str]:
    """Returns the fields that a struct declares itself."""
    declared = [part for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)]
    return {ast.unparse(part.target) for part in declared if "ClassVar" not in ast.unparse(part.annotation)}


def row_fields(node: ast.ClassDef) -> set[str]:
    """Returns the fields of a struct, with those that it has from `Row`. Empty for a struct that has another base: it
    is a variant of that one. A Protocol is no struct."""
    bases = {ast.unparse(base) for base in node.bases}
    if bases == {"Row"}:
        return {"key", "merchant_id", *list_fields(node)}
    return list_fields(node) if bases == {"msgspec.Struct"} else set()


def is_row_of(fields: set[str], columns: set[str]) -> bool:
    return MIN_COLUMNS <= len(fields) >= MIN_SHARE * len(columns) and fields <= columns


def second_row_types(sources: Iterable[Source], tables: Mapping[str, set[str]]) -> list[str]:
    """Returns the tables whose row is described by more than one struct. What is sent on the wire is not a row."""
    structs = [
        (f"{source.path}: {node.name}", row_fields(node))
        for source in sources
        if source.name != "wire.py"
        for node in source.nodes
        if isinstance(node, ast.ClassDef)
    ]
    found = {table: [name for name, fields in structs if is_row_of(fields, tables[table])] for table in tables}
    return [f"{table}: {' and '.join(names)}" for table, names in found.items() if len(names) > 1]
