"""Webhook deliveries: claims them and records their attempts, many at a time, for every endpoint alike.

They do not go through the writer: the outcome of a delivery changes nothing in the books, and must not contend for the
merchant's lock. Events themselves are never changed.
"""

import contextlib
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

import asyncpg
import msgspec

from kasuwa.core.decision import Job
from kasuwa.core.endpoints import FIRST_ENDPOINT
from kasuwa.engine.due_jobs import ADVANCING
from kasuwa.merchants.endpoints import enable_endpoint
from kasuwa.postgres.columns import describe_columns
from kasuwa.postgres.connection_pool import Connection, QueryRunner
from kasuwa.postgres.connections import WRITER_SETTINGS
from kasuwa.postgres.layout import Layout, find_layout
from kasuwa.postgres.statement_forms import StatementForms, by_key, search_query

# Longer than the slowest delivery: the wait for a connection and the whole exchange, twice if the scenario asks for it
# to be sent twice, and then its record.
DELIVERY_LEASE = timedelta(seconds=60)
# Rows are found by key, as in the writer. A lease or attempt that is lost in a crash only causes another delivery, so
# commits need not wait for the disk.
SENDER_SETTINGS = {
    **WRITER_SETTINGS,
    "application_name": "kasuwa webhooks",
    "synchronous_commit": "off",
    # A merchant's backlog is read in index order. A sort would read all of it for each merchant.
    "enable_sort": "off",
    "enable_incremental_sort": "off",
}
# Due jobs that a claim scans, so that its cost does not grow with a backlog. If there are more, it claims endpoint by
# endpoint, so that none waits behind another's backlog.
SCAN_LIMIT = 1_000

JOB_COLUMNS = ", ".join(f"j.{name}" for name in describe_columns(Job).names)

JOINED = """
    from {jobs} j
    join event e on e.merchant_id = j.merchant_id and e.reference = j.reference
    join merchant m on m.merchant_id = j.merchant_id
    join merchant_state b on b.merchant_id = j.merchant_id
"""
# An earlier event of the same object is not yet delivered to the endpoint.
HAS_EARLIER_UNDELIVERED = """exists (
    select 1 from event f join scheduled_job g on g.merchant_id = f.merchant_id and g.reference = f.reference
    where f.merchant_id = {merchant} and f.object = e.object and f.object_seq < e.object_seq
        and g.merchant_id = {merchant} and g.lane = 'webhook' and g.endpoint_id = j.endpoint_id)"""
# The endpoint is disabled, or the books were archived by a reset.
IS_PARKED = """(not m.current or exists (select 1 from failing_endpoint p
    where p.merchant_id = {merchant} and p.endpoint_id = j.endpoint_id and p.off_at is not null))"""
# As stored: the URL that is used is read with the keys of the endpoint (webhooks/targets.py).
URL = f"""coalesce(case j.endpoint_id when {FIRST_ENDPOINT} then m.settings->>'webhook_url' else (
    select w.url from webhook_endpoint w where w.merchant_id = {{merchant}} and w.endpoint_id = j.endpoint_id
        and w.removed_at is null) end, '')"""
# `{merchant}` is the merchant of the job: a parameter where a statement is of one merchant.
DELIVERY_COLUMNS = f"""j.key, j.merchant_id, j.endpoint_id, j.attempt, j.work, e.seq, e.object, e.object_seq, e.payload,
    {URL}, b.clock_offset_us, b.clock_fixed_at,
    case when m.settings->>'webhook_order' = 'strict' then {HAS_EARLIER_UNDELIVERED} else false end, {IS_PARKED}"""

# Due and not leased. Leases beyond an hour come from a wrong clock.
IS_DUE = """d.run_at <= $1 and (d.leased_until is null or d.leased_until <= $1
    or d.leased_until > $1 + interval '1 hour')"""
# Due, not leased, and no `advance` of the merchant is running.
IS_CLAIMABLE = f"""{IS_DUE}
    and not exists (select 1 from advance_lease a where a.merchant_id = d.merchant_id and a.leased_until > $1)"""
