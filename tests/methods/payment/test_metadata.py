"""`meta`, IP address and device of the payer are stored with the payment."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision
from kasuwa.methods.payment.model import SavedCard
from kasuwa.methods.payment.payer_model import make_payer_data, read_detail
from kasuwa.transactions.purpose import device_in
from kasuwa.transactions.sealed_payers import read_device
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    BEGUN,
    BODIES,
    DECLINED,
    NOBODY_ASKED,
    InMemoryPayments,
    PaymentInProgress,
    begin,
    charge,
    charge_token,
    fields_of,
    initiate,
    opened,
    paid_card,
)
from tests.rule_context import VAULT

USER = {"firstname": "Ada", "ip": "102.89.2.1", "fingerprint": "f0e1"}
META = {"basket": 7, "lines": [{"sku": "a", "price": 1.50}]}
DEVICE = {"ip": "102.89.2.1", "fingerprint": "f0e1"}


@pytest.fixture
def payments() -> InMemoryPayments:
    return InMemoryPayments(funds=10**9)


def make(payments: InMemoryPayments, method: str, **fields: Any) -> PaymentInProgress:
    if method == "card":
        return initiate(payments, **fields)
    if method == "token":
        paid_card(payments)
        (saved,) = payments.of_type(SavedCard)
        return charge_token(payments, saved.token, **fields)
    return begin(payments, method, **fields)


@pytest.mark.parametrize("method", ["card", "token", *BODIES])
def test_every_payment_type_keeps_address_device_and_meta(payments: InMemoryPayments, method: str) -> None:
    paying = make(payments, method, user=USER, meta=META)
    detail = paying.detail
    assert (detail.ip, detail.fingerprint, msgspec.json.decode(detail.meta)) == ("102.89.2.1", "f0e1", META)
    assert read_device(make_payer_data(detail)) == DEVICE
    assert device_in(paying.payment.detail) == {}


@pytest.mark.parametrize("method", ["token", *BODIES])
@pytest.mark.parametrize("answer", [APPROVED, DECLINED], ids=["approved", "declined"])
def test_the_completed_reply_shows_meta_and_nothing_of_address_and_device(
    payments: InMemoryPayments, method: str, answer: Any
) -> None:
    paying = make(payments, method, user=USER, meta=META)
    steps = [paying.begun.reply]
    if method != "token":
        steps.append(paying.receive_answer(BEGUN[method]).reply)
    done = payments.put("validate", txnRef=paying.txn_ref, otp="123456") if method == "account" else None
    assert done is None or isinstance(done, Decision)
    decision = paying.receive_answer(answer)
    assert all(b"basket" not in msgspec.json.encode(reply) for reply in steps)
    if method != "account" or answer is DECLINED:
        assert msgspec.json.decode(msgspec.json.encode(decision.reply))["meta"] == META
    body = msgspec.json.encode([*steps, decision.reply, *payments.events])
    assert not [mark for mark in (b"102.89.2.1", b"f0e1") if mark in body]
    assert b"basket" not in msgspec.json.encode(payments.events)


def test_numbers_of_meta_keep_the_text_they_were_sent_as(payments: InMemoryPayments) -> None:
    paying = initiate(payments, meta=msgspec.Raw(b'{"price": 1.50, "rate": 0.100000000000000000001}'))
    paying.receive_answer(opened("PIN"))
    charge(payments, paying, "PIN")
    reply = msgspec.json.encode(paying.receive_answer(APPROVED).reply)
    assert b'"meta":{"price":1.50,"rate":0.100000000000000000001}' in reply


def test_a_card_number_in_meta_is_masked(payments: InMemoryPayments) -> None:
    detail = initiate(payments, meta={"note": "paid with 4111110000000013"}).detail
    assert "4111110000000013" not in detail.meta
    assert "0013" in detail.meta


@pytest.mark.parametrize("value", ["", None, []])
def test_an_empty_meta_is_absent(payments: InMemoryPayments, value: Any) -> None:
    assert initiate(payments, meta=value).detail.meta == ""


@pytest.mark.parametrize("value", ["text", 7, [1], {"a": "x" * 65_537}])
def test_a_meta_that_is_not_an_object_or_is_too_large_is_refused(payments: InMemoryPayments, value: Any) -> None:
    assert fields_of(payments.put("charge", "qrpay", amount="15.00", meta=value)) == ["meta"]
    assert payments.rows == {}


def test_later_charges_of_a_plan_have_its_meta_without_address_and_device(payments: InMemoryPayments) -> None:
    """The payer is not there when a due date comes."""
    paid_card(payments, user=USER, meta=META, is_recurring=True, recurrent={"frequency": "daily", "value": "12"})
    (job,) = payments.jobs(payments.plan().key)
    payments.now = job.due
    payments.receive_answer(job, NOBODY_ASKED)
    detail = read_detail(payments.payment(payments.plan().last_ref), VAULT.unseal)
    assert (msgspec.json.decode(detail.meta), detail.ip, detail.fingerprint) == (META, "", "")
