"""What replays of cases tell the sandbox: the terms of a new merchant, and the response codes of rails."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.running import Deployment

FEE = {"tariff": {"transfer": {"bands": [{"up_to": None, "fee": "77.00"}]}}}
TRANSFER = {"bankcode": "058", "accountnumber": "0000000000", "amount": "1500.00"}


def send(shop: MerchantClient, scenario: str = "", **fields: Any) -> Any:
    headers = {"x-sandbox-scenario": scenario} if scenario else None
    return shop.put("disburse", headers=headers, action="transfer", **TRANSFER, **fields).body


def test_a_new_merchant_has_the_terms_that_are_sent(deployment: Deployment) -> None:
    shop = deployment.open_shop(terms=FEE, balance="10000.00")
    assert send(shop)["txnStatus"] == "successful"
    # The amount, the fee, and its VAT of 7.5 %.
    assert shop.wallet().balance == 1_000_000 - 150_000 - 7_700 - 578


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        ({"suspended": True}, "there is no suspended"),
        ({"settlement_days": 31}, "settlement_days must be"),
        ({"tariff": {"transfer": 7}}, "the terms of a merchant"),
        ({"webhook_url": "https://example.org"}, "there is no webhook_url"),
    ],
)
def test_wrong_terms_are_refused(deployment: Deployment, terms: Any, reason: str) -> None:
    shop = deployment.open_shop()
    refused = shop.put("sandbox", action="new_merchant", terms=terms).body
    assert (refused["status"], refused["errors"][0]["field"]) == (104, "terms")
    assert reason in refused["errors"][0]["reason"]


def test_a_call_back_has_the_code_that_is_asked_for(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop()
    sent = send(shop, "delay=3600")
    settled = {"action": "settle", "txnRef": sent["txnRef"], "outcome": "failed", "code": "51"}
    assert shop.put("sandbox", **settled).body["txnStatus"] == "failed"
    [line] = [one for one in shop.put("resources", inquire="transactions").body["data"] if one["kind"] == "transfer"]
    assert line["txnStatus"] == "failed"
    assert shop.put("sandbox", **{**settled, "code": "5"}).body["errors"][0]["field"] == "code"


def test_a_planned_decline_has_the_code_that_is_planned(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop()
    assert shop.put("sandbox", action="fault", rail="bank", kind="decline", code="61").body["status"] == 200
    assert send(shop)["txnStatus"] == "failed"
    assert send(shop)["txnStatus"] == "successful"


def test_a_transfer_records_nothing_and_a_payment_does(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop = open_shop()
    count = """
        select count(*) from decision_input i join merchant m using (merchant_id)
        where m.mid = $1 and i.name not like 'sandbox.%'
    """
    assert send(shop, "delay=3600")["txnStatus"] == "pending"
    assert deployment.fetch(count, shop.mid) == [(0,)]
    shop.put("payment", action="charge", paymentType="bank_transfer", amount="10.00")
    assert deployment.fetch(count, shop.mid) == [(2,)]