# Deliveries that may be claimed for an endpoint: $5 by merchant and endpoint, else $4.
ENDPOINT_CAPACITY = "coalesce(($5::jsonb ->> (t.merchant_id || ' ' || t.endpoint_id))::bigint, $4::bigint)"
OLDEST_FIRST = f"""
    select t.key, t.run_at, t.due, t.seq, t.turn from (
        select d.key, d.merchant_id, d.endpoint_id, d.run_at, d.due, d.seq,
            row_number() over (partition by d.merchant_id, d.endpoint_id order by d.run_at, d.due, d.seq) as turn
        from (select * from scheduled_job where lane = 'webhook' and run_at <= $1
            order by run_at, due, seq limit {SCAN_LIMIT}) d
        where {IS_CLAIMABLE}) t
    where t.turn <= {ENDPOINT_CAPACITY}
"""
# Written as ranges of the index job_deliveries, in its order. Other forms would read whole backlogs.
ENDPOINT_BY_ENDPOINT = f"""
    with recursive t as (
        (select merchant_id, endpoint_id from scheduled_job where lane = 'webhook'
            order by merchant_id, endpoint_id, run_at, due, seq limit 1)
        union all
        select n.merchant_id, n.endpoint_id from t cross join lateral (
            select o.merchant_id, o.endpoint_id from scheduled_job o
            where o.lane = 'webhook' and (o.merchant_id, o.endpoint_id) > (t.merchant_id, t.endpoint_id)
            order by o.merchant_id, o.endpoint_id, o.run_at, o.due, o.seq limit 1) n)
    select first.key, first.run_at, first.due, first.seq,
        row_number() over (
            partition by t.merchant_id, t.endpoint_id order by first.run_at, first.due, first.seq) as turn
    from t cross join lateral (
        select d.key, d.run_at, d.due, d.seq from scheduled_job d
        where d.lane = 'webhook' and d.merchant_id = t.merchant_id
            and (d.endpoint_id, d.run_at) >= (t.endpoint_id, '-infinity')
            and (d.endpoint_id, d.run_at) <= (t.endpoint_id, $1) and {IS_CLAIMABLE}
        order by d.endpoint_id, d.run_at, d.due, d.seq limit {ENDPOINT_CAPACITY}) first
"""
# Round robin: the first delivery of each endpoint, then the second of each. Another sender may have leased one of them
# since they were found: the row that is locked must still be due.
CLAIM = """
    with fair as (select key from ({found}) f order by turn, run_at, due, seq limit $3),
    due as (select d.key from scheduled_job d where d.key = any(array(select key from fair)) and {is_due}
        for update skip locked),
    j as (
        update scheduled_job set leased_until = $1::timestamptz + $2::interval, claims = claims + 1
        where key = any(array(select key from due)) returning *)
    select {columns} {joined}
"""
CLAIM_OLDEST, CLAIM_FROM_EACH = (
    CLAIM.format(
        found=selection,
        is_due=IS_DUE,
        columns=DELIVERY_COLUMNS.format(merchant="j.merchant_id"),
        joined=JOINED.format(jobs="j"),
    )
    for selection in (OLDEST_FIRST, ENDPOINT_BY_ENDPOINT)
)
# Where a statement must be of one merchant: what to claim is looked for first, without merchants whose clock is being
# advanced ($2), and then claimed for each merchant ($4). A scan reads all that is due.
FIND_DELIVERIES = search_query(
    f"""
    select t.merchant_id, t.key from (
        select d.merchant_id, d.endpoint_id, d.key, d.run_at, d.due, d.seq,
            row_number() over (partition by d.merchant_id, d.endpoint_id order by d.run_at, d.due, d.seq) as turn
        from scheduled_job d where d.lane = 'webhook' and {IS_DUE} and d.merchant_id <> all ($2::bigint[]) {{some}}) t
    where t.turn <= {ENDPOINT_CAPACITY}
    order by t.turn, t.run_at, t.due, t.seq limit $3
    """,
    "d.merchant_id",
    6,
)
CLAIM_OF_MERCHANT = f"""
    with j as (
        update scheduled_job set leased_until = $1::timestamptz + $2::interval, claims = claims + 1
        where merchant_id = $4 and key in (
            select d.key from scheduled_job d where d.merchant_id = $4 and d.key = any($3::bytea[]) and {IS_DUE}
            order by d.key for update skip locked)
        returning *)
    select {DELIVERY_COLUMNS.format(merchant="$4")} {JOINED.format(jobs="j")}
    where j.merchant_id = $4 and e.merchant_id = $4 and b.merchant_id = $4
"""
DUE = "select count(*) from (select 1 from scheduled_job where lane = 'webhook' and run_at <= $1 limit $2) d"
SELECT_DELIVERY = f"""
    select {DELIVERY_COLUMNS.format(merchant="$2")} {JOINED.format(jobs="scheduled_job")}
    where j.key = $1 and j.merchant_id = $2
"""
IS_ENDPOINT_DISABLED = """
    select exists (select 1 from failing_endpoint where merchant_id = $1 and endpoint_id = $2 and off_at is not null)
"""
# The job of the earliest undelivered event of the same object at an endpoint, if the merchant asked for strict order.
SELECT_BLOCKING_JOB = f"""
    select {JOB_COLUMNS} from event e join merchant m on m.merchant_id = e.merchant_id
    join event f on f.merchant_id = e.merchant_id and f.object = e.object and f.object_seq < e.object_seq
    join scheduled_job j on j.merchant_id = f.merchant_id and j.reference = f.reference and j.lane = 'webhook'
        and j.endpoint_id = $3
    where e.merchant_id = $1 and e.reference = $2 and m.settings->>'webhook_order' = 'strict'
    order by f.object_seq limit 1
"""
POSTPONE_JOB = "update scheduled_job set due = $3 where key = $1 and merchant_id = $2"

