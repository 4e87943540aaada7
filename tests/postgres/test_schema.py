"""The schema as its reader finds it: every table and column has a comment, and the service uses every column."""

import ast
import re
from functools import cache

from tests.source_rules import Source, read_all
from tests.source_rules_mechanisms import COLUMN, read_tables

# Fields of every row of the writer, which its statements take from the type of the row.
OF_EVERY_ROW = frozenset({"key", "merchant_id", "row_code"})
# Columns that no source names, each with its reason.
UNNAMED = {
    ("deployment", "singleton"): "its constraint keeps the table at one row",
    ("world_part", "part_id"): "names the row when it is encrypted anew (methods/sealed_columns.py)",
}


@cache
def migrations() -> list[Source]:
    return read_all("src/kasuwa", ending="sql")


def list_uncommented(text: str) -> list[str]:
    """Returns the tables and columns that have no comment, neither before them nor in their line."""
    found, before, table = [], "", ""
    for line in text.splitlines():
        opened, column = re.match(r"create table (\w+) \(", line), COLUMN.match(line)
        table = opened.group(1) if opened else table
        if opened and not before.startswith("--"):
            found.append(table)
        if table and column and "--" not in line and not before.strip().startswith("--"):
            found.append(f"{table}.{column.group(1)}")
        table, before = "" if line.startswith(")") else table, line
    return found


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[a-z]\w*", text))


def read_text(node: ast.AST) -> str:
    """Returns the text of a literal, with the fixed parts of a formatted one together. Empty for other nodes."""
    if isinstance(node, ast.JoinedStr):
        return " ".join(map(read_text, node.values))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def find_unused(tables: dict[str, set[str]], sources: list[Source]) -> set[tuple[str, str]]:
    """Returns the columns that are in no text which names their table, and no field of a class beside its name."""
    used: dict[str, set[str]] = {table: set() for table in tables}
    for source in sources:
        named = tables.keys() & words_of(source.text)
        nodes = source.nodes if named else []
        fields = {
            node.target.id for node in nodes if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        }
        texts = [words_of(text) for node in nodes if (text := read_text(node))]
        for table in named:
            used[table].update(fields, *(text for text in texts if table in text))
    return {(table, column) for table, names in tables.items() for column in names - used[table] - OF_EVERY_ROW}


def test_every_table_and_column_has_a_comment() -> None:
    assert [found for migration in migrations() for found in list_uncommented(migration.text)] == []


def test_a_table_or_column_without_a_comment_is_noticed() -> None:
    text = "-- Things.\ncreate table thing (\n    a text,  -- its name\n    -- its age\n    b int,\n    c int\n);\n"
    assert list_uncommented(text) == ["thing.c"]
    assert list_uncommented(text.replace("-- Things.\n", "").replace("    c int\n", "")) == ["thing"]


def test_the_service_uses_every_column() -> None:
    tables: dict[str, set[str]] = {}
    for migration in migrations():
        for table, columns in read_tables(migration.text).items():
            tables.setdefault(table, set()).update(columns)
    assert sum(map(len, tables.values())) > 900, "the columns are found"
    assert find_unused(tables, read_all("src/kasuwa")) == set(UNNAMED)


def test_a_column_that_nothing_uses_is_noticed() -> None:
    tables = read_tables("create table thing (\n    a text,\n    b text,\n    c text,\n    primary key (a)\n);\n")
    assert tables == {"thing": {"a", "b", "c"}}
    sources = [Source("core/x.py", "READ = 'select a from thing'\nOTHER = 'select b from other'")]
    assert find_unused(tables, sources) == {("thing", "b"), ("thing", "c")}
    assert read_tables("alter table thing add column d text not null default '';") == {"thing": {"d"}}
