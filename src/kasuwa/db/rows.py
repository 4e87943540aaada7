"""Rows to bulk SQL: one statement writes a whole batch, whatever is in it.

Each table's columns come from its struct. A batch is written by one data-modifying `WITH` whose parts are
`insert … select from unnest(…)`, `update … from unnest(…)` and `delete … where key = any(…)`. The text
depends only on which parts there are, so a handful of prepared statements serve for ever.
"""

import types
import typing
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import msgspec

PG_TYPES: dict[Any, str] = {bytes: "bytea", int: "bigint", str: "text", bool: "boolean", datetime: "timestamptz"}

# Text columns that PostgreSQL keeps as json; the structs hold them encoded.
JSON_COLUMNS = frozenset({"detail", "trail", "work", "faults"})


class Columns(msgspec.Struct, frozen=True):
    names: tuple[str, ...]
    types: tuple[str, ...]

    def only(self, wanted: Sequence[str]) -> "Columns":
        return Columns(tuple(wanted), tuple(self.types[self.names.index(name)] for name in wanted))


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
def select_by_key(kind: type[Any]) -> str:
    """Found by `key` alone: with merchant_id in the WHERE the planner takes the wrong index and filters."""
    return f"select {', '.join(columns_of(kind).names)} from {kind.table} where key = any($1)"


class Part(msgspec.Struct, frozen=True):
    """One piece of a batch's write: a table, what to do to it, and its columns."""

    verb: str
    table: str
    columns: Columns


def unnested(columns: Columns, first: int) -> str:
    return ", ".join(f"${first + n}::{kind}[]" for n, kind in enumerate(columns.types))


def part_sql(part: Part, first: int) -> str:
    names = ", ".join(part.columns.names)
    arrays = unnested(part.columns, first)
    if part.verb == "insert":
        return f"insert into {part.table} ({names}) select * from unnest({arrays})"
    if part.verb == "update":
        sets = ", ".join(f"{name} = u.{name}" for name in part.columns.names if name != "key")
        return f"update {part.table} t set {sets} from unnest({arrays}) as u({names}) where t.key = u.key"
    return f"delete from {part.table} where key = any(${first}::bytea[])"


@cache
def write_sql(parts: tuple[Part, ...]) -> str:
    """The answer is the transaction's id, by which a lost commit can be asked after."""
    first, pieces = 1, []
    for n, part in enumerate(parts):
        pieces.append(f"w{n} as ({part_sql(part, first)})")
        first += len(part.columns.names)
    return f"with {', '.join(pieces)} select pg_current_xact_id()::text"


def column_arrays(columns: Columns, rows: Iterable[Any]) -> list[list[Any]]:
    rows = list(rows)
    return [[getattr(row, name) for row in rows] for name in columns.names]
