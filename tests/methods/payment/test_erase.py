"""Erasure of a payer's data from payments and saved cards."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import FieldError, Job, LoadedRows, Refusal
from kasuwa.core.references import job_key
from kasuwa.methods.payment.model import CARD_SUMMARY_DECODER, SavedCard
from kasuwa.methods.payment.payer_model import read_detail, read_terms
from kasuwa.methods.payment.plan_model import ACTIVE, CANCELLED, FINISHED, INCOMPLETE, PAUSED, STOPPED, UNPAID, Plan
from kasuwa.methods.payment.rules.erase import (
    ErasablePayment,
    ErasablePlan,
    erase_payer,
    erase_plan_payer,
    erase_saved_card,
)
from kasuwa.privacy.erasure import TRANSACTION_IN_PROGRESS, RowErasure, erase_rows, need_rows
from tests.methods.payment.in_memory_payments import NOBODY_ASKED, InMemoryPayments, PaymentInProgress, begin, paid_card
from tests.rule_context import VAULT, context


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


def test_a_payment_with_a_refund_in_progress_is_not_erased(payments: InMemoryPayments) -> None:
    paid = as_payers(paid_card(payments, user={"firstname": "Ada", "email": "ada@example.com"}))
    assert erase_payer(msgspec.structs.replace(paid, refunding=1)) == TRANSACTION_IN_PROGRESS
    assert isinstance(erase_payer(msgspec.structs.replace(paid, refunded=paid.charged)), ErasablePayment)


def begin_plan(payments: InMemoryPayments) -> ErasablePlan:
    paid_card(
        payments,
        user={"firstname": "Ada", "email": "ada@example.com"},
        meta={"basket": 7},
        is_recurring=True,
        recurrent={"frequency": "daily", "value": "09"},
    )
    (made,) = payments.of_type(Plan)
    return ErasablePlan(*msgspec.structs.astuple(made))


def test_erasing_a_plan_removes_the_payer_and_cancels_it(payments: InMemoryPayments) -> None:
    plan = begin_plan(payments)
    before = read_terms(plan, VAULT.unseal)
    assert all((before.detail.fullname, before.detail.email, before.detail.meta))
    forgotten = erase_plan_payer(plan)
    assert isinstance(forgotten, ErasablePlan)
    left = msgspec.structs.replace(before.detail, fullname="", email="", meta="")
    assert read_terms(forgotten, VAULT.unseal) == msgspec.structs.replace(before, detail=left)
    assert forgotten.state == CANCELLED
    before_erasure = {"detail": plan.detail, "payer_sealed": plan.payer_sealed, "state": ACTIVE}
    assert msgspec.structs.replace(forgotten, **before_erasure) == plan
    assert erase_plan_payer(forgotten) == forgotten


@pytest.mark.parametrize(
    ("state", "left"),
    [(PAUSED, CANCELLED), (STOPPED, CANCELLED), *((state, state) for state in (FINISHED, INCOMPLETE, UNPAID))],
)
def test_a_plan_that_could_be_started_again_is_cancelled(payments: InMemoryPayments, state: str, left: str) -> None:
    erased = erase_plan_payer(msgspec.structs.replace(begin_plan(payments), state=state))
    assert isinstance(erased, ErasablePlan)
    assert erased.state == left


def test_a_plan_with_a_charge_in_progress_is_not_erased(payments: InMemoryPayments) -> None:
    plan = msgspec.structs.replace(begin_plan(payments), charging=True)
    assert erase_plan_payer(plan) == TRANSACTION_IN_PROGRESS


def test_the_job_of_a_plan_ends_with_its_erasure(payments: InMemoryPayments) -> None:
    plan = begin_plan(payments)
    [job] = payments.jobs(plan.key)
    erasure = RowErasure(ErasablePlan, plan.key, erase_plan_payer, ends_job=True)
    assert need_rows((erasure,)) == ((ErasablePlan, plan.key), (Job, job_key(plan.key)))
    erased = erase_rows((erasure,), context(), LoadedRows({plan.key: plan, job.key: job}))
    assert not isinstance(erased, Refusal)
    assert (len(erased.rows), erased.jobs, erased.jobs_done) == (1, (), (job,))


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
