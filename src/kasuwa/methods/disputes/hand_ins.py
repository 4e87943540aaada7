"""Rows of the answers of merchants to disputes, which are handed in at the rail.

A worker that hands one in holds a lease on it, and on no other: the lease is longer than one answer may take. Times are
the database's."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from kasuwa.postgres.connection_pool import Pool

LEASE = timedelta(minutes=2)

# Another worker that has claimed a row meanwhile has counted its attempt.
CLAIM = """
    insert into dispute_hand_in as h (merchant_id, dispute_id, attempts, due_at)
    select d.merchant_id, d.dispute_id, coalesce(k.attempts, 0) + 1, now() + $2::interval from dispute d
    left join dispute_hand_in k on k.merchant_id = d.merchant_id and k.dispute_id = d.dispute_id
    where d.rail = any($1) and d.responded_at is not null and d.state in ('under_review', 'accepted')
        and k.done_at is null and (k.due_at is null or k.due_at <= now())
    order by d.responded_at, d.key limit 1
    on conflict (merchant_id, dispute_id) do update set attempts = excluded.attempts, due_at = excluded.due_at
    where h.done_at is null and h.attempts = excluded.attempts - 1
    returning merchant_id, dispute_id, attempts
"""
SELECT_DISPUTE = """
    select d.merchant_id, d.dispute_id, d.rail, d.rail_dispute_id, d.amount, d.state = 'accepted', d.due_at,
        coalesce((select t.rail_account from transaction t
            where t.merchant_id = d.merchant_id and t.txn_ref = d.txn_ref and t.rail = d.rail), '')
    from dispute d where d.merchant_id = $1 and d.dispute_id = $2
"""
# A worker whose lease ran out changes nothing once another one has claimed the row, which has counted one attempt more.
IS_HELD = "merchant_id = $1 and dispute_id = $2 and attempts = $3 and done_at is null"
FINISH = f"update dispute_hand_in set done_at = now(), outcome = $4 where {IS_HELD}"
POSTPONE = f"update dispute_hand_in set due_at = now() + $4::interval where {IS_HELD}"


class HandIn(msgspec.Struct, frozen=True):
    """An answer that was claimed, for the `attempts`-th time."""

    merchant_id: int
    dispute_id: str
    attempts: int


class AnsweredDispute(msgspec.Struct, frozen=True):
    """A dispute that its merchant has answered."""

    merchant_id: int
    dispute_id: str
    rail: str
    rail_dispute_id: str
    amount: int
    is_accepted: bool
    due_at: datetime
    rail_account: str  # our account with the rail that has the payment


async def claim(pool: Pool, rails: Sequence[str]) -> HandIn | None:
    """Claims the answer that has waited longest. Returns None if none is due."""
    record = await pool.fetchrow(CLAIM, list(rails), LEASE)
    return None if record is None else HandIn(*record)


async def read_dispute(pool: Pool, entry: HandIn) -> AnsweredDispute:
    return AnsweredDispute(*await pool.fetchrow(SELECT_DISPUTE, entry.merchant_id, entry.dispute_id))


async def finish(pool: Pool, entry: HandIn, outcome: str) -> None:
    """Records how handing in ended, if the lease is still held."""
    await pool.execute(FINISH, entry.merchant_id, entry.dispute_id, entry.attempts, outcome)


async def postpone(pool: Pool, entry: HandIn, delay: timedelta) -> None:
    """Tries again after a delay, if the lease is still held."""
    await pool.execute(POSTPONE, entry.merchant_id, entry.dispute_id, entry.attempts, delay)
