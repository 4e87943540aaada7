"""The statements of a writer, in the form that its database takes.

On one server a batch spans merchants, and rows are found by their key alone (bulk_sql.py). On a distributed database
each batch is of one merchant, and every part of a statement has that merchant in its condition: so it runs on the
server that has the merchant's rows, and a server that is away stops only the merchants that it has. Rows are objects
there and not arrays: Citus refuses casts of columns that depend on the session's settings, as those to times do.
"""

from functools import cache
from typing import Any

import msgspec

from kasuwa.core.decision import Row
from kasuwa.engine.bulk_sql import StatementPart, combine_parts, encode_rows, select_by_key, sets_of, statement_sql
from kasuwa.engine.merchant_state import MerchantState
from kasuwa.postgres import connections
from kasuwa.postgres.backend_connection import is_distributed
from kasuwa.postgres.columns import Columns
from kasuwa.postgres.distribution.placement import NUMBERED, is_by_merchant


class WriteStatements:
    """The statements for a database on one server."""

    is_distributed = False
    # Statements that follow the `begin` of a transaction that locks merchants.
    lock_settings: tuple[str, ...] = ()

    def select(self, kind: type[Row]) -> str:
        """Returns the query that reads rows by their keys. Its parameters are the keys, then `select_values`."""
        return select_by_key(kind)

    def select_values(self, kind: type[Row], merchant_id: int) -> tuple[Any, ...]:
        """Returns the parameters of `select` that name the merchant of the keys."""
        return ()

    def lock_merchants(self) -> str:
        return f"{self.select(MerchantState)} order by key for update"

    def lock_free_merchants(self) -> str:
        return f"{self.lock_merchants()} skip locked"

    def write(self, parts: tuple[StatementPart, ...]) -> str:
        """Returns the statement that writes a batch. Its parameters are the rows of each part, the number of merchants,
        then `write_values`."""
        return statement_sql(parts)

    def encode_rows(self, columns: Columns, rows: list[tuple[Any, ...]]) -> str:
        """Encodes the rows of a part."""
        return encode_rows(rows)

    def write_values(self, merchant_id: int) -> tuple[Any, ...]:
        """Returns the parameters of `write` that name the merchant of the batch."""
        return ()


class MerchantStatements(WriteStatements):
    """The statements for a distributed database."""

    is_distributed = True
    # Rows are locked by the server that has them. It learns of settings of the transaction, not of the session.
    lock_settings = (f"set local lock_timeout = {int(connections.MERCHANT_LOCK_SECONDS * 1000)}",)

    def select(self, kind: type[Row]) -> str:
        return select_of_merchant(kind) if is_by_merchant(kind.table) else select_by_key(kind)

    def select_values(self, kind: type[Row], merchant_id: int) -> tuple[Any, ...]:
        return (merchant_id,) if is_by_merchant(kind.table) else ()

    def write(self, parts: tuple[StatementPart, ...]) -> str:
        return statement_of_merchant(parts)

    def encode_rows(self, columns: Columns, rows: list[tuple[Any, ...]]) -> str:
        return msgspec.json.encode([dict(zip(columns.names, row, strict=True)) for row in rows]).decode()

    def write_values(self, merchant_id: int) -> tuple[Any, ...]:
        return (merchant_id,)


ON_ONE_SERVER = WriteStatements()
DISTRIBUTED = MerchantStatements()


def statements_for(connection: Any) -> WriteStatements:
    """Returns the statements for the database of a connection."""
    return DISTRIBUTED if is_distributed(connection) else ON_ONE_SERVER


@cache
def select_of_merchant(kind: type[Row]) -> str:
    return f"{select_by_key(kind)} and merchant_id = $2::bigint"


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
    found = f"{of_merchant} and t.key = x.key"
    if part.operation == "delete":
        return f"delete from {table} t using {rows} where {found}"
    if part.operation == "update":
        return f"update {table} t set {sets_of(columns)} from {rows} where {found}"
    if part.operation == "raise":
        changed = f"update {table} t set {sets_of(columns)} from {rows}"
        return f"{changed} where {found} and t.version = x.expected returning 1"
    return f"select 1 from {rows}, {table} t where {found} and t.version = x.expected"


@cache
def statement_of_merchant(parts: tuple[StatementPart, ...]) -> str:
    """Returns the text of the statement for one merchant, which fails as `bulk_sql.statement_sql` does."""
    merchant = len(parts) + 2  # after the rows of each part and the number of merchants
    return combine_parts(parts, lambda part, n: part_of_merchant(part, n, merchant))
