"""Writes the rows of a world into new books, as the service would have written them there.

The rows of other books have other keys, chains, ciphertexts and codes. So each row is given those of the new books:
its keys are masked for them (core/references.py), the chains are computed anew, and it is encrypted and coded for its
place.

Numbers that are unique in the deployment, such as those of accounts and cards, stay with a world that is put back. In a
fork they are found by the fork alone (Merchant.token_space), and its pages get new addresses.
"""

import asyncio
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from types import TracebackType
from typing import Any

import asyncpg
import msgspec

from kasuwa.concurrency.time_slices import Interruptible, run_in_shared_slices
from kasuwa.core.calendar import is_in_range
from kasuwa.core.decision import Row
from kasuwa.core.references import KEY_BYTES, job_key, key_mask, kind_mark, mask_key, row_key
from kasuwa.core.row_codes import make_row_code
from kasuwa.core.token_index import token_key
from kasuwa.core.vault import NONCE_BYTES, Vault
from kasuwa.engine.journal import EventRow, PostingRow
from kasuwa.ledger.chain import EMPTY_CHAIN, extend_by_event, extend_by_group
from kasuwa.methods.checkout.model import LINK
from kasuwa.methods.invoices.model import INVOICE_PAGE
from kasuwa.methods.payment.model import PAGE
from kasuwa.postgres.columns import describe_columns
from kasuwa.postgres.connection_pool import Connection
from kasuwa.postgres.row_codes import code_new_row, make_content_reader
from kasuwa.privacy.sealed_places import SealedPlaces
from kasuwa.sandbox.worlds.blocks import ROWS_PER_STEP, Block, Line, Source
from kasuwa.sandbox.worlds.columns import Table, Tables, read_default
from kasuwa.sandbox.worlds.reading import (
    InTurn,
    Naming,
    WorldRefused,
    find_json_field,
    job_places,
    sealed_columns,
)
from kasuwa.sandbox.worlds.tables import JOB_KEY_COLUMNS, KEY_COLUMNS, WRITTEN_BY_TRIGGER
from kasuwa.transactions.checkouts import CHECKOUT_PAGE

# The pages that a token names, by their table: the kind of their entries in the token index, and the column or field
# of `detail` that has the token.
PAGES = {
    "payment": (PAGE, "page"),
    "checkout": (CHECKOUT_PAGE, "page"),
    "invoice": (INVOICE_PAGE, "page_token"),
    "pay_link": (LINK, "slug"),
}
PAGE_KINDS = frozenset(kind for kind, _ in PAGES.values())

UPDATE_JOBS = """
    update scheduled_job j set run_at = job_run_at(j.due, s.clock_offset_us, s.clock_fixed_at, $2)
    from merchant_state s where s.merchant_id = $1 and j.merchant_id = $1 and j.endpoint_id <> all(
        array(select endpoint_id from failing_endpoint where merchant_id = $1 and off_at is not null))
"""

TAKEN = "Another merchant has an address or a number of this world now, such as the address of a payment link"


class WorldDamaged(Exception):
    """A world cannot be written: the text names the table, and what is wrong."""


class Target(msgspec.Struct, frozen=True):
    """The books that a world is written into."""

    merchant_id: int
    token_space: int  # 0 if the tokens of the world are put back as they were
    source_space: int  # that of the books that the world is of
    wall: datetime

    def move(self, source: int) -> int:
        """Returns by what the keys differ from those of the world."""
        return key_mask(source) ^ key_mask(self.merchant_id)


class Statement(msgspec.Struct):
    """An insert of rows that is ready to be executed."""

    query: str
    values: list[Any]


