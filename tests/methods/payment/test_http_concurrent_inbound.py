"""Inbound transfers that run concurrently with other requests for the same payment or account."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.merchant_client import MerchantClient
from tests.running import Deployment

ROUNDS = 30


def at_once(
    deployment: Deployment, shop: MerchantClient, asked: list[tuple[str, dict[str, Any]]]
) -> list[tuple[int, int]]:
    """The HTTP and status codes of requests that are sent at the same time, each on a connection of its own."""

    def send(one: tuple[str, dict[str, Any]]) -> tuple[int, int]:
        path, fields = one
        with deployment.connect() as wire:
            http, body = MerchantClient(wire, shop.mid, shop.key).put(path, **fields)
        return http, body["status"]

    with ThreadPoolExecutor(len(asked)) as threads:
        return list(threads.map(send, asked))


def test_paying_an_account_during_refunds_of_its_payment_never_breaks(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop()
    for _ in range(ROUNDS):
        begun = shop.put("payment", action="charge", paymentType="bank_transfer", amount="1000.00",
            fullname="Ada Obi", email="ada@example.com").body  # fmt: skip
        pay = {"action": "pay_account", "accountNumber": begun["accountNumber"], "amount": "400.00"}
        refund = {"action": "refund", "txnRef": begun["txnRef"], "amount": "10.00"}
        answers = at_once(deployment, shop, [("sandbox", pay), ("payment", refund)] * 3)
        assert [http for http, _ in answers] == [200] * 6
        assert {status for _, status in answers[::2]} == {200}
        assert {status for _, status in answers[1::2]} <= {104, 200, 202}


def test_paying_a_personalized_account_during_its_renaming_never_breaks(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop()
    named: dict[str, Any] = {
        "request": "personalized-accounts",
        "name": "Ada Obi",
        "reference": "tenant 1",
        "email": "a@example.com",
    }
    number = shop.put("resources", **named).body["data"]["accountNumber"]
    pay = {"action": "pay_account", "accountNumber": number, "amount": "400.00"}
    for _ in range(ROUNDS):
        answers = at_once(deployment, shop, [("sandbox", pay), ("resources", named)] * 3)
        assert answers == [(200, 200)] * 6
