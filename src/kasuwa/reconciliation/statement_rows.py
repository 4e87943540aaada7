"""Stores statements of banks and rails. A file is staged, matched and stored in one transaction (see importing.py).

The staged lines are in temporary tables, and every step is one statement over all of them, so that neither memory nor
round trips grow with the file.
"""

from collections.abc import AsyncIterator
from datetime import date, datetime
from typing import Any

import msgspec

from kasuwa.postgres.connection_pool import Connection

# Temporary tables are sorted and joined in memory up to this size.
PREPARE = "set local work_mem = '128MB'; set local jit = off"
LOCK_ACCOUNT = """
    insert into statement_account (name) values ($1)
    on conflict (name) do update set name = excluded.name
    returning account_id, mapping::text, bank_account
"""
FIND_IMPORT = "select import_id, imported_at from statement_import where account_id = $1 and content_hash = $2"
SET_MAPPING = "update statement_account set mapping = $2 where account_id = $1"
SET_BANK_ACCOUNT = "update statement_account set bank_account = $2 where account_id = $1"
CREATE_STAGED = """
    create temporary table staged (
        number bigint, booked_on date, amount bigint, fee bigint, digest bytea, merchant_id bigint,
        txn_ref text collate "C", bank_reference text collate "C", description text collate "C"
    ) on commit drop
"""
STAGED_COLUMNS = (
    "number",
    "booked_on",
    "amount",
    "fee",
    "digest",
    "merchant_id",
    "txn_ref",
    "bank_reference",
    "description",
)
# Lines that are known from another file are left out: of equal lines, the first of a file is the first of another.
CREATE_OPEN_LINES = """
    create temporary table open_line on commit drop as
    select nextval(pg_get_serial_sequence('statement_line', 'line_id')) as line_id, true as is_new, n.*
    from (
        select s.*, row_number() over (partition by s.digest order by s.number) as occurrence from staged s
        order by s.number) n
    where not exists (
        select 1 from statement_line l
        where l.account_id = {account_id} and l.digest = n.digest and l.occurrence = n.occurrence)
"""
COUNT_STAGED = "select count(*), min(booked_on), max(booked_on) from staged"
COUNT_NEW = "select count(*), min(booked_on), max(booked_on) from open_line"
INSERT_IMPORT = """
    insert into statement_import (account_id, content_hash, format, file_name, line_count, new_count, first_day,
        last_day, opening, closing, imported_by)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning import_id
"""
INSERT_LINES = """
    insert into statement_line (account_id, line_id, import_id, number, booked_on, amount, fee, digest, occurrence,
        merchant_id, txn_ref, bank_reference, description, match_id, rule, difference)
    select $1, l.line_id, $2, l.number, l.booked_on, l.amount, l.fee, l.digest, l.occurrence, l.merchant_id, l.txn_ref,
        l.bank_reference, l.description, m.match_id, coalesce(m.rule, ''), coalesce(m.difference, 0)
    from open_line l left join line_match m on m.line_id = l.line_id where l.is_new
"""
UPDATE_LINES = """
    update statement_line s set match_id = m.match_id, rule = m.rule, difference = m.difference, fee = l.fee,
        merchant_id = l.merchant_id, txn_ref = l.txn_ref
    from open_line l join line_match m on m.line_id = l.line_id
    where not l.is_new and s.account_id = $1 and s.line_id = l.line_id
"""
INSERT_ENTRIES = """
    insert into reconciled_entry (account_id, merchant_id, group_seq, match_id, amount)
    select $1, merchant_id, group_seq, match_id, amount from entry_match
"""
CLEAR_DESCRIPTIONS = """
    with cleared as (
        update statement_line set description = ''
        where booked_on < $1 and description <> '' and match_id is not null and difference = 0 returning 1)
    select count(*) from cleared
"""
RELEASE_MATCH = """
    with freed as (delete from reconciled_entry where account_id = $1 and match_id = $2)
    update statement_line set match_id = null, rule = 'released', difference = 0 where account_id = $1 and match_id = $2
"""