REQUEUE_DELAY = timedelta(seconds=1)
MAX_DEADLOCK_RETRIES = 3
PARK_JOBS = by_key("update scheduled_job set leased_until = null, run_at = 'infinity'", 2)
REQUEUE = by_key("update scheduled_job set leased_until = null, run_at = greatest(run_at, $2)", 3)
INSERT_DAILY_NOTICE = """
    insert into operator_notice (merchant_id, reference, message, at)
    select $1::bigint, 'webhook', $2::text, $3::timestamptz
    where not exists (select 1 from operator_notice n
        where n.merchant_id = $1 and n.message = $2 and n.at > $3::timestamptz - interval '1 day')
    returning 1
"""

# `{t}` and the like restrict a table to one merchant.
RECORD = """
    with x as (
        select decode(key, 'base64') as key, merchant_id, endpoint_id, seq, at, http, error, ms, next, tried, delivered,
            response, n, now() as now
        from rows from (json_to_recordset($1::json) as (key text, merchant_id bigint, endpoint_id bigint, seq bigint,
            at timestamptz, http bigint, error text, ms bigint, next timestamptz, tried boolean, delivered boolean,
            response text))
        with ordinality
            as r (key, merchant_id, endpoint_id, seq, at, http, error, ms, next, tried, delivered, response, n)),
    told as (
        insert into delivery_attempt (merchant_id, endpoint_id, event_seq, number, at, http, error, ms, response)
        select x.merchant_id, x.endpoint_id, x.seq,
            row_number() over (partition by x.merchant_id, x.endpoint_id, x.seq order by x.at, x.n)
            + coalesce((select max(t.number) from delivery_attempt t where t.merchant_id = x.merchant_id
                and t.endpoint_id = x.endpoint_id and t.event_seq = x.seq {t}), 0), x.at, x.http, x.error, x.ms,
            x.response
        from x on conflict do nothing),
    done as (delete from scheduled_job d where d.key = any(array(select key from x where next is null)) {d}),
    again as (
        update scheduled_job j set attempt = j.attempt + 1, due = x.next, leased_until = null, run_at = case
            when m.current then job_run_at(x.next, b.clock_offset_us, b.clock_fixed_at, x.now) else 'infinity' end
        from x join merchant_state b on b.merchant_id = x.merchant_id join merchant m on m.merchant_id = x.merchant_id
        where j.key = x.key and j.merchant_id = x.merchant_id and x.next is not null {j}
            and not exists (select 1 from x y where y.key = x.key and y.next is null)),
    well as (
        delete from failing_endpoint e
        where (e.merchant_id, e.endpoint_id) in (select merchant_id, endpoint_id from x where delivered) {e}
        returning merchant_id, endpoint_id, off_at),
    ill as (
        insert into failing_endpoint (merchant_id, endpoint_id, failing_since)
        select merchant_id, endpoint_id, min(at) from x where tried
        group by merchant_id, endpoint_id having not bool_or(delivered)
        on conflict do nothing)
    select merchant_id, endpoint_id from well where off_at is not null
"""
RECORD_ATTEMPTS = StatementForms(
    RECORD.format(t="", d="", j="", e=""),
    RECORD.format(
        t="and t.merchant_id = $2",
        d="and d.merchant_id = $2",
        j="and j.merchant_id = $2 and b.merchant_id = $2 and m.merchant_id = $2",
        e="and e.merchant_id = $2",
    ),
)

