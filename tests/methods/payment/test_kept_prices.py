"""A price that the payer agreed to is kept: later charges of plans do not change with the tariff."""

from typing import Any

import pytest

from kasuwa.terms.tariff import Tariff
from kasuwa.transactions.pricing import price_collection
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    NOBODY_ASKED,
    InMemoryPayments,
    PaymentInProgress,
    charge,
    charge_token,
    initiate,
    opened,
    paid_card,
)
from tests.rule_context import merchant

DEARER = merchant(tariff={"collection": {"card_local": {"percent": "20", "flat": "0", "cap": None}}})
DAILY: dict[str, Any] = {"is_recurring": True, "recurrent": {"frequency": "daily", "value": "12"}}
SCHEDULE = {"05-01-2026": 400, "05-02-2026": 350, "05-03-2026": 250}
PLAN = {"payment_schedule": SCHEDULE, "total": "1000.00"}


def price(paying: PaymentInProgress) -> tuple[int, ...]:
    row, payment = paying.row, paying.payment
    return row.amount, row.fee, row.vat, payment.charged, payment.settled


def local_price(payments: InMemoryPayments, amount: int, bearer: Any) -> tuple[int, ...]:
    found = price_collection(payments.merchant.terms(Tariff), "card_local", "NGN", amount, bearer)
    return found.amount, found.fee, found.vat, found.charged, found.settled


def fall_due(payments: InMemoryPayments) -> PaymentInProgress:
    (job,) = payments.jobs(payments.plan().key)
    payments.now = max(payments.now, job.due)
    paying = PaymentInProgress(payments, payments.receive_answer(job, NOBODY_ASKED))
    paying.receive_answer(APPROVED)
    assert paying.row.status == "successful"
    return paying


@pytest.mark.parametrize("bearer", ["customer", "merchant"])
def test_later_charges_of_a_recurrence_are_priced_as_the_first(bearer: str) -> None:
    payments = InMemoryPayments()
    first = paid_card(payments, bearer=bearer, **DAILY)
    payments.merchant = DEARER
    assert [price(fall_due(payments)) for _ in range(3)] == [price(first)] * 3


@pytest.mark.parametrize("bearer", ["customer", "merchant"])
def test_installments_keep_the_prices_of_the_day_on_which_they_were_agreed(bearer: str) -> None:
    payments = InMemoryPayments()
    expected = [local_price(payments, amount, bearer) for amount in (35_000, 25_000)]
    paid_card(payments, amount=None, installment=PLAN, bearer=bearer)
    payments.merchant = DEARER
    assert [price(fall_due(payments)) for _ in range(2)] == expected


def test_the_tariff_of_the_first_step_counts_for_all_installments() -> None:
    payments = InMemoryPayments()
    expected = [local_price(payments, amount, "customer") for amount in (35_000, 25_000)]
    paying = initiate(payments, amount=None, installment=PLAN, bearer="customer")
    paying.receive_answer(opened("PIN"))
    payments.merchant = DEARER
    charge(payments, paying, "PIN", installment=PLAN, meta={"order": 7})
    paying.receive_answer(APPROVED)
    assert [price(fall_due(payments)) for _ in range(2)] == expected


def test_a_plan_or_bearer_that_comes_with_the_charge_is_priced_then() -> None:
    payments = InMemoryPayments()
    paying = initiate(payments, amount="400.00")
    paying.receive_answer(opened("PIN"))
    charge(payments, paying, "PIN", installment=PLAN, bearer="customer")
    paying.receive_answer(APPROVED)
    expected = [local_price(payments, amount, "customer") for amount in (35_000, 25_000)]
    payments.merchant = DEARER
    assert [price(fall_due(payments)) for _ in range(2)] == expected


def test_installments_of_a_saved_card_keep_their_prices() -> None:
    payments = InMemoryPayments()
    token = paid_card(payments).payment.token
    assert token is not None
    paying = charge_token(payments, token, amount=None, installment=PLAN, bearer="customer")
    paying.receive_answer(APPROVED)
    expected = [local_price(payments, amount, "customer") for amount in (35_000, 25_000)]
    payments.merchant = DEARER
    assert [price(fall_due(payments)) for _ in range(2)] == expected


def test_a_saved_card_that_the_merchant_charges_has_the_price_of_the_request() -> None:
    payments = InMemoryPayments()
    token = paid_card(payments).payment.token
    assert token is not None
    payments.merchant = DEARER
    paying = charge_token(payments, token, bearer="customer")
    assert price(paying) == local_price(payments, 150_000, "customer")
