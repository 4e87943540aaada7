"""Finds and leases jobs.

A claim is one index scan by wall time that skips locked and leased jobs. It writes only the lease, never business rows.
A job whose lease has expired, because its holder died, is due again.

While a lane has more due jobs than one claim takes, merchants are served in turn, so that none waits behind the backlog
of another: a claim then looks at some merchants after those that the one before looked at, and takes the first job of
each, then the second of each. What is left of it goes to the oldest jobs. The oldest of all is always taken.
"""

from datetime import datetime
from typing import Any

import msgspec

from kasuwa.core.decision import Job
from kasuwa.core.vault import Vault
from kasuwa.engine.batch import JOB_LEASE
from kasuwa.engine.due_jobs import ADVANCING
from kasuwa.engine.merchant_state import MerchantState, business_now
from kasuwa.postgres.columns import describe_columns
from kasuwa.postgres.connection_pool import Connection, Pool
from kasuwa.postgres.layout import Layout, find_layout
from kasuwa.postgres.row_codes import check_row
from kasuwa.postgres.statement_forms import SearchQuery, search_query

COLUMNS = ", ".join(f"j.{name}" for name in describe_columns(Job).names)

# A lease that ends later than any lease can was set by a wrong clock and is ignored.
IS_UNLEASED = "(d.leased_until is null or d.leased_until <= $2 or d.leased_until > $2 + interval '1 hour')"

# Skips merchants whose `advance` is running, so that the worker does not race with it.
IS_NOT_ADVANCING = """not exists (
    select 1 from advance_lease a where a.merchant_id = d.merchant_id and a.leased_until > $2)"""
CLAIM = f"""
    update scheduled_job j set leased_until = $2::timestamptz + $3::interval, claims = j.claims + 1
    from (
        select d.key from scheduled_job d
        where d.lane = $1 and d.run_at <= $2 and {IS_UNLEASED} and {IS_NOT_ADVANCING}
        order by d.run_at, d.due, d.seq
        limit $4
        for update skip locked
    ) due
    join merchant_state b on true
    where j.key = due.key and b.merchant_id = j.merchant_id
    returning {COLUMNS}, b.clock_offset_us, b.clock_fixed_at, j.seq
"""

# How many merchants a claim looks at in a backlog, and how many jobs of each it may take besides the oldest.
MERCHANTS_AT_ONCE, JOBS_IN_TURN = 200, 16
# Of how many of the oldest jobs a claim chooses, and how many jobs of a merchant it reads to find those of its lane.
OLDEST_AT_ONCE, READ_AT_ONCE = 256, 1000

# The next merchants that have jobs, after $1: one probe of the index scheduled_job_merchant for each.
SELECT_NEXT_MERCHANTS = f"""
    with recursive t as (
        (select merchant_id from scheduled_job where merchant_id > $1 order by merchant_id, due, seq limit 1)
        union all
        select (select n.merchant_id from scheduled_job n where n.merchant_id > t.merchant_id
            order by n.merchant_id, n.due, n.seq limit 1) from t where t.merchant_id is not null)
    select merchant_id from t where merchant_id is not null limit {MERCHANTS_AT_ONCE}
"""
# The due jobs of the merchants $5 in the order of their business times, which is that of their index, and the oldest of
# all. A job that an operator made due before its time is found among the oldest.
CLAIM_IN_TURN = f"""
    with oldest as (
        select d.key, d.merchant_id, d.run_at, d.due, d.seq from scheduled_job d
        where d.lane = $1 and d.run_at <= $2 and {IS_UNLEASED} and {IS_NOT_ADVANCING}
        order by d.run_at, d.due, d.seq limit {OLDEST_AT_ONCE}),
    of_each as (
        select d.key, d.merchant_id, d.run_at, d.due, d.seq from unnest($5::bigint[]) m (merchant_id)
        join merchant_state b on b.merchant_id = m.merchant_id
        cross join lateral (
            select d.* from (
                select * from scheduled_job where merchant_id = m.merchant_id
                    and due <= coalesce(b.clock_fixed_at, $2 + b.clock_offset_us * interval '1 microsecond')
                order by merchant_id, due, seq limit {READ_AT_ONCE}) d
            where d.lane = $1 and d.run_at <= $2 and {IS_UNLEASED} and {IS_NOT_ADVANCING} limit {JOBS_IN_TURN}) d),
    found as (select * from oldest union select * from of_each),
    chosen as (
        select f.key from (
            select *, row_number() over (partition by merchant_id order by run_at, due, seq) as turn from found) f
        order by f.turn, f.run_at, f.due, f.seq limit $4)
    update scheduled_job j set leased_until = $2::timestamptz + $3::interval, claims = j.claims + 1
    from (
        select d.key from scheduled_job d where d.key = any(array(select key from chosen)) and {IS_UNLEASED}
        for update skip locked
    ) due
    join merchant_state b on true
    where j.key = due.key and b.merchant_id = j.merchant_id
    returning {COLUMNS}, b.clock_offset_us, b.clock_fixed_at, j.seq
"""