DISABLE_ENDPOINT = """
    with off as (
        update failing_endpoint set off_at = $4
        where merchant_id = $1 and endpoint_id = $2 and off_at is null and failing_since <= $3
        returning merchant_id, endpoint_id)
    update scheduled_job j set run_at = 'infinity', leased_until = null from off
    where j.lane = 'webhook' and j.merchant_id = $1 and j.endpoint_id = off.endpoint_id
"""
# $2 is the endpoint, $5 the business time at which they are due, and $6 makes their keys.
RESENT = """
    waiting as (
        update scheduled_job j set due = $5, run_at = now(), leased_until = null, attempt = 0 from e
        where j.merchant_id = $1 and j.lane = 'webhook' and j.endpoint_id = $2 and j.reference = e.reference
        returning j.reference),
    added as (
        insert into scheduled_job (key, merchant_id, kind, lane, endpoint_id, reference, subject, due, run_at, claims,
            attempt, work)
        select decode(md5($6 || e.seq), 'hex'), $1, 'webhook.deliver', 'webhook', $2, e.reference,
            decode(md5(e.reference), 'hex'), $5, now(), 0, 0, '{}'
        from e where e.reference not in (select reference from waiting) order by e.seq returning 1)
    select count(*) from e
"""
RESEND = f"""
    with e as (select seq, reference from event where merchant_id = $1 and seq between $3 and $4), {RESENT}
"""
RESEND_FAILED = f"""
    with e as (
        select f.seq, f.reference from undelivered_event u
        join event f on f.merchant_id = u.merchant_id and f.seq = u.event_seq
        where u.merchant_id = $1 and u.endpoint_id = $2 and f.at >= $3 and not exists (
            select 1 from scheduled_job w where w.merchant_id = u.merchant_id and w.lane = 'webhook'
                and w.endpoint_id = u.endpoint_id and w.reference = f.reference and w.attempt = 0)
        order by f.seq limit $4), {RESENT}
"""


T = TypeVar("T")


# Merchant and number of an endpoint.
EndpointKey = tuple[int, int]


class Delivery(msgspec.Struct):
    """A claimed delivery job with its event and endpoint."""

    key: bytes
    merchant_id: int
    endpoint_id: int
    attempt: int
    job_params: str  # JSON: the sandbox scenario, if any
    seq: int
    object: str
    object_seq: int
    payload: bytes
    url: str
    now: datetime  # the merchant's business time
    is_blocked: bool  # an earlier event of the object must be delivered first
    is_parked: bool  # the endpoint is disabled or the books are archived
    claimed_at: float  # when the lease began, on the monotonic clock

    @property
    def endpoint(self) -> EndpointKey:
        return self.merchant_id, self.endpoint_id