class WorldWriter:
    """Writes one world in the transaction of a connection, on which PREPARE was executed. While the database inserts
    the rows of a block, those of the next are prepared, in time slices. `end` must follow the last block."""

    def __init__(self, connection: InTurn, tables: Tables, vault: Vault, places: SealedPlaces) -> None:
        self._connection = connection
        self._tables = tables
        self._vault = vault
        self._places = places
        self._coded = {table.table: table for table in places.coded_tables}
        self._posting_head = self._event_head = EMPTY_CHAIN
        self._group: list[PostingRow] = []
        self._renamed_pages: dict[bytes, tuple[str, bytes]] = {}
        self._inserting: asyncio.Task[None] | None = None
        self._emptied: set[str] = set()

    async def __aenter__(self) -> "WorldWriter":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Waits for the statement that runs, so that the transaction can end."""
        if self._inserting is not None:
            await asyncio.wait([self._inserting])
            self._inserting.exception()  # marks it as retrieved: the block ends with an error already

    async def write(self, source: Source, target: Target, block: Block) -> None:
        """Begins to write a block. This or a later call, or `finish`, raises WorldDamaged, and WorldRefused if another
        merchant has taken one of its tokens."""
        table = self._tables.by_name.get(block.table)
        if table is None:
            raise WorldDamaged(f"there is no table {block.table} in a world")
        if not block.rows:
            return
        self._check_form(table, block)
        if len(block.columns) < len(table.columns):
            await self._add_columns(table, block)
        try:
            statement = await run_in_shared_slices(self._prepare(table, source, target, block))
        except (ValueError, IndexError, msgspec.MsgspecError, OverflowError) as error:
            raise WorldDamaged(f"{block.table}: a row cannot be read: {error}") from None
        await self.finish()
        if statement is not None:
            self._inserting = asyncio.create_task(self._insert(table, target.merchant_id, statement))

    async def finish(self) -> None:
        """Waits until what was written is in the database. Raises as `write` does."""
        inserting, self._inserting = self._inserting, None
        if inserting is not None:
            await inserting

    def _check_form(self, table: Table, block: Block) -> None:
        unknown = [name for name in block.columns if name not in table.columns]
        if unknown or len(set(block.columns)) < len(block.columns):
            raise WorldDamaged(f"{block.table}: there is no column {', '.join(unknown)}, or one is there twice")
        if any(len(row) != len(block.columns) for row in block.rows):
            raise WorldDamaged(f"{block.table}: a row has not as many values as there are columns")

    async def _add_columns(self, table: Table, block: Block) -> None:
        """Gives rows the columns that a migration added since the world was made, with their defaults."""
        await self.finish()
        for name in table.columns:
            if name not in block.columns:
                default = await read_default(self._connection.connection, table, name)
                block.columns.append(name)
                for row in block.rows:
                    row.append(default)

    def _prepare(self, table: Table, source: Source, target: Target, block: Block) -> Interruptible[Statement | None]:
        """Gives rows what they have in the new books. Returns the statement that inserts them, None if none is left."""
        block_rows: list[Line] = []
        for rows in block.steps():
            piece = Block(block.table, block.columns, rows)
            self._move_keys(source, target, piece)
            piece.rows = self._adapt(source, target, piece)
            self._seal(target.merchant_id, piece)
            block_rows += piece.rows
            yield
        if not block_rows:
            return None
        columns, coded = list(block.columns), self._coded.get(table.name)
        if coded is not None and coded.row_kind is not None:
            codes: list[str | None] = []
            make_codes = RowCoder(self._vault, coded.row_kind, target.merchant_id, columns)
            for row in block_rows:
                codes.append(make_codes(row))
                if len(codes) % ROWS_PER_STEP == 0:
                    yield
            columns.append("row_code")
            block_rows = [[*row, code] for row, code in zip(block_rows, codes, strict=True)]
        texts = yield from join_columns(block_rows)
        return Statement(table.write_sql(columns), [target.merchant_id, len(block_rows), *texts])

    # --- keys and tokens --------------------------------------------------------------------------------------------

    def _move_keys(self, source: Source, target: Target, block: Block) -> None:
        moved_by = target.move(source.books)
        if block.table == "scheduled_job":
            self._move_job_keys(source.books, moved_by, block)
        elif "key" in block.columns and block.table != "token_index":
            move_column(block, "key", moved_by)
        for name in KEY_COLUMNS.get(block.table, ()):
            move_column(block, name, moved_by)
        if block.table in JOB_KEY_COLUMNS:
            name, kind = JOB_KEY_COLUMNS[block.table]
            place = block.columns.index(name)
            for row in block.rows:
                row[place] = hex_text(move_ordered_key(read_bytes(row[place]), kind, moved_by))

    def _move_job_keys(self, books: int, moved_by: int, block: Block) -> None:
        key, subject, kind = (block.columns.index(name) for name in ("key", "subject", "kind"))
        reference, claim = block.columns.index("reference"), block.columns.index("idempotency_claim")
        for row in block.rows:
            old, old_subject = read_bytes(row[key]), read_bytes(row[subject])
            if old == job_key(old_subject):
                row[key] = hex_text(job_key(mask_key(old_subject, moved_by)))
            elif old == row_key(books, "job", f"{row[kind]} {row[reference]}"):
                row[key] = hex_text(mask_key(old, moved_by))
            else:
                row[key] = hex_text(move_ordered_key(old, row[kind] or "", moved_by))
            if row[claim] is not None:
                packed = read_bytes(row[claim])
                row[claim] = hex_text(mask_key(packed[:16], moved_by) + packed[16:])

    def _adapt(self, source: Source, target: Target, block: Block) -> list[Line]:
        """Returns the rows with what follows from the books that they are in."""
        if block.table == "posting":
            self._chain_postings(target.merchant_id, block)
        elif block.table == "event":
            self._chain_events(target.merchant_id, block)
        elif block.table == "merchant_state":
            self._adapt_state(source, target, block)
        elif block.table == "idempotency_record":
            self._shift_expiry(source, target, block)
        elif block.table in PAGES and target.token_space and target.token_space != target.source_space:
            self._rename_pages(target, block)
        elif block.table == "token_index":
            return self._move_tokens(target, block)
        return block.rows

    def _rename_pages(self, target: Target, block: Block) -> None:
        kind, field = PAGES[block.table]
        place = block.columns.index("slug" if block.table == "pay_link" else "detail")
        for row in block.rows:
            text = row[place]
            token = text if block.table == "pay_link" else find_json_field(text, field)
            if not text or not token:
                continue
            drawn = blake2b(token.encode(), key=b"%d" % target.merchant_id, digest_size=32).hexdigest()
            renamed = drawn[: max(16, min(len(token), 64))]
            row[place] = renamed if block.table == "pay_link" else text.replace(f'"{token}"', f'"{renamed}"')
            self._renamed_pages[token_key(self._vault, kind, token)] = kind, token_key(self._vault, kind, renamed)

    def _move_tokens(self, target: Target, block: Block) -> list[Line]:
        key, kind = block.columns.index("key"), block.columns.index("kind")
        if target.token_space == target.source_space:
            return block.rows
        moved_by = key_mask(target.source_space) ^ key_mask(target.token_space)
        rows = []
        for row in block.rows:
            old = read_bytes(row[key])
            if row[kind] not in PAGE_KINDS:
                rows.append(with_value(row, key, hex_text(mask_key(old, moved_by))))
            elif self._renamed_pages.get(old, ("", b""))[0] == row[kind]:
                rows.append(with_value(row, key, hex_text(self._renamed_pages[old][1])))
        return rows

    # --- chains -----------------------------------------------------------------------------------------------------

    def _chain_postings(self, merchant_id: int, block: Block) -> None:
        places = [block.columns.index(name) for name in PostingRow.__struct_fields__[1:]]
        hashed = block.columns.index("hash")
        for row in block.rows:
            line = make_posting(merchant_id, [row[place] for place in places])
            self._group.append(line)
            if row[hashed] is None:
                continue
            if line.group_seq != self._group[0].seq:
                raise WorldDamaged(f"posting {line.seq}: its group does not begin with the posting that it names")
            head = extend_by_group(self._posting_head, merchant_id, line.group_seq, line.at, self._group)
            self._posting_head, self._group = head, []
            row[hashed] = hex_text(head)

    def _chain_events(self, merchant_id: int, block: Block) -> None:
        places = {name: block.columns.index(name) for name in EventRow.__struct_fields__[1:]}
        for row in block.rows:
            text = {name: row[place] or "" for name, place in places.items()}
            event = EventRow(
                merchant_id,
                int(text["seq"]),
                text["reference"],
                text["object"],
                int(text["object_seq"]),
                text["kind"],
                text["payload"],
                read_time(text["at"]),
            )
            self._event_head = extend_by_event(self._event_head, event)
            row[places["hash"]] = hex_text(self._event_head)

    def _adapt_state(self, source: Source, target: Target, block: Block) -> None:
        """The clock goes on from the world's business time. It stands still if it did."""
        if len(block.rows) != 1 or self._group:
            raise WorldDamaged("merchant_state: a merchant has one row, written after all of its postings")
        row, columns = block.rows[0], block.columns
        row[columns.index("posting_head")] = hex_text(self._posting_head)
        row[columns.index("event_head")] = hex_text(self._event_head)
        row[columns.index("clock_offset_us")] = "0"
        if row[columns.index("clock_fixed_at")] is None:
            offset = (source.business_at - target.wall) // timedelta(microseconds=1)
            row[columns.index("clock_offset_us")] = str(offset)

    def _shift_expiry(self, source: Source, target: Target, block: Block) -> None:
        """Replies are stored for a wall time: it goes on where the world was made."""
        place, later = block.columns.index("expires_at"), target.wall - source.made_at
        for row in block.rows:
            row[place] = (read_time(row[place] or "") + later).isoformat()

    # --- ciphertexts, codes, and the statement ------------------------------------------------------------------------

    def _seal(self, merchant_id: int, block: Block) -> None:
        for column in sealed_columns(self._places, block.table):
            place, named = block.columns.index(column.column), Naming(block.columns, column)
            for row in named.list_rows(block.rows):
                text = row[place]
                if column.json_field:
                    row[place] = self._seal_json(text, merchant_id, column.json_field, named.of(row))
                elif text is not None and text != "\\x":
                    row[place] = hex_text(self._encrypt(merchant_id, named.of(row), read_bytes(text)))
        if block.table == "scheduled_job":
            work = block.columns.index("work")
            for row in block.rows:
                for field, named_place in job_places(self._places, block.columns, row):
                    row[work] = self._seal_json(row[work], merchant_id, field, named_place)

    def _seal_json(self, text: str | None, merchant_id: int, field: str, place: str) -> str | None:
        plain = find_json_field(text, field)
        if text is None or not plain:
            return text
        sealed = self._encrypt(merchant_id, place, b64decode(plain, validate=True))
        return text.replace(f'"{plain}"', f'"{b64encode(sealed).decode()}"')

    def _encrypt(self, merchant_id: int, place: str, plain: bytes) -> bytes:
        return self._vault.seal(merchant_id, place, plain, os.urandom(NONCE_BYTES))

    async def _insert(self, table: Table, merchant_id: int, statement: Statement) -> None:
        try:
            async with self._connection.turn:
                await self._execute(self._connection.connection, table, merchant_id, statement)
        except asyncpg.UniqueViolationError as error:
            if table.name == "token_index":
                raise WorldRefused(TAKEN) from None
            raise WorldDamaged(f"{table.name}: {error.message}") from None
        except asyncpg.PostgresError as error:
            if error.sqlstate[:2] not in ("22", "23"):
                raise
            raise WorldDamaged(f"{table.name}: {error.message}") from None

    async def _execute(self, connection: Connection, table: Table, merchant_id: int, statement: Statement) -> None:
        if table.name in WRITTEN_BY_TRIGGER - self._emptied:
            self._emptied.add(table.name)
            await connection.execute(f"delete from {table.name} where merchant_id = $1", merchant_id)
        await connection.execute(statement.query, *statement.values)
        coded = self._coded.get(table.name)
        if coded is not None and coded.row_kind is None:
            await code_new_row(connection, self._vault, coded, "merchant_id = $1", merchant_id)

    async def end(self, target: Target) -> None:
        """Sets the wall times at which jobs run, by the clock of the new books, after all rows were written."""
        await self.finish()
        await self._connection.fetch(UPDATE_JOBS, target.merchant_id, target.wall)


