"""Monnify: call-backs about money that came into reserved accounts, and about settlements."""

import msgspec

from kasuwa.rails.ports.hints import Hint, make_hint
from kasuwa.rails.vendors.monnify.accounts import RESERVED_ACCOUNT


class HintProduct(msgspec.Struct):
    type: str = ""


class HintData(msgspec.Struct):
    transaction_reference: str = msgspec.field(name="transactionReference", default="")
    settlement_reference: str = msgspec.field(name="settlementReference", default="")
    product: HintProduct = msgspec.field(default_factory=HintProduct)


class HintEvent(msgspec.Struct):
    event_type: str = msgspec.field(name="eventType", default="")
    data: HintData = msgspec.field(name="eventData", default_factory=HintData)


DECODER = msgspec.json.Decoder(HintEvent)


def read_hint(body: bytes) -> Hint | None:
    """Returns what a call-back names besides orders of ours, or None."""
    try:
        event = DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    data = event.data
    if event.event_type == "SUCCESSFUL_TRANSACTION" and data.product.type == RESERVED_ACCOUNT:
        return make_hint("receipt", data.transaction_reference)
    if event.event_type == "SETTLEMENT":
        return make_hint("settlement", data.settlement_reference)
    return None
