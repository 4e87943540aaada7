"""The wall times of jobs follow a merchant's clock, however many jobs it has, and no other merchant waits for that."""

import asyncio
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from hashlib import sha224
from typing import Any

import asyncpg
import pytest

from kasuwa.core.decision import Job
from kasuwa.core.row_codes import make_row_code
from kasuwa.jobs.job_times import BEFORE_ALL, JOBS_PER_STATEMENT, RESCHEDULE_CHUNK, reschedule_jobs
from kasuwa.postgres import connections
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.webhooks.event_log import wait_until

START = "2026-01-05T09:00:00+01:00"
# Jobs of many statements.
VERY_MANY = 100 * JOBS_PER_STATEMENT if os.environ.get("KASUWA_LONG") == "1" else 10 * JOBS_PER_STATEMENT
NUMBER = "select merchant_id from merchant where mid = $1 and current"
# Jobs of every second from ten days after $4 on: no advance of these tests reaches them. As the service writes them,
# each has its code.
ADD_JOBS = """
    insert into scheduled_job
        (key, merchant_id, kind, lane, reference, subject, due, run_at, claims, attempt, work, row_code, endpoint_id)
    select j.key, $1::bigint, 'times.none', $3, 'times', '',
        $4::timestamptz + interval '10 days' + j.n * interval '1 second', 'infinity', 0, 0, '{}',
        case when $3 <> 'webhook' then j.code end, case $3 when 'webhook' then 1 else 0 end
    from unnest($2::bytea[], $5::bytea[]) with ordinality j (key, code, n)
"""
CLOCK = (
    "select coalesce(clock_fixed_at, now() + make_interval(secs => clock_offset_us / 1000000.0)) from merchant_state b"
)
# Jobs whose wall time does not match their business time, within a microsecond of rounding.
WRONG_TIMES = """
    select count(*) from scheduled_job j join merchant_state b using (merchant_id)
    where j.merchant_id = $1 and j.kind = 'times.none' and not case
        when b.clock_fixed_at is null then j.run_at between
            j.due - make_interval(secs => b.clock_offset_us / 1000000.0) - interval '2 microseconds' and
            j.due - make_interval(secs => b.clock_offset_us / 1000000.0) + interval '2 microseconds'
        when j.due <= b.clock_fixed_at then j.run_at <= now()
        else j.run_at = 'infinity' end
"""
TIMES = "select run_at, count(*) from scheduled_job where merchant_id = $1 and kind = 'times.none' group by run_at"
MOVE_CLOCK = "update merchant_state set clock_fixed_at = clock_fixed_at + interval '20 days' where merchant_id = $1"
OF_TIMES = "merchant_id = $1 and kind = 'times.none'"
LEASES = "select count(*) from advance_lease where merchant_id = $1"


def add_jobs(deployment: Deployment, shop: MerchantClient, count: int, lane: str = "bank") -> int:
    [[number]] = deployment.fetch(NUMBER, shop.mid)
    [[now]] = deployment.fetch(f"{CLOCK} where merchant_id = $1", number)
    keys = [sha224(f"times {number} {n}".encode()).digest() for n in range(count)]
    vault = deployment.run_on_connection(deployment.open_vault)
    codes = [make_row_code(vault, Job.table, (number, key, "times.none", "times", b"", "{}")) for key in keys]
    deployment.fetch(ADD_JOBS, number, keys, lane, now, codes)
    return int(number)


@pytest.mark.chaos
@pytest.mark.parametrize("clock", [{}, {"now": START}], ids=["running", "standing"])
def test_a_clock_with_very_many_jobs_moves_while_other_merchants_write(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], clock: dict[str, str]
) -> None:
    shop, other = open_shop(**clock), open_shop()
    number = add_jobs(deployment, shop, VERY_MANY)
    with ThreadPoolExecutor() as threads:
        moving = threads.submit(shop.advance, days=2)
        states = [other.transfer()["txnStatus"]]
        while not moving.done():
            states.append(other.transfer()["txnStatus"])
        assert moving.result()["status"] == 200
    assert set(states) == {"successful"}
    assert deployment.fetch(WRONG_TIMES, number) == [(0,)]
    assert deployment.fetch(LEASES, number) == [(0,)]


