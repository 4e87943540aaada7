"""Takes, restores and copies the world of a merchant.

New books are never the old ones changed back: nothing of the books is updated or deleted. A world is written into
books with a number of their own, and the mid stands for these from then on, as after a reset; the old books are
archived. So no process has rows of the new books in memory, the old ones stay provable, and a request that is decided
meanwhile is either in the old books or decided anew in the new ones.
"""

import random
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial

import msgspec
import structlog

import kasuwa
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.keyring import UnsealError
from kasuwa.core.references import COPY_UNIT, first_number, key_mask, mask_key
from kasuwa.core.row_codes import make_row_code
from kasuwa.core.token_index import TokenIndexEntry
from kasuwa.core.vault import Vault
from kasuwa.engine.merchant_state import MerchantState, business_now
from kasuwa.jobs import leases
from kasuwa.merchants import merchants
from kasuwa.merchants.keys import KeyRefused, NewKey, create_key
from kasuwa.merchants.merchant_settings import MerchantSettings
from kasuwa.merchants.merchants import MERCHANT_ROW, MERCHANTS, MerchantDirectory
from kasuwa.methods.sealed_columns import SEALED_PLACES
from kasuwa.postgres import row_codes
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connection_pool import Connection, Pool
from kasuwa.postgres.migrate import newest_known_version
from kasuwa.sandbox.worlds import records
from kasuwa.sandbox.worlds.blocks import ROWS_PER_PART, BadPart, Block, Source, Table, describe_tables
from kasuwa.sandbox.worlds.comparing import TableDifference, compare_digests, digest_rows
from kasuwa.sandbox.worlds.reading import WorldReader, WorldRefused, count_rows
from kasuwa.sandbox.worlds.records import MAX_ROWS, MAX_ROWS_OF_ALL, MAX_WORLDS, PartWriter, WorldRecord
from kasuwa.sandbox.worlds.writing import Target, WorldDamaged, WorldWriter

# Progress is logged after so many rows.
LOG_ROWS = 100_000
# Of the random numbers of copies. They are large, so that nobody can foretell the keys of the next copy.
LEAST_COPY, MOST_COPY = 100_000_000, 999_999_999

NAME_TAKEN = Refusal(
    INVALID_REQUEST,
    "A world of this name exists: delete it first, or choose another name",
    error_code="world_name_taken",
)
UNKNOWN_WORLD = Refusal(INVALID_REQUEST, "There is no world of this name", error_code="world_not_found")
TOO_MANY_WORLDS = Refusal(
    INVALID_REQUEST, f"A merchant keeps at most {MAX_WORLDS} worlds: delete one first", error_code="too_many_worlds"
)
TOO_MANY_ROWS = Refusal(
    INVALID_REQUEST,
    f"A world has at most {MAX_ROWS:,} rows, and this merchant has {{rows}}",
    error_code="world_too_large",
)
TOO_MANY_OF_ALL = Refusal(
    INVALID_REQUEST,
    f"All worlds of a merchant have at most {MAX_ROWS_OF_ALL:,} rows: delete one first",
    error_code="worlds_too_large",
)
NOT_STORABLE = Refusal(INVALID_REQUEST, "{reason}", error_code="world_not_possible")
DAMAGED = Refusal(INVALID_REQUEST, "The world is damaged: {problem}", error_code="world_damaged")
OF_NEWER_VERSION = Refusal(
    INVALID_REQUEST,
    "The world was made by kasuwa {version}, whose database is at migration {made_at}: this version knows {known}, and "
    "takes no newer ones",
    error_code="world_of_newer_version",
)

LOCK_STATE = """
    update merchant_state set version = version + 1, settings_version = settings_version + 1 where merchant_id = $1
"""
ADD_MERCHANT = "insert into merchant (merchant_id, mid, name, settings, current) values ($1, $2, $3, $4, $5)"
SELECT_TOKENS = "select key, kind, reference from token_index where merchant_id = $1"
MOVE_TOKENS = """
    update token_index t set key = u.moved, row_code = u.code
    from unnest($2::bytea[], $3::bytea[], $4::bytea[]) u (key, moved, code) where t.merchant_id = $1 and t.key = u.key
"""
PARK_JOBS = "update scheduled_job set run_at = 'infinity' where merchant_id = $1"