# One index probe per lane.
SELECT_DUE_LANES = f"""
    select l.lane from unnest($1::text[]) l (lane) where exists (
        select 1 from scheduled_job d
        where d.lane = l.lane and d.run_at <= $2 and {IS_UNLEASED})
"""

# Where a statement must be of one merchant, a claim looks for due jobs of all, and then leases those of each merchant.
# Clocks that are being advanced are asked for first: their table is not with the rows of merchants.
FIND_DUE_LANES = search_query(
    f"select distinct d.lane from scheduled_job d where d.lane = any($1) and d.run_at <= $2 and {IS_UNLEASED} {{some}}",
    "d.merchant_id",
    3,
)
FIND_DUE = search_query(
    f"""
    select d.merchant_id, d.key from scheduled_job d
    where d.lane = $1 and d.run_at <= $2 and {IS_UNLEASED} and d.merchant_id <> all ($3::bigint[]) {{some}}
    order by d.run_at, d.due, d.seq limit $4
    """,
    "d.merchant_id",
    5,
)
# The same in turn. A scan reads all that is due.
FIND_DUE_IN_TURN = search_query(
    f"""
    select t.merchant_id, t.key from (
        select d.merchant_id, d.key, d.run_at, d.due, d.seq,
            row_number() over (partition by d.merchant_id order by d.run_at, d.due, d.seq) as turn
        from scheduled_job d
        where d.lane = $1 and d.run_at <= $2 and {IS_UNLEASED} and d.merchant_id <> all ($3::bigint[]) {{some}}) t
    order by t.turn, t.run_at, t.due, t.seq limit $4
    """,
    "d.merchant_id",
    5,
)
CLAIM_OF_MERCHANT = f"""
    update scheduled_job j set leased_until = $2::timestamptz + $3::interval, claims = j.claims + 1
    from merchant_state b
    where j.merchant_id = $1 and b.merchant_id = $1 and j.key in (
        select d.key from scheduled_job d where d.merchant_id = $1 and d.key = any($4::bytea[]) and {IS_UNLEASED}
        order by d.key for update skip locked)
    returning {COLUMNS}, b.clock_offset_us, b.clock_fixed_at, j.seq
"""

SELECT_JOBS_OF_SUBJECT = f"""
    select {COLUMNS} from scheduled_job j where j.merchant_id = $1 and j.subject = $2 and j.lane <> 'webhook'
    order by j.due, j.seq
"""
# The jobs of the earliest due time up to $2, in order. Deliveries to a disabled endpoint are not due.
DISABLED_ENDPOINTS = "array(select endpoint_id from failing_endpoint where merchant_id = $1 and off_at is not null)"
NEXT_DUE = f"""
    with first as (
        select d.due from scheduled_job d where d.merchant_id = $1 and d.due <= $2 and d.lane = any($3::text[])
            and d.endpoint_id <> all({DISABLED_ENDPOINTS})
        order by d.due, d.seq limit 1)
    select {COLUMNS} from scheduled_job j
    where j.merchant_id = $1 and j.due = (select due from first) and j.lane = any($3::text[])
        and j.endpoint_id <> all({DISABLED_ENDPOINTS})
    order by j.due, j.seq limit $4
"""
SELECT_MERCHANT_STATE = (
    f"select {', '.join(describe_columns(MerchantState).names)} from merchant_state where merchant_id = $1"
)
FAULTS = "select faults from merchant_state where key = $1"

