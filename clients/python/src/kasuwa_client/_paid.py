"""Decides whether a payment covers an amount."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from kasuwa_client import types
from kasuwa_client._notation import AMOUNT_FORM, encode_number


def covers(payment: types.PaymentState, amount: types.Amount, currency: str) -> bool:
    """Returns whether a payment is successful, in that currency, and its payer was charged at least the amount. What
    was refunded does not count. Raises ValueError if the amount is not exact."""
    try:
        wanted = Decimal(encode_number(amount))
    except (InvalidOperation, ValueError):
        raise ValueError(f"amount: must be {AMOUNT_FORM}") from None
    if not (wanted.is_finite() and wanted > 0):
        raise ValueError("amount: must be above zero")
    kept = payment.charged_amount - (payment.refunded_amount or Decimal(0))
    return payment.txn_status == "successful" and payment.currency == currency and kept >= wanted
