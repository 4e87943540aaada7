"""Fields that only charge has count as if initiate had them. Fields that both steps have must be equal."""

from typing import Any

import pytest

from kasuwa.core.decision import Decision
from kasuwa.methods.payment.model import JOB_DATA_DECODER
from kasuwa.methods.payment.plan_model import TERMS_DECODER
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    DECLINED,
    InMemoryPayments,
    PaymentInProgress,
    charge,
    fields_of,
    initiate,
    opened,
)

DAILY = {"is_recurring": True, "recurrent": {"frequency": "daily", "value": "10"}}
INSTALLMENT = {"payment_schedule": {"05-01-2026": "1500", "05-02-2026": "500"}, "total": "2000.00"}
OTHER_INSTALLMENT = {"payment_schedule": {"05-01-2026": "1500", "05-03-2026": "500"}, "total": "2000.00"}


@pytest.fixture
def payments() -> InMemoryPayments:
    return InMemoryPayments(funds=100_000)


def begun(payments: InMemoryPayments, **changes: Any) -> PaymentInProgress:
    paying = initiate(payments, **changes)
    paying.receive_answer(opened("PIN"))
    return paying


def beneficiary(payments: InMemoryPayments) -> str:
    made = payments.put("beneficiary", name="Bola", bankcode="058", accountnumber="0000000000")
    return str(made.reply.ref_code)


def brought(payments: InMemoryPayments) -> dict[str, dict[str, Any]]:
    """Every field that the charge may bring alone."""
    return {
        "split": {"split": [{"ref_code": beneficiary(payments), "percentage": "50"}]},
        "bearer": {"bearer": "customer"},
        "recurrent": DAILY,
        "installment": {"installment": INSTALLMENT},
        "customer_txnref": {"customer_txnref": "basket-9"},
        "redirect_url": {"redirect_url": "https://shop.example/done"},
        "user": {"user": {"firstname": "Ada", "email": "ada@example.com", "ip": "102.89.2.1", "fingerprint": "f0"}},
        "meta": {"meta": {"basket": 7, "lines": [{"sku": "a", "price": 1.50}]}},
    }


NAMES = ("split", "bearer", "recurrent", "installment", "customer_txnref", "redirect_url", "user", "meta")


@pytest.mark.parametrize("name", NAMES)
def test_a_field_only_in_charge_counts_as_if_initiate_had_it(payments: InMemoryPayments, name: str) -> None:
    fields = brought(payments)[name]
    first, second = begun(payments, **fields), begun(payments)
    balances: list[dict[str, int]] = []
    for paying, value in ((first, fields), (second, fields)):
        before = payments.balances()
        assert isinstance(charge(payments, paying, "PIN", **value), Decision)
        paying.receive_answer(APPROVED)
        assert paying.row.status == "successful"
        balances.append({at: amount - before.get(at, 0) for at, amount in payments.balances().items()})
    moved = [{at: amount for at, amount in each.items() if amount} for each in balances]
    assert moved[0] == moved[1]
    for attribute in ("order_ref", "amount", "fee", "vat"):
        assert getattr(first.row, attribute) == getattr(second.row, attribute)
    for attribute in ("charged", "settled"):
        assert getattr(first.payment, attribute) == getattr(second.payment, attribute)
    details = [paying.detail for paying in (first, second)]
    terms = ("split", "bearer", "recurrent", "installments", "redirect_url")
    same = (*terms, "fullname", "email", "ip", "fingerprint", "meta")
    assert [getattr(details[0], one) for one in same] == [getattr(details[1], one) for one in same]


@pytest.mark.parametrize("name", NAMES)
def test_a_field_that_is_equal_in_both_steps_is_accepted(payments: InMemoryPayments, name: str) -> None:
    fields = brought(payments)[name]
    paying = begun(payments, **fields)
    decision = charge(payments, paying, "PIN", **fields)
    assert isinstance(decision, Decision)
    assert type(decision.rows[1]).__name__ == "Payment"