class AttemptResult(msgspec.Struct):
    """The outcome of one delivery attempt. Field names are column names in RECORD_ATTEMPTS."""

    key: bytes
    merchant_id: int
    endpoint_id: int
    seq: int
    at: datetime
    http: int | None
    error: str | None
    ms: int
    next: datetime | None  # business time of the next attempt; None if there is none
    tried: bool  # whether the endpoint was called, so that the outcome counts for its health
    delivered: bool
    response: str | None = None  # the beginning of the answer, with secrets masked; None if there was none

    @property
    def endpoint(self) -> EndpointKey:
        return self.merchant_id, self.endpoint_id


def read_delivery(record: Any, wall: datetime, claimed_at: float) -> Delivery:
    job, event, (clock_offset, clock_fixed, behind, parked) = record[:5], record[5:10], record[10:]
    key, merchant_id, endpoint_id, attempt, work = job
    seq, about, about_seq, payload, url = event
    now = wall + timedelta(microseconds=clock_offset) if clock_fixed is None else clock_fixed
    place, of_object = (key, merchant_id, endpoint_id), (about, about_seq)
    return Delivery(*place, attempt, work, seq, *of_object, payload.encode(), url, now, behind, parked, claimed_at)


async def retry_on_deadlock(run: Callable[[], Awaitable[T]]) -> T:
    """Runs a statement, again if PostgreSQL chose it as a deadlock victim.

    Enabling an endpoint and resending events update many of the same jobs in another order."""
    for _ in range(MAX_DEADLOCK_RETRIES):
        with contextlib.suppress(asyncpg.DeadlockDetectedError):
            return await run()
    return await run()


async def claim_deliveries(
    connection: Connection, wall: datetime, max_total: int, default_capacity: int, capacities: Mapping[EndpointKey, int]
) -> list[Delivery]:
    """Leases due deliveries, at most `max_total`, and of each endpoint its capacity or `default_capacity`."""
    claimed_at = time.monotonic()
    places = msgspec.json.encode({f"{key[0]} {key[1]}": capacity for key, capacity in capacities.items()}).decode()
    layout = find_layout(connection)
    if not layout.spans_merchants:
        records = await claim_by_merchant(connection, layout, wall, max_total, default_capacity, places)
        return [read_delivery(record, wall, claimed_at) for record in records]
    due = await connection.fetchval(DUE, wall, SCAN_LIMIT)
    if not due:
        return []
    query = CLAIM_FROM_EACH if due == SCAN_LIMIT else CLAIM_OLDEST
    records = await connection.fetch(query, wall, DELIVERY_LEASE, max_total, default_capacity, places)
    return [read_delivery(record, wall, claimed_at) for record in records]


async def claim_by_merchant(
    connection: Connection, layout: Layout, wall: datetime, max_total: int, default_capacity: int, places: str
) -> list[Any]:
    """Leases due deliveries. Each merchant's lease is a transaction of its own."""
    advancing = await connection.fetchval(ADVANCING, wall)
    values = (wall, advancing, max_total, default_capacity, places)
    due = (await layout.search(connection, FIND_DELIVERIES, *values))[:max_total]
    claims = [
        await connection.fetch(CLAIM_OF_MERCHANT, wall, DELIVERY_LEASE, [row[1] for row in rows], merchant_id)
        for merchant_id, rows in layout.group(due, lambda row: row[0])
    ]
    return [record for claimed in claims for record in claimed]


def get_merchant_id(item: "Delivery | AttemptResult") -> int:
    return item.merchant_id


async def requeue(
    connection: Connection, items: list[Delivery], wall: datetime, wait: timedelta = REQUEUE_DELAY
) -> None:
    """Releases deliveries unsent. They can be claimed again after `wait`, and no attempt is counted."""
    layout = find_layout(connection)
    for merchant_id, group in layout.group(items, get_merchant_id):
        statement = layout.bind(REQUEUE, merchant_id, [item.key for item in group], wall + wait)
        await retry_on_deadlock(partial(connection.execute, *statement))


async def notify_operator(connection: QueryRunner, merchant_id: int, message: str, wall: datetime) -> None:
    """Adds an operator notice, at most one a day with the same text."""
    await connection.execute(INSERT_DAILY_NOTICE, merchant_id, message, wall)


