"""Disputes and settlements as rails report them."""

from datetime import date, datetime

import msgspec

# Rails at which the answers of merchants to disputes are handed in by the service (methods/disputes/answers_task.py).
ANSWERED_BY_API = frozenset({"paystack"})


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
    outcome: str | None = None  # won or lost; None while it is open, or if its end cannot be read
    reason: str = ""
    is_under_review: bool = False  # the rail has an answer, and waits for the payer's bank


class AnnouncedDispute(msgspec.Struct, frozen=True, kw_only=True):
    """A dispute as a rail reports it, for a payment that is known here."""

    rail: str
    rail_dispute_id: str
    txn_ref: str
    amount: int | None  # None: the rail does not say
    reason: str
    due_at: datetime | None
    outcome: str | None  # won or lost; None while it is open
    is_under_review: bool = False  # the rail has an answer, and waits for the payer's bank


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