def test_a_bearer_only_in_charge_changes_the_amount_sent_to_the_rail(payments: InMemoryPayments) -> None:
    paying = begun(payments)
    charge(payments, paying, "PIN", bearer="customer")
    assert JOB_DATA_DECODER.decode(paying.job.work).amount == paying.payment.charged > 150_000
    assert paying.payment.settled >= 150_000


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        ({"bearer": "merchant"}, {"bearer": "customer"}, ["bearer"]),
        (DAILY, {"recurrent": {"frequency": "weekly", "value": "1"}}, ["recurrent"]),
        (DAILY, {"is_recurring": False}, ["is_recurring"]),
        ({"installment": INSTALLMENT}, {"installment": OTHER_INSTALLMENT}, ["installment"]),
        ({"customer_txnref": "a"}, {"customer_txnref": "b"}, ["customer_txnref"]),
        ({"meta": {"basket": 7}}, {"meta": {"basket": 8}}, ["meta"]),
        ({"meta": {"basket": 7}}, {"meta": {"basket": 7, "client": 1}}, ["meta"]),
        ({"meta": {"basket": True}}, {"meta": {"basket": 1}}, ["meta"]),
        (DAILY, {"installment": INSTALLMENT}, ["installment"]),
        ({"installment": INSTALLMENT}, DAILY, ["installment"]),
        ({}, {"installment": {"payment_schedule": {"05-02-2026": "100"}, "total": "100.00"}}, ["amount"]),
        ({}, {"split": [{"ref_code": "RSnobody", "percentage": "50"}]}, ["split.0.ref_code"]),
        ({}, {"recurrent": {"value": "31"}}, ["recurrent.value"]),
        ({"bearer": "merchant", "customer_txnref": "a"}, {"bearer": "customer", "customer_txnref": "b"}, None),
    ],
)
def test_a_field_that_differs_in_charge_is_refused_and_nothing_changes(
    payments: InMemoryPayments, first: dict[str, Any], second: dict[str, Any], named: list[str] | None
) -> None:
    paying = begun(payments, **first)
    before = dict(payments.rows)
    assert sorted(fields_of(charge(payments, paying, "PIN", **second))) == (named or ["bearer", "customer_txnref"])
    assert payments.rows == before


def test_a_meta_with_its_fields_in_another_order_is_equal(payments: InMemoryPayments) -> None:
    paying = begun(payments, meta={"a": {"x": 1, "y": 2}, "b": [1.50]})
    kept = paying.detail.meta
    assert isinstance(charge(payments, paying, "PIN", meta={"b": [1.50], "a": {"y": 2, "x": 1}}), Decision)
    assert paying.detail.meta == kept


def test_two_different_splits_are_refused(payments: InMemoryPayments) -> None:
    one, other = beneficiary(payments), beneficiary(payments)
    paying = begun(payments, split=[{"ref_code": one, "percentage": "50"}])
    assert fields_of(charge(payments, paying, "PIN", split=[{"ref_code": other, "percentage": "50"}])) == ["split"]


def test_split_parts_beyond_a_plan_that_charge_adds_are_refused(payments: InMemoryPayments) -> None:
    """The split came with initiate, the smaller later part with the charge."""
    paying = begun(payments, split=[{"ref_code": beneficiary(payments), "share": "600.00"}])
    assert fields_of(charge(payments, paying, "PIN", installment=INSTALLMENT)) == ["split"]


def test_nothing_is_added_once_the_card_was_charged(payments: InMemoryPayments) -> None:
    paying = begun(payments)
    charge(payments, paying, "PIN")
    paying.receive_answer(DECLINED)
    again = charge(payments, paying, "PIN", customer_txnref="late")
    assert isinstance(again, Decision)
    assert (again.rows, paying.row.order_ref) == ((), "")


def test_the_authentication_may_be_left_out_of_the_charge(payments: InMemoryPayments) -> None:
    paying = begun(payments)
    assert isinstance(payments.put("charge", "card", txnRef=paying.txn_ref, card=CARD_AGAIN), Decision)


CARD_AGAIN = {"card_no": "4111110000000013", "expiry_month": "12", "expiry_year": "30", "ccv": "000", "pin": "1234"}


# --- recurrent alone --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("recurrent", "frequency", "value"),
    [
        ({"frequency": "daily"}, "daily", 10),
        ({"frequency": "weekly"}, "weekly", 1),
        ({"frequency": "monthly"}, "monthly", 5),
        ({}, "monthly", 5),
        ({"value": "12"}, "monthly", 12),
    ],
)
def test_recurrent_alone_makes_a_plan_and_both_its_fields_may_be_left_out(
    payments: InMemoryPayments, recurrent: dict[str, str], frequency: str, value: int
) -> None:
    """Monday 5 January 2026, 10:30 in Lagos."""
    paying = begun(payments, recurrent=recurrent)
    charge(payments, paying, "PIN", recurrent=recurrent)
    paying.receive_answer(APPROVED)
    terms = TERMS_DECODER.decode(payments.plan().detail)
    assert (terms.frequency, terms.value, terms.amount) == (frequency, value, 150_000)
