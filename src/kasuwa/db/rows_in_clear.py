"""Encrypts personal data that earlier versions stored in clear, or empties what is stored no more.

Small tables have an index of their rows in clear, and are done before the service runs. Large ones are read in windows
by the worker (work/key_rotation.py), which goes on where it was after a crash, and ends when a whole pass has found
nothing in clear. Rows of one merchant are encrypted in short transactions that hold the merchant's lock and raise its
version, so that writers drop the rows they have in memory. See docs/decisions/0069.
"""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from kasuwa.core.keyring import UnsealError
from kasuwa.core.row_codes import CodedTable, is_intact
from kasuwa.core.vault import NONCE_BYTES, Vault
from kasuwa.db import key_moves, row_codes
from kasuwa.db.connection_pool import Connection, QueryRunner
from kasuwa.db.key_moves import LOCK_MERCHANT, Position, Rewritten, StaleRow, Window, decode_position, encode_position

SEALED_AT_ONCE = 500

# The row of key_move that has the progress of the worker.
PURPOSE, VERSION = "clear", 1


class ClearTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table with personal data that may be in clear."""

    table: str
    in_clear: str  # the SQL condition of such a row
    row_id: str  # identifies a row of a merchant
    reads: tuple[str, ...]  # SQL expressions of what `seal` needs besides the row's id
    writes: tuple[str, ...]  # columns that `seal` returns
    # seal(vault, merchant_id, nonce, (row_id, *reads)). Returns None if there is nothing to encrypt.
    seal: Callable[[Vault, int, bytes, Any], tuple[Any, ...] | None]
    codes: CodedTable | None = None  # if the code of a row covers what is rewritten


async def seal_table(
    connection: Connection, clear: ClearTable, vault: Vault, read_keys: Callable[[], Awaitable[object]]
) -> int:
    """Encrypts every row that is in clear. Returns how many there were. `read_keys` brings the vault up to date.

    Each transaction holds one merchant's lock for at most SEALED_AT_ONCE rows."""
    sealed = 0
    merchants = f"select distinct merchant_id from {clear.table} where {clear.in_clear} order by merchant_id"
    for (merchant_id,) in await connection.fetch(merchants):
        while True:
            await read_keys()
            done = await seal_rows(connection, clear, vault, merchant_id)
            sealed += done.rows
            if done.rows < SEALED_AT_ONCE:
                break
    return sealed


async def seal_rows(
    connection: Connection, clear: ClearTable, vault: Vault, merchant_id: int, row_ids: Sequence[Any] | None = None
) -> Rewritten:
    """Encrypts rows of a merchant, in one transaction: at most SEALED_AT_ONCE, of those that `row_ids` names or of
    all."""
    named, given = ("", ()) if row_ids is None else (f" and {clear.row_id} = any($2)", (list(row_ids),))
    chosen = ", ".join((clear.row_id, *clear.reads))
    sets = ", ".join(f"{column} = ${number}" for number, column in enumerate(clear.writes, start=3))
    update = f"update {clear.table} set {sets} where merchant_id = $1 and {clear.row_id} = $2"
    done, written = Rewritten(), list[tuple[Any, ...]]()
    async with connection.transaction():
        await connection.execute(LOCK_MERCHANT, merchant_id)
        rows = await connection.fetch(
            f"select {chosen} from {clear.table} where merchant_id = $1 and {clear.in_clear}{named}"
            f" limit {SEALED_AT_ONCE}",
            merchant_id,
            *given,
        )
        for row in rows:
            try:
                columns = clear.seal(vault, merchant_id, os.urandom(NONCE_BYTES), tuple(row))
            except UnsealError:
                key_moves.report_unreadable(clear.table, merchant_id)
                done.unreadable += 1
                continue
            if columns is not None:
                written.append((merchant_id, row[0], *columns))
        if clear.codes is not None:
            intact = await find_intact(connection, vault, clear.codes, merchant_id, [values[1] for values in written])
            done.unreadable += len(written) - len(intact)
            written = [values for values in written if values[1] in intact]
        await connection.executemany(update, written)
        if clear.codes is not None:
            keys = [values[1] for values in written]
            await row_codes.code_new_row(connection, vault, clear.codes, OF_KEYS, merchant_id, keys)
    done.rows = len(written)
    return done


