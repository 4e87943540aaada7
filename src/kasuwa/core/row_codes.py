"""Codes of rows: what decides where money goes is authenticated by the service, and not by the database.

A row of a coded table has a keyed code over its table, merchant, primary key and deciding columns (`row_code`). The key
is derived from the data keys and never stored in clear, so whoever can write the database alone cannot make a code. A
row whose code is missing or another one was changed by somebody else: it is refused when it is used, and named by
`kasuwa audit`. docs/proofs.md says what this covers and what not.

The content of a row is encoded as JSON: its table, then an array of its merchant, its key and its deciding columns, as
the driver returns their values. Times are in UTC, bytes in base64.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

import msgspec

from kasuwa.core.vault import Vault

# The operator's own secrets and rows are under this number, which no merchant has.
OPERATOR_ID = 0


class RowChanged(Exception):
    """A row is not as the service wrote it. The text names it for the operator."""


def describe_row(table: str, merchant_id: int, key: Iterable[str]) -> str:
    return f"row {' '.join(key)} of {table}, merchant number {merchant_id}, is not as the service wrote it"


class CodedTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table whose rows have a code."""

    table: str
    key: Mapping[str, str]  # columns of the primary key besides merchant_id, with their types
    covered: tuple[str, ...]  # columns that decide
    uncovered: Mapping[str, str] = {}  # the others, each with the reason why it is not covered
    is_of_merchant: bool = True  # whether it has a merchant_id
    is_cached: bool = False  # the writer may have rows in memory, so that a new code takes the merchant's lock
    parts: Mapping[str, str] = {}  # SQL of covered columns of which only a part decides
    condition: str = "true"  # of the rows that have a code
    row_kind: type[Any] | None = None  # of a table whose rows the writer maintains: their struct

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a row's content besides its merchant, in order."""
        return (*self.key, *self.covered)

    def content_sql(self, alias: str = "") -> str:
        """Returns the SQL of the content of a row, as a list of columns."""
        dot = f"{alias}." if alias else ""
        owner = f"{dot}merchant_id" if self.is_of_merchant else f"{OPERATOR_ID}::bigint"
        return ", ".join((owner, *(self.parts.get(name, f"{dot}{name}") for name in self.columns)))


# Merchant, key and covered columns.
Content = Sequence[Any]

ENCODER = msgspec.json.Encoder()


def is_intact(vault: Vault, table: str, content: Content, code: bytes | None) -> bool:
    """Returns whether a row is as the service wrote it: its code was made of what it contains."""
    return code is not None and vault.is_code(content[0], ENCODER.encode((table, content)), code)


def make_row_code(vault: Vault, table: str, content: Content) -> bytes:
    return vault.make_code(content[0], ENCODER.encode((table, content)))


# Takes the content of a row that the writer maintains.
ContentReader = Callable[[Any], Content]


def content_reader(names: Iterable[str], *, has_times: bool) -> ContentReader:
    """Returns a function that takes attributes of a row as its content. The first is the merchant."""
    take: ContentReader = attrgetter(*names)
    if not has_times:
        return take
    return lambda row: tuple(value.astimezone(UTC) if isinstance(value, datetime) else value for value in take(row))
