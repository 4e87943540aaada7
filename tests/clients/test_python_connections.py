"""Connections of the Python client: proxies, transports and clients of the user's own, and concurrent calls."""

import asyncio
import gc
import warnings
from collections.abc import Callable

import httpx
import pytest
import trio

from kasuwa_client import AsyncKasuwa, Kasuwa, RetryPolicy, ServiceUnreachable
from tests.clients.faulty_server import SOCKET_SECONDS, closed_port, delay, drip, drop, faulty_server, half_of, reply
from tests.merchant_client import MerchantClient

WALLET = {"status": 200, "data": []}


def test_requests_go_through_the_proxy() -> None:
    with faulty_server(reply(200, WALLET)) as proxy:
        with Kasuwa(mid="GP1", key="secret", base_url="http://kasuwa.invalid/api/", proxy=proxy.url) as shop:
            assert shop.resources.wallet().data == ()
        assert proxy.received[0].headers["x-test-path"] == "http://kasuwa.invalid/api/resources"
        assert proxy.received[0].headers["host"] == "kasuwa.invalid"


def test_a_proxy_that_is_away_is_no_unknown_outcome() -> None:
    once = RetryPolicy(max_retries=0)
    with (
        Kasuwa(mid="GP1", key="secret", base_url="http://kasuwa.invalid", proxy=closed_port(), retry=once) as shop,
        pytest.raises(ServiceUnreachable),
    ):
        shop.sandbox.reset()


class CountingTransport(httpx.HTTPTransport):
    """A transport of the user's own."""

    requests = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests += 1
        return super().handle_request(request)


def test_a_transport_of_the_user_is_used(connect: Callable[..., Kasuwa]) -> None:
    transport = CountingTransport()
    shop = connect(transport=transport)
    shop.resources.wallet()
    shop.with_options(timeout=5).resources.banks()
    assert transport.requests == 2


def test_an_http_client_of_the_user_stays_open(connect: Callable[..., Kasuwa]) -> None:
    with httpx.Client() as http_client:
        with connect(http_client=http_client) as shop:
            assert shop.resources.wallet().status == 200
        assert not http_client.is_closed


def test_an_own_connection_is_closed_with_the_client(connect: Callable[..., Kasuwa]) -> None:
    shop = connect()
    shop.close()
    with pytest.raises(RuntimeError, match="closed"):
        shop.resources.wallet()


def test_concurrent_tasks_share_one_async_client(shop: MerchantClient, base_url: str) -> None:
    async def run() -> None:
        async with AsyncKasuwa(mid=shop.mid, key=shop.key, base_url=base_url) as client:
            calls = [client.disburse.transfer(amount=10, bankcode="058", accountnumber="0000000000") for _ in range(12)]
            made = await asyncio.gather(*calls)
            assert len({one.order_ref for one in made}) == 12
            assert {one.txn_status for one in made} == {"successful"}

    asyncio.run(run())


def test_options_of_a_copy_do_not_change_the_client(connect: Callable[..., Kasuwa]) -> None:
    with faulty_server(reply(200, WALLET)) as server:
        shop = connect(base_url=server.url)
        shop.with_options(scenario="rr=91", headers={"X-Trace": "7"}).resources.wallet()
        shop.resources.wallet()
        first, second = (received.headers for received in server.received)
        assert (first["x-sandbox-scenario"], first["x-trace"]) == ("rr=91", "7")
        assert not {"x-sandbox-scenario", "x-trace"} & set(second)
        assert first["user-agent"].startswith("kasuwa-client-python/")
        assert (first["mid"], first["key"]) == (second["mid"], second["key"])


def test_the_async_client_runs_in_trio(shop: MerchantClient, base_url: str) -> None:
    """Calls at once, pages, waiting and retries: all that pauses or connects."""
    states: list[str] = []
    busy = reply(429, {"status": 204, "message": "Too many requests"})

    async def send(client: AsyncKasuwa) -> None:
        sent = await client.disburse.transfer(amount=10, bankcode="058", accountnumber="0000000000")
        states.append((await client.disburse.wait(sent, seconds=60)).txn_status)

    async def run() -> None:
        async with AsyncKasuwa(mid=shop.mid, key=shop.key, base_url=base_url) as client:
            async with trio.open_nursery() as nursery:
                for _ in range(6):
                    nursery.start_soon(send, client)
            assert len([line async for line in client.resources.transactions(limit=2)]) == 6
        with faulty_server(busy, reply(200, WALLET)) as server:
            async with AsyncKasuwa(mid=shop.mid, key=shop.key, base_url=server.url) as client:
                assert (await client.resources.wallet()).data == ()

    trio.run(run)
    assert states == ["successful"] * 6


def test_a_call_that_trio_cancels_ends_at_once_and_leaves_the_client_usable(shop: MerchantClient) -> None:
    async def run() -> None:
        with faulty_server(delay(SOCKET_SECONDS, drop), reply(200, WALLET)) as server:
            async with AsyncKasuwa(mid=shop.mid, key=shop.key, base_url=server.url) as client:
                with trio.move_on_after(0.2) as scope:
                    await client.resources.wallet()
                assert scope.cancelled_caught
                assert (await client.resources.wallet()).data == ()

    trio.run(run)


@pytest.mark.parametrize("timeout", [0.5, 30.0], ids=["while it is read", "in between"])
def test_a_body_that_is_too_slow_leaves_nothing_open_in_trio(timeout: float) -> None:
    """The time ends while the client waits for a byte, or the connection ends before the body does."""
    step = drip(0.1, {"status": 200, "data": ["x" * 1000]}) if timeout < 1 else half_of(200, WALLET)

    async def run() -> None:
        with faulty_server(step) as server:
            once = RetryPolicy(max_retries=0)
            async with AsyncKasuwa(mid="GP1", key="secret", base_url=server.url, timeout=timeout, retry=once) as client:
                with pytest.raises(ServiceUnreachable):
                    await client.resources.wallet()

    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always")
        trio.run(run)
        gc.collect()
    assert [str(one.message) for one in complaints] == []
