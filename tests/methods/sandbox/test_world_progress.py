"""How far a large snapshot, restore or copy is: told while it runs, and forgotten in the end."""

import asyncio
from typing import Any

import pytest

from kasuwa.sandbox.worlds.blocks import Block
from kasuwa.sandbox.worlds.progress import list_running, telling
from tests.merchant_client import MerchantClient
from tests.running import Deployment

OF_A_DEAD_PROCESS = """
    insert into world_progress (mid, act, name, done_rows, total_rows, written_at)
    values ($1, 'snapshot', 'dead', 1, 2, now() - interval '1 minute') returning 1
"""
RUNNING_NOW = """
    insert into world_progress (mid, act, name, done_rows, total_rows) values ($1, 'restore', 'large', 250000, 1000000)
    returning 1
"""


def test_a_running_act_is_shown_with_its_rows_and_forgotten_in_the_end(deployment: Deployment) -> None:
    async def run(connection: Any) -> tuple[list[Any], list[Any]]:
        async with telling(connection, "GP-progress", "fork", "large", every_seconds=0.001) as progress:
            progress.total, progress.done = 10, 4
            while not (shown := await read(connection)) or shown[0].done_rows != 4:
                await asyncio.sleep(0.01)
        return shown, await read(connection)

    lock = asyncio.Lock()

    async def read(connection: Any) -> list[Any]:
        async with lock:
            return await list_running(connection, "GP-progress")

    async def run_in_turn(connection: Any) -> tuple[list[Any], list[Any]]:
        return await run(InTurns(connection, lock))

    shown, after = deployment.run_on_connection(run_in_turn)
    assert [(one.act, one.name, one.done_rows, one.total_rows) for one in shown] == [("fork", "large", 4, 10)]
    assert after == []


class InTurns:
    """A connection that two tasks use: one statement at a time."""

    def __init__(self, connection: Any, lock: asyncio.Lock) -> None:
        self._connection, self._lock = connection, lock

    async def execute(self, query: str, *values: Any) -> None:
        async with self._lock:
            await self._connection.execute(query, *values)

    async def fetch(self, query: str, *values: Any) -> Any:
        return await self._connection.fetch(query, *values)


def test_a_block_counts_once_it_was_used() -> None:
    async def read() -> Any:
        for rows in (3, 2):
            yield Block("event", [], [[]] * rows)

    async def run() -> list[int]:
        async with telling(None, "", "", "") as progress:  # type: ignore[arg-type]
            seen = [progress.done async for _ in progress.count(read())]
        return [*seen, progress.done]

    assert asyncio.run(run()) == [0, 3, 5]


def test_the_list_of_worlds_shows_what_runs_and_not_what_has_died(shop: MerchantClient, deployment: Deployment) -> None:
    assert "running" not in shop.put("sandbox", action="worlds").body
    deployment.fetch_as_service(OF_A_DEAD_PROCESS, shop.mid)
    assert "running" not in shop.put("sandbox", action="worlds").body
    deployment.fetch_as_service(RUNNING_NOW, shop.mid)
    [running] = shop.put("sandbox", action="worlds").body["running"]
    assert running.pop("began_at").endswith("Z")
    assert running == {"action": "restore", "name": "large", "rows_done": 250_000, "rows_total": 1_000_000}


@pytest.mark.parametrize("action", ["snapshot", "restore", "fork"])
def test_nothing_is_shown_any_more_when_an_act_has_ended(
    action: str, shop: MerchantClient, deployment: Deployment
) -> None:
    shop.put("sandbox", action="snapshot", name="one")
    assert shop.put("sandbox", action=action, name="two" if action == "snapshot" else "one").body["status"] == 200
    assert deployment.fetch("select count(*) from world_progress where mid = $1", shop.mid) == [(0,)]
