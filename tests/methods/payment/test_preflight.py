"""One reply names the format errors of a payment request and its preflight errors."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.action import PreflightContext
from kasuwa.methods.loans.wire import RepayRequest
from kasuwa.methods.payment.rules.collect import PAYER_RULES
from kasuwa.wire.decoding import decode
from tests.methods.payment.in_memory_payments import ACCOUNT, CARD, InMemoryPayments, fields_of
from tests.rule_context import MERCHANT, NOW

EXPIRED = {**CARD, "expiry_month": "12", "expiry_year": "25"}
EXPIRED_THIS_YEAR = {**CARD, "expiry_month": "01", "expiry_year": "26"}

REFUSED: list[tuple[str, str, dict[str, Any], list[str]]] = [
    (
        "initiate",
        "card",
        {"card": EXPIRED, "amount": "0.50", "country": "FR"},
        ["amount", "card.expiry_year", "country"],
    ),
    ("initiate", "card", {"card": CARD, "amount": "10.00", "currency": "KES"}, ["currency"]),
    ("charge", "token", {"token": "nobody", "amount": "0.10", "currency": "KES"}, ["amount", "currency"]),
    (
        "charge",
        "account",
        {"account": {"accountnumber": "1234567890", "bankcode": "058"}, "amount": "0.10", "country": "GH"},
        ["account.accountnumber", "amount", "country"],
    ),
    ("charge", "account", {"account": {**ACCOUNT, "bankcode": "999"}, "amount": "9.00"}, ["account.bankcode"]),
    (
        "charge",
        "ussd",
        {"bank": "zenith", "amount": "9.00", "currency": "USD"},
        ["accountnumber", "currency", "phonenumber"],
    ),
    ("charge", "phone", {"phonenumber": "08031234567", "amount": "0.10", "country": "KE"}, ["amount", "country"]),
    ("charge", "qrpay", {"amount": "0.10", "currency": "GHS", "country": "GH"}, ["amount", "country", "currency"]),
    ("charge", "bank_transfer", {"amount": "0.10"}, ["amount"]),
    ("charge", "mobile_money", {"type": "ghana", "amount": "9.00"}, ["country", "currency", "network", "phonenumber"]),
    ("charge", "mobile_money", {"type": "paga", "amount": "9.00"}, ["redirect_url"]),
]


@pytest.mark.parametrize(("name", "variant", "fields", "named"), REFUSED)
def test_a_preflight_error_is_named_along_with_a_format_error(
    name: str, variant: str, fields: dict[str, Any], named: list[str]
) -> None:
    payments = InMemoryPayments()
    found = fields_of(payments.put(name, variant, **fields, bearer="nobody"))
    assert sorted(found) == sorted([*named, "bearer"])


@pytest.mark.parametrize(("name", "variant", "fields", "named"), REFUSED)
def test_the_rules_refuse_the_same_without_a_format_error(
    name: str, variant: str, fields: dict[str, Any], named: list[str]
) -> None:
    payments = InMemoryPayments()
    found = set(fields_of(payments.put(name, variant, **fields)))
    assert found >= set(named)
    # A token is looked for among kept rows, which is done when all is decided.
    assert found - set(named) <= {"token"}


def test_a_card_of_an_earlier_month_of_this_year_has_expired() -> None:
    payments = InMemoryPayments()
    payments.advance(days=60)
    found = fields_of(payments.put("initiate", "card", card=EXPIRED_THIS_YEAR, amount="9.00", bearer="nobody"))
    assert sorted(found) == ["bearer", "card.expiry_month"]


def test_an_unreadable_field_hides_only_the_checks_that_use_it() -> None:
    payments = InMemoryPayments()
    fields = {"type": "ghana", "amount": "x", "currency": "GHS", "country": "KE"}
    assert sorted(fields_of(payments.put("charge", "mobile_money", **fields))) == [
        "amount",
        "country",
        "network",
        "phonenumber",
    ]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"payment_method": "ussd", "amount": "x"}, ["amount", "bank"]),
        ({"payment_method": "card", "amount": "x"}, ["amount", "card"]),
        ({"payment_method": "wallet", "amount": "x"}, ["amount"]),
        ({"payment_method": "voucher", "amount": "1.00"}, ["payment_method"]),
    ],
)
def test_a_missing_field_of_a_repayment_is_named_along_with_a_format_error(
    fields: dict[str, Any], named: list[str]
) -> None:
    body, preflight = msgspec.json.encode({"loan_id": "LN1", **fields}), PreflightContext(NOW, None)
    assert sorted(fields_of(decode(RepayRequest, body, PAYER_RULES, MERCHANT, preflight))) == named
