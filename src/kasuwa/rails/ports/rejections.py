"""Transfers that a payer's or a vendor's bank sent back because they did not fit their payment. Nothing was booked."""

from datetime import datetime

import msgspec


class Rejection(msgspec.Struct, frozen=True):
    """A transfer for a payment that was sent back, as the vendor announced it."""

    order_key: str  # rail key of the payment
    reference: str  # the vendor's own, or another mark that is equal for the same announcement
    reason: str  # the vendor's word, such as UNDER_PAYMENT; empty if it gave none
    amount: int | None = None  # that was transferred, in minor units, if the vendor says so


class RecordedRejection(msgspec.Struct, frozen=True, omit_defaults=True):
    """A rejection as it is kept with its payment."""

    reference: str
    reason: str
    at: datetime
    amount: int | None = None
