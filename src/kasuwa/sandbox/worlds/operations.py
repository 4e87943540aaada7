"""Takes, restores and copies the world of a merchant.

New books are never the old ones changed back: nothing of the books is updated or deleted. A world is written into
books with a number of their own, and the mid stands for these from then on, as after a reset; the old books are
archived. So no process has rows of the new books in memory, the old ones stay provable, and a request that is decided
meanwhile is either in the old books or decided anew in the new ones.
"""

import asyncio
from collections.abc import Callable

import msgspec

import kasuwa
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.keyring import UnsealError
from kasuwa.core.vault import Vault
from kasuwa.engine.merchant_state import MerchantState, business_now
from kasuwa.jobs import leases
from kasuwa.merchants import merchants
from kasuwa.merchants.keys import KeyRefused, NewKey, copy_keys, create_key
from kasuwa.merchants.merchant_settings import MerchantSettings
from kasuwa.merchants.merchants import MERCHANT_ROW, MERCHANTS, MerchantDirectory
from kasuwa.methods.sandbox.world_file import MAX_FILE_BYTES
from kasuwa.methods.sealed_columns import SEALED_PLACES
from kasuwa.postgres import row_codes
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connection_pool import Connection, Pool
from kasuwa.postgres.migrate import newest_known_version
from kasuwa.sandbox.archived_tokens import archive_tokens, clear_keys, make_copy_number
from kasuwa.sandbox.worlds import records
from kasuwa.sandbox.worlds.blocks import BadPart, Source
from kasuwa.sandbox.worlds.columns import Tables, describe_tables
from kasuwa.sandbox.worlds.comparing import TableDifference, compare_digests, digest_rows
from kasuwa.sandbox.worlds.files import TOO_LARGE, FileRefused, read_file, write_file
from kasuwa.sandbox.worlds.progress import Progress, RunningAct, list_running, telling
from kasuwa.sandbox.worlds.reading import PREPARE, InTurn, WorldReader, WorldRefused
from kasuwa.sandbox.worlds.records import MAX_ROWS, MAX_ROWS_OF_ALL, MAX_WORLDS, PartWriter, WorldRecord
from kasuwa.sandbox.worlds.writing import Target, WorldDamaged, WorldWriter, read_bytes

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
SELECT_SETTINGS = f"select settings::text from merchant where {MERCHANT_ROW}"
USE_BOOKS = f"update merchant set current = true, settings = $2 where {MERCHANT_ROW}"
PARK_JOBS = "update scheduled_job set run_at = 'infinity' where merchant_id = $1"

# A comparison holds a hash of each row in memory.
MAX_COMPARED_ROWS = 200_000
TOO_LARGE_TO_COMPARE = Refusal(
    INVALID_REQUEST,
    f"Worlds of more than {MAX_COMPARED_ROWS:,} rows cannot be compared",
    error_code="worlds_not_comparable",
)


