"""The content of a world: blocks of rows, each of one table, with the values as PostgreSQL writes them as text.

Text is exact for every type, and what is read back is checked by PostgreSQL. Secrets are in clear: a ciphertext is of
one merchant of one database. A world is stored in parts of a thousand rows, each encrypted as a whole.
"""

import zlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from kasuwa.postgres.connection_pool import Connection
from kasuwa.sandbox.worlds.tables import WORLD_TABLES

# Rows that are read, encoded and written at a time.
ROWS_PER_PART = 1_000
# The most bytes that a part may have when it is decompressed: one that claims more is refused.
MAX_PART_BYTES = 256 * 1024 * 1024

Line = list[str | None]


class Block(msgspec.Struct):
    """Rows of a table, in the order in which they are written."""

    table: str
    columns: list[str]
    rows: list[Line]


class Source(msgspec.Struct, frozen=True):
    """The books that a world is of, as it says itself."""

    books: int  # their number: the keys of the rows are those of this number
    name: str  # of the merchant
    settings: str  # of the merchant, as JSON
    business_at: datetime
    made_at: datetime  # wall time


class Part(msgspec.Struct):
    """A piece of a world. The first one says what books it is of."""

    blocks: list[Block]
    source: Source | None = None


ENCODER = msgspec.json.Encoder()
PARTS: "msgspec.json.Decoder[Part]" = msgspec.json.Decoder(Part)


def encode_part(part: Part) -> bytes:
    return zlib.compress(ENCODER.encode(part), 1)


def decode_part(compressed: bytes) -> Part:
    """Raises BadPart."""
    try:
        return PARTS.decode(decompress(compressed))
    except msgspec.MsgspecError as error:
        raise BadPart(f"cannot be read: {error}") from None


class BadPart(ValueError):
    """A part of a world is damaged. The text says how."""


def decompress(part: bytes) -> bytes:
    """Raises BadPart if the bytes are damaged, or are more than a part can have."""
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(part, MAX_PART_BYTES)
    except zlib.error:
        raise BadPart("cannot be decompressed") from None
    if not inflater.eof or inflater.unused_data:
        raise BadPart("is cut off, or too large")
    return text


# --- the columns of tables ------------------------------------------------------------------------------------------

TABLE_COLUMNS = """
    select c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attidentity <> '',
        coalesce(array_position(i.indkey::int2[], a.attnum), 1000)
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_index i on i.indrelid = c.oid and i.indisprimary
    where c.relnamespace = 'public'::regnamespace and c.relname = any($1::text[]) order by c.relname, a.attnum
"""


class Table(msgspec.Struct):
    """A table of a world. Its merchant, the numbers of its identity and its codes are not part of a world."""

    name: str
    columns: dict[str, str]  # with their types
    key: tuple[str, ...]  # columns of the primary key besides the merchant
    order: str  # SQL

    def read_sql(self, merchant_id: int) -> str:
        """Returns the query of the rows of a merchant, each an array of texts."""
        values = ", ".join(f"{name}::text" for name in self.columns)
        rows = f"select array[{values}] as line, row({self.order}) as nth_row from {self.name}"
        return f"select line from ({rows} where merchant_id = {merchant_id:d}) x order by nth_row"

    def parsed_sql(self, columns: list[str]) -> str:
        """Returns the SQL of rows `p` with typed values, from parameters 2 on: an array of texts for each column. The
        first parameter is the merchant."""
        places = ", ".join(f"v{place}" for place in range(len(columns)))
        values = ", ".join(f"v{place}::{self.columns[name]} as {name}" for place, name in enumerate(columns))
        arrays = ", ".join(f"${place}::text[]" for place in range(2, len(columns) + 2))
        unnested = f"unnest({arrays}) with ordinality u ({places}, nth_row)"
        return f"(select $1::bigint as merchant_id, {values}, nth_row from {unnested}) p"


async def describe_tables(connection: Connection) -> Mapping[str, Table]:
    """Returns the tables of worlds as the database has them."""
    columns: dict[str, list[Any]] = {}
    for name, *column in await connection.fetch(TABLE_COLUMNS, list(WORLD_TABLES)):
        columns.setdefault(name, []).append(column)
    return {name: describe_table(name, columns[name]) for name in WORLD_TABLES}


def describe_table(name: str, columns: list[Any]) -> Table:
    in_key = sorted((place, column) for column, _, _, place in columns if place < 1000)
    numbered = [column for column, _, is_identity, _ in columns if is_identity]
    order = ", ".join(numbered or [column for _, column in in_key if column != "merchant_id"])
    left_out = {"merchant_id", "row_code", *numbered}
    key = tuple(column for _, column in in_key if column != "merchant_id")
    stored = {column: kind for column, kind, *_ in columns if column not in left_out}
    return Table(name, stored, key, order or "merchant_id")
