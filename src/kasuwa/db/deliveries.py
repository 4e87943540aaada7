"""Deliveries: claimed many at a time, recorded many at a time.

They do not go through the writer: what becomes of a delivery decides nothing in the books, and must not make a
merchant's book contested. Like a lease, it is a fact about a job. An event itself is never changed.
"""

import secrets
from datetime import datetime, timedelta
from typing import Any

import msgspec

from kasuwa.core.decision import Job
from kasuwa.db.batch import LEASE, Book, business_now
from kasuwa.db.pool import Connection
from kasuwa.db.rows import columns_of, encode_rows

LANE = "webhook"
# So many of the due jobs are looked at to find the next: enough to see past a merchant with a backlog.
LOOK_AT = 4_000

JOB_COLUMNS = ", ".join(f"j.{name}" for name in columns_of(Job).names)
WIDTH = len(columns_of(Job).names)

JOINED = """
    from {jobs} j
    join event e on e.merchant_id = j.merchant_id and e.reference = j.reference
    join merchant m on m.merchant_id = j.merchant_id
    join book b on b.merchant_id = j.merchant_id
"""
# Whether an earlier event of the same object is still to be delivered.
BEHIND = """exists (
    select 1 from event f join job g on g.merchant_id = f.merchant_id and g.reference = f.reference
    where f.merchant_id = e.merchant_id and f.object = e.object and f.object_seq < e.object_seq
        and g.lane = 'webhook')"""
WITH_EVENT = f"""{JOB_COLUMNS}, e.seq, e.object, e.object_seq, e.payload, m.settings, b.clock_offset, b.clock_fixed,
    case when m.settings->>'webhook_order' = 'strict' then {BEHIND} else false end"""

# A few of each merchant that is not busy already ($5), so that one with a backlog cannot crowd out others.
CLAIM = f"""
    with looked as (
        select d.key, d.merchant_id, d.run_at from job d
        where d.lane = 'webhook' and d.run_at <= $1 and (d.leased_until is null or d.leased_until <= $1)
          and d.merchant_id <> all($5::bigint[])
          and not exists (
              select 1 from advance_lease a where a.merchant_id = d.merchant_id and a.leased_until > $1)
        order by d.run_at limit {LOOK_AT}),
    fair as (
        select key from (
            select key, run_at, row_number() over (partition by merchant_id order by run_at) as turn from looked) t
        where turn <= $4 order by run_at limit $3),
    due as (select key from job where key = any(array(select key from fair)) for update skip locked),
    j as (
        update job set leased_until = $1::timestamptz + $2::interval, claims = claims + 1
        where key = any(array(select key from due)) returning *)
    select {WITH_EVENT} {JOINED.format(jobs="j")}
"""
ONE = f"select {WITH_EVENT} {JOINED.format(jobs='job')} where j.key = $1 and j.merchant_id = $2"

KEYS = """
    select distinct on (merchant_id) merchant_id, sealed from merchant_key
    where merchant_id = any($1) and (expires_at is null or expires_at > now())
    order by merchant_id, key_id desc
"""

LOOK_AGAIN = timedelta(seconds=1)
PUT_BACK = "update job set leased_until = null, run_at = greatest(run_at, $2) where key = any($1::bytea[])"

RECORD = """
    with x as (
        select decode(key, 'base64') as key, merchant_id, seq, at, http, error, ms, next, delivered
        from json_to_recordset($1::json) as r(key text, merchant_id bigint, seq bigint, at timestamptz,
            http bigint, error text, ms bigint, next timestamptz, delivered boolean)),
    tried as (
        insert into attempt (merchant_id, event_seq, number, at, http, error, ms)
        select x.merchant_id, x.seq, 1 + coalesce((select max(t.number) from attempt t
            where t.merchant_id = x.merchant_id and t.event_seq = x.seq), 0), x.at, x.http, x.error, x.ms
        from x on conflict do nothing),
    done as (delete from job where key = any(array(select key from x where next is null))),
    again as (
        update job j set attempt = j.attempt + 1, due = x.next, leased_until = null, run_at = case
            when b.clock_fixed is null then x.next - make_interval(secs => b.clock_offset / 1000000.0)
            when x.next <= b.clock_fixed then now() else 'infinity' end
        from x join book b on b.merchant_id = x.merchant_id
        where j.key = x.key and j.merchant_id = x.merchant_id and x.next is not null),
    well as (delete from endpoint where merchant_id = any(array(select merchant_id from x where delivered))),
    ill as (
        insert into endpoint (merchant_id, failing_since)
        select merchant_id, min(at) from x group by merchant_id having not bool_or(delivered)
        on conflict do nothing)
    select 1
"""

