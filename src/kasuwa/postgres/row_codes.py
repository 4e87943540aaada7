"""Makes and checks the codes of rows (core/row_codes.py): those that the writer maintains, and those of other tables.

The writer codes a row when it is written and checks it when it is read (batch_write.py, locked_batch.py). A function
that inserts into another coded table calls `code_new_row` in the same transaction; one that updates it does so within
`changing`, which refuses a row that somebody else has changed: a new code must not confirm that change.
"""

import contextlib
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from functools import cache
from typing import Any

import msgspec
import structlog

from kasuwa.core.decision import ChangedRow, Row
from kasuwa.core.row_codes import (
    CodedTable,
    Content,
    ContentReader,
    RowChanged,
    content_reader,
    describe_row,
    is_intact,
    make_row_code,
)
from kasuwa.core.vault import Vault
from kasuwa.postgres.columns import describe_columns
from kasuwa.postgres.connection_pool import Connection

log = structlog.get_logger("kasuwa.postgres")

# How often one changed row is logged. Merchants are read again more than once a second.
REPORT_SECONDS = 60.0
MAX_REPORTED = 1_000
REPORTED: dict[tuple[str, int, tuple[str, ...]], float] = {}


def report_changed(table: str, merchant_id: int, key: Sequence[str]) -> RowChanged:
    """Logs a row that is not as the service wrote it, at most once a minute. Returns the error to raise."""
    place, now = (table, merchant_id, tuple(key)), time.monotonic()
    if now - REPORTED.get(place, -REPORT_SECONDS) >= REPORT_SECONDS:
        if len(REPORTED) >= MAX_REPORTED:
            REPORTED.clear()
        REPORTED[place] = now
        log.error(
            "a row is not as the service wrote it, and is not used: run `kasuwa audit`",
            table=table,
            merchant_id=merchant_id,
            key=" ".join(key),
        )
    return RowChanged(describe_row(table, merchant_id, key))


# --- rows of the writer -----------------------------------------------------------------------------------------------


@cache
def make_content_reader(kind: type[Row]) -> ContentReader:
    """Returns a function that takes the content of a row. A property `coded_…` stands for a part of a column."""
    names = [f"coded_{name}" if hasattr(kind, f"coded_{name}") else name for name in kind.coded_columns]
    has_times = "timestamptz" in describe_columns(kind).only(kind.coded_columns).types
    return content_reader(("merchant_id", "key", *names), has_times=has_times)


@cache
def describe_table(kind: type[Row]) -> CodedTable:
    """Returns the description of the table of a row that has a code."""
    return CodedTable(
        table=kind.table,
        key={"key": "bytea"},
        covered=kind.coded_columns,
        parts=kind.coded_parts,
        condition=kind.coded_condition,
        is_cached=True,
        row_kind=kind,
    )


def code_rows(vault: Vault, kind: type[Row], rows: Iterable[Row]) -> None:
    """Gives rows that are to be written their codes."""
    read, table = make_content_reader(kind), kind.table
    for row in rows:
        row.row_code = make_row_code(vault, table, read(row)) if row.is_coded else None  # type: ignore[attr-defined]


def check_row(vault: Vault, row: Row) -> bool:
    """Returns whether a row that was read is as the service wrote it, and logs one that is not."""
    kind = type(row)
    if not kind.coded_columns or not row.is_coded:
        return True
    if is_intact(vault, kind.table, make_content_reader(kind)(row), row.row_code):  # type: ignore[attr-defined]
        return True
    report_changed(kind.table, row.merchant_id, (row.key.hex(),))
    return False


def require_intact(vault: Vault, row: Row) -> None:
    """Raises RowChanged if a row that was read is not as the service wrote it."""
    if not check_row(vault, row):
        raise RowChanged(describe_row(type(row).table, row.merchant_id, (row.key.hex(),)))


def replace_changed(vault: Vault, rows: list[Row]) -> list[Row]:
    """Returns rows that were read, with a ChangedRow in place of each that is not as the service wrote it."""
    return [row if check_row(vault, row) else ChangedRow(row.key, row.merchant_id, type(row).table) for row in rows]


# --- rows of other tables ---------------------------------------------------------------------------------------------


class StoredRow(msgspec.Struct, frozen=True):
    """The content of a row as it is stored."""

    code: bytes | None
    content: Content

    def describe_key(self, table: CodedTable) -> tuple[str, ...]:
        """Returns the key of the row as people read it."""
        values = self.content[1 : len(table.key) + 1]
        return tuple(value.hex() if isinstance(value, bytes) else str(value) for value in values)


async def read_rows(connection: Connection, table: CodedTable, condition: str, *values: Any) -> list[StoredRow]:
    query = f"select row_code, {table.content_sql()} from {table.table} where {condition}"
    return [StoredRow(row[0], tuple(row[1:])) for row in await connection.fetch(query, *values)]


def check_content(vault: Vault, table: CodedTable, content: Content, code: bytes | None) -> None:
    """Raises RowChanged, and logs it, if a row is not as the service wrote it. `content` is that of `content_sql`."""
    if not is_intact(vault, table.table, content, code):
        raise report_changed(table.table, content[0], StoredRow(code, content).describe_key(table))


def key_condition(table: CodedTable) -> str:
    """Returns the condition that names one row, from parameter 2 on: by its merchant, if it has one, and its key."""
    typed = {"merchant_id": "bigint", **table.key} if table.is_of_merchant else table.key
    return " and ".join(f"{name} = ${number}::{kind}" for number, (name, kind) in enumerate(typed.items(), start=2))


async def store_codes(connection: Connection, vault: Vault, table: CodedTable, rows: Iterable[StoredRow]) -> None:
    """Gives rows codes of what they contain now."""
    begin, end = 0 if table.is_of_merchant else 1, len(table.key) + 1
    await connection.executemany(
        f"update {table.table} set row_code = $1 where {key_condition(table)}",
        [(make_row_code(vault, table.table, row.content), *row.content[begin:end]) for row in rows],
    )


async def code_new_row(connection: Connection, vault: Vault, table: CodedTable, condition: str, *values: Any) -> None:
    """Codes a row that this transaction has inserted. `condition` names it by its key."""
    await store_codes(connection, vault, table, await read_rows(connection, table, condition, *values))


@contextlib.asynccontextmanager
async def changing(
    connection: Connection, vault: Vault, table: CodedTable, condition: str, *values: Any, ends: bool = False
) -> AsyncIterator[None]:
    """Locks and checks rows, lets the caller change them, and codes them anew, in one transaction. `condition` names
    them by columns that do not change. Raises RowChanged if a row is not as the service wrote it. A change that `ends`
    what the rows stand for is made all the same: nothing can be done with them afterwards."""
    async with connection.transaction():
        for row in await read_rows(connection, table, f"{condition} for update", *values):
            if not ends:
                check_content(vault, table, row.content, row.code)
        yield
        await store_codes(connection, vault, table, await read_rows(connection, table, condition, *values))
