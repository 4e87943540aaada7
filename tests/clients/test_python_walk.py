"""Calls every method of the Python client over HTTP with the recorded examples, sync and async."""

import asyncio
from decimal import Decimal

from clients.generate.surface import read_surface
from kasuwa_client import AsyncKasuwa, Kasuwa
from tests.clients.python_walk import WalkingClient, call_async, call_sync, check_result
from tests.merchant_client import MerchantClient
from tests.walk.rows import send_examples

ALL_TITLES = {action.title for action in read_surface().actions}


def check_walk(walking: WalkingClient) -> None:
    send_examples(walking)
    assert {action.title for action, _ in walking.results} == ALL_TITLES
    for action, result in walking.results:
        check_result(action, result)


def test_every_method_returns_the_fields_of_the_reply(shop: MerchantClient, client: Kasuwa) -> None:
    check_walk(WalkingClient(shop, call_sync(client)))


def test_every_async_method_returns_the_fields_of_the_reply(shop: MerchantClient, base_url: str) -> None:
    with asyncio.Runner() as runner:
        client = AsyncKasuwa(mid=shop.mid, key=shop.key, base_url=base_url)
        check_walk(WalkingClient(shop, call_async(client, runner)))
        runner.run(client.close())


def test_the_fields_of_an_event_are_arguments(client: Kasuwa) -> None:
    for reply in (
        client.sandbox.trigger("transfer.failed", amount=Decimal("20.50"), narration="rent"),
        client.sandbox.trigger(event="transfer.failed", fields={"amount": "1.00"}, amount="20.50"),
    ):
        assert (reply.data.kind, reply.data.payload["txnStatus"]) == ("transfer", "failed")
        state = client.disburse.verify(txn_ref=reply.data.txn_ref)
        assert str(state.amount) == "20.50"
