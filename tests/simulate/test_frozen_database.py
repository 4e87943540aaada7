"""A database that stops answering on open connections, or refuses new ones: requests are answered, readiness fails, and
the service recovers by itself.
"""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.simulate.faulty_proxy import FaultyProxy
from tests.simulate.load import LOAD_TRANSFERS, Client, Merchant, find_mismatches, new_merchant, running_load
from tests.simulate.processes import (
    Service,
    broken_invariants,
    get,
    query,
    running_database,
    running_service,
    wait_until,
    with_connection,
)
from tests.simulate.waiting import wait_for_holds, wait_for_more

pytestmark = pytest.mark.chaos


def test_a_silent_database_makes_the_service_unready_and_costs_no_money(tmp_path: Path) -> None:
    """Requests made meanwhile are answered with the outcome or that it is not known."""
    with running_database(tmp_path / "pg") as cluster, FaultyProxy(cluster).open_in_thread() as line:
        with running_service(tmp_path / "data", {"KASUWA_DATABASE_URL": line.dsn}) as service:
            merchants = [new_merchant(service.port) for _ in range(3)]
            with running_load(service.port, merchants, tmp_path / "answers") as load:
                wait_for_more(load)
                for state in ("frozen", "deaf", "mute", "refusing"):
                    line.state = state
                    wait_until(f"readiness tells that it is {state}", lambda: get(service.port, "/readyz") == 503)
                    line.state = "passing"
                    wait_until(f"it was {state} and is ready", lambda: get(service.port, "/readyz") == 200)
                    wait_for_more(load)
                answers = load.stop()
            wait_for_holds(cluster.dsn)
            assert {(answer.http, answer.status) for answer in answers} <= {(200, 200), (503, 204)}
            assert find_mismatches(answers, query(cluster.dsn, LOAD_TRANSFERS)) == []
        assert broken_invariants(cluster.dsn) == []


def fund(service: Service, merchant: Merchant) -> tuple[int, int]:
    with Client(service.port, merchant) as client:
        reply = client.put("/sandbox", {"action": "fund_wallet", "currency": "NGN", "amount": "1.00"})
        return reply.http, reply.body["status"]


HOLD = "select 1 from merchant_state b join merchant m using (merchant_id) where m.mid = $1 for update of b"


@contextmanager
def locked_merchant(dsn: str, merchant: Merchant) -> Iterator[None]:
    """Locks a merchant's state row in another session."""
    held, over = threading.Event(), threading.Event()

    async def hold(connection: Any) -> None:
        async with connection.transaction():
            await connection.fetch(HOLD, merchant.mid)
            held.set()
            while not over.is_set():
                await asyncio.sleep(0.02)

    with ThreadPoolExecutor(1) as thread:
        holding = thread.submit(asyncio.run, with_connection(dsn, hold))
        try:
            assert held.wait(60)
            yield
        finally:
            over.set()
            holding.result()


def test_a_locked_merchant_does_not_delay_the_others_over_http(tmp_path: Path) -> None:
    with (
        running_database(tmp_path / "pg") as cluster,
        running_service(tmp_path / "data", {"KASUWA_DATABASE_URL": cluster.dsn}) as service,
        ThreadPoolExecutor(1) as thread,
    ):
        held, *others = [new_merchant(service.port) for _ in range(4)]
        with locked_merchant(cluster.dsn, held):
            waiting = thread.submit(fund, service, held)
            for _ in range(3):
                assert [fund(service, merchant) for merchant in others] == [(200, 200)] * 3
            assert get(service.port, "/readyz") == 200
        outcome = waiting.result()
        with Client(service.port, held) as client:
            # On a slow machine the request may have timed out by then.
            balances = {(200, 200): "10000001.00", (503, 204): "10000000.00"}
            assert client.wallet()["balance"] == balances[outcome]
        assert broken_invariants(cluster.dsn) == []
