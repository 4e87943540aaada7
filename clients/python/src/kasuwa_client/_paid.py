"""Decides whether a payment covers an amount."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from kasuwa_client import types
from kasuwa_client._notation import AMOUNT_FORM, encode_number

# What `verify` also shows, and no payer has paid: a refund, and a movement of the merchant's own wallet.
NOT_PAYMENTS = frozenset({"refund", "wallet"})


def read_price(amount: types.Amount) -> Decimal:
    """Returns an amount. Raises ValueError if it is not exact, or not above zero."""
    try:
        price = Decimal(encode_number(amount))
    except (InvalidOperation, ValueError):
        raise ValueError(f"amount: must be {AMOUNT_FORM}") from None
    if not (price.is_finite() and price > 0):
        raise ValueError("amount: must be above zero")
    return price


def covers(found: types.PaymentState, price: Decimal, currency: str) -> bool:
    """Returns whether what was found is a successful payment in that currency whose payer was charged at least the
    price. What was refunded does not count."""
    if found.payment_method in NOT_PAYMENTS or found.txn_status != "successful" or found.currency != currency:
        return False
    return found.charged_amount - (found.refunded_amount or Decimal(0)) >= price