SWITCH_OFF = """
    with off as (
        update endpoint set off_at = $3 where merchant_id = $1 and off_at is null and failing_since <= $2
        returning merchant_id)
    update job set run_at = 'infinity', leased_until = null
    where lane = 'webhook' and merchant_id = any(array(select merchant_id from off))
"""
SWITCH_ON = """
    with e as (delete from endpoint where merchant_id = $1)
    update job j set leased_until = null, run_at = case
        when b.clock_fixed is null then j.due - make_interval(secs => b.clock_offset / 1000000.0)
        when j.due <= b.clock_fixed then now() else 'infinity' end
    from book b where j.lane = 'webhook' and j.merchant_id = $1 and b.merchant_id = j.merchant_id
"""
RESEND = """
    with e as (select seq, reference from event where merchant_id = $1 and seq between $2 and $3),
    waiting as (
        update job j set due = $4, run_at = now(), leased_until = null from e
        where j.merchant_id = $1 and j.lane = 'webhook' and j.reference = e.reference returning j.reference),
    added as (
        insert into job (key, merchant_id, kind, lane, reference, subject, due, run_at, claims, attempt, work)
        select decode(md5($5 || e.seq), 'hex'), $1, 'webhook.deliver', 'webhook', e.reference,
            decode(md5(e.reference), 'hex'), $4, now(), 0, 0, '{}'
        from e where e.reference not in (select reference from waiting))
    select count(*) from e
"""


class Delivery(msgspec.Struct):
    """A claimed job with its event, and where it goes."""

    job: Job
    seq: int
    object: str
    object_seq: int
    payload: bytes
    settings: str
    now: datetime
    behind: bool


class Recorded(msgspec.Struct):
    """What became of an attempt. `next` is when to try again (business time), None when it is over."""

    key: bytes
    merchant_id: int
    seq: int
    at: datetime
    http: int | None
    error: str | None
    ms: int
    next: datetime | None
    delivered: bool


def read_delivery(record: Any, wall: datetime) -> Delivery:
    job = Job(*record[:WIDTH])
    seq, about, about_seq, payload, settings, clock_offset, clock_fixed, behind = record[WIDTH:]
    book = Book(b"", job.merchant_id, 0, 0, 0, 0, clock_offset, clock_fixed, False, None)
    return Delivery(job, seq, about, about_seq, payload.encode(), settings, business_now(book, wall), behind)


async def claim(connection: Connection, wall: datetime, most: int, most_each: int, busy: list[int]) -> list[Delivery]:
    records = await connection.fetch(CLAIM, wall, LEASE, most, most_each, busy)
    return [read_delivery(record, wall) for record in records]


async def put_back(connection: Connection, items: list[Delivery], wall: datetime) -> None:
    """Not sent: its turn has not come. Looked at again in a moment, and not counted as an attempt."""
    await connection.execute(PUT_BACK, [item.job.key for item in items], wall + LOOK_AGAIN)


async def claim_one(connection: Connection, job: Job, wall: datetime) -> Delivery:
    [record] = await connection.fetch(ONE, job.key, job.merchant_id)
    return read_delivery(record, wall)


async def record(connection: Connection, outcomes: list[Recorded]) -> None:
    await connection.execute(RECORD, encode_rows(outcomes))


async def resend(connection: Connection, merchant_id: int, first: int, last: int, now: datetime) -> int:
    """Make events fall due again, from their first attempt on; answers how many there are."""
    count = await connection.fetchval(RESEND, merchant_id, first, last, now, secrets.token_hex(16))
    assert isinstance(count, int)
    return count


async def switch_off(connection: Connection, merchant_id: int, now: datetime, after: timedelta) -> None:
    await connection.execute(SWITCH_OFF, merchant_id, now - after, now)


async def switch_on(connection: Connection, merchant_id: int) -> None:
    """An endpoint was set anew: what waits for it falls due again."""
    await connection.execute(SWITCH_ON, merchant_id)
