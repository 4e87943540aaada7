"""The amounts of an invoice: items, discount, VAT and shipping. Contract: resources#invoice-amounts

    subtotal   the sum of quantity × unit amount
    discount   an amount, or a percentage of the subtotal; never more than the subtotal
    VAT        a percentage of subtotal - discount
    total      subtotal - discount + VAT + shipping

Discount and VAT are rounded half up to the minor unit, each once.
"""

from collections.abc import Sequence

import msgspec

from kasuwa.core.money import LARGEST_AMOUNT, compute_percent, format_minor, parse_minor

FLAT = "flat"
PERCENTAGE = "percentage"

MAX_QUANTITY = 1_000_000

NO_VAT = "0"


class InvoiceItem(msgspec.Struct, frozen=True):
    """One item of an invoice. The amount is that of one unit, in minor units."""

    description: str
    quantity: int
    amount: int

    @property
    def total(self) -> int:
        return self.quantity * self.amount


class InvoiceAmounts(msgspec.Struct, frozen=True):
    """The computed lines of an invoice, in minor units."""

    subtotal: int
    discount: int
    vat: int
    shipping: int

    @property
    def total(self) -> int:
        return self.subtotal - self.discount + self.vat + self.shipping


def sum_items(items: Sequence[InvoiceItem]) -> int:
    return sum(item.total for item in items)


def find_discount_fault(discount_type: str, discount: str) -> str | None:
    """Returns what is wrong with a discount, whatever the items are, or None."""
    if discount_type == PERCENTAGE:
        whole, _, decimals = discount.partition(".")
        is_above = int(whole) > 100 or (int(whole) == 100 and decimals.strip("0") != "")
        return "at most 100 percent" if is_above else None
    return None if parse_minor(discount) is not None else "an amount with at most two decimals"


def compute_discount(subtotal: int, discount_type: str, discount: str) -> int:
    """Returns the discount of a subtotal. A flat one may exceed the subtotal: the caller refuses that."""
    if discount_type == PERCENTAGE:
        return compute_percent(subtotal, discount)
    minor = parse_minor(discount)
    assert minor is not None, "find_discount_fault refuses it"
    return minor


def compute_amounts(
    items: Sequence[InvoiceItem], discount_type: str, discount: str, vat_rate: str, shipping: int
) -> InvoiceAmounts:
    """Returns the amounts of an invoice whose discount `find_discount_fault` accepts."""
    subtotal = sum_items(items)
    off = compute_discount(subtotal, discount_type, discount)
    return InvoiceAmounts(subtotal, off, compute_percent(max(0, subtotal - off), vat_rate), shipping)


def find_amount_faults(amounts: InvoiceAmounts) -> list[tuple[str, str]]:
    """Returns the faults of computed amounts, each with the request's field that causes it."""
    if amounts.subtotal > LARGEST_AMOUNT:
        return [("items", f"together at most {format_minor(LARGEST_AMOUNT)}")]
    if amounts.discount > amounts.subtotal:
        return [("discount", f"at most {format_minor(amounts.subtotal)}, the sum of the items")]
    return []
