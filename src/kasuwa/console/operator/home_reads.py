"""Database reads across merchants for the operator's home page. No writes; see reads.py."""

from datetime import date, datetime
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


# --- closes -----------------------------------------------------------------------------------------------------------

CLOSES = """
    select number, closed_at, tree_size from book_close
    where closed_at >= ($1::date::timestamp at time zone 'Africa/Lagos') order by number
"""
NEWEST_CLOSE = "select number, closed_at, tree_size from book_close order by number desc limit 1"
FIRST_DAY = "select (min(created_at) at time zone 'Africa/Lagos')::date from merchant"
# Lines that no entry of the books matches, or that differ, and about which two operators have not decided.
OPEN_LINES = """
    select l.booked_on, l.account_id, count(*) from statement_line l
    where l.booked_on >= $1 and (l.match_id is null or l.difference <> 0) and not exists (
        select 1 from reconciliation_decision r join approval a on a.approval_id = r.approval_id
        where r.account_id = l.account_id and r.line_id = l.line_id and a.state = 'approved')
    group by 1, 2
"""


class CloseRow(msgspec.Struct, frozen=True):
    """A close of the books."""

    number: int
    closed_at: datetime
    tree_size: int  # number of heads that it signs


async def list_closes(reader: Reader, first: date) -> list[CloseRow]:
    """Returns the closes since a day, in order."""
    return [CloseRow(*row) for row in await reader.fetch(CLOSES, first)]


async def find_newest_close(reader: Reader) -> CloseRow | None:
    row = await reader.fetchrow(NEWEST_CLOSE)
    return None if row is None else CloseRow(*row)


async def read_first_day(reader: Reader) -> date:
    """Returns the day on which the first merchant was added, or today's successor if there is none."""
    row = await reader.fetchrow(FIRST_DAY)
    return row[0] or date.max


async def count_open_lines(reader: Reader, first: date) -> dict[date, dict[int, int]]:
    """Returns the number of lines to be decided since a day, by day and account."""
    counts: dict[date, dict[int, int]] = {}
    for day, account_id, count in await reader.fetch(OPEN_LINES, first):
        counts.setdefault(day, {})[account_id] = count
    return counts


# --- volume of merchants ----------------------------------------------------------------------------------------------

VOLUMES = """
    select t.merchant_id,
        coalesce(sum(t.amount) filter (where t.kind = any($4) and t.status = 'successful'), 0)::bigint,
        coalesce(sum(t.amount) filter (where t.kind = any($5) and t.status = 'successful'), 0)::bigint,
        coalesce(sum(t.count) filter (where t.kind = 'payment' and t.status = 'successful'), 0)::bigint,
        coalesce(sum(t.count) filter (where t.kind = 'payment'), 0)::bigint
    from daily_total t where t.merchant_id = any($1) and t.day >= $2 and t.day <= $3 and t.currency = $6
    group by t.merchant_id
"""
LARGEST = """
    select t.merchant_id from daily_total t where t.merchant_id > 0 and t.day >= $1 and t.day <= $2
        and t.currency = $3 and t.status = 'successful' and t.kind = any($4)
    group by t.merchant_id order by sum(t.amount) desc, t.merchant_id limit $5
"""


class MerchantVolume(msgspec.Struct, frozen=True):
    """The final transactions of a merchant in a period and currency. Amounts are in minor units."""

    merchant_id: int
    amount_in: int = 0
    amount_out: int = 0
    payments_successful: int = 0
    payments_ended: int = 0


async def read_volumes(
    reader: Reader, merchants: list[int], days: tuple[date, date], flows: tuple[list[str], list[str]], currency: str
) -> dict[int, MerchantVolume]:
    """Returns the volumes of merchants. `flows` are the kinds of transactions that bring money in and take it out."""
    rows = [MerchantVolume(*row) for row in await reader.fetch(VOLUMES, merchants, *days, *flows, currency)]
    return {row.merchant_id: row for row in rows}


async def list_largest(
    reader: Reader, days: tuple[date, date], kinds: list[str], currency: str, limit: int
) -> list[int]:
    """Returns the merchants with the largest sum of transactions of some kinds."""
    return [row[0] for row in await reader.fetch(LARGEST, *days, currency, kinds, limit)]
