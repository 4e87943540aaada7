"""Reads call-backs which say that a vendor sent a payer's transfer back: the sum was not the one that was asked for."""

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import msgspec

from kasuwa.core.references import parse_payment_reference
from kasuwa.rails.ports.rejections import Rejection
from kasuwa.rails.vendors.amounts import read_major
from kasuwa.rails.vendors.monnify import session
from kasuwa.rails.vendors.paystack import transfers

LONGEST_REASON = 50


class MonnifyReason(msgspec.Struct):
    reason: str = msgspec.field(name="rejectionReason", default="")


class MonnifyData(msgspec.Struct):
    payment_reference: str = msgspec.field(name="paymentReference", default="")
    transaction_reference: str = msgspec.field(name="transactionReference", default="")
    amount_paid: Any = msgspec.field(name="amountPaid", default=None)
    amount: Any = None
    information: MonnifyReason = msgspec.field(name="paymentRejectionInformation", default_factory=MonnifyReason)


class MonnifyEvent(msgspec.Struct):
    kind: str = msgspec.field(name="eventType", default="")
    data: MonnifyData = msgspec.field(name="eventData", default_factory=MonnifyData)


class PaystackData(msgspec.Struct):
    reference: str = ""
    amount: Any = None
    message_type: str = ""


class PaystackEvent(msgspec.Struct):
    kind: str = msgspec.field(name="event", default="")
    data: PaystackData = msgspec.field(default_factory=PaystackData)


# Numbers stay exact: amounts are never read as floating-point numbers.
MONNIFY_DECODER = msgspec.json.Decoder(MonnifyEvent, float_hook=str)
PAYSTACK_DECODER = msgspec.json.Decoder(PaystackEvent, float_hook=str)


def read_monnify(body: bytes) -> Rejection | None:
    event = MONNIFY_DECODER.decode(body)
    data = event.data
    if event.kind != "REJECTED_PAYMENT":
        return None
    amount = read_major(data.amount if data.amount_paid is None else data.amount_paid)
    return make_rejection(data.payment_reference, data.transaction_reference, data.information.reason, amount, body)


def read_paystack(body: bytes) -> Rejection | None:
    event = PAYSTACK_DECODER.decode(body)
    amount = event.data.amount
    if event.kind != "bank.transfer.rejected":
        return None
    is_amount = isinstance(amount, int) and not isinstance(amount, bool) and amount > 0
    return make_rejection(event.data.reference, "", event.data.message_type, amount if is_amount else None, body)


def make_rejection(wire: str, reference: str, reason: str, amount: int | None, body: bytes) -> Rejection | None:
    """Returns the rejection of a payment of ours. A vendor that gives it no reference repeats the same body."""
    key = parse_payment_reference(wire)
    mark = reference or blake2b(body, digest_size=12).hexdigest()
    return None if key is None else Rejection(key, mark, reason[:LONGEST_REASON], amount)


READERS: dict[str, Callable[[bytes], Rejection | None]] = {
    session.NAME: read_monnify,
    transfers.NAME: read_paystack,
}


def read_rejection(rail: str, body: bytes) -> Rejection | None:
    """Returns the rejection that a call-back of a rail names, or None. The sender was checked before."""
    reader = READERS.get(rail)
    try:
        return None if reader is None else reader(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