class RowCoder:
    """Makes the codes of rows that the writer maintains, from their values as texts."""

    def __init__(self, vault: Vault, kind: type[Row], merchant_id: int, columns: Sequence[str]) -> None:
        self._vault = vault
        self._kind = kind
        self._merchant_id = merchant_id
        self._read_content = make_content_reader(kind)
        described = describe_columns(kind)
        covered = ("key", *kind.coded_columns)
        # Of what the code does not cover, a text is enough.
        self._fields = [
            (name, columns.index(name), READ_VALUE[type_name] if name in covered else str)
            for name, type_name in zip(described.names, described.types, strict=True)
            if name not in ("merchant_id", "row_code")
        ]

    def __call__(self, row: Line) -> str | None:
        """Returns the code of a row, None if it has none. Raises ValueError if a value cannot be read."""
        values: dict[str, Any] = {}
        for name, place, read in self._fields:
            text = row[place]
            values[name] = None if text is None else read(text)
        coded_row = self._kind(merchant_id=self._merchant_id, **values)
        if not coded_row.is_coded:
            return None
        return hex_text(make_row_code(self._vault, self._kind.table, self._read_content(coded_row)))


def join_columns(rows: list[Line]) -> Interruptible[list[str]]:
    """Returns what ends a value, what stands for NULL, and the values of each column as one text
    (`Table.parsed_sql`). Neither is a part of any value."""
    end, null = "\x1f", "\x1d\x1d"
    while True:
        joined, fits = [], True
        for column in zip(*rows, strict=True):
            nulls = column.count(None)
            values = [null if value is None else value for value in column] if nulls else column
            text = end.join(values) + end
            fits = fits and text.count(end) == len(rows) and text.count(null) == nulls
            joined.append(text)
            yield
        if fits:
            return [end, null, *joined]
        end, null = f"\x1f{os.urandom(16).hex()}\x1f", f"\x1d{os.urandom(16).hex()}\x1d"


