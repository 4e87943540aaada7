"""Updates the wall times of a merchant's jobs (`job.run_at`) after its business clock was moved (sandbox only).

Every job of the merchant gets the wall time at which its business time comes. A merchant may have any number of jobs,
so they are updated in chunks, each one short statement in a transaction of its own: no lock is held for long,
and no connection of the writer is used. The caller holds the merchant's lease (`advance_lease`), so that no job is
claimed while some have their old wall time. An interruption is harmless: the next call starts over, and jobs that are
written meanwhile have the right time already.
"""

from datetime import UTC, datetime
from functools import partial

from kasuwa.jobs.leases import DISABLED_ENDPOINTS
from kasuwa.postgres.connection_pool import Pool
from kasuwa.webhooks.deliveries import retry_on_deadlock

# The jobs of one statement: few enough that a writer who needs one of them waits for milliseconds.
JOBS_PER_STATEMENT = 1_000
BEFORE_ALL = (datetime.min.replace(tzinfo=UTC), 0)

RUN_AT = "job_run_at(j.due, b.clock_offset_us, b.clock_fixed_at, $4::timestamptz)"
# In the order of the index scheduled_job_merchant. What waits for a disabled endpoint stays parked. Only what changes
# is written: where a clock stands still, that is what has come to be due. A piece is a range of the index. Its jobs are
# not joined by their keys: the planner would compare each of them with all jobs of the merchant. Jobs due after $6 are
# left out.
RESCHEDULE_CHUNK = f"""
    with piece as materialized (
        select j.due, j.seq from scheduled_job j where j.merchant_id = $1 and (j.due, j.seq) > ($2, $3)
            and j.due <= coalesce($6::timestamptz, 'infinity')
        order by j.due, j.seq limit $5),
    last as materialized (select due, seq from piece order by due desc, seq desc limit 1),
    shifted as (
        update scheduled_job j set run_at = {RUN_AT} from merchant_state b
        where j.merchant_id = $1 and (j.due, j.seq) > ($2, $3)
            and (j.due, j.seq) <= ((select due from last), (select seq from last))
            and b.merchant_id = $1 and j.run_at <> {RUN_AT} and j.endpoint_id <> all({DISABLED_ENDPOINTS}))
    select due, seq, (select count(*) from piece) from last
"""


async def reschedule_jobs(
    pool: Pool,
    merchant_id: int,
    wall_time: datetime,
    jobs_per_statement: int = JOBS_PER_STATEMENT,
    *,
    until: datetime | None = None,
) -> int:
    """Sets the wall times of all jobs of a merchant by its business clock, or of those due up to `until`. Jobs that are
    due get `wall_time`. Returns the number of statements. If the database raises, jobs that were not reached keep their
    old times."""
    reached, statements, size = BEFORE_ALL, 0, jobs_per_statement
    while size == jobs_per_statement:
        arguments = (merchant_id, *reached, wall_time, jobs_per_statement, until)
        last = await retry_on_deadlock(partial(pool.fetchrow, RESCHEDULE_CHUNK, *arguments))
        if last is None:
            break
        *place, size = last
        reached, statements = (place[0], place[1]), statements + 1
    return statements
