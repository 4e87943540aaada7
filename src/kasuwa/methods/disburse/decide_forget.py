"""Transfers without what they say of a person who asked to be forgotten. Where the money went, the books keep."""

from typing import ClassVar

import msgspec

from kasuwa.core.decision import Refusal
from kasuwa.core.erasure import UNDER_WAY
from kasuwa.core.transactions import Transaction, encode_text
from kasuwa.methods.disburse.decide import Order

ORDER: "msgspec.json.Decoder[Order]" = msgspec.json.Decoder(Order)


class PersonsTransfer(Transaction):
    """A transfer of which nothing changes but what the bank was told, which otherwise never does."""

    changing: ClassVar[tuple[str, ...]] = ("detail",)


def forget_narration(transfer: PersonsTransfer) -> PersonsTransfer | Refusal:
    """The merchant's own words: of a cash-out, the name of the savings."""
    if transfer.is_open:
        return UNDER_WAY
    order = msgspec.structs.replace(ORDER.decode(transfer.detail), narration="")
    return msgspec.structs.replace(transfer, detail=encode_text(order))
