"""Rights of the database's logins: the application that serves, and the reader of lists and console pages.

The owner of the tables grants them, at the end of every migration. Everything here may be repeated, and changes nothing
the second time. docs/decisions/0060 has the reasons.

Row-level security is on for every table that has a merchant, with two policies:

    every_login       permissive: each login may do what it is granted
    reader_merchant   restrictive, for the reader: only rows of the merchant that its session has chosen

Where restrictive policies do not hold on every server (postgres/distribution), every_login is for the application
alone, and both are permissive.
"""

import asyncio
from collections.abc import Iterable

import asyncpg
import msgspec
import structlog

from kasuwa.postgres.connection_pool import Connection
from kasuwa.postgres.distribution.catalog import KEEPS_RESTRICTIVE_POLICIES
from kasuwa.postgres.merchant_rows import ALL_SETTING, MERCHANT_SETTING, READER_SCHEMA

# How long requests may queue behind a change of a table. Less than PostgreSQL's deadlock_timeout of 1 s: where the two
# wait for each other, the change gives up first.
LOCK_TIMEOUT = "500ms"
# Queued requests are served before the next try. All tries together take ten minutes.
PAUSE_SECONDS = 0.5
MAX_TRIES = 600

APPEND_ONLY_TABLES = (
    "posting",
    "event",
    "operator_notice",
    "audit_entry",
    "exchange_rate",
    "transfer_batch",
    "book_close",
    "book_close_head",
    "book_close_mark",
    "book_close_level",
    "delivery_attempt",
    "statement_import",
    "authority_policy",
    "loan_installment_version",
    "loan_schedule",
)
# The one column of some of them that changes. A code (core/row_codes.py) is made after the row, and anew when a key is
# replaced; a reason is erased with the client's personal data.
CHANGING_COLUMNS = {"exchange_rate": "row_code", "authority_policy": "row_code", "loan_schedule": "reason"}
# Tables that only migrations write.
OWNERS_TABLES = ("migration", "deployment")
# Tables that no page or list reads: secrets, and records of the service itself.
NOT_FOR_THE_READER = (
    "deployment",
    "console_session",
    "console_link",
    "console_device",
    "sign_in_throttle",
    "person_mail",
    "person_mail_off",
    "idempotency_record",
    "commit_mark",
    "advance_lease",
    "vendor_account",
    "vendor_account_alias",
    "data_key",
    "wrapped_key",
    "key_move",
    "api_process",
    "world",
    "world_part",
    "world_progress",
    "decision_input",
)
# Tables without a merchant that pages and lists read. Another one cannot be read by the reader until it is listed here.
SHARED_TABLES = (
    # The same for all merchants: catalogues, rates, and the closes that their proofs lead to.
    "bill_category",
    "bill_edition",
    "bill_refresh",
    "biller",
    "exchange_rate",
    "book_close",
    "book_close_level",
    "migration",
    # The cooling-off time, on the page of the payout policy.
    "authority_policy",
    # Lists that a user of the console saved.
    "console_list",
    # On the operator's pages: results of invariants, rails, and statements of banks.
    "account_listing",
    "rail_balance",
    "rail_health",
    "rail_inbox",
    "rail_listing",
    "rail_settlement",
    "rail_shadow",
    "rail_shadow_difference",
    "rail_timing",
    "statement_account",
    "statement_import",
    "invariant_result",
)

log = structlog.get_logger("kasuwa.migrate")


class Logins(msgspec.Struct, frozen=True):
    """The names of the logins, beside the owner's. Empty if the owner's login does their work too."""

    application: str = ""
    reader: str = ""


class LockNeverFree(Exception):
    """A table could not be locked. The text is its name."""


def quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# --- the application ------------------------------------------------------------------------------------------------


async def grant_application(connection: Connection, name: str) -> None:
    """Lets a role read and write all tables, and only append to those that are append-only."""
    role = quote_name(name)
    changing = "".join(f"grant update ({column}) on {table} to {role};" for table, column in CHANGING_COLUMNS.items())
    await connection.execute(
        f"grant usage on schema public to {role};"
        f"grant select, insert, update, delete on all tables in schema public to {role};"
        f"grant usage on all sequences in schema public to {role};"
        f"revoke update, delete, truncate on {', '.join(APPEND_ONLY_TABLES)} from {role};"
        f"{changing}"
        f"revoke insert, update, delete, truncate on {', '.join(OWNERS_TABLES)} from {role}"
    )


