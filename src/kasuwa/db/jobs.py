"""Finding and leasing jobs. Besides the writer, this is the only place that writes: a lease, nothing more.

A claim is one index scan by wall time and skips what others hold. It does not touch business rows, and a lease
that runs out (its holder died) makes the job fall due again by itself.
"""

from datetime import datetime

import msgspec

from kasuwa.core.decision import Job
from kasuwa.db.batch import LEASE, Book, business_now
from kasuwa.db.pool import Connection, Pool
from kasuwa.db.rows import columns_of

COLUMNS = ", ".join(f"j.{name}" for name in columns_of(Job).names)

# The merchants whose `advance` is under way are left alone, so that the worker does not race it.
CLAIM = f"""
    update job j set leased_until = $2::timestamptz + $3::interval, claims = j.claims + 1
    from (
        select d.key from job d
        where d.lane = $1 and d.run_at <= $2 and (d.leased_until is null or d.leased_until <= $2)
          and not exists (
              select 1 from advance_lease a where a.merchant_id = d.merchant_id and a.leased_until > $2)
        order by d.run_at
        limit $4
        for update skip locked
    ) due
    join book b on true
    where j.key = due.key and b.merchant_id = j.merchant_id
    returning {COLUMNS}, b.clock_offset, b.clock_fixed
"""

# One probe of the index a lane.
LANES_DUE = """
    select l.lane from unnest($1::text[]) l (lane) where exists (
        select 1 from job d
        where d.lane = l.lane and d.run_at <= $2 and (d.leased_until is null or d.leased_until <= $2))
"""

OF_SUBJECT = f"select {COLUMNS} from job j where j.merchant_id = $1 and j.subject = $2 and j.lane <> 'webhook'"
NEXT_DUE = f"""
    select {COLUMNS} from job j
    where j.merchant_id = $1 and j.due <= $2 and j.lane = any($3)
    order by j.due, j.key limit 1
"""
CLOCK = f"select {', '.join(columns_of(Book).names)} from book where merchant_id = $1"
FAULTS = "select faults from book where key = $1"

TAKE_ADVANCE = """
    insert into advance_lease as a (merchant_id, leased_until) values ($1, now() + $2::interval)
    on conflict (merchant_id) do update set leased_until = excluded.leased_until where a.leased_until <= now()
    returning true
"""
EXTEND_ADVANCE = "update advance_lease set leased_until = now() + $2::interval where merchant_id = $1"
END_ADVANCE = "delete from advance_lease where merchant_id = $1"

# What is of use for a day only: replies kept under an Idempotency-Key, and the marks of batches.
TIDY = """
    with old as (delete from repeat where expires_at < now() returning 1)
    delete from commit_mark where at < now() - interval '1 day'
"""


class Claimed(msgspec.Struct):
    """A job, and its merchant's business time when it was claimed."""

    job: Job
    now: datetime


async def lanes_due(pool: Pool, lanes: list[str], wall: datetime) -> list[str]:
    return [record[0] for record in await pool.fetch(LANES_DUE, lanes, wall)]


async def claim(connection: Connection, lane: str, wall: datetime, most: int) -> list[Claimed]:
    records = await connection.fetch(CLAIM, lane, wall, LEASE, most)
    width = len(columns_of(Job).names)
    claimed = []
    for record in records:
        job = Job(*record[:width])
        book = Book(b"", job.merchant_id, 0, 0, 0, 0, record[width], record[width + 1], None)
        claimed.append(Claimed(job, business_now(book, wall)))
    return sorted(claimed, key=lambda item: item.job.due)


# Only what asks a rail about an order that is open. What falls due at a business time (fees, settlements, expiries)
# must not happen before it.
RUN_NOW = """
    update job j set run_at = now()
    from transaction t, merchant m
    where j.key = $1 and j.kind = any($2) and (j.leased_until is null or j.leased_until <= now())
      and t.key = j.subject and t.merchant_id = j.merchant_id and t.status in ('pending', 'processing')
      and m.merchant_id = j.merchant_id and m.current
    returning j.merchant_id, j.reference
"""


async def run_now(connection: Connection, key: bytes, kinds: list[str]) -> tuple[int, str] | None:
    """Makes a job of one of these kinds fall due on the wall's clock, for an operator; its business time stays. None
    where there is no such job, or its transaction is not open."""
    record = await connection.fetchrow(RUN_NOW, key, kinds)
    return None if record is None else (record[0], record[1])
