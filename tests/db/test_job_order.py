"""Due jobs are claimed in a fixed order: by wall time, then by business time, then by insertion."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from kasuwa.core.references import row_key
from kasuwa.db.jobs import claim_jobs
from kasuwa.work.worker import MAX_CLAIMED
from tests.merchant_client import MerchantClient
from tests.running import Deployment

LANE = "a lane of these tests"
INSERT = """
    insert into scheduled_job (key, merchant_id, kind, lane, reference, subject, due, run_at, claims, attempt, work)
    select $1, merchant_id, 'probe', $2, $3, $1, $4, $5, 0, 0, '{}' from merchant where mid = $6 and current
"""
FORGET = "delete from scheduled_job where lane = $1"


def claim_all(deployment: Deployment, shop: MerchantClient, jobs: list[tuple[datetime, datetime]]) -> list[list[int]]:
    """Writes jobs with these business and wall times, claims until none is left, and returns their positions."""

    async def run(connection: Any) -> list[list[int]]:
        await connection.execute(FORGET, LANE)
        for place, (due, run_at) in enumerate(jobs):
            key = row_key(0, LANE, f"{random.random()} {place}")
            await connection.execute(INSERT, key, LANE, str(place), due, run_at, shop.mid)
        claims = []
        vault = await deployment.open_vault(connection)
        vault.keyring.accepts_uncoded = True
        while claimed := await claim_jobs(connection, vault, LANE, datetime.now(UTC), MAX_CLAIMED):
            claims.append([int(item.job.reference) for item in claimed])
        await connection.execute(FORGET, LANE)
        return claims

    return deployment.run_on_connection(run)


def test_of_more_jobs_than_one_claim_takes_the_earliest_come_first(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop, start = open_shop(), datetime.now(UTC) - timedelta(hours=1)
    minutes = list(range(MAX_CLAIMED * 2 + 10))
    random.shuffle(minutes)
    times = [start + timedelta(seconds=minute) for minute in minutes]
    claims = claim_all(deployment, shop, [(at, at) for at in times])
    assert [len(places) for places in claims] == [MAX_CLAIMED, MAX_CLAIMED, 10]
    assert [minutes[place] for places in claims for place in places] == sorted(minutes)


def test_jobs_of_one_moment_are_claimed_in_the_order_in_which_they_were_written(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    at = datetime.now(UTC) - timedelta(hours=1)
    claims = claim_all(deployment, open_shop(), [(at, at)] * (MAX_CLAIMED + 40))
    assert [place for places in claims for place in places] == list(range(MAX_CLAIMED + 40))


def test_where_a_clock_stands_still_business_time_decides(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    """A clock that was moved past all of them gives them the same wall time."""
    wall, count = datetime.now(UTC) - timedelta(hours=1), MAX_CLAIMED + 40
    dues = [wall + timedelta(days=day) for day in reversed(range(count))]
    claims = claim_all(deployment, open_shop(now="2026-01-05"), [(due, wall) for due in dues])
    assert [place for places in claims for place in places] == list(reversed(range(count)))