def test_jobs_that_a_stopped_clock_reaches_are_due_at_once(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    number = add_jobs(deployment, open_shop(now=START), 2_500)
    half = (
        "update merchant_state set clock_fixed_at = (select max(due) from scheduled_job "
        "where merchant_id = $1) - interval '1250 seconds'"
    )
    deployment.fetch(f"{half} where merchant_id = $1", number)
    wall = datetime(2026, 1, 5, 10, tzinfo=UTC)

    async def shift() -> int:
        operators = await connections.open_operator_pool(deployment.dsn)
        try:
            return await reschedule_jobs(operators, number, wall, 1_000)
        finally:
            await operators.close()

    # In a lane that no worker claims: these jobs have no step.
    deployment.fetch("update scheduled_job set lane = 'nobody' where merchant_id = $1", number)
    assert asyncio.run(shift()) == 3
    times = {str(at): count for at, count in deployment.fetch(TIMES, number)}
    assert (times[str(wall)], sum(times.values()), len(times)) == (1_250, 2_500, 2)


def rows_handled(node: dict[str, Any]) -> float:
    """Returns how many rows a part of a plan has returned or compared, with all parts below it."""
    removed = (node.get(f"Rows Removed by {kind}", 0) for kind in ("Filter", "Join Filter", "Index Recheck"))
    own = (node["Actual Rows"] + sum(removed)) * node["Actual Loops"]
    return float(own) + sum(map(rows_handled, node.get("Plans", ())))


def explain_piece(
    deployment: Deployment, number: int, *, until: datetime | None = None, has_statistics: bool
) -> dict[str, Any]:
    """Returns the plan of the first piece of a merchant's jobs, as it was executed."""

    async def explain(connection: Any) -> str:
        change = connection.transaction()
        await change.start()
        if has_statistics:
            await connection.execute("analyze scheduled_job")
        await connection.execute(MOVE_CLOCK, number)
        values = (number, *BEFORE_ALL, datetime.now(UTC), 100, until)
        plan = await connection.fetchval(f"explain (analyze, format json) {RESCHEDULE_CHUNK}", *values)
        await change.rollback()
        return str(plan)

    [root] = json.loads(deployment.run_on_connection(explain))
    plan: dict[str, Any] = root["Plan"]
    return plan


@pytest.mark.parametrize("has_statistics", [False, True], ids=["without statistics", "with statistics"])
def test_a_piece_of_the_jobs_is_not_compared_with_all_jobs_of_the_merchant(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], has_statistics: bool
) -> None:
    number = add_jobs(deployment, open_shop(now=START), 5_000, "nobody")
    plan = explain_piece(deployment, number, has_statistics=has_statistics)
    assert plan["Actual Rows"] == 1
    assert rows_handled(plan) < 4 * 5_000


@pytest.mark.parametrize("has_statistics", [False, True], ids=["without statistics", "with statistics"])
def test_jobs_that_are_due_later_are_not_read(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], has_statistics: bool
) -> None:
    number = add_jobs(deployment, open_shop(now=START), 5_000, "nobody")
    [[ninth]] = deployment.fetch(
        f"select due from scheduled_job where {OF_TIMES} order by due offset 8 limit 1", number
    )
    plan = explain_piece(deployment, number, until=ninth, has_statistics=has_statistics)
    assert plan["Actual Rows"] == 1
    # Each part of the plan counts the nine again, and those of other merchants that it passed.
    assert 9 <= rows_handled(plan) < 500


def test_an_advance_after_one_that_left_its_jobs_moves_them_all(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop(now=START)
    number = add_jobs(deployment, shop, 3)
    deployment.fetch("insert into advance_lease (merchant_id, leased_until, holder) values ($1, now(), 'died')", number)
    deployment.fetch(f"update scheduled_job set run_at = now() + interval '1 year' where {OF_TIMES}", number)
    assert shop.advance(days=1)["status"] == 200
    assert deployment.fetch(WRONG_TIMES, number) == [(0,)]


def test_times_that_were_left_are_moved_although_the_next_advance_is_refused(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop(now=START)
    number = add_jobs(deployment, shop, 3)
    deployment.fetch("insert into advance_lease (merchant_id, leased_until, holder) values ($1, now(), 'died')", number)
    deployment.fetch(f"update scheduled_job set run_at = now() + interval '1 year' where {OF_TIMES}", number)
    assert shop.put("sandbox", action="advance", until="2020-01-01T00:00:00Z").body["status"] == 104
    wait_until("the worker has moved all jobs", lambda: deployment.fetch(WRONG_TIMES, number) == [(0,)])


def test_deliveries_to_an_endpoint_that_is_off_stay_parked(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop()
    number = add_jobs(deployment, shop, 3, "webhook")
    deployment.fetch(
        "insert into failing_endpoint (merchant_id, endpoint_id, failing_since, off_at) values ($1, 1, now(), now())",
        number,
    )
    shop.advance(days=1)
    parked = "select count(*) from scheduled_job where merchant_id = $1 and run_at = 'infinity'"
    assert deployment.fetch(parked, number) == [(3,)]
    deployment.fetch("delete from scheduled_job where merchant_id = $1 and kind = 'times.none'", number)


def test_an_advance_that_cannot_move_its_jobs_leaves_that_to_the_worker(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    """Another session holds a job for longer than a lock is waited for: the clock has moved, some jobs have not."""
    shop = open_shop()
    number = add_jobs(deployment, shop, JOBS_PER_STATEMENT + 1)

    async def hold_last_job() -> Any:
        connection = await asyncpg.connect(deployment.dsn)
        try:
            async with connection.transaction():
                await connection.execute(
                    "select 1 from scheduled_job where merchant_id = $1 order by due desc, seq desc limit 1 for update",
                    number,
                )
                return await asyncio.to_thread(shop.send_fields, "sandbox", {"action": "advance", "days": 1})
        finally:
            await connection.close()

    assert asyncio.run(hold_last_job()).body["status"] == 204
    wait_until("the worker has moved all jobs", lambda: deployment.fetch(LEASES, number) == [(0,)])
    assert deployment.fetch(WRONG_TIMES, number) == [(0,)]
    assert shop.advance(days=1)["status"] == 200


def test_the_jobs_of_an_advance_that_died_are_moved_in_pieces_by_the_worker(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop()
    number = add_jobs(deployment, shop, 2 * JOBS_PER_STATEMENT + 1)
    deployment.fetch(
        "update merchant_state set clock_offset_us = 3600000000, version = version + 1 where merchant_id = $1", number
    )
    deployment.fetch("insert into advance_lease values ($1, $2)", number, datetime.now(UTC) - timedelta(minutes=1))
    wait_until("the worker has moved all jobs", lambda: deployment.fetch(LEASES, number) == [(0,)])
    assert deployment.fetch(WRONG_TIMES, number) == [(0,)]
