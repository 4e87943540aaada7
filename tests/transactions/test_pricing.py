"""Prices of collections: worked examples of the tariff, and properties checked by exhaustive search."""

from fractions import Fraction
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.money import convert_to_minor, format_minor
from kasuwa.core.reference_tables import load_reference_data
from kasuwa.terms.tariff import CollectionTariff, FeeClass, Tariff, read_tariff
from kasuwa.transactions.pricing import (
    MOBILE_MONEY_CLASSES,
    Price,
    card_class,
    choose_bearer,
    fee_and_vat,
    largest_fee,
    price_collection,
)

DEFAULT = read_tariff()
CLASSES: tuple[FeeClass, ...] = get_args(FeeClass)
WORKED: list[dict[str, str]] = load_reference_data("tariffs")["worked_card_local"]
GROSS_UP: list[dict[str, str]] = load_reference_data("tariffs")["worked_gross_up_without_vat"]

percents = st.decimals(0, 25, places=2).map(str)
figures = st.integers(0, 5_000).map(format_minor)


def card_local(**figures: str | None) -> dict[str, Any]:
    return {"collection": {"card_local": figures}}


own_tariffs = st.builds(
    lambda vat, percent, flat, waived, cap: read_tariff(
        {"vat_percent_on_fees": vat} | card_local(percent=percent, flat=flat, flat_waived_below=waived, cap=cap),
    ),
    st.sampled_from(["0", "7.5", "33.3333", "100"]),
    percents,
    figures,
    st.none() | figures,
    st.none() | figures,
)


@pytest.mark.parametrize("example", WORKED, ids=lambda example: example["amount"])
def test_a_worked_card_payment_comes_out_to_the_kobo(example: dict[str, str]) -> None:
    amount = convert_to_minor(example["amount"])
    price = price_collection(DEFAULT, "card_local", "NGN", amount, "merchant")
    assert format_minor(price.fee) == example["fee"]
    assert format_minor(price.vat) == example["vat"]
    assert format_minor(price.fee + price.vat) == example["fee_plus_vat"]
    assert format_minor(price.settled) == example["settled"]
    assert price.charged == price.amount == amount


@pytest.mark.parametrize("example", GROSS_UP, ids=lambda example: example["net_wanted"])
def test_a_worked_gross_comes_out_to_the_kobo(example: dict[str, str]) -> None:
    wanted = convert_to_minor(example["net_wanted"])
    price = price_collection(read_tariff({"vat_percent_on_fees": "0"}), "card_local", "NGN", wanted, "customer")
    assert format_minor(price.charged) == example["gross"]
    assert format_minor(price.fee) == example["fee"]
    assert (price.amount, price.settled, price.vat) == (wanted, wanted, 0)


@pytest.mark.parametrize(
    ("fee_class", "currency", "amount", "fee", "vat"),
    [
        ("card_international", "NGN", "1000", "139.00", "10.43"),
        ("card_international", "NGN", "1000000", "39100.00", "2932.50"),
        ("card_international", "USD", "1000", "39.00", "2.93"),
        ("card_local", "USD", "1000000", "15000.00", "1125.00"),
        ("account", "NGN", "100", "0.50", "0.04"),
        ("account", "NGN", "200000.01", "1000.00", "75.00"),
        ("ussd", "NGN", "2500", "137.50", "10.31"),
        ("phone", "NGN", "2499.99", "37.50", "2.81"),
        ("qrpay", "NGN", "1000", "5.00", "0.38"),
        ("bank_transfer", "NGN", "30000", "300.00", "22.50"),
        ("bank_transfer", "NGN", "10000000", "300.00", "22.50"),
        ("mobile_money_gh", "GHS", "100", "1.95", "0.15"),
        ("mobile_money_ke", "KES", "1000000", "15000.00", "1125.00"),
        ("mobile_money_ng", "NGN", "1000000", "2000.00", "150.00"),
    ],
)
def test_each_class_has_its_own_fee_and_only_naira_have_flat_parts_and_caps(
    fee_class: FeeClass, currency: str, amount: str, fee: str, vat: str
) -> None:
    price = price_collection(DEFAULT, fee_class, currency, convert_to_minor(amount), "merchant")
    assert (format_minor(price.fee), format_minor(price.vat)) == (fee, vat)


def test_a_flat_fee_above_the_payment_is_reduced_to_fit_with_its_vat() -> None:
    price = price_collection(DEFAULT, "card_international", "NGN", 10_000, "merchant")
    assert price == Price(amount=10_000, fee=9_302, vat=698, charged=10_000, settled=0)
    assert price_collection(DEFAULT, "card_international", "NGN", 1, "merchant").settled == 0


def test_a_customer_who_bears_the_fee_pays_just_what_settles_the_price() -> None:
    price = price_collection(DEFAULT, "card_international", "NGN", 10_000, "customer")
    assert price == Price(amount=10_000, fee=10_845, vat=813, charged=21_658, settled=10_000)


def test_the_waiver_depends_on_the_charged_amount() -> None:
    """2,459.68 is the last price whose gross stays below the waiver's end."""
    below = price_collection(DEFAULT, "card_local", "NGN", convert_to_minor("2459.68"), "customer")
    above = price_collection(DEFAULT, "card_local", "NGN", convert_to_minor("2459.69"), "customer")
    assert below.charged == convert_to_minor("2499.99")
    assert above.charged > convert_to_minor("2600")
    assert above.settled == convert_to_minor("2459.69")


