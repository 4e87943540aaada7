"""Paystack: call-backs about money that came into accounts, about accounts, and about disputes."""

import msgspec

from kasuwa.core.references import parse_wire_reference
from kasuwa.rails.ports.hints import Hint, make_hint
from kasuwa.rails.vendors.paystack.accounts import CHANNEL


class HintCustomer(msgspec.Struct):
    email: str = ""


class HintData(msgspec.Struct):
    id: int | str = ""
    reference: str = ""
    channel: str = ""
    email: str = ""
    customer: HintCustomer = msgspec.field(default_factory=HintCustomer)


class HintEvent(msgspec.Struct):
    event: str = ""
    data: HintData = msgspec.field(default_factory=HintData)


DECODER = msgspec.json.Decoder(HintEvent)


def read_hint(body: bytes) -> Hint | None:
    """Returns what a call-back names besides orders of ours, or None."""
    try:
        event = DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    data = event.data
    if event.event == "charge.success" and data.channel == CHANNEL:
        return make_hint("receipt", data.reference)
    if event.event.startswith("charge.dispute."):
        return make_hint("dispute", str(data.id))
    if event.event.startswith(("dedicatedaccount.assign.", "customeridentification.")):
        # The customer's address is made of the key of the account.
        key = parse_wire_reference((data.customer.email or data.email).partition("@")[0].lower())
        return None if key is None else Hint("account", key)
    return None
