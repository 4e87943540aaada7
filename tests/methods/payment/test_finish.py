"""The end of a payment: its postings, its token, its event, and what it leaves behind.

Contract: #fees, payment#charge, payment#split
"""

import msgspec
import pytest

from kasuwa.methods.payment.model import RAIL_ROUTES, SEALED_CARD_DECODER, SavedCard, saved_card_aad
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    BODIES,
    CARD,
    DECLINED,
    InMemoryPayments,
    begin,
    charge_token,
    initiate,
    paid_card,
)
from tests.rule_context import VAULT, merchant


@pytest.mark.parametrize("method", sorted(BODIES))
def test_a_success_moves_the_charge_its_fee_and_its_vat_and_nothing_else(method: str) -> None:
    payments = InMemoryPayments()
    paying = begin(payments, method)
    paying.receive_answer(APPROVED)
    row, payment = paying.row, paying.payment
    assert payments.balances() == {
        f"rail:{RAIL_ROUTES[method].rail}:NGN": -payment.charged,
        "wallet:main:NGN": payment.settled,
        "income:collection:NGN": row.fee,
        "tax:vat:NGN": row.vat,
    }
    assert payment.charged == payment.settled + row.fee + row.vat


@pytest.mark.parametrize("method", sorted(BODIES))
def test_a_failure_moves_nothing(method: str) -> None:
    payments = InMemoryPayments()
    paying = begin(payments, method)
    decision = paying.receive_answer(DECLINED)
    assert (payments.balances(), decision.groups) == ({}, ())
    assert (paying.row.status, paying.row.code, paying.row.message) == ("failed", "51", "Insufficient Funds")
    assert paying.row.final_at == payments.now


def test_money_that_settles_later_lies_in_its_day_until_then() -> None:
    payments = InMemoryPayments(of=merchant(settlement_days=2))
    paying = paid_card(payments)
    # From Monday, two business days.
    assert payments.balance("settling:20260107:NGN") == paying.payment.settled
    assert payments.balance("wallet:main:NGN") == 0


def test_a_customer_who_bears_the_fee_pays_it_on_top() -> None:
    payments = InMemoryPayments()
    paying = paid_card(payments, bearer="customer", amount="10000.00")
    assert (paying.row.amount, paying.payment.settled >= 1_000_000) == (1_000_000, True)
    assert paying.payment.charged == paying.payment.settled + paying.row.fee + paying.row.vat
    payload = msgspec.json.decode(payments.events[0].payload)
    assert payload["chargedAmount"] == f"{paying.payment.charged / 100:.2f}"


def test_a_card_that_is_only_saved_moves_nothing_and_has_its_token() -> None:
    payments = InMemoryPayments()
    schedule = {"06-01-2026": "500.00", "07-01-2026": "500.00"}
    paying = paid_card(payments, amount=None, installment={"payment_schedule": schedule, "total": "1000.00"})
    assert (payments.balances(), paying.payment.charged) == ({}, 0)
    assert paying.payment.token is not None


# --- the event ------------------------------------------------------------------------------------------------------


def test_the_event_carries_the_merchants_own_reference_where_there_is_one() -> None:
    payments = InMemoryPayments(has_webhook=True)
    with_one, without = paid_card(payments, customer_txnref="basket-7"), paid_card(payments)
    first, second = (msgspec.json.decode(event.payload) for event in payments.events)
    assert first == {
        "status": 200,
        "txnStatus": "successful",
        "txnRef": with_one.txn_ref,
        "chargedAmount": "1500.00",
        "paymentMethod": "card",
        "endpoint": "test",
        "kind": "payment",
        "currency": "NGN",
        "customer_txnref": "basket-7",
    }
    assert "customer_txnref" not in second
    deliveries = [job for job in payments.jobs() if job.lane == "webhook"]
    assert sorted(job.reference for job in deliveries) == sorted([with_one.txn_ref, without.txn_ref])


# --- the card -------------------------------------------------------------------------------------------------------


def test_a_card_that_was_charged_is_kept_under_its_token_and_nowhere_else() -> None:
    payments = InMemoryPayments()
    paying = paid_card(payments)
    (saved,) = payments.of_type(SavedCard)
    assert (paying.payment.token, paying.payment.sealed_card) == (saved.token, None)
    letters, _, moment = saved.token.partition(".")
    assert (len(letters), moment) == (8, str(int(payments.now.timestamp())))
    kept = SEALED_CARD_DECODER.decode(
        VAULT.unseal(payments.merchant.merchant_id, saved_card_aad(saved.token), saved.sealed)
    )
    assert (kept.number, kept.expiry_month, kept.expiry_year) == (CARD["card_no"], "12", "30")


@pytest.mark.parametrize("minutes", [0, 10])
def test_a_card_that_was_not_charged_is_not_saved(minutes: int) -> None:
    payments = InMemoryPayments()
    paying = initiate(payments)
    paying.receive_answer(DECLINED, minutes=minutes)
    assert (paying.payment.sealed_card, paying.payment.token, payments.of_type(SavedCard)) == (None, None, [])


def test_a_saved_card_that_is_charged_makes_no_second_token() -> None:
    payments = InMemoryPayments()
    token = paid_card(payments).payment.token
    assert token is not None
    charge_token(payments, token).receive_answer(APPROVED)
    assert len(payments.of_type(SavedCard)) == 1
