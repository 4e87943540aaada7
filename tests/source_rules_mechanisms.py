"""The rules of the house about mechanisms: one for each purpose."""

import ast
import re
from collections.abc import Iterable, Mapping

from tests.source_rules import Source

# --- one struct for the rows of a table -----------------------------------------------------------------------------

CREATED_TABLE = re.compile(r"^create (?:unlogged )?table (\w+) \($(.*?)^\)", re.MULTILINE | re.DOTALL)
COLUMN = re.compile(r"^    (?!primary|unique|check|constraint|foreign)([a-z]\w*) ", re.MULTILINE)
ADDED_COLUMN = re.compile(r"^alter table (\w+) add column (\w+) ", re.MULTILINE)
# A struct that has nearly all columns of a table, and nothing else, is the row of the table.
MIN_COLUMNS = 6
MIN_SHARE = 0.8


def read_tables(schema: str) -> dict[str, set[str]]:
    """Returns the columns that a schema or a migration makes, by table."""
    tables = {table: set(COLUMN.findall(body)) for table, body in CREATED_TABLE.findall(schema)}
    for table, column in ADDED_COLUMN.findall(schema):
        tables.setdefault(table, set()).add(column)
    return tables


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


# --- effects are added as a whole -----------------------------------------------------------------------------------

EFFECT_FIELDS = {"groups", "rows", "jobs", "jobs_done", "events", "notices", "audit_entries"}
# Where `add` is, and where the writer takes a decision apart.
EFFECTS_ARE_SPLIT_IN = ("core/decision.py", "engine/batch.py")


def read_effect(node: ast.AST) -> tuple[str, str] | None:
    """Returns (variable, field) if an expression is a field of effects that a variable has."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in EFFECT_FIELDS:
        return node.value.id, node.attr
    return None


def copied_effects(function: ast.AST) -> set[tuple[str, str]]:
    """Returns the fields of effects that a function copies into others. A variable's own fields may be extended."""
    copied, extended = set[tuple[str, str] | None](), set[tuple[str, str] | None]()
    for node in ast.walk(function):
        if isinstance(node, ast.Starred | ast.AugAssign) or (
            isinstance(node, ast.keyword) and node.arg in EFFECT_FIELDS
        ):
            copied.add(read_effect(node.value))
        elif isinstance(node, ast.Assign):
            extended |= {read_effect(target) for target in node.targets}
    return {field for field in copied - extended if field is not None}


def effects_added_by_field(source: Source) -> list[str]:
    """Returns where two or more fields of effects are copied one by one: one that is forgotten is lost silently."""
    if source.path in EFFECTS_ARE_SPLIT_IN:
        return []
    complaints = []
    for function in source.functions():
        names = [name for name, _ in copied_effects(function)]
        complaints += [
            f"{source.path}:{function.lineno}: {name}" for name in sorted(set(names)) if names.count(name) > 1
        ]
    return complaints


# --- what a rule still needs is returned where it arises ------------------------------------------------------------


def late_needs(source: Source) -> list[str]:
    """Returns the assertions that a result is not NeedsMore: it was not returned at its place."""
    asserted = [node for node in source.nodes if isinstance(node, ast.Assert)]
    return [f"{source.path}:{node.lineno}" for node in asserted if "NeedsMore" in ast.unparse(node.test)]


# --- one timer for what is done often -------------------------------------------------------------------------------

# What these do is done for each request, job or call of a rail (concurrency/deadlines.py). Clients of vendors, which
# import the ports of rails alone, wait for their turn with a timer.
DONE_OFTEN = ("api/", "http/", "jobs/steps.py", "jobs/worker.py", "outbound/egress.py", "rails/inbox/")


def timers_per_call(source: Source) -> list[str]:
    """Returns where what is done often has a timer of its own, instead of one of the shared deadlines."""
    if not source.path.startswith(DONE_OFTEN):
        return []
    calls = [node for node in source.nodes if isinstance(node, ast.Call)]
    timers = ("asyncio.timeout", "asyncio.timeout_at", "asyncio.wait_for")
    return [f"{source.path}:{call.lineno}" for call in calls if ast.unparse(call.func) in timers]
