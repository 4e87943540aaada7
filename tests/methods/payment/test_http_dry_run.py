"""Dry runs of payments over HTTP: what they would cost, what would refuse them, and that nothing happens.

tests/walk/test_dry_run.py sends one of every action. Contract: payment#dry-run
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import OTP, PaymentClient, card
from tests.running import Deployment
from tests.walk.test_tenancy import everything_of

NOW = "2026-01-30T10:00:00+01:00"
# Of 1,500.00 by a local card, and by USSD: the fee, its VAT and what is left.
CARD_PRICE = {"amount": "1500.00", "fee": "22.50", "vat": "1.69", "total_charge": "1500.00", "settled": "1475.81"}
MERCHANT_PAYS = {"currency": "NGN", "bearer": "merchant"}


@pytest.fixture
def client(open_shop: Callable[..., MerchantClient]) -> PaymentClient:
    return PaymentClient(open_shop(now=NOW))


def test_a_dry_run_shows_the_price_that_the_payment_then_has(client: PaymentClient, deployment: Deployment) -> None:
    token = client.token()
    before, had = everything_of(deployment, client.shop), client.shop.wallet().balance
    preview = client.charge_token(token, dry_run=True)
    assert (preview["status"], preview["dry_run"], preview["payment_method"]) == (200, True, "token")
    assert preview["charges"] == {**CARD_PRICE, **MERCHANT_PAYS}
    assert {"txnRef", "txnStatus", "cardToken", "chargedAmount"}.isdisjoint(preview)
    assert everything_of(deployment, client.shop) == before
    assert client.charge_token(token)["txnStatus"] == "successful"
    assert client.shop.wallet().balance - had == 147_581


def test_the_price_includes_a_fee_that_the_customer_bears(client: PaymentClient) -> None:
    asked: dict[str, Any] = {"paymentType": "ussd", "bank": "gtb", "amount": "1000.00", "bearer": "customer"}
    charges = client.pay(action="charge", dry_run=True, **asked)["charges"]
    quoted = client.shop.put("resources", inquire="charges", type="ussd", amount="1000.00", bearer="customer").body
    assert charges == quoted["data"]
    assert float(charges["total_charge"]) > 1000


def test_a_card_is_previewed_before_each_of_its_steps(client: PaymentClient) -> None:
    given = card(auth="OTP")
    preview = client.initiate(given, dry_run=True)
    assert (preview["dry_run"], preview["charges"]["settled"], preview["card"]["bin"]) == (True, "1475.81", "411111")
    begun = client.initiate(given)
    step = client.charge(begun, given, dry_run=True, bearer="customer")
    assert (step["txnRef"], step["dry_run"]) == (begun["txnRef"], True)
    assert step["charges"]["bearer"] == "customer"
    assert "apply_auth" in client.verify(begun["txnRef"])
    asked = client.charge(begun, given)
    assert "validate" in asked
    assert client.charge(begun, given, dry_run=True) == {**asked, "dry_run": True}
    checked = client.validate(begun["txnRef"], "000000", dry_run=True)
    assert (checked["status"], checked["dry_run"], "txnStatus" in checked) == (200, True, False)
    done = client.validate(begun["txnRef"], OTP)
    assert done["txnStatus"] == "successful"
    assert client.validate(begun["txnRef"], OTP, dry_run=True) == {**done, "dry_run": True}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"token": "nobody.1"}, "token"),
        ({"amount": "0.50"}, "amount"),
        ({"split": [{"ref_code": "RSnobody", "percentage": "10"}]}, "split.0.ref_code"),
    ],
)
def test_a_dry_run_is_refused_as_the_payment_would_be(
    client: PaymentClient, changes: dict[str, Any], field: str
) -> None:
    asked = {"token": client.token(), **changes}
    refused = client.charge_token(**asked, dry_run=True)
    assert [fault["field"] for fault in refused["errors"]] == [field]
    assert client.charge_token(**asked) == refused


def test_a_dry_run_uses_up_no_injected_fault_and_sends_no_event(client: PaymentClient) -> None:
    token = client.token()
    events = client.shop.put("resources", inquire="events").body["total"]
    client.shop.put("sandbox", action="fault", rail="card", kind="decline", times=1)
    assert client.charge_token(token, dry_run=True)["dry_run"] is True
    assert client.shop.put("resources", inquire="events").body["total"] == events
    assert [client.charge_token(token)["txnStatus"] for _ in range(2)] == ["failed", "successful"]


def test_a_dry_run_of_a_refund_pays_nothing_back(client: PaymentClient, deployment: Deployment) -> None:
    paid = client.paid()
    assert client.refund(paid["txnRef"], "100.00")["txnStatus"] == "successful"
    before = everything_of(deployment, client.shop)
    refund = {"action": "refund", "txnRef": paid["txnRef"], "dry_run": True}
    assert client.pay(amount="400.00", **refund) == {
        "status": 200,
        "txnRef": paid["txnRef"],
        "amount": "400.00",
        "currency": "NGN",
        "refundedAmount": "100.00",
        "refundableAmount": "1000.00",
        "message": "Nothing was changed: this is what would happen",
        "dry_run": True,
    }
    too_much = client.pay(amount="1400.01", **refund)
    assert [fault["field"] for fault in too_much["errors"]] == ["amount"]
    assert everything_of(deployment, client.shop) == before


def test_a_dry_run_of_a_refund_is_refused_if_the_wallet_is_short(client: PaymentClient) -> None:
    dollars = client.paid(currency="USD", amount="9000.00")
    spent = client.shop.wallet("USD").balance - 100_000
    while spent > 0:
        amount = f"{min(spent, 900_000) / 100:.2f}"
        card_data = {"address": "1 Road", "name": "Ada", "city": "Lagos", "state": "Lagos", "postal_code": 1}
        made = client.shop.put("virtualcard", action="create", billing=card_data, amount=amount, currency="USD").body
        assert made["status"] == 200, made
        spent = client.shop.wallet("USD").balance - 100_000
    for dry_run in (True, False):
        refused = client.pay(action="refund", txnRef=dollars["txnRef"], amount="2000.00", dry_run=dry_run)
        assert refused["status"] == 301


def test_plans_are_shown_as_they_would_be(client: PaymentClient, deployment: Deployment) -> None:
    client.paid(is_recurring=True, recurrent={"frequency": "monthly", "value": "30"})
    [plan] = client.shop.put("resources", inquire="recurrents").body
    before = everything_of(deployment, client.shop)
    stopped = client.shop.put("resources", inquire="recurrent", id=plan["id"], status="stop", dry_run=True).body
    assert (stopped["dry_run"], stopped["data"]["state"]) == (True, "stopped")
    assert everything_of(deployment, client.shop) == before
    assert client.shop.put("resources", inquire="recurrents").body == [plan]
    schedule = {"30-01-2026": 50, "28-02-2026": 50}
    client.paid(amount="500.00", installment={"payment_schedule": schedule, "total": "1000.00"})
    [parts] = client.shop.put("resources", inquire="installments").body
    asked = {"inquire": "installments", "id": parts["id"], "status": "cancel"}
    assert client.shop.put("resources", dry_run=True, **asked).body["data"]["state"] == "cancelled"
    assert client.shop.put("resources", inquire="installments").body == [parts]
