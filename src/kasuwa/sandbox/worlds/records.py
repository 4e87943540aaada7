"""Worlds as the database keeps them: their records, and their parts, which are encrypted.

They belong to a mid and not to its books, so that they outlive what they are put back in place of.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from functools import partial

import msgspec

from kasuwa.core.row_codes import OPERATOR_ID
from kasuwa.core.vault import NONCE_BYTES, Vault
from kasuwa.methods.sealed_columns import world_part_aad
from kasuwa.postgres.connection_pool import QueryRunner
from kasuwa.sandbox.worlds.blocks import (
    BYTES_PER_PART,
    ENCODER,
    ROWS_PER_PART,
    BadPart,
    Block,
    Part,
    Source,
    decode_part,
    decompress,
    encode_part,
    join_blocks,
    read_part,
)
from kasuwa.sandbox.worlds.reading import InTurn

# Worlds of one merchant, and rows of all of them.
MAX_WORLDS = 20
MAX_ROWS = 1_000_000
MAX_ROWS_OF_ALL = 2_000_000
# Parts that are read and written at a time. The first ones of a world are decrypted at once: a small world has no more,
# and starting a thread takes as long.
PARTS_AT_ONCE, FEW_PARTS = 8, 3

COLUMNS = "world_id, name, row_count, size, business_at, made_at, books, kasuwa, schema_version"
FIND = f"select {COLUMNS} from world where mid = $1 and name = $2"
LIST = f"select {COLUMNS} from world where mid = $1 order by world_id desc"
COUNT = "select count(*), coalesce(sum(row_count), 0)::bigint from world where mid = $1"
ADD = """
    insert into world (mid, name, kasuwa, schema_version, books, business_at, made_at, row_count, size)
    values ($1, $2, $3, $4, $5, $6, $7, 0, 0) returning world_id
