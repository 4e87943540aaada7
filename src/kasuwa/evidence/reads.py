"""Reads what an auditor asks for: keys, users, decisions of two persons, retention, and every row as text.

Everything is read with cursors, so that memory is bounded whatever the size of the database. No query reads a key, a
password or a sealed value.
"""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import msgspec

from kasuwa.people.sessions import ABSOLUTE_TIMEOUT
from kasuwa.people.throttle import FAILURE_WINDOW
from kasuwa.rails.inbox.inbox_table import RETENTION
from kasuwa.rails.watch.records import KEPT_SHADOW_DAYS

PREFETCHED = 100
# Rows of evidence files have megabytes.
PREFETCHED_TEXTS = 10

RESTORE_TESTED = "tested a restore"

KEYS = """
    select 'api key' as kind, m.mid, k.key_id as number, k.name, k.scopes, k.addresses, k.created_by, k.created_at,
        k.expires_at, k.last_used_at, extract(day from now() - k.created_at)::int as age_days,
        k.expires_at is null or k.expires_at > now() as is_valid
    from merchant_key k join merchant m on m.merchant_id = k.merchant_id where m.current
    union all
    select 'signing secret', m.mid, s.secret_id, '', '{}', '{}', s.created_by, s.created_at, s.expires_at, null,
        extract(day from now() - s.created_at)::int, s.expires_at is null or s.expires_at > now()
    from signing_secret s join merchant m on m.merchant_id = s.merchant_id where m.current
    order by mid, kind, number
"""
ROOT_AGE = "select environment, created_at, extract(day from now() - created_at)::int as age_days from deployment"
CLOSE_KEYS = """
    select 'close key' as kind, encode(public_key, 'hex') as public_key, min(closed_at) as first_used_at,
        max(closed_at) as last_used_at, count(*) as closes
    from book_close group by public_key order by first_used_at, public_key
"""
USERS = """
    select u.email, u.mid, u.role, case when u.disabled_at is not null then 'off'
            when u.joined_at is not null and u.password is not null then 'active' else 'invited' end as state,
        u.totp_sealed is not null as has_second_factor, u.created_at, u.joined_at, u.disabled_at,
        p.email as made_by, u.approves_from, s.at as last_sign_in
    from console_user u left join console_user p on p.user_id = u.made_by
    left join (select actor, max(at) as at from audit_entry where action = 'signed in' or action like 'used a link%'
        group by actor) s on s.actor = u.email
    order by u.mid nulls first, u.email
"""
DECISIONS = """
    select 'operator' as by, a.kind, a.mid, a.approval_id::text as id, a.reason, a.proposed_at,
        coalesce(p.email, a.unproven_by) as maker,
        a.state, a.decided_at, concat_ws(' and ', f.email, d.email) as decided_by
    from approval a left join console_user p on p.user_id = a.proposed_by
    left join console_user d on d.user_id = a.decided_by left join console_user f on f.user_id = a.first_approved_by
    union all
    select 'merchant', 'transfer', m.mid, t.txn_ref, array_to_string(array(
            select json_array_elements_text(t.detail -> 'reasons')), '; '), t.created_at,
        coalesce(nullif(t.detail -> 'maker' ->> 4, ''), 'key ' || (t.detail -> 'maker' ->> 1)), t.state, t.decided_at,
        nullif(t.decided_by, '')
    from transfer_approval t join merchant m on m.merchant_id = t.merchant_id
    union all
    select 'merchant', 'loan_write_off', m.mid, w.loan_id, w.detail ->> 'reason', w.created_at,
        coalesce(nullif(w.detail -> 'maker' ->> 4, ''), 'key ' || (w.detail -> 'maker' ->> 1)), w.state, w.decided_at,
        nullif(w.decided_by, '')
    from loan_write_off w join merchant m on m.merchant_id = w.merchant_id
    order by proposed_at, id
"""
RESTORE_TESTS = """
    select at, actor, address, subject, after from audit_entry where merchant_id = 0 and action = $1 order by seq desc
"""
COUNT_ONE_PERSON = """
    select count(*) from approval
    where state = 'approved' and coalesce(proposed_by, first_approved_by, decided_by) = decided_by
"""
TABLES = """
    select c.table_name, array_agg(c.column_name::text order by c.ordinal_position),
        array_agg(c.data_type::text order by c.ordinal_position)
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = current_schema() and t.table_type = 'BASE TABLE' group by c.table_name order by c.table_name
"""


