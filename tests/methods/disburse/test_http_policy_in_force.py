"""A policy or a suspension holds for whatever is sent after it was acknowledged, also where the merchant is cached."""

from datetime import timedelta
from typing import Any

import pytest

from kasuwa.merchants.payout_policy import change_policy
from kasuwa.terms.payouts import PayoutPolicy
from tests.merchant_client import MerchantClient
from tests.running import Deployment

STRICT = PayoutPolicy(approve_above="1.00")
ORDER = {"amount": "100.00", "bankcode": "058", "accountnumber": "0000000000"}


def tighten(deployment: Deployment, mid: str) -> None:
    """Changes the policy as the console does: in another process than the one that serves the API."""

    async def change(connection: Any) -> None:
        vault = await deployment.open_vault(connection)
        async with connection.transaction():
            await change_policy(connection, vault, mid, STRICT, timedelta(), "ada@example.com")

    deployment.run_on_connection(change)


def suspend(deployment: Deployment, mid: str) -> None:
    deployment.change_settings(mid, suspended=True)


def test_a_stricter_policy_holds_for_the_next_transfer(deployment: Deployment, shop: MerchantClient) -> None:
    assert shop.transfer(orderRef="before")["txnStatus"] == "successful"
    tighten(deployment, shop.mid)
    assert [shop.transfer(orderRef=f"after-{n}")["txnStatus"] for n in range(3)] == ["pending"] * 3


def test_a_stricter_policy_holds_for_the_next_bulk(deployment: Deployment, shop: MerchantClient) -> None:
    assert shop.transfer(orderRef="before")["txnStatus"] == "successful"
    tighten(deployment, shop.mid)
    assert {line["txnStatus"] for line in shop.bulk([ORDER] * 100)["data"]} == {"pending"}


@pytest.mark.parametrize("fields", [ORDER, {"type": "bulk", "data": [ORDER] * 100}], ids=["transfer", "bulk"])
def test_a_suspended_merchant_writes_nothing_more(
    deployment: Deployment, shop: MerchantClient, fields: dict[str, Any]
) -> None:
    assert shop.transfer(orderRef="before")["txnStatus"] == "successful"
    suspend(deployment, shop.mid)
    assert shop.put("disburse", action="transfer", **fields).body["status"] == 101
    found = "select count(*) from transaction t join merchant m using (merchant_id) where m.mid = $1"
    assert deployment.fetch(found, shop.mid)[0][0] == 1


def test_a_request_is_carried_out_once_while_other_settings_change(
    deployment: Deployment, shop: MerchantClient
) -> None:
    for n in range(5):
        deployment.change_settings(shop.mid)
        assert shop.transfer(orderRef=f"order-{n}")["txnStatus"] == "successful"
    assert shop.wallet().balance == 1_000_000_000 - 5 * 151_075
