"""The columns of the tables of worlds, as the database has them, and the statements that read and write their rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kasuwa.postgres.connection_pool import Connection
from kasuwa.sandbox.worlds.blocks import FEW_ROWS, ROWS_PER_READ_OF
from kasuwa.sandbox.worlds.tables import CROSSINGS, WORLD_TABLES

TABLE_COLUMNS = """
    select c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attidentity <> '',
        coalesce(array_position(i.indkey::int2[], a.attnum), 1000), pg_get_expr(d.adbin, d.adrelid)
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_index i on i.indrelid = c.oid and i.indisprimary
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = 'public'::regnamespace and c.relname = any($1::text[]) order by c.relname, a.attnum
"""


class Table(msgspec.Struct):
    """A table of a world. Its merchant, the numbers of its identity and its codes are not part of a world."""

    name: str
    columns: dict[str, str]  # with their types
    defaults: dict[str, str]  # SQL, of the columns that have one
    key: tuple[str, ...]  # columns of the primary key besides the merchant
    order: str  # SQL

    @property
    def few_rows(self) -> int:
        """The number of rows that are read together with those of other tables."""
        return min(FEW_ROWS, ROWS_PER_READ_OF.get(self.name, FEW_ROWS))

    @property
    def values_sql(self) -> str:
        return f"array[{', '.join(f'{name}::text' for name in self.columns)}]"

    def read_sql(self, merchant_id: int) -> str:
        """Returns the query of the rows of a merchant, each an array of texts."""
        return f"select {self.values_sql} from {self.name} where merchant_id = {merchant_id:d} order by {self.order}"

    def write_sql(self, columns: Sequence[str]) -> str:
        """Returns the statement that inserts rows, with the parameters of `parsed_sql`."""
        names = ", ".join(columns)
        parsed = self.parsed_sql(columns)
        return (
            f"insert into {self.name} (merchant_id, {names}) select merchant_id, {names} from {parsed} order by nth_row"
        )

    def parsed_sql(self, columns: Sequence[str]) -> str:
        """Returns the SQL of rows `p` with typed values. The parameters are the merchant, the number of rows, what ends
        a value, what stands for NULL, and from 5 on the values of each column as one text: the driver takes longer for
        arrays of texts than the database for all else."""
        places = ", ".join(f"v{place}" for place in range(len(columns)))
        types = {**self.columns, "row_code": "bytea"}
        values = ", ".join(f"v{place}::{types[name]} as {name}" for place, name in enumerate(columns))
        arrays = ", ".join(f"string_to_array(${place}::text, $3, $4)" for place in range(5, len(columns) + 5))
        unnested = f"unnest({arrays}) with ordinality u ({places}, nth_row)"
        return f"(select $1::bigint as merchant_id, {values}, nth_row from {unnested} where nth_row <= $2) p"


class Tables(msgspec.Struct):
    """The tables of worlds."""

    by_name: Mapping[str, Table]
    few_sql: str  # reads the tables that have few rows; parameter 1 is the merchant

    def __getitem__(self, name: str) -> Table:
        return self.by_name[name]


async def describe_tables(connection: Connection) -> Tables:
    """Returns the tables of worlds as the database has them."""
    columns: dict[str, list[Any]] = {}
    for name, *column in await connection.fetch(TABLE_COLUMNS, list(WORLD_TABLES)):
        columns.setdefault(name, []).append(column)
    tables = {name: describe_table(name, columns[name]) for name in WORLD_TABLES}
    return Tables(tables, make_few_sql(tables))


def describe_table(name: str, columns: list[Any]) -> Table:
    in_key = sorted((place, column) for column, _, _, place, _ in columns if place < 1000)
    numbered = [column for column, _, is_identity, *_ in columns if is_identity]
    order = ", ".join(numbered or [column for _, column in in_key if column != "merchant_id"])
    left_out = {"merchant_id", "row_code", *numbered}
    key = tuple(column for _, column in in_key if column != "merchant_id")
    stored = {column: kind for column, kind, *_ in columns if column not in left_out}
    defaults = {column: default for column, *_, default in columns if column in stored and default is not None}
    return Table(name, stored, defaults, key, order or "merchant_id")


def make_few_sql(tables: Mapping[str, Table]) -> str:
    """Returns one statement for all tables: the rows of each that has few, in order, and one row too many of each that
    has more. Each is the place of its table, its own place, and its values as texts. Rows of a crossing (tables.py) are
    found first, at places below 0."""
    reads = [
        f"select {place}, row_number() over (order by {table.order}), {table.values_sql}"
        f" from (select * from {table.name} where merchant_id = $1 limit {table.few_rows + 1}) x"
        for place, table in enumerate(tables.values())
    ]
    crossed = [
        f"select {place - len(CROSSINGS)}, 1::bigint, array['{name}'] where exists ("
        f"select from {name} where merchant_id = $1)"
        for place, name in enumerate(CROSSINGS)
    ]
    return " union all ".join([*crossed, *reads]) + " order by 1, 2"


async def read_default(connection: Connection, table: Table, column: str) -> str | None:
    """Returns the value that a new row has in a column of which nothing is said."""
    if column not in table.defaults:
        return None
    value: str | None = await connection.fetchval(f"select ({table.defaults[column]})::{table.columns[column]}::text")
    return value
