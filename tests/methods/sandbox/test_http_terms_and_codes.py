"""What replays of cases tell the sandbox: the terms of a new merchant, and the response codes of rails."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, new_reference
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


def settle(shop: MerchantClient, outcome: str, reference: str, code: str) -> Any:
    return shop.put("sandbox", action="settle", txnRef=reference, outcome=outcome, code=code).body


def read_code(deployment: Deployment, shop: MerchantClient) -> Any:
    """Returns the response code of the merchant's newest transaction."""
    newest = "select code from transaction join merchant using (merchant_id) where mid = $1 order by seq desc limit 1"
    return deployment.fetch(newest, shop.mid)[0][0]


def begin_bank_payment(shop: MerchantClient) -> Any:
    fields: Any = {"action": "charge", "paymentType": "bank_transfer", "amount": "10.00"}
    return shop.put("payment", **fields, customer_txnref=new_reference("payment")).body["txnRef"]


@pytest.mark.parametrize(
    ("outcome", "code", "message"),
    [
        ("successful", "00", "Transfer Successful"),
        ("failed", "51", "No sufficient funds"),
        ("failed", "08", "Account name mismatch"),
        ("failed", "Z9", "Declined"),
    ],
)
def test_the_call_back_of_a_transfer_has_the_code_that_is_asked_for_and_its_meaning(
    shop: MerchantClient, deployment: Deployment, outcome: str, code: str, message: str
) -> None:
    settled = settle(shop, outcome, send(shop, "delay=3600")["txnRef"], code)
    assert (settled["txnStatus"], read_code(deployment, shop)) == (outcome, code)
    assert settled["message"].removeprefix("The beneficiary's bank: ") == message


@pytest.mark.parametrize(
    ("outcome", "code", "message"),
    [("successful", "10", "Approved, partial"), ("failed", "51", "Insufficient funds")],
)
def test_the_call_back_of_a_payment_has_the_meaning_of_card_codes(
    shop: MerchantClient, outcome: str, code: str, message: str
) -> None:
    settled = settle(shop, outcome, begin_bank_payment(shop), code)
    assert (settled["txnStatus"], settled["message"]) == (outcome, message)


@pytest.mark.parametrize(
    ("outcome", "code"), [("failed", "00"), ("successful", "51"), ("successful", "08"), ("successful", "Z9")]
)
def test_a_call_back_whose_code_says_the_contrary_changes_nothing(
    shop: MerchantClient, outcome: str, code: str
) -> None:
    sent = send(shop, "delay=3600")
    refused = settle(shop, outcome, sent["txnRef"], code)
    assert (refused["status"], [fault["field"] for fault in refused["errors"]]) == (104, ["code"])
    assert shop.verify(sent["orderRef"])["txnStatus"] == "pending"
    assert settle(shop, outcome, begin_bank_payment(shop), "10" if outcome == "failed" else "51")["status"] == 104


@pytest.mark.parametrize(
    "fields",
    [
        {"rail": "bank", "kind": "decline", "code": "00"},
        {"rail": "card", "kind": "decline", "code": "10"},
        {"rail": "bank", "kind": "timeout", "code": "51"},
        {"rail": "bank", "kind": "none", "code": "51"},
        {"kind": "none", "code": "51"},
    ],
)
def test_a_fault_has_a_code_only_if_it_declines_by_it(shop: MerchantClient, fields: dict[str, Any]) -> None:
    refused = shop.put("sandbox", action="fault", **fields).body
    assert (refused["status"], [fault["field"] for fault in refused["errors"]]) == (104, ["code"])
    assert send(shop)["txnStatus"] == "successful"


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
