"""Two senders that look for deliveries at the same moment do not lease the same one."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import asyncpg
import pytest

from kasuwa.postgres import migrate
from kasuwa.webhooks import deliveries
from tests.running import Deployments

LOCK = 7_203
MERCHANT_ID = 903
FILL = f"""
    insert into merchant (merchant_id, mid, name) values ({MERCHANT_ID}, 'GP0000903', 'x');
    insert into merchant_state (key, merchant_id) values ('\\x0903', {MERCHANT_ID});
    insert into event (merchant_id, seq, reference, object, object_seq, kind, payload, at, hash)
        values ({MERCHANT_ID}, 1, 'GP1', 'GP1', 1, 'payment', '{{}}', now(), '\\x00');
    insert into scheduled_job (key, merchant_id, kind, lane, reference, subject, due, run_at, claims, attempt, work,
            endpoint_id)
        values ('\\x0904', {MERCHANT_ID}, 'webhook', 'webhook', 'GP1', '', now(), now() - interval '1 minute', 0, 0,
            '{{"seq":1}}', 1);
"""


def build_claim(found: str) -> str:
    """Returns the statement of a claim that waits between the moment at which it finds deliveries and the one at which
    it locks them."""
    columns = deliveries.DELIVERY_COLUMNS.format(merchant="j.merchant_id")
    waiting = f"select f.* from ({found}) f where pg_advisory_xact_lock_shared({LOCK}) is not null"
    return deliveries.CLAIM.format(
        found=waiting, is_due=deliveries.IS_DUE, columns=columns, joined=deliveries.JOINED.format(jobs="j")
    )


async def wait_until_it_waits(connection: Any, pid: int) -> None:
    waits = "select wait_event_type = 'Lock' from pg_stat_activity where pid = $1"
    async with asyncio.timeout(60):
        while not await connection.fetchval(waits, pid):
            await connection.execute("select pg_stat_clear_snapshot()")
            await asyncio.sleep(0.01)


async def claim_twice(dsn: str, found: str, query: str) -> tuple[int, int]:
    """Returns how many deliveries a sender claims while another one waits to lock them, and how many the other then."""
    watching, late = [await asyncpg.connect(dsn) for _ in range(2)]
    try:
        arguments = (datetime.now(UTC), deliveries.DELIVERY_LEASE, 256, 32, "{}")
        await watching.execute("select pg_advisory_lock($1)", LOCK)
        waiting = asyncio.create_task(late.fetch(build_claim(found), *arguments))
        await wait_until_it_waits(watching, late.get_server_pid())
        claimed = await watching.fetch(query, *arguments)
        await watching.execute("select pg_advisory_unlock($1)", LOCK)
        return len(claimed), len(await waiting)
    finally:
        await watching.close()
        await late.close()


@pytest.mark.parametrize(
    ("found", "query"),
    [
        (deliveries.OLDEST_FIRST, deliveries.CLAIM_OLDEST),
        (deliveries.ENDPOINT_BY_ENDPOINT, deliveries.CLAIM_FROM_EACH),
    ],
    ids=["oldest first", "endpoint by endpoint"],
)
def test_a_delivery_that_another_sender_leased_meanwhile_is_left_to_it(
    deployments: Deployments, request: pytest.FixtureRequest, found: str, query: str
) -> None:
    dsn = deployments.new_database(request.node.name[-40:])

    async def run() -> None:
        connection = await asyncpg.connect(dsn)
        await migrate.migrate(connection, "test", bytes(32))
        await connection.execute(FILL)
        await connection.close()
        assert await claim_twice(dsn, found, query) == (1, 0)

    asyncio.run(run())