OF_KEYS = "merchant_id = $1 and key = any($2)"


async def find_intact(
    connection: Connection, vault: Vault, table: CodedTable, merchant_id: int, keys: Sequence[bytes]
) -> set[bytes]:
    """Returns the keys of rows that are as the service wrote them. The others must not get a new code."""
    rows = await row_codes.read_rows(connection, table, OF_KEYS, merchant_id, list(keys))
    return {row.content[1] for row in rows if is_intact(vault, table.table, row.content, row.code)}


async def read_clear_window(connection: Connection, clear: ClearTable, position: Position) -> Window:
    """Reads the next rows of a table with a `key`, in the order of it, and returns those in clear."""
    after = "where (key, merchant_id) > ($1::bytea, $2::bigint)" if position else ""
    rows = await connection.fetch(
        f"select key, merchant_id, {clear.in_clear} from {clear.table} {after}"
        f" order by key, merchant_id limit {key_moves.WINDOW}",
        *decode_position(position),
    )
    found = [StaleRow(merchant_id, bytes(key)) for key, merchant_id, is_clear in rows if is_clear]
    return Window(found, encode_position(rows[-1][:2]) if len(rows) == key_moves.WINDOW else [])


# --- fields of a JSON column ------------------------------------------------------------------------------------------

# Removes the personal fields from a decoded document and returns them.
TakeFields = Callable[[dict[str, Any]], dict[str, Any]]


def seal_document(
    place: Callable[[str], str],
    take: TakeFields,
    vault: Vault,
    merchant_id: int,
    nonce: bytes,
    row: tuple[bytes, str, str, bytes | None],
) -> tuple[str, bytes] | None:
    """Returns a JSON column without its personal fields, and the column that has them encrypted. `row` has the key, the
    name of the place, and both columns."""
    _, name, text, sealed = row
    document = msgspec.json.decode(text)
    found = take(document)
    if not found:
        return None
    kept = merge_fields(open_fields(vault, merchant_id, place(name), sealed), found)
    return msgspec.json.encode(document).decode(), vault.seal(
        merchant_id, place(name), msgspec.json.encode(kept), nonce
    )


def open_fields(vault: Vault, merchant_id: int, place: str, sealed: bytes | None) -> dict[str, Any]:
    if sealed is None:
        return {}
    opened: dict[str, Any] = msgspec.json.decode(vault.unseal(merchant_id, place, bytes(sealed)))
    return opened


def merge_fields(earlier: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of both documents. A field that both have is the found one, which was written later."""
    merged = dict(earlier)
    for name, value in found.items():
        known = merged.get(name)
        merged[name] = merge_fields(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return merged


# --- progress ---------------------------------------------------------------------------------------------------------

SELECT_STATE = "select begins_at, finished_at, rewritten, unreadable from key_move where purpose = $1 and version = $2"
IS_DUE = """
    select exists (select 1 from key_move
        where purpose = $1 and version = $2 and finished_at is null and begins_at <= now())
"""
IS_LATE = """
    select exists (select 1 from key_move
        where purpose = $1 and version = $2 and finished_at is null and begins_at < now() - interval '1 day')
"""
FINISH = "update key_move set finished_at = now() where purpose = $1 and version = $2"


class ClearState(msgspec.Struct, frozen=True):
    """The progress of the encryption of fields in clear."""

    begins_at: datetime
    finished_at: datetime | None
    rewritten: int
    unreadable: int


async def read_state(connection: QueryRunner) -> ClearState:
    return ClearState(*await connection.fetchrow(SELECT_STATE, PURPOSE, VERSION))


async def is_due(connection: QueryRunner) -> bool:
    """Returns whether there may be fields in clear that can be encrypted now."""
    return bool((await connection.fetchrow(IS_DUE, PURPOSE, VERSION))[0])


async def is_late(connection: QueryRunner) -> bool:
    """Returns whether the encryption could begin more than a day ago and has not ended."""
    return bool((await connection.fetchrow(IS_LATE, PURPOSE, VERSION))[0])


async def finish(connection: Connection) -> None:
    await connection.execute(FINISH, PURPOSE, VERSION)
