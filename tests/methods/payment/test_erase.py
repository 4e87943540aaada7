"""A payer who asked to be forgotten: what payments and saved cards then say no more, and cannot do any more."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import FieldError, Refusal
from kasuwa.core.erasure import TRANSACTION_IN_PROGRESS
from kasuwa.methods.payment.model import CARD_SUMMARY_DECODER, DETAIL_DECODER, SavedCard
from kasuwa.methods.payment.plan_model import PAUSED
from kasuwa.methods.payment.rules.erase import ErasablePayment, erase_payer, erase_saved_card
from tests.methods.payment.in_memory_payments import NOBODY_ASKED, InMemoryPayments, PaymentInProgress, begin, paid_card


@pytest.fixture
def desk() -> InMemoryPayments:
    return InMemoryPayments(funds=10**9)


def forget_card(desk: InMemoryPayments) -> str:
    (saved,) = desk.of_type(SavedCard)
    desk.rows[saved.key] = erase_saved_card(saved)
    return saved.token


def as_payers(paying: PaymentInProgress) -> ErasablePayment:
    return ErasablePayment(*msgspec.structs.astuple(paying.payment))


def test_of_a_payment_that_is_over_only_the_payer_is_forgotten(desk: InMemoryPayments) -> None:
    user = {"firstname": "Ada", "email": "ada@example.com", "ip": "102.89.2.1", "fingerprint": "f0"}
    paid = as_payers(paid_card(desk, user=user, meta={"basket": 7}))
    before = DETAIL_DECODER.decode(paid.detail)
    assert all((before.fullname, before.email, before.ip, before.fingerprint, before.meta))
    forgotten = erase_payer(paid)
    assert isinstance(forgotten, ErasablePayment)
    left = msgspec.structs.replace(before, fullname="", email="", payer="", ip="", fingerprint="", meta="")
    assert DETAIL_DECODER.decode(forgotten.detail) == left
    assert msgspec.structs.replace(forgotten, detail=paid.detail) == paid
    assert erase_payer(forgotten) == forgotten


def test_a_payment_under_way_is_not_forgotten_yet(desk: InMemoryPayments) -> None:
    assert erase_payer(as_payers(begin(desk, "phone"))) == TRANSACTION_IN_PROGRESS


def test_a_forgotten_card_is_refused_as_an_unknown_token_is(desk: InMemoryPayments) -> None:
    paid_card(desk)
    token = forget_card(desk)
    refused: Any = desk.put("charge", "token", token=token, amount="5.00")
    assert isinstance(refused, Refusal)
    assert refused.field_errors == (FieldError("token", "no saved card has this token"),)
    assert refused == desk.put("charge", "token", token="xxxxxxxx.1", amount="5.00")
    (left,) = desk.of_type(SavedCard)
    assert (left.sealed, CARD_SUMMARY_DECODER.decode(left.detail).mask) == (b"", "")


def test_a_plan_whose_card_was_forgotten_pauses(desk: InMemoryPayments) -> None:
    paid_card(desk, is_recurring=True, recurrent={"frequency": "daily", "value": "12"})
    forget_card(desk)
    (job,) = desk.jobs(desk.plan().key)
    desk.now = job.due
    desk.receive_answer(job, NOBODY_ASKED)
    assert desk.plan().state == PAUSED
    assert desk.jobs(desk.plan().key) == []
