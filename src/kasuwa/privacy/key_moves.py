"""Finds and counts ciphertexts by the version of their key, and encrypts those of older keys anew.

Tables are read in windows, in the order of what identifies their rows. Rows of one merchant are rewritten in one short
transaction that holds the merchant's lock and raises its version, so that writers drop the rows they have in memory.
"""

import os
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any

import msgspec
import structlog

from kasuwa.core.decision import Job
from kasuwa.core.keyring import HEADER_BYTES, HEADER_MARK, UnsealError
from kasuwa.core.row_codes import OPERATOR_ID
from kasuwa.core.vault import NONCE_BYTES, Vault
from kasuwa.postgres.columns import describe_columns
from kasuwa.postgres.connection_pool import Connection
from kasuwa.postgres.row_codes import check_row, code_rows
from kasuwa.privacy.sealed_places import SealedColumn, SealedJobField, SealedPlaces

# Rows that are looked at by one query, and those that one transaction rewrites.
WINDOW = 500
REWRITTEN_AT_ONCE = 100

LOCK_MERCHANT = "update merchant_state set version = version + 1 where merchant_id = $1"

log = structlog.get_logger("kasuwa.keys")

Position = list[int | str]  # the primary key of a row; bytes are in hexadecimal


class StaleRow(msgspec.Struct, frozen=True):
    """A row whose ciphertext is not of its merchant's active version."""

    merchant_id: int
    row_id: bytes | int


class Window(msgspec.Struct, frozen=True):
    """The result of one query, and where the next one begins. `position` is empty after the last row of a table."""

    stale: list[StaleRow]
    position: Position


class Rewritten(msgspec.Struct):
    """The number of rows that were encrypted anew, and of those that could not be decrypted."""

    rows: int = 0
    unreadable: int = 0

    def add(self, other: "Rewritten") -> None:
        self.rows += other.rows
        self.unreadable += other.unreadable


# --- columns ----------------------------------------------------------------------------------------------------------


def format_heads_query(column: SealedColumn) -> str:
    """Returns a query for what identifies each row, its merchant, and the first bytes of its ciphertext."""
    merchant = "merchant_id" if column.is_of_merchant else f"{OPERATOR_ID}::bigint"
    head = f"substring({column.ciphertext_sql} from 1 for {HEADER_BYTES})"
    return f"select {column.row_id}, {merchant}, {head} from {column.table}"


def encode_position(values: Sequence[Any]) -> Position:
    return [value if isinstance(value, int) else bytes(value).hex() for value in values]


def decode_position(position: Position) -> list[bytes | int]:
    return [bytes.fromhex(value) if isinstance(value, str) else value for value in position]


async def read_window(connection: Connection, column: SealedColumn, position: Position, vault: Vault) -> Window:
    """Reads the next rows of a table, in the order of what identifies them."""
    after = f"where (row_id, merchant_id) > ($1::{column.row_id_type}, $2::bigint)" if position else ""
    rows = await connection.fetch(
        f"select row_id, merchant_id, head from ({format_heads_query(column)}) t (row_id, merchant_id, head) {after}"
        f" order by row_id, merchant_id limit {WINDOW}",
        *decode_position(position),
    )
    stale = [
        StaleRow(merchant_id, row_id)
        for row_id, merchant_id, head in rows
        if head and not vault.keyring.is_current(merchant_id, bytes(head))
    ]
    return Window(stale, encode_position(rows[-1][:2]) if len(rows) == WINDOW else [])


async def rewrite_rows(
    connection: Connection, column: SealedColumn, merchant_id: int, row_ids: Sequence[bytes | int], vault: Vault
) -> Rewritten:
    """Encrypts rows of a merchant anew, in one transaction."""
    of_merchant = f"merchant_id = {merchant_id:d}" if column.is_of_merchant else "true"
    named = "".join(f", {name}" for name in column.named_by)
    done = Rewritten()
    async with connection.transaction():
        if column.is_cached:
            await connection.execute(LOCK_MERCHANT, merchant_id)
        rows = await connection.fetch(
            f"select {column.row_id}, {column.ciphertext_sql}{named} from {column.table}"
            f" where {of_merchant} and {column.row_id} = any($1::{column.row_id_type}[]) for update",
            list(row_ids),
        )
        changes: list[tuple[Any, bytes, bytes]] = []
        for row_id, sealed, *names in rows:
            if not sealed or vault.keyring.is_current(merchant_id, sealed):
                continue
            renewed = renew(vault, merchant_id, column.place(*names), sealed)
            if renewed is None:
                done.unreadable += 1
            else:
                changes.append((row_id, bytes(sealed), renewed))
        await store_renewed(connection, column, of_merchant, changes)
    done.rows = len(changes)
    return done


async def store_renewed(
    connection: Connection, column: SealedColumn, of_merchant: str, changes: Sequence[tuple[Any, bytes, bytes]]
) -> None:
    """Writes the new ciphertexts of rows: the id of each, its ciphertext as it was, and the new one."""
    row_ids, olds, news = [row[0] for row in changes], [row[1] for row in changes], [row[2] for row in changes]
    if column.json_field:
        await connection.execute(
            f"update {column.table} t set {column.column} = replace(t.{column.column}::text, u.old, u.new)::json"
            f" from unnest($1::{column.row_id_type}[], $2::text[], $3::text[]) u (row_id, old, new)"
            f" where {of_merchant} and t.{column.row_id} = u.row_id",
            row_ids,
            [b64encode(old).decode() for old in olds],
            [b64encode(new).decode() for new in news],
        )
        return
    await connection.execute(
        f"update {column.table} t set {column.column} = u.sealed"
        f" from unnest($1::{column.row_id_type}[], $2::bytea[]) u (row_id, sealed)"
        f" where {of_merchant} and t.{column.row_id} = u.row_id",
        row_ids,
        news,
    )


