"""Builds the one SQL statement that writes a whole batch.

Each table's columns come from its struct. A batch is written by one data-modifying `WITH` whose parts are
`insert … select`, `update … from` and `delete`, each fed by one JSON array of its rows. JSON, because msgspec encodes a
row in a tenth of the time the driver needs for binary arrays, and this process is busier than the database
(docs/decisions/0002). A row is an array of values without names, and jsonb, because PostgreSQL then parses it once
(docs/decisions/0070). The text depends only on which parts there are, so a few prepared statements suffice.
"""

from collections.abc import Callable, Iterable
from functools import cache
from operator import attrgetter
from typing import Any

import msgspec

from kasuwa.core.decision import Row
from kasuwa.core.references import KEY_BYTES
from kasuwa.postgres.columns import Columns, describe_columns


@cache
def select_by_key(kind: type[Row], *conditions: str) -> str:
    """Returns the query that reads rows by `key`. Its first parameter is the keys as one byte string (`concat_keys`).

    On one server merchant_id is not in the WHERE: with it the planner takes the wrong index and filters."""
    places = f"generate_series(1, length($1::bytea), {KEY_BYTES}) n"
    keys = f"array(select substr($1::bytea, n, {KEY_BYTES}) from {places})"
    condition = " and ".join((f"key = any({keys})", *conditions))
    return f"select {', '.join(describe_columns(kind).names)} from {kind.table} where {condition}"


def concat_keys(keys: Iterable[bytes]) -> bytes:
    return b"".join(keys)


# Takes the values of the columns of a part from a row.
TakeValues = Callable[[Any], tuple[Any, ...]]


class StatementPart(msgspec.Struct, frozen=True, cache_hash=True):
    """One part of a batch's statement: a table, the operation on it, and its columns."""

    operation: str  # insert, update, delete, or one of VERSION_CHECKS
    table: str
    columns: Columns


# Operations that require the merchant's row to have the expected version: raise it, or only check it.
VERSION_CHECKS = ("raise", "check")


def locate_row_sql(table: str) -> str:
    """Returns SQL that finds the row of a record by the index on `key`, whatever the planner estimates.

    Otherwise it would scan a small table, and keep that plan when the table has grown."""
    return f"lateral (select r.ctid as place from {table} r where r.key = x.key offset 0) f"


def format_set_list(columns: Columns) -> str:
    """Returns the SET list of an update from the rows `x`."""
    return ", ".join(f"{name} = x.{name}" for name in columns.names if name not in ("key", "expected"))


def part_sql(part: StatementPart, parameter: int) -> str:
    table, columns = part.table, part.columns
    rows = columns.rows_sql(parameter)
    if part.operation == "insert":
        names = ", ".join(columns.names)
        return f"insert into {table} ({names}) select {names} from {rows}"
    if part.operation == "delete":
        return f"delete from {table} where key = any(array(select x.key from {rows}))"
    sets = format_set_list(columns)
    if part.operation == "update":
        return f"update {table} t set {sets} from {rows}, {locate_row_sql(table)} where t.ctid = f.place"
    if part.operation == "raise":
        return (
            f"update {table} t set {sets} from {rows}, {locate_row_sql(table)}"
            " where t.ctid = f.place and t.version = x.expected returning 1"
        )
    return f"select 1 from {rows}, {locate_row_sql(table)}, {table} t where t.ctid = f.place and t.version = x.expected"


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
    return StatementPart("insert", table, describe_columns(kind))


@cache
def updated_columns(kind: type[Row]) -> tuple[str, ...]:
    """Returns the columns that an update writes: the mutable ones, and the row's code if it covers one of these."""
    is_recoded = not set(kind.mutable_columns).isdisjoint(kind.coded_columns)
    return tuple(dict.fromkeys((*kind.mutable_columns, "row_code"))) if is_recoded else kind.mutable_columns


@cache
def update_part(kind: type[Row]) -> tuple[StatementPart, TakeValues]:
    """Returns the update of a table's mutable columns, and a function that takes their values of a row."""
    names = ("key", *updated_columns(kind))
    return StatementPart("update", kind.table, describe_columns(kind).only(names)), attrgetter(*names)


@cache
def version_parts(kind: type[Row]) -> tuple[tuple[StatementPart, TakeValues], tuple[StatementPart, TakeValues]]:
    """Returns the parts that raise the version of written merchants and check the version of the others, each with a
    function that takes the values of a row. The expected version follows them."""
    columns = describe_columns(kind).only(("key", *updated_columns(kind)))
    expecting = Columns((*columns.names, "expected"), (*columns.types, "bigint"))
    raising = StatementPart("raise", kind.table, expecting)
    checking = StatementPart("check", kind.table, expecting.only(("key", "expected")))
    return (raising, attrgetter(*columns.names)), (checking, take_key)


@cache
def delete_part(kind: type[Row]) -> tuple[StatementPart, TakeValues]:
    return StatementPart("delete", kind.table, describe_columns(kind).only(("key",))), take_key


def take_key(row: Row) -> tuple[bytes]:
    return (row.key,)


def encode_rows(rows: list[tuple[Any, ...]]) -> str:
    """Encodes the rows of a part for `Columns.rows_sql`: as one array, each row as an array of its values."""
    return msgspec.json.encode(rows).decode()