async def close_schema(connection: Connection) -> None:
    """Lets only the owner create tables. By default, PostgreSQL 14 and earlier let everybody."""
    try:
        async with connection.transaction():
            await connection.execute("revoke create on schema public from public")
    except asyncpg.InsufficientPrivilegeError:
        # The schema is another role's. `kasuwa doctor` tries whether the application can create a table.
        return


# --- row-level security ---------------------------------------------------------------------------------------------

# The merchant of a session as a number. NULL, which equals no merchant, if the session has not chosen one.
SESSION_MERCHANT = f"nullif(current_setting('{MERCHANT_SETTING}', true), '')::bigint"
SESSION_SEES_ALL = f"coalesce(current_setting('{ALL_SETTING}', true), '') = 'on'"
# A call of the function and not the operator: see the decision record.
OF_MERCHANT = f"(int8eq(merchant_id, {SESSION_MERCHANT}) or {SESSION_SEES_ALL})"
# Tables that name the merchant by its mid. The policy of the table `merchant` applies to the sub-select.
OF_MID = f"(mid in (select m.mid from public.merchant m) or {SESSION_SEES_ALL})"
# The same without a sub-select, where a policy may not have one.
OF_READER_MIDS = f"(mid = any(public.reader_mids()) or {SESSION_SEES_ALL})"

# Tables with a merchant: whether they have row-level security with every_login, the roles of reader_merchant, and
# whether an index is on an expression.
MERCHANT_TABLES = f"""
    select c.relname::text as name, a.attname::text as merchant_column,
        c.relrowsecurity and exists (
            select 1 from pg_policy p where p.polrelid = c.oid and p.polname = 'every_login'
                and (t.is_restrictive or 0 <> all (p.polroles))) as is_protected,
        (select array(select pg_get_userbyid(r)::text from unnest(p.polroles) r) from pg_policy p
            where p.polrelid = c.oid and p.polname = 'reader_merchant') as reader_names,
        a.attname = 'merchant_id' and exists (
            select 1 from pg_index i where i.indrelid = c.oid and i.indexprs is not null) as needs_view,
        t.is_restrictive
    from pg_class c cross join (select {KEEPS_RESTRICTIVE_POLICIES} as is_restrictive) t
    join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
        and (a.attname = 'merchant_id' or (a.attname = 'mid' and not exists (
            select 1 from pg_attribute o
            where o.attrelid = c.oid and o.attname = 'merchant_id' and not o.attisdropped)))
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
    order by name
"""


class MerchantTable(msgspec.Struct, frozen=True):
    """A table that has a merchant."""

    name: str
    merchant_column: str  # merchant_id or mid
    is_protected: bool  # whether it has row-level security
    reader_names: list[str] | None  # the roles of its policy reader_merchant, None if there is none
    needs_view: bool  # whether it has an index on an expression, which a policy would keep from being used
    is_restrictive: bool  # whether a restrictive policy holds wherever its rows are

    @property
    def condition(self) -> str:
        if self.merchant_column == "merchant_id":
            return OF_MERCHANT
        return OF_MID if self.is_restrictive else OF_READER_MIDS


async def list_merchant_tables(connection: Connection) -> list[MerchantTable]:
    return [MerchantTable(*row) for row in await connection.fetch(MERCHANT_TABLES)]


async def protect_tables(connection: Connection, logins: Logins) -> None:
    """Gives every table with a merchant its row-level security, one table at a time. Raises LockNeverFree."""
    for table in await list_merchant_tables(connection):
        statements = list_protection(table, logins)
        if statements:
            await change_table(connection, table.name, statements)


def list_protection(table: MerchantTable, logins: Logins) -> list[str]:
    """Returns the statements that a table still needs. Readers that were granted before keep their policy."""
    name, reader = quote_name(table.name), logins.reader
    everybody = "public" if table.is_restrictive or not logins.application else quote_name(logins.application)
    statements = []
    if not table.is_protected:
        statements = [
            f"drop policy if exists every_login on {name}",
            f"create policy every_login on {name} to {everybody} using (true) with check (true)",
            f"alter table {name} enable row level security",
        ]
    known = [role for role in table.reader_names or [] if role != "-"]
    is_made_anew = not table.is_restrictive and not table.is_protected and bool(known)
    if not is_made_anew and (not reader or reader in known):
        return statements
    roles = ", ".join(quote_name(role) for role in dict.fromkeys((*known, *filter(None, (reader,)))))
    kind = "as restrictive " if table.is_restrictive else ""
    return [
        *statements,
        f"drop policy if exists reader_merchant on {name}",
        f"create policy reader_merchant on {name} {kind}for select to {roles} using {table.condition}",
    ]