"""
ADD_PART = "insert into world_part (world_id, number, sealed) values ($1, $2, $3)"
SET_SIZE = f"update world set row_count = $2, size = $3 where world_id = $1 returning {COLUMNS}"
PARTS = "select number, sealed from world_part where world_id = $1 and number >= $2 and number < $3 order by number"
DELETE = "delete from world where mid = $1 and name = $2"


class WorldRecord(msgspec.Struct, frozen=True):
    """A world as it is listed."""

    world_id: int
    name: str
    row_count: int
    size: int  # bytes
    business_at: datetime
    made_at: datetime
    books: int
    kasuwa: str  # version that made it
    schema_version: int


async def find_world(reader: QueryRunner, mid: str, name: str, *, is_locked: bool = False) -> WorldRecord | None:
    """Returns a world, or None. A locked one is not deleted before the transaction ends."""
    row = await reader.fetchrow(f"{FIND} for share" if is_locked else FIND, mid, name)
    return None if row is None else WorldRecord(*row)


async def list_worlds(reader: QueryRunner, mid: str) -> list[WorldRecord]:
    """Returns the worlds of a merchant, newest first."""
    return [WorldRecord(*row) for row in await reader.fetch(LIST, mid)]


async def delete_world(connection: QueryRunner, mid: str, name: str) -> bool:
    """Returns False if there is none of this name."""
    return str(await connection.execute(DELETE, mid, name)) != "DELETE 0"


class PartWriter:
    """Stores the blocks of a world, in parts. They are compressed and encrypted in a thread, beside the event loop,
    while further rows are read."""

    def __init__(self, connection: InTurn, vault: Vault, world_id: int) -> None:
        self._connection = connection
        self._vault = vault
        self._world_id = world_id
        self._number = 0
        self._encoded: list[bytes] = []
        self._pending_rows = self._pending_bytes = 0
        self._sealing: list[asyncio.Task[bytes]] = []
        self._thread = asyncio.Lock()  # one part at a time: other threads are for others
        self.row_count = 0
        self.size = 0

    async def add_source(self, source: Source) -> None:
        await self.add_compressed(encode_part(Part([], source)))

    async def add_compressed(self, part: bytes) -> None:
        """Stores a part that is compressed already. Its rows are given to `end`."""
        await self._store(lambda: part)

    async def add(self, block: Block) -> None:
        encoded = ENCODER.encode(block)
        self._encoded.append(encoded)
        self._pending_rows += len(block.rows)
        self._pending_bytes += len(encoded)
        self.row_count += len(block.rows)
        if self._pending_rows >= ROWS_PER_PART or self._pending_bytes >= BYTES_PER_PART:
            await self._end_part()

    async def _end_part(self) -> None:
        if self._encoded:
            encoded, self._encoded = self._encoded, []
            self._pending_rows = self._pending_bytes = 0
            await self._store(partial(join_blocks, encoded))

    async def end(self, further_rows: int = 0) -> WorldRecord:
        """Stores what is left. Returns the world."""
        self.row_count += further_rows
        await self._end_part()
        await self._write_sealed()
        [record] = await self._connection.fetch(SET_SIZE, self._world_id, self.row_count, self.size)
        return WorldRecord(*record)

    async def _store(self, compress: Callable[[], bytes]) -> None:
        self._number += 1
        place = world_part_aad(self._world_id, self._number)

        def seal() -> bytes:
            return self._vault.seal(OPERATOR_ID, place, compress(), os.urandom(NONCE_BYTES))

        async def seal_in_thread() -> bytes:
            async with self._thread:
                return await asyncio.to_thread(seal)

        self._sealing.append(asyncio.create_task(seal_in_thread()))
        if len(self._sealing) >= PARTS_AT_ONCE:
            await self._write_sealed()

    async def _write_sealed(self) -> None:
        sealing, self._sealing = self._sealing, []
        parts = await asyncio.gather(*sealing)
        first = self._number - len(parts) + 1
        self.size += sum(map(len, parts))
        rows = [(self._world_id, number, part) for number, part in enumerate(parts, start=first)]
        async with self._connection.turn:
            await self._connection.connection.executemany(ADD_PART, rows)


async def read_compressed_parts(connection: InTurn, vault: Vault, world_id: int) -> AsyncIterator[bytes]:
    """Yields the parts of a world as they are compressed. Raises BadPart if it has none, and UnsealError."""
    first = 1

    def unseal(number: int, sealed: bytes) -> bytes:
        return vault.unseal(OPERATOR_ID, world_part_aad(world_id, number), sealed)

    while rows := await connection.fetch(PARTS, world_id, first, first + PARTS_AT_ONCE):
        for number, sealed in rows:
            if number != first:
                raise BadPart(f"part {first} is missing")
            first += 1
            yield await asyncio.to_thread(unseal, number, sealed) if first > FEW_PARTS else unseal(number, sealed)
    if first == 1:
        raise BadPart("the world has no parts")


async def read_parts(connection: InTurn, vault: Vault, world_id: int) -> AsyncIterator[Part]:
    """Yields the parts of a world. Raises BadPart and UnsealError."""
    number = 0
    async for compressed in read_compressed_parts(connection, vault, world_id):
        number += 1
        if number <= FEW_PARTS:
            yield decode_part(compressed)
        else:
            yield read_part(await asyncio.to_thread(decompress, compressed))


class StoredWorld(msgspec.Struct):
    """A world that is read: the books that it is of, and its blocks."""

    source: Source
    blocks: AsyncIterator[Block]


async def open_world(connection: InTurn, vault: Vault, world: WorldRecord) -> StoredWorld:
    """Begins to read a world. Its blocks raise BadPart, after the last one if rows are missing, and UnsealError."""
    parts = read_parts(connection, vault, world.world_id)
    first = await anext(parts, None)
    if first is None or first.source is None:
        raise BadPart("the first part does not say what books the world is of")
    return StoredWorld(first.source, read_blocks(parts, world))


async def read_blocks(parts: AsyncIterator[Part], world: WorldRecord) -> AsyncIterator[Block]:
    rows = 0
    async for part in parts:
        for block in part.blocks:
            rows += len(block.rows)
            yield block
    if rows != world.row_count:
        raise BadPart(f"the world has {rows:,} of its {world.row_count:,} rows")
