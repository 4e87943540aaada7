"""Tries what each login of the database must not be able to do. Changes nothing.

Statements are tried with EXPLAIN, which checks the rights of the login and executes nothing. What cannot be explained
is tried in a transaction that is rolled back. PostgreSQL checks rights before it waits for a lock.
"""

import contextlib

import asyncpg

from kasuwa.postgres.connection_pool import Connection
from kasuwa.postgres.logins import (
    APPEND_ONLY_TABLES,
    LOCK_TIMEOUT,
    NOT_FOR_THE_READER,
    OWNERS_TABLES,
    PUBLIC_TABLES,
    list_merchant_tables,
    quote_name,
)
from kasuwa.postgres.merchant_rows import ALL_MERCHANTS, READER_SCHEMA, choose_for_transaction

OWNER = """
    select pg_get_userbyid(c.relowner)::text as name, r.rolsuper as is_superuser
    from pg_class c join pg_roles r on r.oid = c.relowner where c.oid = 'public.posting'::regclass
"""
# A column that an UPDATE may name.
PLAIN_COLUMN = """
    select attname::text from pg_attribute where attrelid = to_regclass('public.' || quote_ident($1)) and attnum > 0
        and not attisdropped and attidentity = '' and attgenerated = '' order by attnum limit 1
"""
# Needs the right to UPDATE, DELETE or TRUNCATE. TRUNCATE itself would lock out requests.
LOCK_LIKE_TRUNCATE = "lock table public.{} in share row exclusive mode nowait"
# The first pages of a table are enough: rows of all merchants are mixed.
FIRST_PAGES = "ctid < '(8,0)'"
# A search through a large view that finds nothing ends after this time.
SEARCH_TIMEOUT = "2s"


async def is_refused(connection: Connection, statement: str) -> bool:
    """Tells whether a login lacks the right to a statement, which must be one that may be executed."""
    try:
        await connection.execute(statement)
    except asyncpg.InsufficientPrivilegeError:
        return True
    except asyncpg.PostgresError:
        return False
    return False


async def is_refused_and_undone(connection: Connection, statement: str) -> bool:
    """Tells whether a login lacks the right to a statement. What it does is undone."""
    attempt = connection.transaction()
    await attempt.start()
    try:
        await connection.execute(f"set local lock_timeout = '{LOCK_TIMEOUT}'")
        return await is_refused(connection, statement)
    finally:
        await attempt.rollback()


async def find_allowed_writes(connection: Connection, table: str, verbs: tuple[str, ...]) -> list[str]:
    """Returns those of insert, update and delete that a login may do to a table."""
    name = f"public.{quote_name(table)}"
    column = quote_name(await connection.fetchval(PLAIN_COLUMN, table))
    statements = {
        "insert": f"explain insert into {name} default values",
        "update": f"explain update {name} set {column} = {column}",
        "delete": f"explain delete from {name}",
    }
    return [f"{verb} {table}" for verb in verbs if not await is_refused(connection, statements[verb])]


async def find_owner(connection: Connection) -> tuple[str, bool]:
    """Returns the owner of the tables, and whether it is a superuser."""
    row = await connection.fetchrow(OWNER)
    assert row is not None, "there is a schema"
    return row["name"], row["is_superuser"]


async def find_application_powers(connection: Connection) -> list[str]:
    """Returns what the application's login can do and must not."""
    owner, _ = await find_owner(connection)
    tried = {
        "create a table": "create table public.kasuwa_probe ()",
        "create a schema": "create schema kasuwa_probe",
        # In PostgreSQL 15, a login that creates roles can also become any that is not a superuser.
        "create a role": "create role kasuwa_probe",
        "become the owner": f"set local role {quote_name(owner)}",
        **{f"alter {table}": f"alter table public.{table} disable trigger user" for table in APPEND_ONLY_TABLES},
    }
    powers = [power for power, statement in tried.items() if not await is_refused_and_undone(connection, statement)]
    for table in APPEND_ONLY_TABLES:
        writes = await find_allowed_writes(connection, table, ("update", "delete"))
        if not writes and not await is_refused_and_undone(connection, LOCK_LIKE_TRUNCATE.format(table)):
            writes = [f"truncate {table}"]
        powers += writes
    for table in OWNERS_TABLES:
        powers += await find_allowed_writes(connection, table, ("insert", "update", "delete"))
    return powers


async def find_reader_powers(connection: Connection) -> list[str]:
    """Returns what the reader's login can do and must not. The connection must be new: it has chosen no merchant."""
    powers = await find_application_powers(connection)
    tables = await connection.fetch("select relname::text from pg_class where " + PUBLIC_TABLES)
    for (table,) in tables:
        if table not in (*APPEND_ONLY_TABLES, *OWNERS_TABLES):
            powers += await find_allowed_writes(connection, table, ("insert", "update", "delete"))
        elif table in APPEND_ONLY_TABLES:
            powers += await find_allowed_writes(connection, table, ("insert",))
    for table in NOT_FOR_THE_READER:
        if not await is_refused(connection, f"explain select * from public.{quote_name(table)}"):
            powers.append(f"read {table}")
    return [*powers, *await find_visible_rows(connection)]


async def find_visible_rows(connection: Connection) -> list[str]:
    """Returns where the reader sees rows that row-level security should hide."""
    powers = []
    for table in await list_merchant_tables(connection):
        if table.name in NOT_FOR_THE_READER:
            continue
        name = f"public.{quote_name(table.name)}"
        is_active = await connection.fetchval("select row_security_active($1)", name)
        shown = await connection.fetchval(f"select exists (select 1 from {name} where {FIRST_PAGES})")
        if shown or not is_active:
            powers.append(f"see rows of {table.name} without a merchant")
        if table.needs_view and await shows_rows(connection, f"{READER_SCHEMA}.{quote_name(table.name)}"):
            powers.append(f"see rows of {READER_SCHEMA}.{table.name} without a merchant")
    return [*powers, *await find_foreign_merchant(connection)]


async def shows_rows(connection: Connection, view: str) -> bool:
    async with connection.transaction():
        await connection.execute(f"set local statement_timeout = '{SEARCH_TIMEOUT}'")
        with contextlib.suppress(asyncpg.QueryCanceledError):
            async with connection.transaction():
                return bool(await connection.fetchval(f"select exists (select 1 from {view})"))
    return False


async def find_foreign_merchant(connection: Connection) -> list[str]:
    """Chooses a merchant and looks for others."""
    async with connection.transaction(readonly=True):
        await choose_for_transaction(connection, ALL_MERCHANTS)
        merchant_id = await connection.fetchval("select min(merchant_id) from public.merchant")
        if merchant_id is None:
            return []
        await choose_for_transaction(connection, merchant_id)
        merchant_ids = await connection.fetchval("select array_agg(merchant_id) from public.merchant")
    return [] if merchant_ids == [merchant_id] else ["see another merchant than the one it chose"]