def make_posting(merchant_id: int, values: list[str | None]) -> PostingRow:
    seq, group_seq, reference, debit, credit, amount, debit_after, credit_after, kind, at, _ = values
    return PostingRow(
        merchant_id,
        int(seq or 0),
        int(group_seq or 0),
        reference or "",
        debit or "",
        credit or "",
        int(amount or 0),
        int(debit_after or 0),
        int(credit_after or 0),
        kind or "",
        read_time(at or ""),
    )


def move_column(block: Block, name: str, moved_by: int) -> None:
    place = block.columns.index(name)
    for row in block.rows:
        row[place] = move_key_text(row[place], moved_by)


def move_key_text(text: str | None, moved_by: int) -> str:
    """Like `mask_key`, for a key as text."""
    if text is None or len(text) != 2 * KEY_BYTES + 2 or not text.startswith("\\x"):
        raise ValueError("a key must have 16 bytes, written in hexadecimal")
    return f"\\x{int(text[2:], 16) ^ moved_by:032x}"


def move_ordered_key(key: bytes, kind: str, moved_by: int) -> bytes:
    """Returns the key of a job that begins with a time and the kind (ordered_key): only its end is of a row."""
    if key[6:8] != kind_mark(kind):
        return mask_key(key, moved_by)
    end = int.from_bytes(key[8:], "big") ^ moved_by >> 64
    return key[:8] + end.to_bytes(8, "big")


def with_value(row: Line, place: int, value: str) -> Line:
    return [*row[:place], value, *row[place + 1 :]]


def read_bytes(text: str | None) -> bytes:
    if text is None or not text.startswith("\\x"):
        raise ValueError("bytes must be written in hexadecimal")
    return bytes.fromhex(text[2:])


def hex_text(data: bytes) -> str:
    return f"\\x{data.hex()}"


@lru_cache(maxsize=256)
def read_time(text: str) -> datetime:
    """Returns a time. Cached, because the rows of a decision have the same."""
    moment = datetime.fromisoformat(text)
    if not is_in_range(moment):
        raise ValueError(f"the time {text} is out of range")
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def read_flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("a flag must be true or false")
    return text == "true"


# Reads the values of a type of columns.
READ_VALUE: dict[str, Callable[[str], Any]] = {
    "bigint": int,
    "text": str,
    "json": str,
    "bytea": read_bytes,
    "boolean": read_flag,
    "date": date.fromisoformat,
    "timestamptz": datetime.fromisoformat,
}