# Returns whether it was left by a holder that did not end it, or no row if it is held.
TAKE_ADVANCE = """
    with earlier as (select 1 from advance_lease where merchant_id = $1)
    insert into advance_lease as a (merchant_id, leased_until, holder) values ($1, now() + $2::interval, $3)
    on conflict (merchant_id) do update set leased_until = excluded.leased_until, holder = excluded.holder
    where a.leased_until <= now()
    returning exists (select from earlier)
"""
EXTEND_ADVANCE = """
    update advance_lease set leased_until = now() + $2::interval where merchant_id = $1 and holder = $3 returning true
"""
END_ADVANCE = "delete from advance_lease where merchant_id = $1 and holder = $2"
# Lets another process take the lease at once.
LEAVE_ADVANCE = "update advance_lease set leased_until = now() where merchant_id = $1 and holder = $2"
# An advance whose process died has moved the clock, but not yet the wall times of all jobs. The process that takes over
# its lease sets them (job_times.py). Archived books have no jobs to run.
TAKE_ABANDONED = """
    update advance_lease a set leased_until = now() + $1::interval, holder = $2
    where a.merchant_id = (
        select l.merchant_id from advance_lease l where l.leased_until <= now() - interval '1 second'
        order by l.leased_until, l.merchant_id limit 1 for update skip locked)
    returning a.merchant_id
"""
IS_CURRENT = "select current from merchant where merchant_id = $1"

# Deletes expired idempotency records, old commit marks and old rows of decision_input. A record has expired only if
# both the database's clock and the process's ($1) say so.
DELETE_EXPIRED = """
    with old as (delete from idempotency_record where expires_at < least(now(), $1::timestamptz) returning 1),
        inputs as (delete from decision_input where written_at < now() - interval '90 days' returning 1)
    delete from commit_mark where at < now() - interval '1 day'
"""


class Claimed(msgspec.Struct):
    """A leased job, its merchant's business time when it was claimed, and its order among jobs due at the same time."""

    job: Job
    now: datetime
    seq: int


class LaneTurns(msgspec.Struct):
    """The place of a lane in the turns of merchants. Kept by its worker from claim to claim."""

    has_backlog: bool = False  # the last claim took as many jobs as it could
    last_merchant_id: int = 0  # the last merchant that was looked at


async def list_due_lanes(pool: Pool, lanes: list[str], wall: datetime) -> list[str]:
    async with pool.acquire() as connection:
        layout = find_layout(connection)
        if not layout.spans_merchants:
            return list({record[0] for record in await layout.search(connection, FIND_DUE_LANES, lanes, wall)})
        return [record[0] for record in await connection.fetch(SELECT_DUE_LANES, lanes, wall)]


async def claim_jobs(
    connection: Connection, vault: Vault, lane: str, wall: datetime, max_jobs: int, turns: LaneTurns
) -> list[Claimed]:
    """Leases the due jobs of a lane, the earliest first, at most `max_jobs`; while there are more, those of all
    merchants in turn. One that is not as the service wrote it is leased, so that it does not hold up the others, and
    not returned."""
    layout = find_layout(connection)
    if not layout.spans_merchants:
        query = FIND_DUE_IN_TURN if turns.has_backlog else FIND_DUE
        records = await claim_by_merchant(connection, layout, query, lane, wall, max_jobs)
    elif turns.has_backlog:
        merchants = [record[0] for record in await connection.fetch(SELECT_NEXT_MERCHANTS, turns.last_merchant_id)]
        turns.last_merchant_id = merchants[-1] if len(merchants) == MERCHANTS_AT_ONCE else 0
        records = await connection.fetch(CLAIM_IN_TURN, lane, wall, JOB_LEASE, max_jobs, merchants)
    else:
        records = await connection.fetch(CLAIM, lane, wall, JOB_LEASE, max_jobs)
    turns.has_backlog = len(records) >= max_jobs
    width = len(describe_columns(Job).names)
    claimed = []
    for record in records:
        job = Job(*record[:width])
        if not check_row(vault, job):
            continue
        clock_only = MerchantState(b"", job.merchant_id, 0, 0, 0, 0, record[width], record[width + 1], None)
        claimed.append(Claimed(job, business_now(clock_only, wall), record[width + 2]))
    return sorted(claimed, key=lambda item: (item.job.due, item.seq))


async def claim_by_merchant(
    connection: Connection, layout: Layout, query: SearchQuery, lane: str, wall: datetime, max_jobs: int
) -> list[Any]:
    """Leases the due jobs of a lane. Each merchant's lease is a transaction of its own."""
    advancing = await connection.fetchval(ADVANCING, wall)
    due = (await layout.search(connection, query, lane, wall, advancing, max_jobs))[:max_jobs]
    claims = [
        await connection.fetch(CLAIM_OF_MERCHANT, merchant_id, wall, JOB_LEASE, [row[1] for row in rows])
        for merchant_id, rows in layout.group(due, lambda row: row[0])
    ]
    return [record for claimed in claims for record in claimed]
