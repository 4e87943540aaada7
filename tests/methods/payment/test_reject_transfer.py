"""Transfers that a bank sent back: recorded once, nothing booked. Contract: payment#rejected"""

from datetime import date
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision
from kasuwa.core.references import payment_reference, rail_key, wire_reference
from kasuwa.methods.payment.model import FACTS_DECODER
from kasuwa.methods.payment.rules.receipts.reject_transfer import decide_rejection, need_rejection
from kasuwa.rails.ports.rejections import Rejection
from kasuwa.rails.vendors.rejections import read_rejection
from tests.merchant_client import MerchantClient
from tests.methods.payment.in_memory_payments import InMemoryPayments, PaymentInProgress, begin, challenge
from tests.rule_context import MERCHANT
from tests.walk.bounds import REJECTIONS

UNKNOWN = payment_reference(1, date(2026, 1, 5))


@pytest.fixture
def payments() -> InMemoryPayments:
    return InMemoryPayments(has_webhook=True)


def shown(payments: InMemoryPayments) -> PaymentInProgress:
    paying = begin(payments, "bank_transfer")
    paying.receive_answer(challenge())
    return paying


def reject(payments: InMemoryPayments, txn_ref: str, reference: str = "MNFY|1") -> Decision:
    rejection = Rejection(rail_key(MERCHANT.merchant_id, txn_ref), reference, "UNDER_PAYMENT", 99_900)
    decided = payments.decide(
        need_rejection(rejection, MERCHANT), lambda context, seen: decide_rejection(rejection, context, seen)
    )
    assert isinstance(decided, Decision)
    return decided


def test_a_rejection_is_recorded_once_and_books_nothing(payments: InMemoryPayments) -> None:
    paying = shown(payments)
    before = payments.balances()
    first = reject(payments, paying.row.txn_ref)
    [event] = first.events
    payload = msgspec.json.decode(event.payload)
    assert (payload["kind"], payload["paymentRef"], payload["rejectedAmount"]) == (
        "payment_rejected",
        paying.row.txn_ref,
        "999.00",
    )
    assert (payload["txnStatus"], payload["reason"], len(first.jobs)) == ("failed", "UNDER_PAYMENT", 1)
    assert event.reference != paying.row.txn_ref
    assert not reject(payments, paying.row.txn_ref).changes_anything
    assert (paying.row.status, payments.balances()) == ("pending", before)
    [kept] = FACTS_DECODER.decode(paying.payment.facts).rejections
    assert (kept.reason, kept.amount) == ("UNDER_PAYMENT", 99_900)


def test_many_rejections_are_bounded(payments: InMemoryPayments) -> None:
    paying = shown(payments)
    recorded = [0]
    for number in range(REJECTIONS.most + 1):
        decision = reject(payments, paying.row.txn_ref, f"R{number}")
        recorded.append(recorded[-1] + decision.changes_anything)
    assert [(count, recorded[count]) for count, _ in REJECTIONS.sides] == list(REJECTIONS.sides)


def test_a_rejection_of_an_unknown_payment_changes_nothing(payments: InMemoryPayments) -> None:
    assert not reject(payments, UNKNOWN).changes_anything


def test_vendors_announcements_are_read() -> None:
    key = rail_key(7, UNKNOWN)
    wire = wire_reference(key)
    information = {"rejectionReason": "UNDER_PAYMENT", "expectedAmount": 1500}
    data = {
        "paymentReference": wire,
        "transactionReference": "MNFY|2",
        "amount": 999.5,
        "paymentRejectionInformation": information,
    }
    body = msgspec.json.encode({"eventType": "REJECTED_PAYMENT", "eventData": data})
    assert read_rejection("monnify", body) == Rejection(key, "MNFY|2", "UNDER_PAYMENT", 99_950)
    event = {"reference": wire, "amount": 2_000, "message_type": "INCORRECT_AMOUNT"}
    body = msgspec.json.encode({"event": "bank.transfer.rejected", "data": event})
    found = read_rejection("paystack", body)
    assert found is not None
    assert (found.order_key, found.reason, found.amount) == (key, "INCORRECT_AMOUNT", 2_000)
    assert read_rejection("paystack", body) == found
    for other in (
        b"{}",
        b"[]",
        b"x",
        b'{"event":"\xff"}',
        body.replace(b"rejected", b"success"),
        body.replace(wire.encode(), b"theirs"),
    ):
        assert read_rejection("paystack", other) is None
    assert read_rejection("vtpass", body) is None


def test_the_sandbox_rejects_a_transfer_on_request(shop: MerchantClient) -> None:
    begun = shop.put("payment", action="charge", paymentType="bank_transfer", amount="1000.00").body
    pay = {"action": "pay_account", "accountNumber": begun["accountNumber"]}
    for amount in ("900.00", "950.00"):
        answered = shop.put("sandbox", **pay, amount=amount, rejected=True).body
        assert (answered["txnStatus"], "Rejected" in answered["message"]) == ("pending", True)
    verified = shop.put("payment", action="verify", txnRef=begun["txnRef"]).body
    assert [line["amount"] for line in verified["rejections"]] == ["950.00", "900.00"]
    assert shop.put("sandbox", **pay, amount="1000.00").body["txnStatus"] == "successful"
    kinds = [event["kind"] for event in shop.put("resources", inquire="events").body["data"]]
    assert kinds == ["payment", "payment_rejected", "payment_rejected"]
    payee: dict[str, Any] = {"name": "Ada Obi", "reference": "one", "email": "ada@example.com"}
    account = shop.put("resources", request="personalized-accounts", **payee).body["data"]["accountNumber"]
    refused = shop.put("sandbox", action="pay_account", accountNumber=account, amount="1.00", rejected=True).body
    assert [error["field"] for error in refused["errors"]] == ["rejected"]
