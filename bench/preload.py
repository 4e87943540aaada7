"""Fills the tables by copying the rows of a load with SQL until there are enough transactions.

Sending a million transfers would take longer than the rest of a run. Columns and unique indexes are read from the
system catalog, so this file does not follow the schema; what the catalog does not say is in the constants below. A copy
differs from its original in the columns that make rows unique, and in those of `FOLLOWING`:

- bytes (`key`) and uuids: a hash of the original and the copy's number, the same in every table with that column;
- text (`txn_ref`): a suffix, the same in every table with that column;
- whole numbers (sequences): lowered by a multiple of their span, because higher numbers belong to future transactions.

Triggers and foreign keys are disabled meanwhile, and the books do not balance afterwards: for bench databases only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bench.postgres import query
from bench.results import MeasurementFailed

# The tables that are copied, and which of their rows. The first one is counted.
TABLES: Mapping[str, str] = {
    "transaction": "status in ('successful', 'failed')",
    "posting": "true",
    "event": "true",
}

# Columns that differ in a copy though no index makes them unique: a copy has its own order and its own group.
EXTRA_FRESH_COLUMNS = frozenset({"order_ref", "group_seq"})

# Never changed to make a row unique: copies belong to the same merchant.
UNCHANGED_COLUMNS = frozenset({"merchant_id"})

# How a value of a type is made fresh: {c} the column, {t} its table, n the copy's number. The order is the
# preference, when an index leaves a choice: numbers last, because beside a key they often count something.
FRESH_VALUE_SQL: Mapping[str, str] = {
    "bytea": "decode(md5(encode({c}, 'hex') || ':' || n), 'hex')",
    "uuid": "md5({c}::text || ':' || n)::uuid",
    "text": "{c} || '~' || n",
    "character varying": "{c} || '~' || n",
    "bigint": "{c} - n * (select max({c}) - min({c}) + 1 from {t})",
    "integer": "{c} - n * (select max({c}) - min({c}) + 1 from {t})",
}

# These are fresh by the same rule in every table: a reference in `event` is the one of its transaction.
SHARED_TYPES = frozenset({"bytea", "uuid", "text", "character varying"})

COLUMNS = """
select a.attname, format_type(a.atttypid, null) from pg_attribute a
where a.attrelid = '"{table}"'::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
order by a.attnum
"""

UNIQUE = """
select string_agg(a.attname, ' ' order by k.place)
from pg_index i
cross join lateral unnest(i.indkey::smallint[]) with ordinality k(attnum, place)
join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
where i.indrelid = '"{table}"'::regclass and i.indisunique and k.place <= i.indnkeyatts
group by i.indexrelid
order by i.indexrelid
"""


@dataclass
class Table:
    """A table that is copied. `fresh` are the columns that differ in a copy."""

    name: str
    columns: dict[str, str]
    unique: list[list[str]]
    fresh_columns: set[str] = field(default_factory=set)


def preload(dsn: str, rows: int) -> int:
    """Copies until the first table has at least so many rows. Returns how many it has."""
    tables = [read_table(dsn, name) for name in TABLES]
    choose_fresh(tables)
    first = next(iter(TABLES))
    have = count_rows(dsn, first)
    if have == 0:
        raise MeasurementFailed(f"nothing to copy: {first} is empty")
    copies = -(-rows // have) - 1
    if copies > 0:
        statements = [copy_sql(table, copies) for table in tables]
        query(dsn, "\n".join(["set session_replication_role = replica;", *statements]))
    query(dsn, "\n".join(f'vacuum analyze "{table.name}";' for table in tables) + "\ncheckpoint;")
    return count_rows(dsn, first)


def count_rows(dsn: str, table: str) -> int:
    [[count]] = query(dsn, f'select count(*) from "{table}" where {TABLES[table]}')
    return int(count)


def read_table(dsn: str, name: str) -> Table:
    """Reads a table's columns from the catalog, without generated ones."""
    columns = {row[0]: row[1] for row in query(dsn, COLUMNS.format(table=name))}
    unique = [row[0].split() for row in query(dsn, UNIQUE.format(table=name))]
    return Table(name, columns, unique)


def choose_fresh(tables: list[Table]) -> None:
    """Chooses a column for each unique index that has none yet, then those of the same name in other tables."""
    for table in tables:
        table.fresh_columns |= EXTRA_FRESH_COLUMNS & table.columns.keys()
        for index in table.unique:
            if not table.fresh_columns & set(index):
                table.fresh_columns.add(choose_column(table, index))
    shared = {(name, table.columns[name]) for table in tables for name in table.fresh_columns}
    for table in tables:
        table.fresh_columns |= {
            name for name, kind in table.columns.items() if kind in SHARED_TYPES and (name, kind) in shared
        }


def choose_column(table: Table, index: list[str]) -> str:
    order = list(FRESH_VALUE_SQL)
    choice = [name for name in index if name not in UNCHANGED_COLUMNS and table.columns.get(name) in FRESH_VALUE_SQL]
    if not choice:
        raise MeasurementFailed(f"no column of {table.name} ({', '.join(index)}) can be made fresh")
    return min(choice, key=lambda name: order.index(table.columns[name]))


def copy_sql(table: Table, copies: int) -> str:
    """Returns one statement for all copies. `overriding` copies identity columns too."""
    quoted = f'"{table.name}"'
    names = ", ".join(f'"{name}"' for name in table.columns)
    values = ", ".join(
        FRESH_VALUE_SQL[kind].format(c=f'"{name}"', t=quoted) if name in table.fresh_columns else f'"{name}"'
        for name, kind in table.columns.items()
    )
    return (
        f"insert into {quoted} ({names}) overriding system value select {values}"
        f" from {quoted} cross join generate_series(1, {copies}) n where {TABLES[table.name]};"
    )
