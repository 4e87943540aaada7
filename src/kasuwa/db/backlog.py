"""What waits in the whole deployment, in numbers: nothing of any one merchant."""

from collections.abc import Sequence

import msgspec

from kasuwa.db.connections import Connection

# By the index of what is due; what runs already does not wait.
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
    # How many jobs of a lane are due, and how many seconds the oldest is late.
    lanes: dict[str, tuple[int, float]]
    failing_endpoints: int
    disabled_endpoints: int
    notice_count: int


async def read_backlog(connection: Connection, lanes: Sequence[str]) -> Backlog:
    due = await connection.fetch(DUE, lanes)
    [seen] = await connection.fetch(COUNT_PROBLEMS)
    return Backlog({lane: (jobs, seconds) for lane, jobs, seconds in due}, *seen)