async def change_table(connection: Connection, name: str, statements: Iterable[str]) -> None:
    """Runs statements that lock a table, in one transaction. Gives way to requests that use it and tries again."""
    for number in range(MAX_TRIES):
        try:
            async with connection.transaction():
                # One by one: a layout may hand a statement on with all that was sent with it.
                for statement in (f"set local lock_timeout = '{LOCK_TIMEOUT}'", *statements):
                    await connection.execute(statement)
            return
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
            log.info("a change of a table gives way", table=name, tries=number + 1)
        await asyncio.sleep(PAUSE_SECONDS)
    raise LockNeverFree(name)


# --- the reader -----------------------------------------------------------------------------------------------------

VIEW_COLUMNS = """
    select coalesce(array_agg(a.attname::text order by a.attnum), '{}') from pg_attribute a
    where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped
"""


async def grant_reader(connection: Connection, name: str) -> None:
    """Lets a role read the tables that pages and lists read. Call protect_tables before."""
    role = quote_name(name)
    of_merchants = [table.name for table in await list_merchant_tables(connection)]
    names = [table for table in (*of_merchants, *SHARED_TABLES) if table not in NOT_FOR_THE_READER]
    readable = ", ".join(f"public.{quote_name(table)}" for table in names)
    async with connection.transaction():
        await connection.execute(
            f"grant usage on schema public to {role};"
            f"revoke all on all tables in schema public from {role};"
            f"revoke all on all sequences in schema public from {role};"
            f"grant select on {readable} to {role}"
        )
        await connection.execute(f"create schema if not exists {READER_SCHEMA}")
        for table in await list_merchant_tables(connection):
            if table.needs_view:
                await make_view(connection, table)
        await connection.execute(
            f"grant usage on schema {READER_SCHEMA} to {role};"
            f"grant select on all tables in schema {READER_SCHEMA} to {role}"
        )


PUBLIC_TABLES = "relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by relname"


async def make_view(connection: Connection, table: MerchantTable) -> None:
    """Creates the reader's view of a table, or adds the columns that the table has got since."""
    view, source = f"{READER_SCHEMA}.{quote_name(table.name)}", f"public.{quote_name(table.name)}"
    has = await connection.fetchval(VIEW_COLUMNS, view)
    wanted = await connection.fetchval(VIEW_COLUMNS, source)
    if has == wanted:
        return
    columns = ", ".join(quote_name(column) for column in (*has, *(name for name in wanted if name not in has)))
    await connection.execute(f"create or replace view {view} as select {columns} from {source} where {table.condition}")


# --- all of it ------------------------------------------------------------------------------------------------------


async def grant_rights(connection: Connection, logins: Logins) -> None:
    """Grants the logins their rights, as the owner of the tables. Raises LockNeverFree."""
    await close_schema(connection)
    if logins.application:
        async with connection.transaction():
            await grant_application(connection, logins.application)
    await protect_tables(connection, logins)
    if logins.reader:
        await grant_reader(connection, logins.reader)


IS_OWNER = """
    select coalesce((select pg_has_role(c.relowner, 'member') from pg_class c
        where c.oid = to_regclass('public.migration')), true)
"""


async def is_owner(connection: Connection) -> bool:
    """Tells whether a login owns the tables, or may own them because there are none yet."""
    return bool(await connection.fetchval(IS_OWNER))


CAN_READ = f"""
    select exists (
        select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = '{READER_SCHEMA}' and c.relname = 'posting') and exists (
        select 1 from pg_policy p, unnest(p.polroles) r
        where p.polrelid = to_regclass('public.merchant') and p.polname = 'reader_merchant'
            and pg_get_userbyid(r) = $1)
"""


async def can_read(connection: Connection, name: str) -> bool:
    """Tells whether a login was granted what the reader needs."""
    return bool(await connection.fetchval(CAN_READ, name))


# --- the embedded database ------------------------------------------------------------------------------------------

OWNER_LOGIN, APPLICATION_LOGIN, READER_LOGIN = "kasuwa", "kasuwa_application", "kasuwa_reader"


async def create_embedded_logins(connection: Connection) -> None:
    """Creates the logins of an embedded database that it lacks, as the superuser."""
    for name in (APPLICATION_LOGIN, READER_LOGIN):
        can_log_in = await connection.fetchval("select rolcanlogin from pg_roles where rolname = $1", name)
        try:
            if can_log_in is None:
                await connection.execute(f"create role {name} login")
            elif not can_log_in:
                await connection.execute(f"alter role {name} login")
        except (asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError, asyncpg.InternalServerError):
            # Another process has just done the same.
            continue
