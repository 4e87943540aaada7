"""The detail of a payment's transaction: its method, and the customer whom it belongs to.

A customer is known by the email address, or by the telephone number if there is none. The transaction has a keyed hash
of it, so that the payments of a customer are found without storing it a second time. Contract: resources#customers
"""

from collections.abc import Callable

import msgspec

from kasuwa.core.references import first_number


class PaymentMark(msgspec.Struct, frozen=True):
    """The detail of a transaction of kind `payment`. There are indexes on the first two fields."""

    method: str  # card, token, account, ussd …
    customer: str = ""  # hash_customer in hexadecimal; empty if nothing is known of the payer
    vendor: str | msgspec.UnsetType = msgspec.UNSET  # that collects it, with what a query of the vendor needs
    charged: int | msgspec.UnsetType = msgspec.UNSET  # by the vendor


PAYMENT_MARK_DECODER: "msgspec.json.Decoder[PaymentMark]" = msgspec.json.Decoder(PaymentMark)


def hash_customer(digest: Callable[[bytes], bytes], merchant_id: int, identity: str) -> bytes:
    """Returns a keyed hash of what a customer is known by. It differs by merchant, and is the same for every spelling
    of one email address."""
    return digest(f"customer email {first_number(merchant_id)} {identity.strip().casefold()}".encode())


def mark_payment(digest: Callable[[bytes], bytes], merchant_id: int, identity: str, mark: PaymentMark) -> str:
    """Returns the detail of a payment's transaction as JSON, with the customer who is known by `identity`."""
    customer = hash_customer(digest, merchant_id, identity).hex() if identity else ""
    return msgspec.json.encode(msgspec.structs.replace(mark, customer=customer)).decode()


def make_mark(method: str, vendor: str, charged: int) -> PaymentMark:
    """Returns a mark without its customer. Only that of a payment at a vendor has the vendor and what it charges."""
    return PaymentMark(method, vendor=vendor, charged=charged) if vendor else PaymentMark(method)


def erase_mark(detail: str) -> str:
    """Returns the detail of a payment's transaction without its customer."""
    return msgspec.json.encode(msgspec.structs.replace(PAYMENT_MARK_DECODER.decode(detail), customer="")).decode()
