"""Writes the rows of a world into new books, as the service would have written them there.

The rows of other books have other keys, chains, ciphertexts and codes. So each row is given those of the new books:
its keys are masked for them (core/references.py), the chains are computed anew, and it is encrypted and coded for its
place.

Numbers that are unique in the deployment, such as those of accounts and cards, stay with a world that is put back. In a
fork they are found by the fork alone (Merchant.token_space), and its pages get new addresses.
"""

import os
from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

import asyncpg
import msgspec

from kasuwa.core.calendar import is_in_range
from kasuwa.core.references import job_key, key_mask, kind_mark, mask_key, row_key
from kasuwa.core.row_codes import CodedTable, make_row_code
from kasuwa.core.token_index import token_key
from kasuwa.core.vault import NONCE_BYTES, Vault
from kasuwa.engine.journal import EventRow, PostingRow
from kasuwa.ledger.chain import EMPTY_CHAIN, extend_by_event, extend_by_group
from kasuwa.methods.checkout.model import LINK
from kasuwa.methods.invoices.model import INVOICE_PAGE
from kasuwa.methods.payment.model import PAGE
from kasuwa.postgres.connection_pool import Connection
from kasuwa.privacy.sealed_places import SealedPlaces
from kasuwa.sandbox.worlds.blocks import Block, Line, Source, Table
from kasuwa.sandbox.worlds.reading import Naming, find_json_field, job_places, sealed_columns
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


class WorldWriter:
    """Writes one world in the transaction of a connection. `end` must follow the last block."""

    def __init__(self, connection: Connection, tables: Mapping[str, Table], vault: Vault, places: SealedPlaces) -> None:
        self._connection = connection
        self._tables = tables
        self._vault = vault
        self._places = places
        self._coded = {table.table: table for table in places.coded_tables}
        self._posting_head = self._event_head = EMPTY_CHAIN
        self._group: list[PostingRow] = []
        self._renamed_pages: dict[bytes, tuple[str, bytes]] = {}

    async def write(self, source: Source, target: Target, block: Block) -> None:
        """Writes a block. Raises WorldDamaged."""
        table = self._tables.get(block.table)
        if table is None:
            raise WorldDamaged(f"there is no table {block.table} in a world")
        self._check_form(table, block)
        try:
            self._move_keys(source, target, block)
            rows = self._adapt(source, target, block)
            self._seal(target.merchant_id, block)
            await self._insert(table, target.merchant_id, msgspec.structs.replace(block, rows=rows))
        except (ValueError, IndexError, msgspec.MsgspecError, OverflowError) as error:
            raise WorldDamaged(f"{block.table}: a row cannot be read: {error}") from None
        except asyncpg.PostgresError as error:
            if error.sqlstate[:2] not in ("22", "23"):
                raise
            raise WorldDamaged(f"{block.table}: {error.message}") from None

    def _check_form(self, table: Table, block: Block) -> None:
        """Columns that a migration added since the world was made have their defaults."""
        unknown = [name for name in block.columns if name not in table.columns]
        if unknown or len(set(block.columns)) < len(block.columns):
            raise WorldDamaged(f"{block.table}: there is no column {', '.join(unknown)}, or one is there twice")
        if any(len(row) != len(block.columns) for row in block.rows):
            raise WorldDamaged(f"{block.table}: a row has not as many values as there are columns")

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
            seq, group_seq, *_ = (row[place] for place in places)
            line = make_posting(merchant_id, [row[place] for place in places])
            self._group.append(line)
            if row[hashed] is None:
                continue
            if int(group_seq or 0) != self._group[0].seq:
                raise WorldDamaged(f"posting {seq}: its group does not begin with the posting that it names")
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

    async def _insert(self, table: Table, merchant_id: int, block: Block) -> None:
        if not block.rows:
            return
        columns = [list(column) for column in zip(*block.rows, strict=True)]
        parsed = table.parsed_sql(block.columns)
        names = ", ".join(block.columns)
        codes = await self._make_codes(table, merchant_id, parsed, columns)
        if table.name in WRITTEN_BY_TRIGGER:
            await self._connection.execute(f"delete from {table.name} where merchant_id = $1", merchant_id)
        if codes is None:
            await self._connection.execute(
                f"insert into {table.name} (merchant_id, {names}) select merchant_id, {names} from {parsed}"
                " order by nth_row",
                merchant_id,
                *columns,
            )
            return
        await self._connection.execute(
            f"insert into {table.name} (merchant_id, {names}, row_code) select merchant_id, {names},"
            f" (${len(columns) + 2}::bytea[])[nth_row] from {parsed} order by nth_row",
            merchant_id,
            *columns,
            codes,
        )

    async def _make_codes(
        self, table: Table, merchant_id: int, parsed: str, columns: list[list[str | None]]
    ) -> list[bytes | None] | None:
        """Returns the codes of the rows in their order, None if those of the table have none."""
        coded: CodedTable | None = self._coded.get(table.name)
        if coded is None:
            return None
        query = f"select {coded.condition}, {coded.content_sql()} from {parsed} order by nth_row"
        rows = await self._connection.fetch(query, merchant_id, *columns)
        return [make_row_code(self._vault, table.name, tuple(row)[1:]) if row[0] else None for row in rows]

    async def end(self, target: Target) -> None:
        """Sets the wall times at which jobs run, by the clock of the new books."""
        await self._connection.execute(UPDATE_JOBS, target.merchant_id, target.wall)


def make_posting(merchant_id: int, values: list[str | None]) -> PostingRow:
    seq, group_seq, reference, debit, credit, amount, debit_after, credit_after, kind, at, _ = values
    numbers = [int(value or 0) for value in (seq, group_seq, amount, debit_after, credit_after)]
    texts = [value or "" for value in (reference, debit, credit)]
    return PostingRow(merchant_id, *numbers[:2], *texts, *numbers[2:], kind or "", read_time(at or ""))  # type: ignore[call-arg,arg-type]


def move_column(block: Block, name: str, moved_by: int) -> None:
    place = block.columns.index(name)
    for row in block.rows:
        row[place] = hex_text(mask_key(read_bytes(row[place]), moved_by))


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


def read_time(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if not is_in_range(moment):
        raise ValueError(f"the time {text} is out of range")
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