class KnownAccount(msgspec.Struct, frozen=True):
    """An account that is reconciled, as it is stored."""

    account_id: int
    mapping: str | None  # JSON
    bank_account: str


class EarlierImport(msgspec.Struct, frozen=True):
    import_id: int
    imported_at: datetime


class Period(msgspec.Struct, frozen=True):
    """A number of lines, and their first and last day."""

    count: int
    first_day: date | None
    last_day: date | None


class NewImport(msgspec.Struct, frozen=True, kw_only=True):
    """A row of statement_import."""

    content_hash: bytes
    format: str
    file_name: str
    line_count: int
    new_count: int
    first_day: date | None
    last_day: date | None
    opening: int | None
    closing: int | None
    imported_by: str


async def lock_account(connection: Connection, name: str) -> KnownAccount:
    """Returns an account, which is added if it is new. Its row is locked: an account has one import at a time."""
    await connection.execute(PREPARE)
    record = await connection.fetchrow(LOCK_ACCOUNT, name)
    assert record is not None
    return KnownAccount(*record)


async def find_account(connection: Connection, name: str) -> KnownAccount | None:
    query = "select account_id, mapping::text, bank_account from statement_account where name = $1"
    record = await connection.fetchrow(query, name)
    return None if record is None else KnownAccount(*record)


async def find_import(connection: Connection, account_id: int, content_hash: bytes) -> EarlierImport | None:
    record = await connection.fetchrow(FIND_IMPORT, account_id, content_hash)
    return None if record is None else EarlierImport(*record)


async def set_mapping(connection: Connection, account_id: int, mapping: str) -> None:
    await connection.execute(SET_MAPPING, account_id, mapping)


async def set_bank_account(connection: Connection, account_id: int, bank_account: str) -> None:
    await connection.execute(SET_BANK_ACCOUNT, account_id, bank_account)


async def stage_lines(connection: Connection, records: AsyncIterator[tuple[Any, ...]]) -> Period:
    """Copies all lines of a file into the temporary table `staged`."""
    await connection.execute(CREATE_STAGED)
    await connection.copy_records_to_table("staged", records=records, columns=STAGED_COLUMNS)
    await connection.execute("analyze staged")
    return Period(*await connection.fetchrow(COUNT_STAGED))  # type: ignore[misc]


async def select_new_lines(connection: Connection, account_id: int) -> Period:
    """Puts the staged lines that no earlier file had into the temporary table `open_line`."""
    # Utility statements take no parameters; account_id is an integer of ours.
    await connection.execute(CREATE_OPEN_LINES.format(account_id=int(account_id)))
    return Period(*await connection.fetchrow(COUNT_NEW))  # type: ignore[misc]


async def insert_import(connection: Connection, account_id: int, statement: NewImport) -> int:
    values = (statement.content_hash, statement.format, statement.file_name, statement.line_count, statement.new_count)
    days = (statement.first_day, statement.last_day, statement.opening, statement.closing, statement.imported_by)
    number = await connection.fetchval(INSERT_IMPORT, account_id, *values, *days)
    assert isinstance(number, int)
    return number


async def store_matches(connection: Connection, account_id: int, import_id: int) -> None:
    """Stores the new lines and all matches that were found in this transaction."""
    await connection.execute(INSERT_LINES, account_id, import_id)
    await connection.execute(UPDATE_LINES, account_id)
    await connection.execute(INSERT_ENTRIES, account_id)


async def release_match(connection: Connection, account_id: int, match_id: int) -> None:
    """Undoes a match. Its entries may be matched by other lines, its own lines only by a person."""
    await connection.execute(RELEASE_MATCH, account_id, match_id)


async def clear_descriptions(connection: Connection, before: date) -> int:
    """Empties the descriptions of matched lines before a day. Returns how many."""
    count = await connection.fetchval(CLEAR_DESCRIPTIONS, before)
    assert isinstance(count, int)
    return count
