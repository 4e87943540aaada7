"""The statements of a writer for a distributed database, of the same parts as those for one server (bulk_sql.py).

Each batch is of one merchant, and every part of a statement has that merchant in its condition. Rows are objects and
not arrays: Citus refuses casts of columns that depend on the session's settings, as those to times do.
"""

from functools import cache
from typing import Any

import msgspec

from kasuwa.core.decision import Row
from kasuwa.postgres.bulk_sql import StatementPart, combine_parts, format_set_list, select_by_key
from kasuwa.postgres.columns import Columns
from kasuwa.postgres.distribution.placement import NUMBERED, is_by_merchant


@cache
def select_of_merchant(kind: type[Row]) -> str:
    """Returns the query that reads rows of one merchant by `key`. Its second parameter is the merchant's number."""
    return select_by_key(kind, "merchant_id = $2::bigint")


def encode_objects(columns: Columns, rows: list[tuple[Any, ...]]) -> str:
    """Encodes the rows of a part for `object_rows_sql`: as one array, each row as an object."""
    return msgspec.json.encode([dict(zip(columns.names, row, strict=True)) for row in rows]).decode()


# Types that are text in the objects, and the SQL that converts them.
OBJECT_CONVERSIONS = {"bytea": "decode(r.{0}, 'base64') as {0}", "json": "r.{0}::json as {0}"}


def object_rows_sql(columns: Columns, parameter: int) -> str:
    """Returns the SQL of a table `x` with these columns: the rows of a parameter, which is an array of objects."""
    fields = list(zip(columns.names, columns.types, strict=True))
    values = ", ".join(OBJECT_CONVERSIONS.get(kind, "r.{0}").format(name) for name, kind in fields)
    declared = ", ".join(f"{name} {'text' if kind in OBJECT_CONVERSIONS else kind}" for name, kind in fields)
    return f"(select {values} from json_to_recordset(${parameter}::json) as r({declared})) x"


def insert_of_merchant(part: StatementPart, rows: str, merchant: int) -> str:
    """Returns the insert of a part.

    Citus runs an `insert … select` on the merchant's server as it stands if its merchant_id is that of a row there.
    Where the coordinator numbers the rows it sends them first, which it does not do by COPY if the insert returns
    something: PostgreSQL refuses COPY on tables with row-level security."""
    table, columns = part.table, part.columns
    inserted = f"insert into {table} ({', '.join(columns.names)})"
    if not is_by_merchant(table) or table in NUMBERED:
        return f"{inserted} select {', '.join(columns.names)} from {rows}{' returning 1' if table in NUMBERED else ''}"
    values = ", ".join("s.merchant_id" if name == "merchant_id" else f"x.{name}" for name in columns.names)
    return f"{inserted} select {values} from {rows}, merchant_state s where s.merchant_id = ${merchant}::bigint"


def part_of_merchant(part: StatementPart, parameter: int, merchant: int) -> str:
    table, columns = part.table, part.columns
    rows, of_merchant = object_rows_sql(columns, parameter), f"t.merchant_id = ${merchant}::bigint"
    if part.operation == "insert":
        return insert_of_merchant(part, rows, merchant)
    condition = f"{of_merchant} and t.key = x.key"
    if part.operation == "delete":
        return f"delete from {table} t using {rows} where {condition}"
    if part.operation == "update":
        return f"update {table} t set {format_set_list(columns)} from {rows} where {condition}"
    if part.operation == "raise":
        changed = f"update {table} t set {format_set_list(columns)} from {rows}"
        return f"{changed} where {condition} and t.version = x.expected returning 1"
    return f"select 1 from {rows}, {table} t where {condition} and t.version = x.expected"


@cache
def statement_of_merchant(parts: tuple[StatementPart, ...]) -> str:
    """Returns the text of the statement for one merchant, which fails as `bulk_sql.statement_sql` does."""
    merchant = len(parts) + 2  # after the rows of each part and the number of merchants
    return combine_parts(parts, lambda part, n: part_of_merchant(part, n, merchant))
