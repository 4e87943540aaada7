"""What the request log keeps: the newest requests of each merchant, and none that is older than a week."""

import asyncio
import secrets
from datetime import UTC, datetime

import pytest

from kasuwa.postgres import connections
from kasuwa.sandbox.request_records import (
    KEPT_FOR,
    KEPT_PER_MERCHANT,
    TRIMMED_AFTER,
    RequestRecord,
    RequestRecorder,
)
from tests.running import Deployment

INSERT = """
    insert into request_record (mid, at, request_id, path, action, http, status, ms)
    select $1, now() - $3::interval, 'r' || n, '/disburse', 'transfer', 200, 200, 1 from generate_series(1, $2::int) n
"""
COUNT = "select count(*), min(request_id) from request_record where mid = $1"


def record_some(deployment: Deployment, mid: str, count: int) -> None:
    """Records requests as a process that has just begun."""

    async def record() -> None:
        operators = await connections.open_operator_pool(deployment.dsn)
        try:
            async with operators.acquire() as connection:
                vault = await deployment.open_vault(connection)
            recorder = RequestRecorder(operators, vault)
            for number in range(count):
                made = RequestRecord(datetime.now(UTC), f"new{number}", "/disburse", "transfer", 200, 200, 1.0)
                recorder.add(mid, made)
            await recorder.flush_merchant(mid)
        finally:
            await operators.close()

    asyncio.run(record())


def test_the_newest_ten_thousand_requests_of_a_merchant_are_kept(deployment: Deployment) -> None:
    assert KEPT_PER_MERCHANT == 10_000
    mid, other = secrets.token_hex(8), secrets.token_hex(8)
    for one in (mid, other):
        deployment.fetch(INSERT, one, KEPT_PER_MERCHANT, KEPT_FOR / 2)
    record_some(deployment, mid, TRIMMED_AFTER)
    assert deployment.fetch(COUNT, mid) == [(KEPT_PER_MERCHANT, "new0")]
    assert deployment.fetch(COUNT, other)[0][0] == KEPT_PER_MERCHANT


@pytest.mark.parametrize(("hours", "count"), [(-1, 1), (1, 0)])
def test_a_request_is_kept_for_seven_days(deployment: Deployment, hours: int, count: int) -> None:
    mid = secrets.token_hex(8)
    assert KEPT_FOR.days == 7
    deployment.fetch(INSERT, mid, 1, KEPT_FOR * (1 + hours / 168))
    record_some(deployment, secrets.token_hex(8), 1)
    assert deployment.fetch(COUNT, mid)[0][0] == count
