"""Counts of due jobs, failing endpoints and notices in the whole deployment, for /metrics."""

from collections.abc import Sequence

import msgspec

from kasuwa.db.connection_pool import Connection

# Jobs that are leased are running, so they are not counted.
DUE = """
    select l.lane, count(d.key), coalesce(extract(epoch from now() - min(d.run_at)), 0)::float8
    from unnest($1::text[]) l (lane) left join scheduled_job d on d.lane = l.lane and d.run_at <= now()
        and (d.leased_until is null or d.leased_until <= now())
    group by l.lane order by l.lane
"""
COUNT_PROBLEMS = """
    select count(*) filter (where off_at is null), count(off_at), (select count(*) from operator_notice) from endpoint
"""


class Backlog(msgspec.Struct):
    # By lane: the number of due jobs, and how many seconds the oldest is overdue.
    lanes: dict[str, tuple[int, float]]
    failing_endpoints: int
    disabled_endpoints: int
    notice_count: int


async def read_backlog(connection: Connection, lanes: Sequence[str]) -> Backlog:
    due = await connection.fetch(DUE, lanes)
    [seen] = await connection.fetch(COUNT_PROBLEMS)
    return Backlog({lane: (jobs, seconds) for lane, jobs, seconds in due}, *seen)