class RetentionRule(msgspec.Struct, frozen=True):
    """Rows that are deleted when they are old."""

    what: str
    table: str
    column: str
    kept_for: timedelta


RETENTION_RULES = (
    RetentionRule("replies under an Idempotency-Key", "idempotency_record", "expires_at", timedelta(0)),
    RetentionRule("marks of commits", "commit_mark", "at", timedelta(days=1)),
    RetentionRule("what decisions were made of", "decision_input", "written_at", timedelta(days=90)),
    RetentionRule("sessions of the console", "console_session", "created_at", ABSOLUTE_TIMEOUT),
    RetentionRule("failed sign-ins", "sign_in_throttle", "last_at", FAILURE_WINDOW),
    RetentionRule("announcements of rails that are settled", "rail_inbox", "done_at", RETENTION),
    RetentionRule("answers of rails in shadow mode", "rail_shadow", "day", timedelta(days=KEPT_SHADOW_DAYS)),
)
# Deleted when the next one is written or the worker comes by, so a row may be a day older than its rule says.
SLACK = timedelta(days=1)
AGES = """
    select count(*), min({column}::timestamptz), count(*) filter (where {column}::timestamptz < now() - $1::interval)
    from {table}
"""
KEPT = """
    select t.name, t.oldest from (
        select 'posting' as name, (select min(at) from posting where seq = 1) as oldest
        union all select 'event', (select min(at) from event where seq = 1)
        union all select 'audit_entry', (select min(at) from audit_entry where seq = 1)) t order by name
"""
ERASED = """
    select (select count(*) from client where erased_at is not null), (select max(erased_at) from client),
        (select count(*) from customer where erased_at is not null), (select max(erased_at) from customer)
"""


async def iterate_rows(connection: Any, query: str, *values: Any) -> AsyncIterator[dict[str, Any]]:
    """Yields the rows of a query. Call it in a transaction."""
    async for row in connection.cursor(query, *values, prefetch=PREFETCHED):
        yield dict(row)


async def read_retention(connection: Any) -> dict[str, Any]:
    """Returns how old the rows are that are deleted in time, the beginning of what is kept for good, and erasures."""
    rules = []
    for rule in RETENTION_RULES:
        query = AGES.format(table=rule.table, column=rule.column)
        rows, oldest, overdue = await connection.fetchrow(query, rule.kept_for + SLACK)
        hours = int(rule.kept_for.total_seconds() // 3600)
        rules.append(
            {"what": rule.what, "kept_for_hours": hours, "rows": rows, "oldest": oldest, "overdue_rows": overdue}
        )
    clients, last_client, customers, last_customer = await connection.fetchrow(ERASED)
    return {
        "deleted_in_time": rules,
        "kept_for_good": [{"what": name, "since": oldest} for name, oldest in await connection.fetch(KEPT)],
        "erased": {
            "clients": clients,
            "last_client_at": last_client,
            "customers": customers,
            "last_customer_at": last_customer,
        },
    }


def text_of_columns(columns: list[str], types: list[str]) -> str:
    """Returns an expression for a row as text: a line for each column. Printable bytes of binary columns are shown.

    There are more line ends between columns than separators within a card number, so that numbers of two columns, such
    as a count and a date, are not taken for one."""
    shown = [
        f"encode(t.\"{column}\", 'escape')" if kind == "bytea" else f't."{column}"::text'
        for column, kind in zip(columns, types, strict=True)
    ]
    return f"concat_ws(E'\\n\\n\\n\\n', {', '.join(shown)})"


async def iterate_texts(connection: Any, canary: str) -> AsyncIterator[tuple[str, str, str]]:
    """Yields each row of each table as text: the table, the row's place in it, and the text. The first two rows have
    the canary, as text and as bytes: they show that the search works. Call it in a transaction."""
    planted = f"(values ('{canary}'::text, '{canary}'::bytea)) t (text, bytes)"
    for column, kind in (("text", "text"), ("bytes", "bytea")):
        async for row in connection.cursor(f"select {text_of_columns([column], [kind])} from {planted}"):
            yield "canary", column, row[0]
    for table, columns, types in await connection.fetch(TABLES):
        query = f'select t.ctid::text, {text_of_columns(columns, types)} from "{table}" t'
        async for place, text in connection.cursor(query, prefetch=PREFETCHED_TEXTS):
            yield table, place, text


# The newest posting by the merchant's clock, which in live is the time at which it was written.
COUNT_POSTINGS = "select count(*), max(at) from posting"
