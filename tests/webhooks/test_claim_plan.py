"""A claim of deliveries does not cost more with a backlog: its plan reads each merchant's jobs in index order."""

import asyncio
from datetime import UTC, datetime

from kasuwa.postgres import connections
from kasuwa.webhooks import deliveries
from tests.running import Deployment


async def plan_of(dsn: str, query: str) -> str:
    connection = await connections.connect(dsn, deliveries.SENDER_SETTINGS)
    try:
        rows = await connection.fetch(f"explain {query}", datetime.now(UTC), deliveries.DELIVERY_LEASE, 256, 32, "{}")
        return "\n".join(row[0] for row in rows)
    finally:
        await connection.close()


def test_a_merchants_backlog_is_read_in_the_order_of_its_index(deployment: Deployment) -> None:
    plan = asyncio.run(plan_of(deployment.dsn, deliveries.CLAIM_FROM_EACH))
    assert "Index Scan using scheduled_job_deliveries on scheduled_job d" in plan
    assert "Sort Key: d.merchant_id" not in plan
