"""A server that stays away, on a database that Citus distributes. `make test-citus CITUS=…` runs this file."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from kasuwa.postgres.embedded.directory import socket_directory
from tests.distributed.nodes import WORKERS, Nodes
from tests.simulate.load import Client, Merchant, new_merchant
from tests.simulate.processes import Service, running_service, wait_until
from tests.webhooks.inbox import running_inbox

MERCHANTS = 12
ROUNDS = 3
# The server that has the rows of each merchant.
SELECT_SERVERS = """
    select m.mid, s.nodename from merchant m
    join citus_shards s on s.shardid = get_shard_id_for_distribution_column('merchant_state', m.merchant_id)
    where m.mid = any($1) and m.current
"""


def find_servers(nodes: Nodes, merchants: list[Merchant]) -> dict[str, str]:
    """Returns the address of the server of each mid."""

    async def ask() -> dict[str, str]:
        connection = await asyncpg.connect(nodes.dsn)
        try:
            rows = await connection.fetch(SELECT_SERVERS, [merchant.mid for merchant in merchants])
            return {row["mid"]: row["nodename"] for row in rows}
        finally:
            await connection.close()

    return asyncio.run(ask())


@pytest.fixture
def service(environ: dict[str, str], run: Callable[..., str], tmp_path: Path) -> Iterator[Service]:
    data = tmp_path / "data"
    data.mkdir()
    # The one key opens the database.
    shutil.copy(Path(environ["KASUWA_DATA"]) / "secret.key", data)
    with running_service(data, {**environ, "KASUWA_DATA": str(data)}) as running:
        yield running


def send(service: Service, merchant: Merchant, reference: str) -> dict[str, Any]:
    with Client(service.port, merchant) as client:
        body: dict[str, Any] = client.transfer(orderRef=reference).body
    return body


def is_served(service: Service, merchant: Merchant) -> bool:
    return bool(send(service, merchant, "back")["status"] == 200)


def test_a_server_that_is_away_stops_only_its_own_merchants(
    nodes: Nodes, service: Service, run: Callable[..., str]
) -> None:
    with running_inbox() as inbox:
        merchants = [new_merchant(service.port, webhook=inbox.url) for _ in range(MERCHANTS)]
        servers = find_servers(nodes, merchants)
        away = WORKERS[0]
        address = str(socket_directory(nodes.node(away).directory))
        stopped = [merchant for merchant in merchants if servers[merchant.mid] == address]
        served = [merchant for merchant in merchants if servers[merchant.mid] != address]
        assert stopped, servers
        assert served, servers

        nodes.node(away).stop(immediate=True)
        for number in range(ROUNDS):
            for merchant in served:
                assert send(service, merchant, f"away-{number}")["txnStatus"] == "successful"
            reply = send(service, stopped[0], f"away-{number}")
            assert (reply["status"], "txnStatus" in reply) == (204, False), reply
        # The worker delivers their events, although it cannot ask every server for work.
        inbox.wait_for(ROUNDS * len(served))

        nodes.start(away)
        for merchant in stopped:
            wait_until("the merchant is served again", partial(is_served, service, merchant))
        for merchant in merchants:
            assert send(service, merchant, "later")["txnStatus"] == "successful"
        inbox.wait_for(ROUNDS * len(served) + len(stopped) + len(merchants))
    run("audit")
