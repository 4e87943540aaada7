"""A claim of jobs does not cost more with a backlog: its plan reads jobs in index order, also without statistics."""

import asyncio
from datetime import UTC, datetime

import pytest

from kasuwa.engine.batch import JOB_LEASE
from kasuwa.jobs import leases
from kasuwa.postgres import connections
from tests.running import Deployment

PLANT = """
    insert into scheduled_job (key, merchant_id, kind, lane, reference, subject, due, run_at, claims, attempt, work)
    select k, n % 50, 'probe', 'bank', 'r' || n, k, now(), now(), 0, 0, '{}'
    from generate_series(1, 5000) n, decode(md5('plan ' || n), 'hex') k
"""


async def plan_of(dsn: str, query: str, *values: object) -> str:
    """Returns the plan of a statement while there is a backlog that the planner does not know of."""
    connection = await connections.connect(dsn, connections.CLAIM_SETTINGS)
    backlog = connection.transaction()
    try:
        await backlog.start()
        await connection.execute(PLANT)
        return "\n".join(row[0] for row in await connection.fetch(f"explain {query}", *values))
    finally:
        await backlog.rollback()
        await connection.close()


@pytest.mark.parametrize("query", [leases.CLAIM, leases.CLAIM_IN_TURN], ids=["oldest first", "in turn"])
def test_a_claim_reads_the_oldest_jobs_in_the_order_of_their_index(deployment: Deployment, query: str) -> None:
    merchants = () if query is leases.CLAIM else (list(range(50)),)
    plan = asyncio.run(plan_of(deployment.dsn, query, "bank", datetime.now(UTC), JOB_LEASE, 64, *merchants))
    assert "Index Scan using scheduled_job_due on scheduled_job d" in plan
    assert "Seq Scan" not in plan
    assert "Bitmap" not in plan
    assert "Sort Key: d" not in plan


def test_a_claim_in_turn_reads_each_merchants_jobs_in_the_order_of_their_index(deployment: Deployment) -> None:
    values = ("bank", datetime.now(UTC), JOB_LEASE, 64, list(range(50)))
    plan = asyncio.run(plan_of(deployment.dsn, leases.CLAIM_IN_TURN, *values))
    assert "Index Scan using scheduled_job_merchant on scheduled_job" in plan
    assert "Sort Key: scheduled_job" not in plan


def test_the_next_merchants_are_found_by_one_probe_each(deployment: Deployment) -> None:
    plan = asyncio.run(plan_of(deployment.dsn, leases.SELECT_NEXT_MERCHANTS, 0))
    assert "Scan using scheduled_job_merchant on scheduled_job" in plan
    assert "Seq Scan" not in plan
    assert "Sort" not in plan
