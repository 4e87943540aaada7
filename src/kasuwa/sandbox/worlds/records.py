"""Worlds as the database keeps them: their records, and their parts, which are encrypted.

They belong to a mid and not to its books, so that they outlive what they are put back in place of.
"""

import os
from collections.abc import AsyncIterator
from datetime import datetime

import msgspec

from kasuwa.core.row_codes import OPERATOR_ID
from kasuwa.core.vault import NONCE_BYTES, Vault
from kasuwa.methods.sealed_columns import world_part_aad
from kasuwa.postgres.connection_pool import Connection, QueryRunner
from kasuwa.sandbox.worlds.blocks import BadPart, Block, Part, Source, decode_part, encode_part

# Worlds of one merchant, and rows of all of them.
MAX_WORLDS = 20
MAX_ROWS = 1_000_000
MAX_ROWS_OF_ALL = 2_000_000

COLUMNS = "world_id, name, row_count, size, business_at, made_at, books, kasuwa, schema_version"
FIND = f"select {COLUMNS} from world where mid = $1 and name = $2"
LIST = f"select {COLUMNS} from world where mid = $1 order by world_id desc"
COUNT = "select count(*), coalesce(sum(row_count), 0)::bigint from world where mid = $1"
ADD = """
    insert into world (mid, name, kasuwa, schema_version, books, business_at, made_at, row_count, size)
    values ($1, $2, $3, $4, $5, $6, $7, 0, 0) returning world_id
"""
ADD_PART = "insert into world_part (world_id, number, sealed) values ($1, $2, $3)"
SET_SIZE = "update world set row_count = $2, size = $3 where world_id = $1"
PART = "select sealed from world_part where world_id = $1 and number = $2"
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


async def find_world(reader: QueryRunner, mid: str, name: str) -> WorldRecord | None:
    row = await reader.fetchrow(FIND, mid, name)
    return None if row is None else WorldRecord(*row)


async def list_worlds(reader: QueryRunner, mid: str) -> list[WorldRecord]:
    """Returns the worlds of a merchant, newest first."""
    return [WorldRecord(*row) for row in await reader.fetch(LIST, mid)]


async def delete_world(connection: QueryRunner, mid: str, name: str) -> bool:
    """Returns False if there is none of this name."""
    return str(await connection.execute(DELETE, mid, name)) != "DELETE 0"


class PartWriter:
    """Stores the blocks of a world, in parts."""

    def __init__(self, connection: Connection, vault: Vault, world_id: int, rows_per_part: int) -> None:
        self._connection = connection
        self._vault = vault
        self._world_id = world_id
        self._rows_per_part = rows_per_part
        self._number = 0
        self._blocks: list[Block] = []
        self._pending_rows = 0
        self.row_count = 0
        self.size = 0

    async def add_source(self, source: Source) -> None:
        await self._store(Part([], source))

    async def add(self, block: Block) -> None:
        self._blocks.append(block)
        self._pending_rows += len(block.rows)
        self.row_count += len(block.rows)
        if self._pending_rows >= self._rows_per_part:
            await self.flush()

    async def flush(self) -> None:
        if self._blocks:
            blocks, self._blocks, self._pending_rows = self._blocks, [], 0
            await self._store(Part(blocks))

    async def end(self) -> None:
        await self.flush()
        await self._connection.execute(SET_SIZE, self._world_id, self.row_count, self.size)

    async def _store(self, part: Part) -> None:
        self._number += 1
        place = world_part_aad(self._world_id, self._number)
        sealed = self._vault.seal(OPERATOR_ID, place, encode_part(part), os.urandom(NONCE_BYTES))
        self.size += len(sealed)
        await self._connection.execute(ADD_PART, self._world_id, self._number, sealed)


async def read_parts(connection: QueryRunner, vault: Vault, world_id: int) -> AsyncIterator[Part]:
    """Yields the parts of a world. Raises BadPart and UnsealError."""
    number = 1
    while (sealed := await connection.fetchval(PART, world_id, number)) is not None:
        yield decode_part(vault.unseal(OPERATOR_ID, world_part_aad(world_id, number), sealed))
        number += 1
    if number == 1:
        raise BadPart("the world has no parts")


async def read_source(connection: QueryRunner, vault: Vault, world_id: int) -> Source:
    async for part in read_parts(connection, vault, world_id):
        if part.source is not None:
            return part.source
        break
    raise BadPart("the first part does not say what books the world is of")


async def read_blocks(connection: QueryRunner, vault: Vault, world_id: int) -> AsyncIterator[Block]:
    async for part in read_parts(connection, vault, world_id):
        for block in part.blocks:
            yield block
