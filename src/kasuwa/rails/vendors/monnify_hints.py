"""Monnify: call-backs about money that came into reserved accounts, and about settlements."""

import msgspec

from kasuwa.rails.hints import Hint
from kasuwa.rails.vendors.monnify_accounts import RESERVED_ACCOUNT

MAX_REFERENCE = 200


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
    except msgspec.DecodeError:
        return None
    data = event.data
    is_receipt = event.event_type == "SUCCESSFUL_TRANSACTION" and data.product.type == RESERVED_ACCOUNT
    if is_receipt and 0 < len(data.transaction_reference) <= MAX_REFERENCE:
        return Hint("receipt", data.transaction_reference)
    if event.event_type == "SETTLEMENT" and 0 < len(data.settlement_reference) <= MAX_REFERENCE:
        return Hint("settlement", data.settlement_reference)
    return None
