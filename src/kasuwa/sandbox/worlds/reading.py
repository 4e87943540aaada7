"""Reads the world of a merchant: all its rows as of one moment, with what is encrypted in clear.

A rail's answer, a delivery or any other job that is leased at that moment is in the world as if its lease had expired:
what restores the world does the job again, first asking the rail for the outcome, as after a crash.
"""

from base64 import b64encode
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import msgspec

from kasuwa.core.vault import Vault
from kasuwa.postgres.connection_pool import Connection
from kasuwa.privacy.sealed_places import SealedColumn, SealedPlaces
from kasuwa.sandbox.worlds.blocks import ROWS_PER_PART, Block, Line, Table
from kasuwa.sandbox.worlds.tables import CROSSINGS, WORLD_TABLES

CURSOR = "world_rows"


class WorldRefused(Exception):
    """A world cannot be made of a merchant. The text says why, and is shown to the client."""


async def count_rows(connection: Connection, merchant_id: int) -> dict[str, int]:
    """Returns the number of rows of each table. Raises WorldRefused if the merchant has rows of a crossing."""
    names = (*WORLD_TABLES, *CROSSINGS)
    counts = ", ".join(f"(select count(*) from {name} where merchant_id = $1)" for name in names)
    counted = dict(zip(names, await connection.fetchval(f"select array[{counts}]", merchant_id), strict=True))
    for name, reason in CROSSINGS.items():
        if counted.pop(name):
            raise WorldRefused(f"This merchant has money that was {reason}")
    return counted


class WorldReader:
    """Reads worlds in a transaction that the caller has opened, with the isolation level repeatable read."""

    def __init__(self, connection: Connection, tables: Mapping[str, Table], vault: Vault, places: SealedPlaces) -> None:
        self._connection = connection
        self._tables = tables
        self._vault = vault
        self._places = places

    async def read_blocks(self, merchant_id: int, counts: Mapping[str, int]) -> AsyncIterator[Block]:
        """Yields the rows of a merchant, at most ROWS_PER_PART at a time."""
        await self._connection.execute("set local timezone = 'UTC'; set local datestyle = 'ISO'")
        for name in WORLD_TABLES:
            if counts[name]:
                async for rows in self._read(self._tables[name], merchant_id, counts[name]):
                    yield self._open(self._tables[name], merchant_id, rows)

    async def _read(self, table: Table, merchant_id: int, count: int) -> AsyncIterator[list[Line]]:
        query = table.read_sql(merchant_id)
        if count <= ROWS_PER_PART:
            yield [row[0] for row in await self._connection.fetch(query)]
            return
        await self._connection.execute(f"declare {CURSOR} no scroll cursor for {query}")
        while rows := await self._connection.fetch(f"fetch {ROWS_PER_PART} from {CURSOR}"):
            yield [row[0] for row in rows]
        await self._connection.execute(f"close {CURSOR}")

    def _open(self, table: Table, merchant_id: int, rows: list[Line]) -> Block:
        block = Block(table.name, list(table.columns), rows)
        for column in sealed_columns(self._places, table.name):
            self._open_column(block, merchant_id, column)
        if table.name == "scheduled_job":
            self._open_jobs(block, merchant_id)
        return block

    def _open_column(self, block: Block, merchant_id: int, column: SealedColumn) -> None:
        place, named = block.columns.index(column.column), Naming(block.columns, column)
        for row in named.list_rows(block.rows):
            text = row[place]
            if column.json_field:
                row[place] = self._open_json(text, merchant_id, column.json_field, named.of(row))
            elif text is not None and text != "\\x":
                plain = self._vault.unseal(merchant_id, named.of(row), bytes.fromhex(text[2:]))
                row[place] = f"\\x{plain.hex()}"

    def _open_json(self, text: str | None, merchant_id: int, field: str, place: str) -> str | None:
        sealed = find_json_field(text, field)
        if text is None or not sealed:
            return text
        plain = self._vault.unseal(merchant_id, place, msgspec.convert(sealed, bytes))
        return text.replace(sealed, b64encode(plain).decode())

    def _open_jobs(self, block: Block, merchant_id: int) -> None:
        work, leased = block.columns.index("work"), block.columns.index("leased_until")
        for row in block.rows:
            row[leased] = None
            for field, place in job_places(self._places, block.columns, row):
                row[work] = self._open_json(row[work], merchant_id, field, place)


def sealed_columns(places: SealedPlaces, table: str) -> list[SealedColumn]:
    return [column for column in places.columns if column.table == table]


class Naming:
    """Finds the place of a row's ciphertext by the columns that name it."""

    def __init__(self, columns: Sequence[str], column: SealedColumn) -> None:
        self._place = column.place
        self._columns = [(columns.index(name), name) for name in column.named_by]
        self._kind, self._kinds = columns.index("kind") if column.kinds else 0, column.kinds

    def list_rows(self, rows: list[Line]) -> list[Line]:
        """Returns the rows that may have the ciphertext."""
        return [row for row in rows if row[self._kind] in self._kinds] if self._kinds else rows

    def of(self, row: Line) -> str:
        return self._place(*(read_name(name, row[place] or "") for place, name in self._columns))


def read_name(column: str, text: str) -> Any:
    """Returns the value of a column that names a ciphertext: numbers are printed as they are."""
    return bytes.fromhex(text[2:]) if column == "key" else text


def job_places(places: SealedPlaces, columns: Sequence[str], row: Line) -> list[tuple[str, str]]:
    """Returns the fields of a job's work that are ciphertexts, each with its place."""
    work = row[columns.index("work")] or ""
    fields = [field for field in places.job_fields if find_json_field(work, field.field)]
    if not fields:
        return []
    decoded = msgspec.json.decode(work)
    reference = row[columns.index("reference")] or ""
    subject = bytes.fromhex((row[columns.index("subject")] or "")[2:])
    return [(field.field, field.place(reference, subject, decoded)) for field in fields]


def find_json_field(text: str | None, field: str) -> str:
    """Returns a text field of a JSON object, or "" if it is absent or empty."""
    if text is None or f'"{field}"' not in text:
        return ""
    decoded = msgspec.json.decode(text)
    value = decoded.get(field) if isinstance(decoded, dict) else None
    return value if isinstance(value, str) else ""
