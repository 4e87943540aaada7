"""Encrypts personal fields that earlier versions stored in clear, in a JSON column beside the encrypted one.

The worker does so in the background, in windows and short transactions like db/key_moves.py, and goes on where it was
after a crash. It has ended when a whole pass has found nothing in clear.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from kasuwa.core.keyring import UnsealError
from kasuwa.core.sealed_places import ClearFields, SealedColumn
from kasuwa.core.vault import NONCE_BYTES, Vault
from kasuwa.db import key_moves
from kasuwa.db.connection_pool import Connection, QueryRunner
from kasuwa.db.key_moves import LOCK_MERCHANT, Position, Rewritten, StaleRow, Window, decode_position, encode_position

# The row of key_move that has the progress.
PURPOSE, VERSION = "clear", 1


def pattern_of(clear: ClearFields) -> str:
    """Returns a regular expression that finds a field of these names at any depth of a JSON text. Quotation marks in
    values are escaped, so that it finds names only."""
    return f'"({"|".join(clear.names)})"\\s*:'


async def read_clear_window(
    connection: Connection, column: SealedColumn, clear: ClearFields, position: Position
) -> Window:
    """Reads the next rows of a table, in the order of what identifies them. Those with fields in clear are stale."""
    after = f"where (row_id, merchant_id) > ($2::{column.row_id_type}, $3::bigint)" if position else ""
    table = f"select {column.row_id}, merchant_id, {clear.column} from {column.table}"
    rows = await connection.fetch(
        f"select row_id, merchant_id, document::text ~ $1 from ({table}) t (row_id, merchant_id, document) {after}"
        f" order by row_id, merchant_id limit {key_moves.WINDOW}",
        pattern_of(clear),
        *decode_position(position),
    )
    stale = [StaleRow(merchant_id, row_id) for row_id, merchant_id, is_clear in rows if is_clear]
    return Window(stale, encode_position(rows[-1][:2]) if len(rows) == key_moves.WINDOW else [])


async def seal_rows(
    connection: Connection,
    column: SealedColumn,
    clear: ClearFields,
    merchant_id: int,
    row_ids: Sequence[bytes | int],
    vault: Vault,
) -> Rewritten:
    """Encrypts the fields in clear of a merchant's rows, in one transaction that holds the merchant's lock."""
    named = "".join(f", {name}" for name in column.named_by)
    done = Rewritten()
    async with connection.transaction():
        await connection.execute(LOCK_MERCHANT, merchant_id)
        rows = await connection.fetch(
            f"select {column.row_id}, {clear.column}::text, {column.column}{named} from {column.table}"
            f" where merchant_id = $1 and {column.row_id} = any($2::{column.row_id_type}[]) for update",
            merchant_id,
            list(row_ids),
        )
        changes: list[tuple[Any, str, bytes]] = []
        for row_id, text, sealed, *names in rows:
            document = msgspec.json.decode(text)
            found = clear.take(document)
            if not found:
                continue
            try:
                kept = merge_fields(open_fields(vault, merchant_id, column.place(*names), sealed), found)
            except UnsealError:
                key_moves.report_unreadable(column.name, merchant_id)
                done.unreadable += 1
                continue
            renewed = vault.seal(merchant_id, column.place(*names), msgspec.json.encode(kept), os.urandom(NONCE_BYTES))
            changes.append((row_id, msgspec.json.encode(document).decode(), renewed))
        await connection.execute(
            f"update {column.table} t set {clear.column} = u.document::json, {column.column} = u.sealed"
            f" from unnest($2::{column.row_id_type}[], $3::text[], $4::bytea[]) u (row_id, document, sealed)"
            f" where t.merchant_id = $1 and t.{column.row_id} = u.row_id",
            merchant_id,
            *([change[place] for change in changes] for place in range(3)),
        )
    done.rows = len(changes)
    return done


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