async def park_deliveries(connection: Connection, items: list[Delivery]) -> None:
    """Releases deliveries unsent until the endpoint is set again."""
    layout = find_layout(connection)
    for merchant_id, group in layout.group(items, get_merchant_id):
        await connection.execute(*layout.bind(PARK_JOBS, merchant_id, [item.key for item in group]))


async def find_delivery(connection: QueryRunner, job: Job, wall: datetime) -> Delivery | None:
    """Returns the delivery of a job, or None if it is already done. Takes no lease."""
    record = await connection.fetchrow(SELECT_DELIVERY, job.key, job.merchant_id)
    return None if record is None else read_delivery(record, wall, time.monotonic())


async def find_first_deliverable(connection: QueryRunner, job: Job) -> Job:
    """Returns the job that must be delivered first: this one, or an earlier one of its object.

    In the latter case this job is made due no earlier than that one."""
    record = await connection.fetchrow(SELECT_BLOCKING_JOB, job.merchant_id, job.reference, job.endpoint_id)
    if record is None:
        return job
    ahead = Job(*record)
    if ahead.due > job.due:
        await connection.execute(POSTPONE_JOB, job.key, job.merchant_id, ahead.due)
    return ahead


async def record_attempts(connection: Connection, outcomes: list[AttemptResult]) -> None:
    """Records attempts of any merchants. If the rows of some cannot be reached, records those of the others first and
    then raises the error: their deliveries are sent again."""
    layout = find_layout(connection)
    failure: Exception | None = None
    for merchant_id, group in layout.group(outcomes, get_merchant_id):
        statement = layout.bind(RECORD_ATTEMPTS, merchant_id, msgspec.json.encode(group).decode())
        try:
            await run_record(connection, *statement)
        except Exception as error:
            if not layout.is_part_away(connection, error):
                raise
            failure = error
    if failure is not None:
        raise failure


async def record_attempts_of_merchant(connection: QueryRunner, merchant_id: int, outcomes: list[AttemptResult]) -> None:
    """Records attempts of one merchant."""
    await run_record(connection, RECORD_ATTEMPTS.of_one, msgspec.json.encode(outcomes).decode(), merchant_id)


async def run_record(connection: QueryRunner, statement: str, *values: Any) -> None:
    """Runs a form of RECORD_ATTEMPTS. A delivery that was in flight when its endpoint was disabled may succeed: then
    the endpoint is enabled."""
    for endpoint in await retry_on_deadlock(lambda: connection.fetch(statement, *values)):
        await enable_endpoint(connection, *endpoint)


async def resend_events(connection: QueryRunner, endpoint: EndpointKey, first: int, last: int, now: datetime) -> int:
    """Makes a range of events due again from their first attempt, and enables a disabled endpoint.

    Returns how many events there are."""
    return await resend(connection, RESEND, endpoint, first, last, now)


async def resend_failed_events(
    connection: QueryRunner, endpoint: EndpointKey, since: datetime, limit: int, now: datetime
) -> int:
    """Makes events that the endpoint did not accept due again, oldest first: those created since a business time.

    Leaves out what waits for its first attempt already, so that a call after the first goes on with the rest. Enables a
    disabled endpoint. Returns how many events there are."""
    return await resend(connection, RESEND_FAILED, endpoint, since, limit, now)


async def resend(connection: QueryRunner, query: str, endpoint: EndpointKey, *values: object) -> int:
    if await connection.fetchval(IS_ENDPOINT_DISABLED, *endpoint):
        await enable_endpoint(connection, *endpoint)
    count = await connection.fetchval(query, *endpoint, *values, secrets.token_hex(16))
    assert isinstance(count, int)
    return count


async def disable_endpoint(connection: QueryRunner, endpoint: EndpointKey, now: datetime, after: timedelta) -> None:
    """Disables an endpoint that has failed for so long, and parks its deliveries."""
    await connection.execute(DISABLE_ENDPOINT, *endpoint, now - after, now)
