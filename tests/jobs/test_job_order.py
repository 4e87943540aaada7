"""Due jobs are claimed in a fixed order: by wall time, then by business time, then by insertion. In a backlog,
merchants are served in turn."""

import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kasuwa.core.decision import Job
from kasuwa.core.references import row_key
from kasuwa.jobs import leases as job_claims
from kasuwa.jobs.leases import LaneTurns, claim_jobs
from kasuwa.jobs.worker import MAX_CLAIMED
from kasuwa.postgres.row_codes import code_new_row, describe_table
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
        await code_new_row(connection, vault, describe_table(Job), "lane = $1", LANE)
        turns = LaneTurns()
        while claimed := await claim_jobs(connection, vault, LANE, datetime.now(UTC), MAX_CLAIMED, turns):
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


PLANT = """
    insert into scheduled_job (key, merchant_id, kind, lane, reference, subject, due, run_at, claims, attempt, work)
    select decode(md5($1 || merchant_id || ' ' || n), 'hex'), merchant_id, 'probe', $1, mid,
        decode(md5($1 || merchant_id || ' ' || n), 'hex'), $2, $2, 0, 0, '{}'
    from merchant, generate_series(1, $4::int) n where mid = any($3) and current
"""


def claim_planted(
    deployment: Deployment, plants: list[tuple[list[MerchantClient], datetime, int]], times: int
) -> list[Counter[str]]:
    """Writes jobs of groups of merchants: who, when they are due, and how many for each. Claims some times, and returns
    how many jobs of each merchant each claim took."""

    async def run(connection: Any) -> list[Counter[str]]:
        await connection.execute(FORGET, LANE)
        for shops, at, count in plants:
            await connection.execute(PLANT, LANE, at, [shop.mid for shop in shops], count)
        vault, turns = await deployment.open_vault(connection), LaneTurns()
        await code_new_row(connection, vault, describe_table(Job), "lane = $1", LANE)
        claims = []
        for _ in range(times):
            claimed = await claim_jobs(connection, vault, LANE, datetime.now(UTC), MAX_CLAIMED, turns)
            claims.append(Counter(item.job.reference for item in claimed))
        await connection.execute(FORGET, LANE)
        return claims

    return deployment.run_on_connection(run)


def look_at(monkeypatch: pytest.MonkeyPatch, merchants: int) -> None:
    """Has a claim look at this number of merchants."""
    query = job_claims.SELECT_NEXT_MERCHANTS.replace(f"limit {job_claims.MERCHANTS_AT_ONCE}", f"limit {merchants}")
    monkeypatch.setattr(job_claims, "SELECT_NEXT_MERCHANTS", query)
    monkeypatch.setattr(job_claims, "MERCHANTS_AT_ONCE", merchants)


# More merchants than other tests have made.
ALL = 100_000


def test_a_merchants_backlog_does_not_go_before_the_jobs_of_others(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    look_at(monkeypatch, ALL)
    noisy, quiet = open_shop(), [open_shop() for _ in range(5)]
    early, late = datetime.now(UTC) - timedelta(hours=1), datetime.now(UTC) - timedelta(minutes=1)
    first, second, third = claim_planted(deployment, [([noisy], early, 5_000), (quiet, late, 3)], 3)
    assert first == {noisy.mid: MAX_CLAIMED}
    assert second == {noisy.mid: MAX_CLAIMED - 15, **{shop.mid: 3 for shop in quiet}}
    assert third == {noisy.mid: MAX_CLAIMED}


def test_several_backlogs_share_a_claim(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    look_at(monkeypatch, ALL)
    first, second = open_shop(), open_shop()
    early, late = datetime.now(UTC) - timedelta(hours=1), datetime.now(UTC) - timedelta(minutes=1)
    claims = claim_planted(deployment, [([first], early, 2_000), ([second], late, 2_000)], 4)
    for claimed in claims[1:]:
        assert claimed[second.mid] == job_claims.JOBS_IN_TURN
        assert claimed[first.mid] == MAX_CLAIMED - job_claims.JOBS_IN_TURN


def test_every_merchant_has_its_turn_if_a_claim_looks_at_few(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    look_at(monkeypatch, 2)
    noisy, quiet = open_shop(), [open_shop() for _ in range(5)]
    early, late = datetime.now(UTC) - timedelta(hours=1), datetime.now(UTC) - timedelta(minutes=1)
    [[others]] = deployment.fetch("select count(distinct merchant_id) from scheduled_job")
    claims = claim_planted(deployment, [([noisy], early, 64 * (others + 20)), (quiet, late, 1)], others // 2 + 10)
    assert {shop.mid: sum(claimed[shop.mid] for claimed in claims) for shop in quiet} == {shop.mid: 1 for shop in quiet}
    assert all(claims)
