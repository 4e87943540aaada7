"""Sums settlements of a merchant of a running deployment, as the worker does for merchants with many postings."""

from typing import Any

from kasuwa.projections import settlement_sums
from tests.running import Deployment

LAST_POSTING = """
    select s.merchant_id, s.last_posting_seq from merchant_state s join merchant m using (merchant_id)
    where m.mid = $1 and m.current
"""


def count_postings(deployment: Deployment, mid: str) -> int:
    [[_, last]] = deployment.fetch(LAST_POSTING, mid)
    return int(last)


def sum_up_to(deployment: Deployment, mid: str, last: int) -> None:
    """Sums the postings of a merchant up to this one."""
    [[merchant_id, _]] = deployment.fetch(LAST_POSTING, mid)

    async def work(connection: Any) -> None:
        while await connection.fetchval(settlement_sums.MARK, merchant_id) < last:
            await settlement_sums.sum_next(connection, merchant_id, last)

    deployment.run_on_connection(work)
