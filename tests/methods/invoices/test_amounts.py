"""The amounts of an invoice against exact fractions. (Contract: resources#invoice-amounts)"""

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.money import LARGEST_AMOUNT
from kasuwa.methods.invoices.rules.amounts import (
    FLAT,
    MAX_QUANTITY,
    PERCENTAGE,
    InvoiceItem,
    compute_amounts,
    find_amount_faults,
    find_discount_fault,
)
from tests.walk.bounds import FLAT_DISCOUNT

ITEMS = st.lists(
    st.builds(InvoiceItem, st.just("x"), st.integers(1, MAX_QUANTITY), st.integers(0, 10**9)), min_size=1, max_size=5
)
PERCENTS = st.decimals(min_value=0, max_value=100, places=4).map(str)
SHIPPING = st.integers(0, 10**9)


def half_up(exact: Fraction) -> int:
    return math.floor(exact + Fraction(1, 2))


@given(ITEMS, PERCENTS, PERCENTS, SHIPPING)
def test_percentages_are_rounded_half_up_each_once(
    items: list[InvoiceItem], discount: str, vat: str, shipping: int
) -> None:
    amounts = compute_amounts(items, PERCENTAGE, discount, vat, shipping)
    subtotal = sum(item.quantity * item.amount for item in items)
    off = half_up(subtotal * Fraction(Decimal(discount)) / 100)
    tax = half_up((subtotal - off) * Fraction(Decimal(vat)) / 100)
    assert (amounts.subtotal, amounts.discount, amounts.vat, amounts.shipping) == (subtotal, off, tax, shipping)
    assert amounts.total == subtotal - off + tax + shipping
    assert 0 <= amounts.discount <= amounts.subtotal


@given(ITEMS, st.integers(0, 10**12), PERCENTS, SHIPPING)
def test_a_flat_discount_is_taken_before_vat_or_refused(
    items: list[InvoiceItem], discount: int, vat: str, shipping: int
) -> None:
    text = f"{discount // 100}.{discount % 100:02d}"
    amounts = compute_amounts(items, FLAT, text, vat, shipping)
    if amounts.subtotal > LARGEST_AMOUNT:
        assert [field for field, _ in find_amount_faults(amounts)] == ["items"]
    elif discount > amounts.subtotal:
        assert [field for field, _ in find_amount_faults(amounts)] == ["discount"]
    else:
        assert find_amount_faults(amounts) == []
        assert amounts.total == (
            amounts.subtotal
            - discount
            + half_up((amounts.subtotal - discount) * Fraction(Decimal(vat)) / 100)
            + shipping
        )


@pytest.mark.parametrize(
    ("discount", "vat", "expected"),
    [
        # 3 × 33.35 = 100.05; 10 % of it is 10.005, rounded up; 7.5 % of 90.04 is 6.753.
        ("10", "7.5", (10005, 1001, 675, 9679)),
        ("0.005", "0", (10005, 1, 0, 10004)),
        ("100", "7.5", (10005, 10005, 0, 0)),
    ],
)
def test_halves_are_rounded_up(discount: str, vat: str, expected: tuple[int, int, int, int]) -> None:
    amounts = compute_amounts([InvoiceItem("x", 3, 3335)], PERCENTAGE, discount, vat, 0)
    assert (amounts.subtotal, amounts.discount, amounts.vat, amounts.total) == expected


@pytest.mark.parametrize(
    ("kind", "discount", "is_refused"),
    [
        *((PERCENTAGE, text, False) for text in ("0", "100", "100.0000", "99.9999")),
        *((PERCENTAGE, text, True) for text in ("100.0001", "101", "999999999999999")),
        *((FLAT, text, False) for text in ("0", "101", "10.55")),
        (FLAT, "10.555", True),
    ],
)
def test_a_discount_is_at_most_all_and_in_whole_kobo(kind: str, discount: str, is_refused: bool) -> None:
    assert (find_discount_fault(kind, discount) is not None) is is_refused


@FLAT_DISCOUNT.tries
def test_a_flat_discount_is_at_most_the_sum_of_the_items(value: str, is_within: bool) -> None:
    items = [InvoiceItem("Fabric", 1, 30_000), InvoiceItem("Thread", 2, 10_000)]
    faults = find_amount_faults(compute_amounts(items, FLAT, value, "0", 0))
    assert [field for field, _ in faults] == ([] if is_within else ["discount"])
