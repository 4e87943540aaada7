"""A payer who asked to be forgotten: what payments and saved cards then say no more, and cannot do any more."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Fault, Refusal
from kasuwa.core.erasure import UNDER_WAY
from kasuwa.methods.payment.decide import DETAIL, SAVED, SavedCard
from kasuwa.methods.payment.decide_forget import PayersPayment, forget_payer, forget_saved
from kasuwa.methods.payment.decide_plan import PAUSED
from tests.methods.payment.desk import NOBODY_ASKED, Desk, Paying, begin, paid_card


@pytest.fixture
def desk() -> Desk:
    return Desk(funds=10**9)


def forget_card(desk: Desk) -> str:
    (saved,) = desk.of_type(SavedCard)
    desk.rows[saved.key] = forget_saved(saved)
    return saved.token


def as_payers(paying: Paying) -> PayersPayment:
    return PayersPayment(*msgspec.structs.astuple(paying.payment))


def test_of_a_payment_that_is_over_only_the_payer_is_forgotten(desk: Desk) -> None:
    user = {"firstname": "Ada", "email": "ada@example.com", "ip": "102.89.2.1", "fingerprint": "f0"}
    paid = as_payers(paid_card(desk, user=user, meta={"basket": 7}))
    before = DETAIL.decode(paid.detail)
    assert all((before.fullname, before.email, before.ip, before.fingerprint, before.meta))
    forgotten = forget_payer(paid)
    assert isinstance(forgotten, PayersPayment)
    left = msgspec.structs.replace(before, fullname="", email="", payer="", ip="", fingerprint="", meta="")
    assert DETAIL.decode(forgotten.detail) == left
    assert msgspec.structs.replace(forgotten, detail=paid.detail) == paid
    assert forget_payer(forgotten) == forgotten


def test_a_payment_under_way_is_not_forgotten_yet(desk: Desk) -> None:
    assert forget_payer(as_payers(begin(desk, "phone"))) == UNDER_WAY


def test_a_forgotten_card_is_refused_as_an_unknown_token_is(desk: Desk) -> None:
    paid_card(desk)
    token = forget_card(desk)
    refused: Any = desk.put("charge", "token", token=token, amount="5.00")
    assert isinstance(refused, Refusal)
    assert refused.faults == (Fault("token", "no saved card has this token"),)
    assert refused == desk.put("charge", "token", token="xxxxxxxx.1", amount="5.00")
    (left,) = desk.of_type(SavedCard)
    assert (left.sealed, SAVED.decode(left.detail).mask) == (b"", "")


def test_a_plan_whose_card_was_forgotten_pauses(desk: Desk) -> None:
    paid_card(desk, is_recurring=True, recurrent={"frequency": "daily", "value": "12"})
    forget_card(desk)
    (job,) = desk.jobs(desk.plan().key)
    desk.now = job.due
    desk.hear(job, NOBODY_ASKED)
    assert desk.plan().state == PAUSED
    assert desk.jobs(desk.plan().key) == []
