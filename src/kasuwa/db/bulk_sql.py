"""Builds the one SQL statement that writes a whole batch.

Each table's columns come from its struct. A batch is written by one data-modifying `WITH` whose parts are
`insert … select`, `update … from` and `delete`, each fed by one JSON array of its rows. JSON, because msgspec encodes a
row in a tenth of the time the driver needs for binary arrays, and this process is busier than the database
(docs/decisions/0002). The text depends only on which parts there are, so a few prepared statements suffice.
"""

import types
import typing
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from functools import cache
from operator import attrgetter
from typing import Any

import msgspec

from kasuwa.core.decision import Row
from kasuwa.core.references import KEY_BYTES

PG_TYPES: dict[Any, str] = {
    bytes: "bytea",
    int: "bigint",
    str: "text",
    bool: "boolean",
    datetime: "timestamptz",
    date: "date",
}

# Columns of type json. The structs hold them as encoded text.
JSON_COLUMNS = frozenset({"detail", "trail", "work", "faults", "facts", "limits"})

# Types that are sent inside the JSON as another type, and the SQL that converts them back.
JSON_TYPES = {"bytea": "text", "json": "text"}
JSON_CONVERSIONS = {"bytea": "decode({}, 'base64')", "json": "{}::json"}


class Columns(msgspec.Struct, frozen=True):
    names: tuple[str, ...]
    types: tuple[str, ...]

    def only(self, names: Sequence[str]) -> "Columns":
        return Columns(tuple(names), tuple(self.types[self.names.index(name)] for name in names))

    def value_sql(self, name: str) -> str:
        """Returns the SQL expression of a column of the recordset `x`."""
        return JSON_CONVERSIONS.get(self.types[self.names.index(name)], "{}").format(f"x.{name}")


@cache
def columns_of(kind: type[msgspec.Struct]) -> Columns:
    hints = typing.get_type_hints(kind)
    names = kind.__struct_fields__
    return Columns(names, tuple(pg_type(name, hints[name]) for name in names))


def pg_type(name: str, hint: Any) -> str:
    if name in JSON_COLUMNS:
        return "json"
    if isinstance(hint, types.UnionType):
        hint = next(option for option in typing.get_args(hint) if option is not types.NoneType)
    return PG_TYPES[hint]


@cache
def select_by_key(kind: type[Row]) -> str:
    """Returns the query that reads rows by `key`. Its parameter is the keys as one byte string (`concat_keys`).

    merchant_id is not in the WHERE: with it the planner takes the wrong index and filters."""
    places = f"generate_series(1, length($1::bytea), {KEY_BYTES}) n"
    keys = f"array(select substr($1::bytea, n, {KEY_BYTES}) from {places})"
    return f"select {', '.join(columns_of(kind).names)} from {kind.table} where key = any({keys})"


def concat_keys(keys: Iterable[bytes]) -> bytes:
    return b"".join(keys)


class StatementPart(msgspec.Struct, frozen=True):
    """One part of a batch's statement: a table, the operation on it, and its columns."""

    operation: str  # insert, update, delete, or one of VERSION_CHECKS
    table: str
    columns: Columns


# Operations that require the merchant's row to have the expected version: raise it, or only check it.
VERSION_CHECKS = ("raise", "check")


def recordset(columns: Columns, parameter: int) -> str:
    declared = ", ".join(
        f"{name} {JSON_TYPES.get(kind, kind)}" for name, kind in zip(columns.names, columns.types, strict=True)
    )
    return f"json_to_recordset(${parameter}::json) as x({declared})"


def locate_row_sql(table: str, columns: Columns) -> str:
    """Returns SQL that finds the row of a record by the index on `key`, whatever the planner estimates.

    Otherwise it would scan a small table, and keep that plan when the table has grown."""
    return f"lateral (select r.ctid as place from {table} r where r.key = {columns.value_sql('key')} offset 0) f"


def sets_of(columns: Columns) -> str:
    """Returns the SET list of an update from the recordset `x`."""
    return ", ".join(f"{name} = {columns.value_sql(name)}" for name in columns.names if name not in ("key", "expected"))


def part_sql(part: StatementPart, parameter: int) -> str:
    table, columns = part.table, part.columns
    rows = recordset(columns, parameter)
    if part.operation == "insert":
        values = ", ".join(columns.value_sql(name) for name in columns.names)
        return f"insert into {table} ({', '.join(columns.names)}) select {values} from {rows}"
    if part.operation == "delete":
        return f"delete from {table} where key = any(array(select {columns.value_sql('key')} from {rows}))"
    sets = sets_of(columns)
    if part.operation == "update":
        return f"update {table} t set {sets} from {rows}, {locate_row_sql(table, columns)} where t.ctid = f.place"
    if part.operation == "raise":
        return (
            f"update {table} t set {sets} from {rows}, {locate_row_sql(table, columns)}"
            " where t.ctid = f.place and t.version = x.expected returning 1"
        )
    return (
        f"select 1 from {rows}, {locate_row_sql(table, columns)}, {table} t"
        " where t.ctid = f.place and t.version = x.expected"
    )


@cache
def statement_sql(parts: tuple[StatementPart, ...]) -> str:
    """Returns the text of the statement. Its last parameter is the number of merchants in the batch.

    Unless that many rows had their expected version, the statement fails by dividing by zero and writes nothing."""
    return combine_parts(parts, part_sql)


def combine_parts(parts: tuple[StatementPart, ...], render: Callable[[StatementPart, int], str]) -> str:
    """Returns one statement of several parts. `render` returns the SQL of a part and its parameter's number."""
    pieces = ", ".join(f"w{n} as ({render(part, n)})" for n, part in enumerate(parts, start=1))
    matches = [
        f"(select count(*) from w{n})" for n, part in enumerate(parts, start=1) if part.operation in VERSION_CHECKS
    ]
    return f"with {pieces} select 1 / (case when {' + '.join(matches)} = ${len(parts) + 1}::bigint then 1 else 0 end)"


@cache
def insert_part(kind: type[msgspec.Struct], table: str) -> StatementPart:
    return StatementPart("insert", table, columns_of(kind))


@cache
def update_part(kind: type[Row]) -> tuple[StatementPart, Any]:
    """Returns the update of a table's mutable columns, and a function that extracts those columns of a row."""
    names = ("key", *kind.mutable_columns)
    hints = typing.get_type_hints(kind)
    changed = msgspec.defstruct(f"Changed{kind.__name__}", [(name, hints[name]) for name in names])
    values = attrgetter(*names)
    return StatementPart("update", kind.table, columns_of(kind).only(names)), lambda row: changed(*values(row))


@cache
def version_parts(kind: type[Row]) -> tuple[StatementPart, StatementPart]:
    """Returns the parts that raise the version of written merchants and check the version of the others."""
    columns = columns_of(kind).only(("key", *kind.mutable_columns))
    expecting = Columns((*columns.names, "expected"), (*columns.types, "bigint"))
    return StatementPart("raise", kind.table, expecting), StatementPart(
        "check", kind.table, expecting.only(("key", "expected"))
    )


@cache
def delete_part(kind: type[Row]) -> tuple[StatementPart, Any]:
    deleted = msgspec.defstruct(f"Deleted{kind.__name__}", [("key", bytes)])
    return StatementPart("delete", kind.table, columns_of(kind).only(("key",))), lambda row: deleted(row.key)


def encode_rows(rows: Iterable[Any]) -> str:
    return msgspec.json.encode(list(rows)).decode()