# A comparison holds a hash of each row in memory.
MAX_COMPARED_ROWS = 200_000
TOO_LARGE_TO_COMPARE = Refusal(
    INVALID_REQUEST,
    f"Worlds of more than {MAX_COMPARED_ROWS:,} rows cannot be compared",
    error_code="worlds_not_comparable",
)

Progress = Callable[[int], None]

log = structlog.get_logger("kasuwa.sandbox")


def log_progress(what: str, mid: str, rows: int) -> None:
    log.info(what, mid=mid, rows=rows)


class WorldOperations:
    """Takes, restores, copies and lists worlds. For a restore, the caller holds the merchant's clock lease."""

    def __init__(self, operators: Pool, vault: Vault, directory: MerchantDirectory, clock: DatabaseClock) -> None:
        self._operators = operators
        self._vault = vault
        self._directory = directory
        self._clock = clock
        self._tables: Mapping[str, Table] = {}

    async def _describe(self, connection: Connection) -> Mapping[str, Table]:
        if not self._tables:
            self._tables = await describe_tables(connection)
        return self._tables

    # --- taking -----------------------------------------------------------------------------------------------------

    async def take(self, merchant: Merchant, name: str) -> WorldRecord | Refusal:
        """Stores the world of a merchant as it is at one moment."""
        async with self._operators.acquire() as connection:
            tables = await self._describe(connection)
            async with connection.transaction(isolation="repeatable_read"):
                try:
                    return await self._take(connection, tables, merchant, name)
                except WorldRefused as refused:
                    return NOT_STORABLE.fill(reason=refused)

    async def _take(
        self, connection: Connection, tables: Mapping[str, Table], merchant: Merchant, name: str
    ) -> WorldRecord | Refusal:
        # Requests of one merchant take turns, so that together they keep within the bounds.
        await merchants.lock_merchant(connection, merchant.mid)
        if await records.find_world(connection, merchant.mid, name) is not None:
            return NAME_TAKEN
        counts = await count_rows(connection, merchant.merchant_id)
        refusal = await check_bounds(connection, merchant.mid, sum(counts.values()))
        if refusal is not None:
            return refusal
        source = await self._read_source(connection, merchant)
        world_id = await connection.fetchval(
            records.ADD,
            merchant.mid,
            name,
            kasuwa.__version__,
            newest_known_version(),
            merchant.merchant_id,
            source.business_at,
            source.made_at,
        )
        parts = PartWriter(connection, self._vault, world_id, ROWS_PER_PART)
        await parts.add_source(source)
        reader = WorldReader(connection, tables, self._vault, SEALED_PLACES)
        blocks = reader.read_blocks(merchant.merchant_id, counts)
        async for block in report(blocks, partial(log_progress, "a world is taken", merchant.mid)):
            await parts.add(block)
        await parts.end()
        return await self._require(connection, merchant.mid, name)

    async def _read_source(self, connection: Connection, merchant: Merchant) -> Source:
        [state] = await connection.fetch(leases.SELECT_MERCHANT_STATE, merchant.merchant_id)
        [(name, settings)] = await connection.fetch(
            f"select name, settings::text from merchant where {MERCHANT_ROW}", merchant.merchant_id
        )
        wall = self._clock.now()
        return Source(merchant.merchant_id, name, settings, business_now(MerchantState(*state), wall), wall)

    async def _require(self, connection: Connection, mid: str, name: str) -> WorldRecord:
        record = await records.find_world(connection, mid, name)
        assert record is not None, "it was just written"
        return record

    # --- putting back -----------------------------------------------------------------------------------------------

    async def restore(self, merchant: Merchant, name: str) -> int | Refusal:
        """Gives a mid new books with a world, and archives the present ones. Returns the number of rows."""
        async with self._operators.acquire() as connection:
            tables = await self._describe(connection)
            world = await records.find_world(connection, merchant.mid, name)
            if world is None:
                return UNKNOWN_WORLD
            refusal = check_version(world)
            if refusal is not None:
                return refusal
            try:
                async with connection.transaction():
                    await self._restore(connection, tables, merchant, world)
            except (BadPart, UnsealError, WorldDamaged) as error:
                return DAMAGED.fill(problem=error)
        self._directory.evict(merchant.mid)
        return world.row_count

    async def _restore(
        self, connection: Connection, tables: Mapping[str, Table], merchant: Merchant, world: WorldRecord
    ) -> None:
        source = await records.read_source(connection, self._vault, world.world_id)
        settings = msgspec.json.decode(source.settings, type=MerchantSettings)
        new, space = make_copy_number(source.books), settings.token_space
        # An operator's suspension is not lifted by a restore.
        changed = msgspec.structs.replace(settings, suspended=merchant.suspended)
        target = Target(new, space, space, self._clock.now())
        await self._add_merchant(connection, target, merchant.mid, source.name, changed, is_current=False)
        blocks = records.read_blocks(connection, self._vault, world.world_id)
        writer = WorldWriter(connection, tables, self._vault, SEALED_PLACES)
        is_replaced = False
        async for block in report(blocks, partial(log_progress, "a world is restored", merchant.mid)):
            if not is_replaced and block.table in ("token_index", "merchant_state"):
                await self._archive(connection, merchant.mid, new)
                is_replaced = True
            await writer.write(source, target, block)
        if not is_replaced:
            raise WorldDamaged("the row of merchant_state is missing")
        await writer.end(target)

    async def _archive(self, connection: Connection, mid: str, new: int) -> None:
        """Has the mid stand for the new books. Writes of the old ones have ended, or are decided anew in the new."""
        old = await merchants.lock_merchant(connection, mid)
        await connection.execute(LOCK_STATE, old)
        for number, is_current in ((old, False), (new, True)):
            async with row_codes.changing(connection, self._vault, MERCHANTS, MERCHANT_ROW, number):
                await connection.execute(f"update merchant set current = $2 where {MERCHANT_ROW}", number, is_current)
        await self._archive_tokens(connection, old)
        await connection.execute(PARK_JOBS, old)

    async def _archive_tokens(self, connection: Connection, merchant_id: int) -> None:
        """Has nobody find the old books by their tokens, which are those of the new books from now on."""
        mask = key_mask(make_copy_number(merchant_id))
        rows = await connection.fetch(SELECT_TOKENS, merchant_id)
        moved = [(key, mask_key(key, mask), kind, reference) for key, kind, reference in rows]
        codes = [
            make_row_code(self._vault, TokenIndexEntry.table, (merchant_id, key, kind, reference))
            for _, key, kind, reference in moved
        ]
        olds, news = [row[0] for row in moved], [row[1] for row in moved]
        await connection.execute(MOVE_TOKENS, merchant_id, olds, news, codes)

    async def _add_merchant(
        self,
        connection: Connection,
        target: Target,
        mid: str,
        name: str,
        settings: MerchantSettings,
        *,
        is_current: bool,
    ) -> None:
        encoded = msgspec.json.encode(settings).decode()
        await connection.execute(ADD_MERCHANT, target.merchant_id, mid, name, encoded, is_current)
        await row_codes.code_new_row(connection, self._vault, MERCHANTS, MERCHANT_ROW, target.merchant_id)

    # --- copying ----------------------------------------------------------------------------------------------------

    async def fork(
        self, merchant: Merchant, name: str | None, make_key: Callable[[int], str]
    ) -> tuple[str, str] | Refusal:
        """Makes a new merchant with a world of this one, or with what it is now. Returns its mid and a further key."""
        async with self._operators.acquire() as connection:
            tables = await self._describe(connection)
            world = None if name is None else await records.find_world(connection, merchant.mid, name)
            if name is not None and world is None:
                return UNKNOWN_WORLD
            refusal = None if world is None else check_version(world)
            if refusal is not None:
                return refusal
            try:
                async with connection.transaction(isolation="repeatable_read"):
                    return await self._fork(connection, tables, merchant, world, make_key)
            except (BadPart, UnsealError, WorldDamaged) as error:
                return DAMAGED.fill(problem=error)
            except (WorldRefused, KeyRefused) as refused:
                return NOT_STORABLE.fill(reason=refused)

    async def _fork(
        self,
        connection: Connection,
        tables: Mapping[str, Table],
        merchant: Merchant,
        world: WorldRecord | None,
        make_key: Callable[[int], str],
    ) -> tuple[str, str] | Refusal:
        if world is not None:
            source = await records.read_source(connection, self._vault, world.world_id)
            blocks = records.read_blocks(connection, self._vault, world.world_id)
        else:
            counts = await count_rows(connection, merchant.merchant_id)
            if sum(counts.values()) > MAX_ROWS:
                return refuse_rows(sum(counts.values()))
            source = await self._read_source(connection, merchant)
            reader = WorldReader(connection, tables, self._vault, SEALED_PLACES)
            blocks = reader.read_blocks(merchant.merchant_id, counts)
        settings = msgspec.json.decode(source.settings, type=MerchantSettings)
        new = make_copy_number(source.books)
        number = await connection.fetchval("select nextval('merchant_number')")
        mid = f"GP{number:07d}"
        target = Target(new, new, settings.token_space, self._clock.now())
        forked = msgspec.structs.replace(settings, token_space=new, suspended=False)
        await self._add_merchant(connection, target, mid, source.name, forked, is_current=True)
        writer = WorldWriter(connection, tables, self._vault, SEALED_PLACES)
        async for block in report(blocks, partial(log_progress, "a world is copied", merchant.mid)):
            await writer.write(source, target, block)
        await writer.end(target)
        _, key = await create_key(connection, self._vault, new, NewKey(name="fork"), lambda _: make_key(number))
        return mid, key

    # --- listing ----------------------------------------------------------------------------------------------------

    async def list_all(self, merchant: Merchant) -> list[WorldRecord]:
        return await records.list_worlds(self._operators, merchant.mid)

    async def compare(self, merchant: Merchant, first: str, second: str) -> list[TableDifference] | Refusal:
        """Returns the tables in which two worlds differ."""
        async with self._operators.acquire() as connection:
            tables = await self._describe(connection)
            digests = []
            for name in (first, second):
                world = await records.find_world(connection, merchant.mid, name)
                if world is None:
                    return UNKNOWN_WORLD
                if world.row_count > MAX_COMPARED_ROWS:
                    return TOO_LARGE_TO_COMPARE
                blocks = records.read_blocks(connection, self._vault, world.world_id)
                digests.append(await digest_rows(blocks, tables, world.books))
        return compare_digests(*digests)

    async def delete(self, merchant: Merchant, name: str) -> Refusal | None:
        return None if await records.delete_world(self._operators, merchant.mid, name) else UNKNOWN_WORLD


