"""The columns of tables, by the structs of their rows."""

import types
import typing
from collections.abc import Sequence
from datetime import date, datetime
from functools import cache
from typing import Any

import msgspec

PG_TYPES: dict[Any, str] = {
    bytes: "bytea",
    int: "bigint",
    str: "text",
    bool: "boolean",
    datetime: "timestamptz",
    date: "date",
}


# Columns of type json. The structs hold them as encoded text.
JSON_COLUMNS = frozenset({"detail", "trail", "work", "faults", "facts", "limits", "recent", "receipts"})


# The SQL that converts the text of a JSON value to the type of a column, if it is not a cast.
CONVERSIONS = {"bytea": "decode({}, 'base64')", "text": "{}"}


class Columns(msgspec.Struct, frozen=True):
    names: tuple[str, ...]
    types: tuple[str, ...]

    def only(self, names: Sequence[str]) -> "Columns":
        return Columns(tuple(names), tuple(self.types[self.names.index(name)] for name in names))

    def rows_sql(self, parameter: int) -> str:
        """Returns the SQL of a table `x` with these columns: the rows of a parameter, which is an array of arrays."""
        values = [
            f"{CONVERSIONS.get(kind, f'({{}})::{kind}').format(f'r ->> {place}')} as {name}"
            for place, (name, kind) in enumerate(zip(self.names, self.types, strict=True))
        ]
        return f"(select {', '.join(values)} from jsonb_array_elements(${parameter}::jsonb) as r) x"


@cache
def describe_columns(kind: type[msgspec.Struct]) -> Columns:
    hints = typing.get_type_hints(kind)
    names = kind.__struct_fields__
    return Columns(names, tuple(pg_type(name, hints[name]) for name in names))


def pg_type(name: str, hint: Any) -> str:
    if name in JSON_COLUMNS:
        return "json"
    if isinstance(hint, types.UnionType):
        hint = next(option for option in typing.get_args(hint) if option is not types.NoneType)
    return PG_TYPES[hint]