class WorldOperations:
    """Takes, restores, copies and lists worlds. For all but the lists, the caller holds the merchant's clock lease."""

    def __init__(self, operators: Pool, vault: Vault, directory: MerchantDirectory, clock: DatabaseClock) -> None:
        self._operators = operators
        self._vault = vault
        self._directory = directory
        self._clock = clock
        self._tables: Tables | None = None

    async def _describe(self, connection: Connection) -> Tables:
        if self._tables is None:
            self._tables = await describe_tables(connection)
        return self._tables

    def _make_reader(self, connection: InTurn, tables: Tables) -> WorldReader:
        return WorldReader(connection, tables, self._vault, SEALED_PLACES)

    def _make_writer(self, connection: InTurn, tables: Tables) -> WorldWriter:
        return WorldWriter(connection, tables, self._vault, SEALED_PLACES)

    # --- taking -----------------------------------------------------------------------------------------------------

    async def take(self, merchant: Merchant, name: str) -> WorldRecord | Refusal:
        """Stores the world of a merchant as it is at one moment."""
        async with (
            telling(self._operators, merchant.mid, "snapshot", name) as progress,
            self._operators.acquire() as connection,
        ):
            tables = await self._describe(connection)
            async with connection.transaction(isolation="repeatable_read"):
                await connection.execute(PREPARE)
                try:
                    return await self._take(connection, tables, merchant, name, progress)
                except WorldRefused as refused:
                    return NOT_STORABLE.fill(reason=refused)

    async def _take(
        self, connection: Connection, tables: Tables, merchant: Merchant, name: str, progress: Progress
    ) -> WorldRecord | Refusal:
        if await records.find_world(connection, merchant.mid, name) is not None:
            return NAME_TAKEN
        in_turn = InTurn(connection)
        reader = self._make_reader(in_turn, tables)
        merchant_rows = await reader.find_rows(merchant.merchant_id)
        refusal = await check_bounds(connection, merchant.mid, merchant_rows.count)
        if refusal is not None:
            return refusal
        source = await self._read_source(connection, merchant)
        parts = await self._begin(in_turn, merchant.mid, name, source, (kasuwa.__version__, newest_known_version()))
        progress.total = merchant_rows.count
        async for block in progress.count(reader.read_blocks(merchant.merchant_id, merchant_rows)):
            await parts.add(block)
        return await parts.end()

    async def _begin(
        self, connection: InTurn, mid: str, name: str, source: Source, made_by: tuple[str, int]
    ) -> PartWriter:
        """Adds a world, by a version of kasuwa and a migration. Returns what its parts are added to."""
        [[world_id]] = await connection.fetch(
            records.ADD, mid, name, *made_by, source.books, source.business_at, source.made_at
        )
        parts = PartWriter(connection, self._vault, world_id)
        await parts.add_source(source)
        return parts

    async def _read_source(self, connection: Connection, merchant: Merchant) -> Source:
        [state] = await connection.fetch(leases.SELECT_MERCHANT_STATE, merchant.merchant_id)
        [(name, settings)] = await connection.fetch(
            f"select name, settings::text from merchant where {MERCHANT_ROW}", merchant.merchant_id
        )
        wall = self._clock.now()
        return Source(merchant.merchant_id, name, settings, business_now(MerchantState(*state), wall), wall)

    # --- putting back -----------------------------------------------------------------------------------------------

    async def restore(self, merchant: Merchant, name: str) -> int | Refusal:
        """Gives a mid new books with a world, and archives the present ones. Returns the number of rows."""
        async with (
            telling(self._operators, merchant.mid, "restore", name) as progress,
            self._operators.acquire() as connection,
        ):
            tables = await self._describe(connection)
            try:
                async with connection.transaction():
                    await connection.execute(PREPARE)
                    # A deletion waits until the restore has ended: one in between would take a part of the world.
                    world = await records.find_world(connection, merchant.mid, name, is_locked=True)
                    if world is None:
                        return UNKNOWN_WORLD
                    refusal = check_version(world)
                    if refusal is not None:
                        return refusal
                    await self._restore(InTurn(connection), tables, merchant, world, progress)
            except (BadPart, UnsealError, WorldDamaged) as error:
                return DAMAGED.fill(problem=error)
            except WorldRefused as refused:
                return NOT_STORABLE.fill(reason=refused)
        self._directory.evict(merchant.mid)
        return world.row_count

    async def _restore(
        self, in_turn: InTurn, tables: Tables, merchant: Merchant, world: WorldRecord, progress: Progress
    ) -> None:
        connection, progress.total = in_turn.connection, world.row_count
        stored = await records.open_world(in_turn, self._vault, world)
        source = stored.source
        settings = msgspec.json.decode(source.settings, type=MerchantSettings)
        new, space = make_copy_number(source.books), settings.token_space
        if source.is_imported:
            # Its numbers may be those of another merchant, who has them beside it.
            settings = msgspec.structs.replace(settings, token_space=new)
        settings = msgspec.structs.replace(settings, copied_from=source.books)
        target = Target(new, settings.token_space, space, self._clock.now())
        await self._add_merchant(connection, target, merchant.mid, source.name, settings, is_current=False)
        is_replaced = False
        async with self._make_writer(in_turn, tables) as writer:
            async for block in progress.count(stored.blocks):
                if not is_replaced and block.table in ("token_index", "merchant_state"):
                    await writer.finish()
                    old = await self._archive(connection, merchant.mid, new, settings)
                    if source.is_imported:
                        await copy_keys(connection, self._vault, old, new)
                    is_replaced = True
                if block.table == "token_index":
                    await writer.finish()
                    keys = [read_bytes(key) for key in block.list_values("key")]
                    await clear_keys(connection, self._vault, merchant.mid, keys)
                await writer.write(source, target, block)
            if not is_replaced:
                raise WorldDamaged("the row of merchant_state is missing")
            await writer.end(target)

    async def _archive(self, connection: Connection, mid: str, new: int, settings: MerchantSettings) -> int:
        """Has the mid stand for the new books. Writes of the old ones have ended, or are decided anew in the new.
        Returns the number of the old ones."""
        old = await merchants.lock_merchant(connection, mid)
        await connection.execute(LOCK_STATE, old)
        # An operator's suspension is not lifted by a restore, also if it came meanwhile.
        present = msgspec.json.decode(await connection.fetchval(SELECT_SETTINGS, old), type=MerchantSettings)
        changed = msgspec.json.encode(msgspec.structs.replace(settings, suspended=present.suspended)).decode()
        async with row_codes.changing(connection, self._vault, MERCHANTS, MERCHANT_ROW, old):
            await connection.execute(f"update merchant set current = false where {MERCHANT_ROW}", old)
        async with row_codes.changing(connection, self._vault, MERCHANTS, MERCHANT_ROW, new):
            await connection.execute(USE_BOOKS, new, changed)
        # Their tokens are those of the new books from now on.
        await archive_tokens(connection, self._vault, old)
        await connection.execute(PARK_JOBS, old)
        return old

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
        self, merchant: Merchant, name: str | None, make_key: Callable[[str], str]
    ) -> tuple[str, str] | Refusal:
        """Makes a new merchant with a world of this one, or with what it is now. Returns its mid and a further key."""
        async with (
            telling(self._operators, merchant.mid, "fork", name or "") as progress,
            self._operators.acquire() as connection,
        ):
            tables = await self._describe(connection)
            try:
                async with connection.transaction(isolation="repeatable_read"):
                    await connection.execute(PREPARE)
                    world = None if name is None else await records.find_world(connection, merchant.mid, name)
                    if name is not None and world is None:
                        return UNKNOWN_WORLD
                    refusal = None if world is None else check_version(world)
                    if refusal is not None:
                        return refusal
                    return await self._fork(InTurn(connection), tables, merchant, world, make_key, progress)
            except (BadPart, UnsealError, WorldDamaged) as error:
                return DAMAGED.fill(problem=error)
            except (WorldRefused, KeyRefused) as refused:
                return NOT_STORABLE.fill(reason=refused)

    async def _fork(
        self,
        in_turn: InTurn,
        tables: Tables,
        merchant: Merchant,
        world: WorldRecord | None,
        make_key: Callable[[str], str],
        progress: Progress,
    ) -> tuple[str, str] | Refusal:
        connection = in_turn.connection
        if world is not None:
            progress.total = world.row_count
            stored = await records.open_world(in_turn, self._vault, world)
        else:
            reader = self._make_reader(in_turn, tables)
            merchant_rows = await reader.find_rows(merchant.merchant_id)
            if merchant_rows.count > MAX_ROWS:
                return refuse_rows(merchant_rows.count)
            progress.total = merchant_rows.count
            source = await self._read_source(connection, merchant)
            stored = records.StoredWorld(source, reader.read_blocks(merchant.merchant_id, merchant_rows))
        source = stored.source
        settings = msgspec.json.decode(source.settings, type=MerchantSettings)
        new = make_copy_number(source.books)
        number = await connection.fetchval("select nextval('merchant_number')")
        mid = f"GP{number:07d}"
        target = Target(new, new, settings.token_space, self._clock.now())
        forked = msgspec.structs.replace(settings, token_space=new, copied_from=source.books, suspended=False)
        await self._add_merchant(connection, target, mid, source.name, forked, is_current=True)
        async with self._make_writer(in_turn, tables) as writer:
            async for block in progress.count(stored.blocks):
                await writer.write(source, target, block)
            await writer.end(target)
        further_key = NewKey(name="fork", signs_until="infinity" if source.is_imported else "-infinity")
        _, key = await create_key(connection, self._vault, new, further_key, lambda: make_key(mid))
        return mid, key

    # --- files ------------------------------------------------------------------------------------------------------

    async def write_file(self, merchant: Merchant, name: str, passphrase: str) -> tuple[WorldRecord, bytes] | Refusal:
        """Returns a world and its file, encrypted with a passphrase."""
        try:
            async with (
                self._operators.acquire() as connection,
                connection.transaction(isolation="repeatable_read"),
            ):
                world = await records.find_world(connection, merchant.mid, name)
                if world is None:
                    return UNKNOWN_WORLD
                refusal = check_version(world) or check_file_size(world.size)
                if refusal is not None:
                    return refusal
                in_turn = InTurn(connection)
                source = (await records.open_world(in_turn, self._vault, world)).source
                compressed = records.read_compressed_parts(in_turn, self._vault, world.world_id)
                parts = [part async for part in compressed]
            version = world.schema_version
            return world, await asyncio.to_thread(write_file, self._vault, source, version, parts, passphrase)
        except (BadPart, UnsealError) as error:
            return DAMAGED.fill(problem=error)
        except FileRefused as refused:
            return refused.refusal

    async def take_file(self, merchant: Merchant, name: str, passphrase: str, content: bytes) -> WorldRecord | Refusal:
        """Stores the world of a file under a name. The merchant's books stay as they are."""
        try:
            opened = await asyncio.to_thread(read_file, self._vault, content, passphrase)
        except FileRefused as refused:
            return refused.refusal
        header = opened.header
        async with self._operators.acquire() as connection, connection.transaction():
            if await records.find_world(connection, merchant.mid, name) is not None:
                return NAME_TAKEN
            refusal = await check_bounds(connection, merchant.mid, header.rows)
            if refusal is not None:
                return refusal
            made_by = header.kasuwa, header.schema_version
            parts = await self._begin(InTurn(connection), merchant.mid, name, opened.source, made_by)
            for part in opened.parts:
                await parts.add_compressed(part)
            return await parts.end(header.rows)

    # --- listing ----------------------------------------------------------------------------------------------------

    async def list_all(self, merchant: Merchant) -> list[WorldRecord]:
        return await records.list_worlds(self._operators, merchant.mid)

    async def list_running(self, merchant: Merchant) -> list[RunningAct]:
        return await list_running(self._operators, merchant.mid)

    async def compare(self, merchant: Merchant, first: str, second: str) -> list[TableDifference] | Refusal:
        """Returns the tables in which two worlds differ."""
        async with self._operators.acquire() as connection:
            tables = await self._describe(connection)
            digests = []
            try:
                async with connection.transaction(isolation="repeatable_read"):
                    for name in (first, second):
                        world = await records.find_world(connection, merchant.mid, name)
                        if world is None:
                            return UNKNOWN_WORLD
                        if world.row_count > MAX_COMPARED_ROWS:
                            return TOO_LARGE_TO_COMPARE
                        stored = await records.open_world(InTurn(connection), self._vault, world)
                        digests.append(await digest_rows(stored.blocks, tables.by_name, world.books))
            except (BadPart, UnsealError) as error:
                return DAMAGED.fill(problem=error)
        return compare_digests(*digests)

    async def delete(self, merchant: Merchant, name: str) -> Refusal | None:
        return None if await records.delete_world(self._operators, merchant.mid, name) else UNKNOWN_WORLD


async def check_bounds(connection: Connection, mid: str, rows: int) -> Refusal | None:
    if rows > MAX_ROWS:
        return refuse_rows(rows)
    [(count, row_count)] = await connection.fetch(records.COUNT, mid)
    if count >= MAX_WORLDS:
        return TOO_MANY_WORLDS
    return TOO_MANY_OF_ALL if row_count + rows > MAX_ROWS_OF_ALL else None


def refuse_rows(rows: int) -> Refusal:
    return TOO_MANY_ROWS.fill(rows=f"{rows:,}")


def check_file_size(size: int) -> Refusal | None:
    return TOO_LARGE.fill(size=f"some {size:,}") if size > MAX_FILE_BYTES else None


def check_version(world: WorldRecord) -> Refusal | None:
    """Returns a refusal if a later version made the world: it may have what this one does not know."""
    if world.schema_version <= newest_known_version():
        return None
    return OF_NEWER_VERSION.fill(version=world.kasuwa, made_at=world.schema_version, known=newest_known_version())