@given(own_tariffs, st.sampled_from(["NGN", "USD"]), st.integers(1, 3_000))
def test_no_smaller_gross_settles_the_amount(tariff: Tariff, currency: str, amount: int) -> None:
    price = price_collection(tariff, "card_local", currency, amount, "customer")
    settled = (
        gross - sum(fee_and_vat(tariff, "card_local", currency, gross)) for gross in range(amount, price.charged)
    )
    assert all(less < amount for less in settled)
    assert price.settled == amount == price.charged - price.fee - price.vat


@given(own_tariffs, st.sampled_from(["NGN", "USD"]), st.integers(1, 20_000))
def test_fee_and_vat_are_as_written_and_never_above_the_amount(tariff: Tariff, currency: str, amount: int) -> None:
    """The same figures by plain fractions, and the bound by counting down."""
    rule = tariff.collection.card_local
    exact = Fraction(rule.percent) * amount / 100
    fee = int(exact + Fraction(1, 2))
    if currency == "NGN":
        waived = rule.flat_waived_below is not None and amount < convert_to_minor(rule.flat_waived_below)
        fee += 0 if waived else convert_to_minor(rule.flat)
        fee = fee if rule.cap is None else min(fee, convert_to_minor(rule.cap))

    def with_vat(fee: int) -> int:
        return fee + int(Fraction(tariff.vat_percent_on_fees) * fee / 100 + Fraction(1, 2))

    while with_vat(fee) > amount:
        fee -= 1
    price = price_collection(tariff, "card_local", currency, amount, "merchant")
    assert (price.fee, price.fee + price.vat) == (fee, with_vat(fee))
    assert price.settled == amount - with_vat(fee) >= 0


@given(st.integers(0, 10**15), st.sampled_from(["0", "7.5", "33.3333", "99.9999", "100"]))
def test_the_largest_fee_fits_and_the_next_does_not(charged: int, vat: str) -> None:
    def with_vat(fee: int) -> int:
        return fee + int(Fraction(vat) * fee / 100 + Fraction(1, 2))

    largest = largest_fee(charged, vat)
    assert with_vat(largest) <= charged < with_vat(largest + 1)


@given(
    st.sampled_from(CLASSES),
    st.sampled_from(["NGN", "USD", "GHS", "KES"]),
    st.integers(1, 10**15 - 1),
    st.sampled_from(["merchant", "customer"]),
)
def test_every_amount_has_a_price_that_adds_up(fee_class: FeeClass, currency: str, amount: int, bearer: Any) -> None:
    price = price_collection(DEFAULT, fee_class, currency, amount, bearer)
    assert price.charged == price.settled + price.fee + price.vat
    assert (price.charged if bearer == "merchant" else price.settled) == amount
    assert min(price.fee, price.vat, price.settled) >= 0


def test_a_card_is_foreign_only_when_its_issuer_is_known_to_be() -> None:
    assert [card_class(country) for country in ("NG", None, "GH", "US")] == [
        "card_local",
        "card_local",
        "card_international",
        "card_international",
    ]


def test_mobile_money_has_a_class_in_each_of_its_countries() -> None:
    assert set(MOBILE_MONEY_CLASSES) == {"NG", "GH", "KE"}
    assert set(MOBILE_MONEY_CLASSES.values()) == {name for name in CLASSES if name.startswith("mobile_money")}


def test_the_bearer_is_the_requests_else_the_tariffs_and_account_means_the_merchant() -> None:
    for_customers = read_tariff({"bearer_default": "customer"})
    for_accounts = read_tariff({"bearer_default": "account"})
    assert [choose_bearer(tariff, None) for tariff in (DEFAULT, for_customers, for_accounts)] == [
        "merchant",
        "customer",
        "merchant",
    ]
    assert choose_bearer(DEFAULT, "customer") == "customer"
    assert choose_bearer(for_customers, "merchant") == choose_bearer(for_customers, "account") == "merchant"


def test_every_class_is_in_the_tariff() -> None:
    assert CollectionTariff.__struct_fields__ == CLASSES


@pytest.mark.parametrize(
    "override",
    [
        card_local(percent="-1"),
        card_local(percent="1.5%"),
        card_local(percent="1e1"),
        card_local(percent="46.6"),  # With its VAT, more than half.
        card_local(percent="30") | {"vat_percent_on_fees": "100"},
        card_local(flat="-1"),
        card_local(flat="a"),
        card_local(cap="two"),
        card_local(flat_waived_below="1,000"),
        card_local(percent=None),
        card_local(flat=None),
        {"collection": None},
        {"collection": {"ussd": None}},
        {"bearer_default": "nobody"},
    ],
)
def test_collection_fees_that_cannot_be_charged_are_refused_when_set(
    override: dict[str, Any],
) -> None:
    with pytest.raises((ValueError, msgspec.ValidationError)):
        read_tariff(override)


def test_a_fee_with_vat_may_take_at_most_half_of_a_payment() -> None:
    tariff = read_tariff(card_local(percent="25", flat="0", cap=None) | {"vat_percent_on_fees": "100"})
    price = price_collection(tariff, "card_local", "NGN", 10_000, "customer")
    assert price == Price(amount=10_000, fee=5_000, vat=5_000, charged=20_000, settled=10_000)
