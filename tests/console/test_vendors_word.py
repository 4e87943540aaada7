"""The vendor's late word about a transfer, bill or refund that has ended: our status, its word, and what is seen then.

The transaction keeps its status. A word that contradicts it moves nothing by itself: it waits until one operator has
proposed what is booked, and another has decided that, once.
"""

from typing import Any

import pytest

from tests.console.test_operator_pages import propose
from tests.console.test_reversals import events_of_reversal
from tests.console.visitor import sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.bills.test_http import pay as pay_bill
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

FAILS = {"x-sandbox-scenario": "rr=05"}
AMOUNT = 100_000


class EndedTransaction:
    """A transaction of 1,000.00 that has ended, and the payment if it is a refund."""

    def __init__(self, shop: MerchantClient, kind: str, status: str) -> None:
        self.shop, self.kind, self.payment = shop, kind, ""
        headers = FAILS if status == "failed" else None
        if kind == "refund":
            self.payment = PaymentClient(shop).paid()["txnRef"]
            ended = PaymentClient(shop).refund(self.payment, "1000.00", headers)
            self.reference = ended["refundRef"]
        else:
            pay = shop.transfer if kind == "transfer" else lambda **fields: pay_bill(shop, **fields)
            ended = pay(amount="1000.00", headers=headers)
            self.reference = ended["txnRef"]
        assert ended["txnStatus"] == status, ended

    def contradict(self, status: str) -> Any:
        """Has the rail report a status."""
        return self.shop.put("sandbox", action="settle", txnRef=self.reference, outcome=status).body

    def refundable(self) -> str:
        """Returns what is left of the payment, as the refusal of a refund of more tells it."""
        return str(PaymentClient(self.shop).refund(self.payment, "1500.01")["errors"][0]["reason"])


# The kind, our status, the rail's word, and what two operators book: the change of the wallet, and the event.
WORDS = [
    ("transfer", "successful", "successful", 0, ""),
    ("transfer", "successful", "failed", AMOUNT, "credit"),
    ("transfer", "failed", "failed", 0, ""),
    ("transfer", "failed", "successful", -AMOUNT, "debit"),
    ("bill", "successful", "successful", 0, ""),
    ("bill", "successful", "failed", AMOUNT, "credit"),
    ("bill", "failed", "failed", 0, ""),
    ("bill", "failed", "successful", -AMOUNT, "debit"),
    ("refund", "successful", "successful", 0, ""),
    ("refund", "successful", "failed", AMOUNT, "credit"),
    ("refund", "failed", "failed", 0, ""),
    ("refund", "failed", "successful", -AMOUNT, "debit"),
]


@pytest.mark.parametrize(("kind", "ours", "word", "change", "direction"), WORDS)
def test_a_late_word_is_booked_when_two_operators_have_decided_so(
    deployment: Deployment, shop: MerchantClient, kind: str, ours: str, word: str, change: int, direction: str
) -> None:
    ended = EndedTransaction(shop, kind, ours)
    before = shop.wallet().balance
    for _ in range(2):
        ended.contradict(word)
    finance, admin = sign_in_as(deployment, "operator:finance"), sign_in_as(deployment, "operator:admin")
    listed = f"the {kind} is {ours}, but its rail now says {word}"
    page = finance.get("/operator/approvals")
    assert shop.wallet().balance == before, "a rail's word moves nothing by itself"
    assert (ended.reference in page.words and listed in page.words) == bool(change)
    if change:
        number = propose(finance, "reversal", mid=shop.mid, reference=ended.reference)
        # Other tests may have left some.
        remaining = finance.get("/operator/approvals").words.count(listed)
        assert remaining == page.words.count(listed) - 1, "it is proposed"
        assert finance.post(f"/operator/approvals/{number}/approve").http != 303, "one person does not decide it"
        admin.get("/operator/approvals")
        assert admin.post(f"/operator/approvals/{number}/approve").http == 303
        again = finance.post("/operator/approvals/reversal", mid=shop.mid, reference=ended.reference, reason="r")
        assert again.http == 422
    assert shop.wallet().balance == before + change
    assert [event["direction"] for event in events_of_reversal(shop, ended.reference)] == (
        [direction] if change else []
    )
    found = shop.put("resources", inquire="transaction", reference=ended.reference).body["data"]
    assert found["state"] == ours, "a transaction that has ended stays as it is"
    if kind == "refund":
        left = "1500.00" if (ours, word) == ("failed", "failed") else "500.00"
        assert ended.refundable() == f"at most {left}, what is left to refund", "the payer is not paid twice"
    assert deployment.broken_invariants([shop.mid]) == []


def test_a_rejected_proposal_closes_a_contradiction_and_a_withdrawn_one_does_not(
    deployment: Deployment, shop: MerchantClient
) -> None:
    ended = EndedTransaction(shop, "transfer", "failed")
    ended.contradict("successful")
    finance, admin = sign_in_as(deployment, "operator:finance"), sign_in_as(deployment, "operator:admin")
    listed = "the transfer is failed, but its rail now says successful"

    def is_listed() -> bool:
        page = finance.get("/operator/approvals").text
        return listed in page and f"mid={shop.mid}" in page

    assert is_listed()
    assert "rails contradict the end of transactions" in deployment.run_any_command("doctor").stdout
    withdrawn = propose(finance, "reversal", mid=shop.mid, reference=ended.reference)
    assert not is_listed()
    assert finance.post(f"/operator/approvals/{withdrawn}/reject").http == 303
    assert is_listed()
    rejected = propose(finance, "reversal", mid=shop.mid, reference=ended.reference)
    admin.get("/operator/approvals")
    assert admin.post(f"/operator/approvals/{rejected}/reject").http == 303
    assert not is_listed()


def test_what_the_wallet_lacks_for_a_transfer_that_was_paid_is_owed(deployment: Deployment, open_shop: Any) -> None:
    shop = open_shop(balance="0")
    shop.put("sandbox", action="fund_wallet", currency="NGN", amount="1100.00")
    ended = EndedTransaction(shop, "transfer", "failed")
    shop.transfer(amount="900.00")
    there = shop.wallet().balance
    assert there < AMOUNT
    ended.contradict("successful")
    finance, admin = sign_in_as(deployment, "operator:finance"), sign_in_as(deployment, "operator:admin")
    number = propose(finance, "reversal", mid=shop.mid, reference=ended.reference)
    admin.get("/operator/approvals")
    assert admin.post(f"/operator/approvals/{number}/approve").http == 303
    assert shop.wallet().balance == 0
    shop.put("sandbox", action="fund_wallet", currency="NGN", amount="5000.00")
    shop.advance(hours=2)
    assert shop.wallet().balance == 500_000 - (AMOUNT - there)
    assert deployment.broken_invariants([shop.mid]) == []
