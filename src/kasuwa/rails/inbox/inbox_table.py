"""The inbox of what rails announce: money that came in, disputes and settlements, each to be fetched and recorded.

An entry is written before the call-back is answered, so that nothing announced is lost. A process that works on one
holds a lease on it (`due_at` in the future): if it dies, the entry is due again. Times are the database's.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import msgspec

from kasuwa.postgres.connection_pool import Connection, Pool

LEASE = timedelta(seconds=60)
# Entries that are done are kept for this long, so that a repeated call-back changes nothing.
RETENTION = timedelta(days=30)
# Notices of the operator's own, which belong to no merchant.
NO_MERCHANT = 0

# A receipt that is done stays done. Disputes and settlements change, so each call-back makes them due again.
ANNOUNCE = """
    insert into rail_inbox (rail, kind, reference) values ($1, $2, $3)
    on conflict (rail, kind, reference) do update
    set due_at = now(), done_at = case when excluded.kind = 'receipt' then rail_inbox.done_at end
"""
ADD_LISTED = """
    insert into rail_inbox (rail, kind, reference)
    select $1, 'receipt', x.reference from unnest($2::text[]) x(reference)
    where not exists (select 1 from inbound_receipt r where r.rail = $1 and r.rail_reference = x.reference)
    on conflict (rail, kind, reference) do nothing
    returning reference
"""
CLAIM = """
    update rail_inbox i set due_at = now() + $2::interval, attempts = i.attempts + 1
    from (
        select d.rail, d.kind, d.reference from rail_inbox d
        where d.done_at is null and d.due_at <= now() and d.rail = any($1)
        order by d.due_at, d.seq limit $3 for update skip locked) due
    where i.rail = due.rail and i.kind = due.kind and i.reference = due.reference
    returning i.rail, i.kind, i.reference, i.attempts, i.outcome
"""
FINISH = """
    update rail_inbox set done_at = now(), outcome = $4, detail = $5::json
    where rail = $1 and kind = $2 and reference = $3
"""
POSTPONE = """
    update rail_inbox set due_at = now() + $4::interval, outcome = $5, detail = coalesce($6::json, detail)
    where rail = $1 and kind = $2 and reference = $3 and done_at is null
"""
DELETE_OLD = "delete from rail_inbox where done_at < now() - $1::interval"
ADD_NOTICE = """
    insert into operator_notice (merchant_id, reference, message, at)
    select $1::bigint, $2::text, $3::text, now()
    where not exists (select 1 from operator_notice n
        where n.merchant_id = $1 and n.reference = $2 and n.message = $3)
    returning 1
"""
UNCLAIMED = "unclaimed"
SELECT_UNCLAIMED = """
    select rail, reference, detail, arrived_at from rail_inbox
    where kind = 'receipt' and outcome = 'unclaimed' and done_at is null order by arrived_at, seq limit $1
"""
COUNT_UNCLAIMED = "select count(*) from rail_inbox where outcome = 'unclaimed' and done_at is null"


class InboxEntry(msgspec.Struct, frozen=True):
    """An entry that was claimed, for the `attempts`-th time."""

    rail: str
    kind: str
    reference: str
    attempts: int
    outcome: str  # of the attempt before; empty for the first


async def announce(connection: Connection, rail: str, kind: str, reference: str) -> None:
    await connection.execute(ANNOUNCE, rail, kind, reference)


async def add_listed(pool: Pool, rail: str, references: Sequence[str]) -> list[str]:
    """Adds receipts that a rail lists. Returns those that nobody had announced."""
    return [record[0] for record in await pool.fetch(ADD_LISTED, rail, list(references))]


async def claim(pool: Pool, rails: Sequence[str], most: int) -> list[InboxEntry]:
    return [InboxEntry(*record) for record in await pool.fetch(CLAIM, list(rails), LEASE, most)]


async def finish(pool: Pool, entry: InboxEntry, outcome: str, detail: Any = None) -> None:
    await pool.execute(FINISH, entry.rail, entry.kind, entry.reference, outcome, encode_detail(detail or {}))


async def postpone(pool: Pool, entry: InboxEntry, delay: timedelta, outcome: str, detail: Any = None) -> None:
    text = None if detail is None else encode_detail(detail)
    await pool.execute(POSTPONE, entry.rail, entry.kind, entry.reference, delay, outcome, text)


async def delete_old(pool: Pool) -> None:
    await pool.execute(DELETE_OLD, RETENTION)


async def add_notice(pool: Pool, reference: str, message: str, merchant_id: int = NO_MERCHANT) -> None:
    """Adds an operator notice, once with the same text."""
    await pool.execute(ADD_NOTICE, merchant_id, reference, message)


async def list_unclaimed(connection: Connection, most: int) -> list[Any]:
    return list(await connection.fetch(SELECT_UNCLAIMED, most))


def encode_detail(detail: Any) -> str:
    return msgspec.json.encode(detail).decode()
