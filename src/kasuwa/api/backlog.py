"""Counts of due jobs, failing endpoints and notices in the whole deployment, for /metrics."""

from collections.abc import Sequence

import msgspec

from kasuwa.postgres.connection_pool import Connection
from kasuwa.webhooks.health import FAILING_ENDPOINTS

# Jobs that are leased are running, so they are not counted.
DUE = """
    select d.lane, count(*), coalesce(extract(epoch from now() - min(d.run_at)), 0)::float8
    from scheduled_job d where d.lane = any($1::text[]) and d.run_at <= now()
        and (d.leased_until is null or d.leased_until <= now())
    group by d.lane order by d.lane
"""
COUNT_PROBLEMS = f"""
    select e.failing, e.disabled, n.notices
    from (select count(*) filter (where off_at is null) as failing, count(off_at) as disabled
            from ({FAILING_ENDPOINTS}) f) e,
        (select count(*) as notices from operator_notice) n
"""


class Backlog(msgspec.Struct):
    # By lane: the number of due jobs, and how many seconds the oldest is overdue.
    lanes: dict[str, tuple[int, float]]
    failing_endpoints: int
    disabled_endpoints: int
    notice_count: int


async def read_backlog(connection: Connection, lanes: Sequence[str]) -> Backlog:
    due = await connection.fetch(DUE, lanes)
    [problems] = await connection.fetch(COUNT_PROBLEMS)
    counts = {lane: (jobs, seconds) for lane, jobs, seconds in due}
    return Backlog({lane: counts.get(lane, (0, 0.0)) for lane in sorted(lanes)}, *problems)
