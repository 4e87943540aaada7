"""Erasure of a payer's data from payments and saved cards."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import FieldError, Refusal
from kasuwa.core.erasure import TRANSACTION_IN_PROGRESS
from kasuwa.methods.payment.model import CARD_SUMMARY_DECODER, SavedCard
from kasuwa.methods.payment.payer_model import read_detail, read_terms
from kasuwa.methods.payment.plan_model import PAUSED, Plan
from kasuwa.methods.payment.rules.erase import (
    ErasablePayment,
    ErasablePlan,
    erase_payer,
    erase_plan_payer,
    erase_saved_card,
)
from tests.methods.payment.in_memory_payments import NOBODY_ASKED, InMemoryPayments, PaymentInProgress, begin, paid_card
from tests.rule_context import VAULT


@pytest.fixture
def payments() -> InMemoryPayments:
    return InMemoryPayments(funds=10**9)


def forget_card(payments: InMemoryPayments) -> str:
    (saved,) = payments.of_type(SavedCard)
    payments.rows[saved.key] = erase_saved_card(saved)
    return saved.token


def as_payers(paying: PaymentInProgress) -> ErasablePayment:
    return ErasablePayment(*msgspec.structs.astuple(paying.payment))


def test_erasing_a_final_payment_removes_only_the_payer(payments: InMemoryPayments) -> None:
    user = {"firstname": "Ada", "email": "ada@example.com", "ip": "102.89.2.1", "fingerprint": "f0"}
    paid = as_payers(paid_card(payments, user=user, meta={"basket": 7}))
    before = read_detail(paid, VAULT.unseal)
    assert all((before.fullname, before.email, before.ip, before.fingerprint, before.meta))
    forgotten = erase_payer(paid)
    assert isinstance(forgotten, ErasablePayment)
    left = msgspec.structs.replace(before, fullname="", email="", payer="", ip="", fingerprint="", meta="")
    assert read_detail(forgotten, VAULT.unseal) == left
    assert forgotten.payer_sealed is None
    assert msgspec.structs.replace(forgotten, detail=paid.detail, payer_sealed=paid.payer_sealed) == paid
    assert erase_payer(forgotten) == forgotten


def test_erasing_a_plan_removes_only_the_payer(payments: InMemoryPayments) -> None:
    paid_card(
        payments,
        user={"firstname": "Ada", "email": "ada@example.com"},
        meta={"basket": 7},
        is_recurring=True,
        recurrent={"frequency": "daily", "value": "09"},
    )
    (made,) = payments.of_type(Plan)
    plan = ErasablePlan(*msgspec.structs.astuple(made))
    before = read_terms(plan, VAULT.unseal)
    assert all((before.detail.fullname, before.detail.email, before.detail.meta))
    forgotten = erase_plan_payer(plan)
    left = msgspec.structs.replace(before.detail, fullname="", email="", meta="")
    assert read_terms(forgotten, VAULT.unseal) == msgspec.structs.replace(before, detail=left)
    assert msgspec.structs.replace(forgotten, detail=plan.detail, payer_sealed=plan.payer_sealed) == plan
    assert erase_plan_payer(forgotten) == forgotten


def test_a_pending_payment_is_not_erased(payments: InMemoryPayments) -> None:
    assert erase_payer(as_payers(begin(payments, "phone"))) == TRANSACTION_IN_PROGRESS


def test_an_erased_card_is_refused_like_an_unknown_token(payments: InMemoryPayments) -> None:
    paid_card(payments)
    token = forget_card(payments)
    refused: Any = payments.put("charge", "token", token=token, amount="5.00")
    assert isinstance(refused, Refusal)
    assert refused.field_errors == (FieldError("token", "no saved card has this token"),)
    assert refused == payments.put("charge", "token", token="xxxxxxxx.1", amount="5.00")
    (left,) = payments.of_type(SavedCard)
    assert (left.sealed, CARD_SUMMARY_DECODER.decode(left.detail).mask) == (b"", "")


def test_a_plan_whose_card_was_erased_is_paused(payments: InMemoryPayments) -> None:
    paid_card(payments, is_recurring=True, recurrent={"frequency": "daily", "value": "12"})
    forget_card(payments)
    (job,) = payments.jobs(payments.plan().key)
    payments.now = job.due
    payments.receive_answer(job, NOBODY_ASKED)
    assert payments.plan().state == PAUSED
    assert payments.jobs(payments.plan().key) == []