def make_copy_number(books: int) -> int:
    """Returns a number for books that are a copy of others."""
    return random.SystemRandom().randint(LEAST_COPY, MOST_COPY) * COPY_UNIT + first_number(books)


async def check_bounds(connection: Connection, mid: str, rows: int) -> Refusal | None:
    if rows > MAX_ROWS:
        return refuse_rows(rows)
    [(count, row_count)] = await connection.fetch(records.COUNT, mid)
    if count >= MAX_WORLDS:
        return TOO_MANY_WORLDS
    return TOO_MANY_OF_ALL if row_count + rows > MAX_ROWS_OF_ALL else None


def refuse_rows(rows: int) -> Refusal:
    return TOO_MANY_ROWS.fill(rows=f"{rows:,}")


def check_version(world: WorldRecord) -> Refusal | None:
    """Returns a refusal if a later version made the world: it may have what this one does not know."""
    if world.schema_version <= newest_known_version():
        return None
    return OF_NEWER_VERSION.fill(version=world.kasuwa, made_at=world.schema_version, known=newest_known_version())


async def report(blocks: AsyncIterator[Block], progress: Progress) -> AsyncIterator[Block]:
    """Yields blocks, and reports the rows after each LOG_ROWS of them."""
    rows = 0
    async for block in blocks:
        yield block
        before, rows = rows, rows + len(block.rows)
        if before // LOG_ROWS != rows // LOG_ROWS:
            progress(rows)
