"""Disputes and settlements as rails tell of them."""

from datetime import date, datetime

import msgspec


class Dispute(msgspec.Struct, frozen=True):
    """A payment that the payer's bank disputes. Amounts are in minor units."""

    dispute_id: str
    payment_reference: str  # of the payment at the rail
    currency: str
    status: str  # the rail's word
    amount: int | None = None  # that is to be refunded; None while it is not known
    resolution: str = ""
    due_at: datetime | None = None  # when the rail wants our answer
    is_resolved: bool = False


class Settlement(msgspec.Struct, frozen=True):
    """Money that a rail paid out to the operator. Amounts are in minor units."""

    settlement_id: str
    status: str  # the rail's word
    currency: str
    amount: int  # that arrived
    gross: int | None = None
    fees: int | None = None
    payments: int | None = None  # how many it consists of
    settled_on: date | None = None
