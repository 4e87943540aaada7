"""The detail of a payment's transaction: its method, and the customer whom it belongs to.

A customer is known by the e-mail address. The transaction has a keyed hash of it, so that the payments of a customer
are found without storing the address a second time. Contract: resources#customers
"""

from collections.abc import Callable

import msgspec


class PaymentMark(msgspec.Struct, frozen=True):
    """The detail of a transaction of kind `payment`. Migration 0028 has indexes on both fields."""

    method: str  # card, token, account, ussd …
    customer: str = ""  # hash_customer in hexadecimal; empty if the payer's address is unknown or erased


PAYMENT_MARK_DECODER: "msgspec.json.Decoder[PaymentMark]" = msgspec.json.Decoder(PaymentMark)


def hash_customer(digest: Callable[[bytes], bytes], merchant_id: int, email: str) -> bytes:
    """Returns a keyed hash that differs by merchant, the same for every spelling of one address."""
    return digest(f"customer email {merchant_id} {email.strip().casefold()}".encode())


def mark_payment(digest: Callable[[bytes], bytes], merchant_id: int, method: str, email: str) -> str:
    """Returns the detail of a payment's transaction as JSON."""
    customer = hash_customer(digest, merchant_id, email).hex() if email else ""
    return msgspec.json.encode(PaymentMark(method, customer)).decode()


def erase_mark(detail: str) -> str:
    """Returns the detail of a payment's transaction without its customer."""
    return msgspec.json.encode(msgspec.structs.replace(PAYMENT_MARK_DECODER.decode(detail), customer="")).decode()
