"""Open means the same everywhere: in the lists of the API and of the console, their filters, exports and figures."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest

from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.investments import savers
from tests.methods.payment.payment_client import PaymentClient, card
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

NOW = "2026-01-05T09:30:00+01:00"
STATUSES = ("pending", "processing")
ORDER = {"amount": "2000.00", "bankcode": "058", "accountnumber": "0000000000"}
# What is open, by the column that every change of a transaction is written to.
OPEN = """
    select txn_ref, status, kind, message from transaction join merchant using (merchant_id)
    where mid = $1 and status in ('pending', 'processing')
"""
FROZEN = {"x-sandbox-scenario": "rr=99"}


def open_everything(shop: MerchantClient) -> None:
    """Leaves transactions open for every reason for which one may be."""
    payments = PaymentClient(shop)
    payments.initiate(card(auth="OTP"))
    given = card(auth="OTP")
    payments.charge(payments.initiate(given), given)
    for method in ("bank_transfer", "ussd", "qrpay"):
        payments.pay(action="charge", **payments.body(paymentType=method))
    payments.refund(payments.paid("4111110000090014")["txnRef"], "100.00")
    shop.transfer(accountnumber="0000000020")
    shop.transfer(accountnumber="0000000010", headers=FROZEN)
    bill = {"paycode": "IfuR3XxiIpxqbZQ", "reference": "45012345678", "amount": "5000.00", "orderRef": "bill"}
    shop.put("bills", headers=FROZEN, action="pay", **bill)
    shop.put("cashcode", action="generate", amount="500.00", pin="2580", channel="ATM", orderRef="cash")
    client = savers.enroll(shop, "0000000020")
    savers.cash_out(shop, savers.open_savings(shop, client, "900.00"), client, "300.00", method="transfer")
    shop.put("sandbox", action="payout_policy", approve_above="1000.00")
    for number in range(3):
        assert shop.transfer(amount="1500.00", orderRef=f"waits-{number}")["message"] == "Waiting for approval"
    shop.bulk([{**ORDER, "orderRef": f"bulk-{number}"} for number in range(2)])


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    shop = open_shop(now=NOW)
    open_everything(shop)
    return shop


def listed_by_api(shop: MerchantClient, **filters: Any) -> set[str]:
    return {line["txnRef"] for line in shop.put("resources", inquire="transactions", **filters).body["data"]}


def listed_in_console(owner: Visitor, query: str) -> set[str]:
    page = owner.get(f"/transactions?{query}").text
    return {piece.partition('"')[0] for piece in page.split('href="/transactions/')[1:]}


def exported(owner: Visitor, query: str) -> set[str]:
    rows = csv.DictReader(io.StringIO(owner.get(f"/transactions.csv?{query}").text))
    return {row["txnRef"] for row in rows}


def test_open_transactions_are_the_same_in_lists_filters_exports_and_figures(
    deployment: Deployment, shop: MerchantClient
) -> None:
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    stored = deployment.fetch(OPEN, shop.mid)
    kinds = {row["kind"] for row in stored}
    assert kinds >= {"payment", "transfer", "bill", "refund", "cashcode"}
    assert sum(row["message"] == "Waiting for approval" for row in stored) == 5
    for status in STATUSES:
        wanted = {row["txn_ref"] for row in stored if row["status"] == status}
        assert listed_by_api(shop, status=status) == wanted
        shown = {reference.replace("%7C", "|") for reference in listed_in_console(owner, f"status={status}")}
        assert wanted <= shown
        assert exported(owner, f"status={status}") == wanted
        for kind in kinds:
            of_kind = {row["txn_ref"] for row in stored if row["status"] == status and row["kind"] == kind}
            assert listed_by_api(shop, status=status, kind=kind) == of_kind
    assert f"Open {len(stored)} " in owner.get("/?days=7").words + " "


def test_a_transfer_is_listed_as_open_until_its_approval_is_decided(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop(now=NOW)
    shop.put("sandbox", action="payout_policy", approve_above="1000.00")
    waiting = shop.transfer(amount="1500.00")["txnRef"]
    rejected = shop.transfer(amount="1500.00")["txnRef"]
    assert listed_by_api(shop, status="pending") == {waiting, rejected}
    shop.put("disburse", action="reject", txnRef=rejected)
    assert listed_by_api(shop, status="pending") == {waiting}
    shop.put("sandbox", action="advance", days=4)
    assert listed_by_api(shop, status="pending") == set()
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    assert "Open 0" in owner.get("/?days=7").words
