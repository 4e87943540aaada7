"""Database reads across merchants for the operator's home page. No writes; see reads.py."""

from datetime import datetime
from typing import Any

import msgspec

from kasuwa.core.reading import Reader
from kasuwa.webhooks.health import FAILING_ENDPOINTS

# A job is late if it has been due for a minute and nobody works on it. No more than MAX_LATE of a queue are counted.
# Each queue is a query of its own: not every layout has recursive queries over all merchants.
MAX_LATE = 10_000
NEXT_LANE = "select lane from scheduled_job where lane > $1 order by lane, run_at, due, seq limit 1"
LATE_JOBS = """
    select count(*), min(d.run_at) from (
        select j.run_at from scheduled_job j where j.lane = $1 and j.run_at < now() - interval '1 minute'
            and (j.leased_until is null or j.leased_until <= now())
        order by j.run_at, j.due, j.seq limit $2) d
"""
# An order is stuck if its rail was asked so often without a final answer: for three quarters of an hour or longer.
STUCK_ATTEMPTS = 5
STUCK_ORDERS = """
    select d.rail, count(*), min(d.due) from (
        select j.rail, j.due, j.attempt from scheduled_job j where j.lane = $1 and j.rail <> ''
        order by j.run_at, j.due, j.seq limit $2) d
    where d.attempt >= $3 group by d.rail
"""
COUNTS = f"""
    select (select count(*) from merchant where current),
        (select count(*) from merchant where current and (settings ->> 'suspended')::boolean),
        (select count(*) from approval where state = 'open'),
        (select count(*) from ({FAILING_ENDPOINTS}) f),
        (select count(*) from ({FAILING_ENDPOINTS}) f where f.off_at is not null),
        (select count(*) from (select at from operator_notice order by notice_id desc limit 1000) n
            where n.at > now() - interval '1 day')
"""
ENDPOINTS = f"""
    select f.mid, f.name, f.endpoint_id, f.failing_since, f.off_at from ({FAILING_ENDPOINTS}) f
    order by f.failing_since, f.merchant_id, f.endpoint_id limit $1
"""
NOTICES = """
    select m.mid, m.name, n.reference, n.message, n.at from operator_notice n left join merchant m
        on m.merchant_id = n.merchant_id
    order by n.notice_id desc limit $1
"""


class LateJobs(msgspec.Struct, frozen=True):
    """The late jobs of one queue."""

    lane: str
    count: int
    oldest: datetime


class StuckOrders(msgspec.Struct, frozen=True):
    """Open orders of one rail and queue that were asked after for long."""

    rail: str
    count: int
    next_due: datetime  # when the first is asked after again, in business time


class HomeCounts(msgspec.Struct, frozen=True):
    """Numbers of the operator's home page."""

    merchants: int
    suspended: int
    open_approvals: int
    failing_endpoints: int
    disabled_endpoints: int
    notices: int  # of the last day, among the newest 1,000


async def list_late_jobs(reader: Reader) -> list[LateJobs]:
    late = list[LateJobs]()
    row = await reader.fetchrow(NEXT_LANE, "")
    while row is not None:
        (lane,) = row
        count, oldest = await reader.fetchrow(LATE_JOBS, lane, MAX_LATE)
        if count:
            late.append(LateJobs(lane, count, oldest))
        row = await reader.fetchrow(NEXT_LANE, lane)
    return late


async def list_stuck_orders(reader: Reader) -> list[StuckOrders]:
    stuck = list[StuckOrders]()
    row = await reader.fetchrow(NEXT_LANE, "")
    while row is not None:
        (lane,) = row
        if lane != "webhook":
            rows = await reader.fetch(STUCK_ORDERS, lane, MAX_LATE, STUCK_ATTEMPTS)
            stuck += sorted((StuckOrders(*columns) for columns in rows), key=lambda orders: orders.rail)
        row = await reader.fetchrow(NEXT_LANE, lane)
    return stuck


async def read_counts(reader: Reader) -> HomeCounts:
    return HomeCounts(*await reader.fetchrow(COUNTS))


async def list_failing_endpoints(reader: Reader, limit: int) -> list[Any]:
    return list(await reader.fetch(ENDPOINTS, limit))


async def list_newest_notices(reader: Reader, limit: int) -> list[Any]:
    return list(await reader.fetch(NOTICES, limit))
