"""Transfers without what they say of a person who asked to be forgotten. Where the money went, the books keep."""

from typing import ClassVar

import msgspec

from kasuwa.core.decision import Refusal
from kasuwa.core.erasure import TRANSACTION_IN_PROGRESS
from kasuwa.core.transactions import Transaction, encode_text
from kasuwa.methods.disburse.rules.transfer import TransferDetail

TRANSFER_DETAIL_DECODER: "msgspec.json.Decoder[TransferDetail]" = msgspec.json.Decoder(TransferDetail)


class ErasableTransfer(Transaction):
    """A transfer of which nothing changes but what the bank was told, which otherwise never does."""

    mutable_columns: ClassVar[tuple[str, ...]] = ("detail",)


def erase_narration(transfer: ErasableTransfer) -> ErasableTransfer | Refusal:
    """The merchant's own words: of a cash-out, the name of the savings."""
    if transfer.is_open:
        return TRANSACTION_IN_PROGRESS
    order = msgspec.structs.replace(TRANSFER_DETAIL_DECODER.decode(transfer.detail), narration="")
    return msgspec.structs.replace(transfer, detail=encode_text(order))