def renew(vault: Vault, merchant_id: int, place: str, sealed: bytes) -> bytes | None:
    """Returns a ciphertext of the active version, or None if no key opens the given one."""
    try:
        plain = vault.unseal(merchant_id, place, bytes(sealed))
    except UnsealError:
        report_unreadable(place.partition(" ")[0], merchant_id)
        return None
    return vault.seal(merchant_id, place, plain, os.urandom(NONCE_BYTES))


def report_unreadable(column: str, merchant_id: int) -> None:
    log.error("a ciphertext cannot be decrypted", place=column, merchant_id=merchant_id)


# --- jobs -------------------------------------------------------------------------------------------------------------

JOBS = """
    select key, merchant_id, work::text from scheduled_job where work ->> $1 <> '' and key > $2 order by key limit $3
"""
LOCKED_JOB = f"""
    select reference, subject, work::text, {", ".join(describe_columns(Job).names)} from scheduled_job
    where merchant_id = $1 and key = $2 for update
"""
UPDATE_JOB = "update scheduled_job set work = $3::text::json, row_code = $4 where merchant_id = $1 and key = $2"


async def read_job_window(connection: Connection, field: SealedJobField, position: Position, vault: Vault) -> Window:
    after = bytes.fromhex(str(position[0])) if position else b""
    rows = await connection.fetch(JOBS, field.field, after, WINDOW)
    stale = [
        StaleRow(merchant_id, bytes(key))
        for key, merchant_id, work in rows
        if not vault.keyring.is_current(merchant_id, b64decode(msgspec.json.decode(work)[field.field]))
    ]
    return Window(stale, encode_position(rows[-1][:1]) if len(rows) == WINDOW else [])


async def rewrite_jobs(
    connection: Connection, field: SealedJobField, merchant_id: int, keys: Sequence[bytes | int], vault: Vault
) -> Rewritten:
    """Encrypts the field of jobs anew, in one transaction. A job that has ended meanwhile is left out."""
    done = Rewritten()
    async with connection.transaction():
        await connection.execute(LOCK_MERCHANT, merchant_id)
        for key in keys:
            row = await connection.fetchrow(LOCKED_JOB, merchant_id, key)
            if row is None:
                continue
            job = Job(*row[3:])
            if not check_row(vault, job):
                done.unreadable += 1
                continue
            encoded = msgspec.json.decode(row[2]).get(field.field, "")
            if not encoded or vault.keyring.is_current(merchant_id, b64decode(encoded)):
                continue
            place = field.place(row[0], bytes(row[1] or b""), msgspec.json.decode(row[2]))
            renewed = renew(vault, merchant_id, place, b64decode(encoded))
            if renewed is None:
                done.unreadable += 1
                continue
            job.work = row[2].replace(encoded, b64encode(renewed).decode())
            code_rows(vault, Job, [job])
            await connection.execute(UPDATE_JOB, merchant_id, key, job.work, job.row_code)
            done.rows += 1
    return done


# --- progress ---------------------------------------------------------------------------------------------------------


class Progress(msgspec.Struct):
    """The place that the rewriting for a version has come to."""

    place: str  # the name of a column or field; empty before the first one
    position: Position
    in_pass: Rewritten


SELECT_PROGRESS = """
    select place, position::text, rewritten_in_pass, unreadable_in_pass from key_move
    where purpose = $1 and version = $2
"""
SAVE_PROGRESS = """
    update key_move set place = $3, position = $4::text::json, rewritten = rewritten + $5,
        rewritten_in_pass = rewritten_in_pass + $5, unreadable_in_pass = unreadable_in_pass + $6
    where purpose = $1 and version = $2
"""
END_PASS = """
    update key_move set place = '', position = '[]', unreadable = unreadable_in_pass, rewritten_in_pass = 0,
        unreadable_in_pass = 0
    where purpose = $1 and version = $2
"""


async def read_progress(connection: Connection, purpose: str, version: int) -> Progress:
    [(place, position, rows, unreadable)] = await connection.fetch(SELECT_PROGRESS, purpose, version)
    return Progress(place, msgspec.json.decode(position, type=Position), Rewritten(rows, unreadable))


async def save_progress(
    connection: Connection, purpose: str, version: int, place: str, position: Position, done: Rewritten
) -> None:
    encoded = msgspec.json.encode(position).decode()
    await connection.execute(SAVE_PROGRESS, purpose, version, place, encoded, done.rows, done.unreadable)


async def end_pass(connection: Connection, purpose: str, version: int) -> None:
    await connection.execute(END_PASS, purpose, version)


# --- counting ---------------------------------------------------------------------------------------------------------

VERSION_OF = f"""
    case when substring(c from 1 for {len(HEADER_MARK)}) = '\\x{HEADER_MARK.hex()}'::bytea
    then ('x' || encode(substring(c from {len(HEADER_MARK) + 1} for 4), 'hex'))::bit(32)::int else 1 end
"""


async def count_ciphertexts(connection: Connection, places: SealedPlaces) -> dict[int, int]:
    """Returns how many ciphertexts and codes of rows have each version. Reads all tables that have some."""
    sources = [f"select {column.ciphertext_sql} as c from {column.table}" for column in places.columns]
    sources += [f"select row_code from {table.table}" for table in places.coded_tables]
    sources += [f"select decode(work ->> '{field.field}', 'base64') from scheduled_job" for field in places.job_fields]
    counted: dict[int, int] = {}
    for source in sources:
        query = f"select {VERSION_OF}, count(*) from ({source}) t (c) where length(c) > 0 group by 1"
        for version, count in await connection.fetch(query):
            counted[version] = counted.get(version, 0) + count
    return counted
