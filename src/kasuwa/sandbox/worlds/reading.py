"""Reads the world of a merchant: all its rows as of one moment, with what is encrypted in clear.

A rail's answer, a delivery or any other job that is leased at that moment is in the world as if its lease had expired:
what restores the world does the job again, first asking the rail for the outcome, as after a crash.
"""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from kasuwa.concurrency.time_slices import Interruptible, run_in_shared_slices
from kasuwa.core.vault import Vault
from kasuwa.postgres.connection_pool import Connection
from kasuwa.privacy.sealed_places import SealedColumn, SealedPlaces
from kasuwa.sandbox.worlds.blocks import ROWS_PER_READ, ROWS_PER_READ_OF, Block, Line
from kasuwa.sandbox.worlds.columns import Table, Tables
from kasuwa.sandbox.worlds.tables import CROSSINGS, WORLD_TABLES

CURSOR = "world_rows"
# Of the transaction that reads or writes a world. Its statements find the rows of a merchant by an index, and are the
# same for each merchant: they are planned once for each connection.
PREPARE = """
    set local timezone = 'UTC'; set local datestyle = 'ISO'; set local jit = off; set local enable_seqscan = off;
    set local plan_cache_mode = force_generic_plan
"""


class WorldRefused(Exception):
    """A world cannot be made of a merchant. The text says why, and is shown to the client."""


class InTurn:
    """A connection on which a world is read and written at a time: each statement waits for the one before."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.turn = asyncio.Lock()

    async def fetch(self, query: str, *values: Any) -> list[Any]:
        async with self.turn:
            return await self.connection.fetch(query, *values)

    async def execute(self, query: str) -> None:
        async with self.turn:
            await self.connection.execute(query)


class MerchantRows(msgspec.Struct):
    """The rows of a merchant: those of tables with few, and the numbers of those of the others."""

    few: dict[str, list[Line]]
    many: dict[str, int]

    @property
    def count(self) -> int:
        return sum(map(len, self.few.values())) + sum(self.many.values())


class WorldReader:
    """Reads worlds in a transaction with the isolation level repeatable read, on which PREPARE was executed."""

    def __init__(self, connection: InTurn, tables: Tables, vault: Vault, places: SealedPlaces) -> None:
        self._connection = connection
        self._tables = tables
        self._vault = vault
        self._places = places

    async def find_rows(self, merchant_id: int) -> MerchantRows:
        """Returns the rows of a merchant. Raises WorldRefused if it has some of a crossing."""
        few: dict[str, list[Line]] = {}
        for place, _, line in await self._connection.fetch(self._tables.few_sql, merchant_id):
            if place < 0:
                raise WorldRefused(f"This merchant has money that was {CROSSINGS[line[0]]}")
            few.setdefault(WORLD_TABLES[place], []).append(line)
        large = [name for name, rows in few.items() if len(rows) > self._tables[name].few_rows]
        many = await self._count_rows(merchant_id, large) if large else {}
        return MerchantRows({name: rows for name, rows in few.items() if name not in many}, many)

    async def _count_rows(self, merchant_id: int, names: Sequence[str]) -> dict[str, int]:
        counts = ", ".join(f"(select count(*) from {name} where merchant_id = $1)" for name in names)
        [[counted]] = await self._connection.fetch(f"select array[{counts}]", merchant_id)
        return dict(zip(names, counted, strict=True))

    async def read_blocks(self, merchant_id: int, merchant_rows: MerchantRows) -> AsyncIterator[Block]:
        """Yields the rows of a merchant, with what is encrypted in clear."""
        for name in WORLD_TABLES:
            table = self._tables[name]
            if name in merchant_rows.few:
                yield await self._open(table, merchant_id, merchant_rows.few[name])
            elif name in merchant_rows.many:
                async for rows in self._read_many(table, merchant_id):
                    yield await self._open(table, merchant_id, rows)

    async def _read_many(self, table: Table, merchant_id: int) -> AsyncIterator[list[Line]]:
        at_once = ROWS_PER_READ_OF.get(table.name, ROWS_PER_READ)
        await self._connection.execute(f"declare {CURSOR} no scroll cursor for {table.read_sql(merchant_id)}")
        while rows := await self._connection.fetch(f"fetch {at_once} from {CURSOR}"):
            yield [row[0] for row in rows]
        await self._connection.execute(f"close {CURSOR}")

    async def _open(self, table: Table, merchant_id: int, rows: list[Line]) -> Block:
        block = Block(table.name, list(table.columns), rows)
        columns = sealed_columns(self._places, table.name)
        if columns or table.name == "scheduled_job":
            await run_in_shared_slices(self._open_rows(block, merchant_id, columns))
        return block

    def _open_rows(self, block: Block, merchant_id: int, columns: Sequence[SealedColumn]) -> Interruptible[None]:
        for rows in block.steps():
            for column in columns:
                self._open_column(block.columns, rows, merchant_id, column)
            if block.table == "scheduled_job":
                self._open_jobs(block.columns, rows, merchant_id)
            yield

    def _open_column(self, columns: Sequence[str], rows: list[Line], merchant_id: int, column: SealedColumn) -> None:
        place, named = columns.index(column.column), Naming(columns, column)
        for row in named.list_rows(rows):
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

    def _open_jobs(self, columns: Sequence[str], rows: list[Line], merchant_id: int) -> None:
        work, leased = columns.index("work"), columns.index("leased_until")
        for row in rows:
            row[leased] = None
            for field, place in job_places(self._places, columns, row):
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
