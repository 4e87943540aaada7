"""The fee of a card that its payer entered on a vendor's page. Contract: payment#hosted-card-fee"""

from typing import Any

import msgspec
import pytest

from kasuwa.methods.payment.rules.hosted_card import price_by_card
from kasuwa.rails.ports.orders import VendorCard
from kasuwa.rails.vendors.paystack import collection
from kasuwa.terms.tariff import Tariff
from kasuwa.terms.vendors import CollectionVendors
from kasuwa.transactions.pricing import fee_and_vat
from tests.methods.payment.in_memory_payments import APPROVED, InMemoryPayments, PaymentInProgress, challenge
from tests.rule_context import MERCHANT, context

PAYSTACK = CollectionVendors((collection.SERVED,), (collection.SERVED,))
PAGE = challenge("redirect", url="https://checkout.example/1", session="ac1")


def pay(country: str | None, bin: str = "408408", **fields: Any) -> tuple[InMemoryPayments, PaymentInProgress]:
    """A payment of 10,000 naira by a card of a country."""
    payments = InMemoryPayments(vendors=PAYSTACK)
    paying = PaymentInProgress(payments, payments.put("initiate", "card", **({"amount": "10000.00"} | fields)))
    paying.receive_answer(PAGE)
    card = VendorCard("sig", f"{bin}******4081", bin, "visa", country=country)
    paying.receive_answer(msgspec.structs.replace(APPROVED, card=card))
    return payments, paying


@pytest.mark.parametrize(
    ("country", "bin", "fee_class"),
    [
        ("NG", "408408", "card_local"),
        ("US", "408408", "card_international"),
        (None, "408408", "card_local"),
    ],
)
def test_a_successful_payment_has_the_fee_of_its_card(country: str | None, bin: str, fee_class: Any) -> None:
    payments, paying = pay(country, bin)
    fee, vat = fee_and_vat(MERCHANT.terms(Tariff), fee_class, "NGN", 10_000_00)
    assert (paying.row.status, paying.row.fee, paying.row.vat) == ("successful", fee, vat)
    assert paying.payment.settled == 10_000_00 - fee - vat
    assert payments.balance("wallet:main:NGN") == 10_000_00 - fee - vat
    assert payments.balance("income:collection:NGN") == fee
    assert payments.balance("tax:vat:NGN") == vat


def test_what_the_payer_is_charged_does_not_change() -> None:
    _, local = pay("NG", bearer="customer")
    _, international = pay("US", bearer="customer")
    assert local.payment.charged == international.payment.charged
    assert local.payment.settled == 10_000_00 > international.payment.settled


def test_a_fee_beyond_its_hold_stays_as_it_was_held() -> None:
    _, paying = pay("US")
    before = msgspec.structs.replace(paying.row, fee=100, vat=8, held=108, held_on="wallet:main:NGN")
    row, payment = price_by_card(before, paying.payment, context())
    assert (row, payment) == (before, paying.payment)
