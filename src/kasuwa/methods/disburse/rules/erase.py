"""Erases personal data from transfers. Beneficiary account and amount stay: the books need them."""

from typing import ClassVar

import msgspec

from kasuwa.core.decision import Refusal
from kasuwa.methods.disburse.model import TRANSFER_DETAIL_DECODER
from kasuwa.privacy.erasure import TRANSACTION_IN_PROGRESS
from kasuwa.transactions.transactions import Transaction, encode_text


class ErasableTransfer(Transaction):
    """A transaction row whose `detail` may be written again. Elsewhere `detail` never changes after the insert."""

    mutable_columns: ClassVar[tuple[str, ...]] = ("detail", "facts_sealed")


def erase_narration(transfer: ErasableTransfer) -> ErasableTransfer | Refusal:
    """Empties the narration, which is free text of the merchant or the name of the savings of a cash-out, and what the
    rail reported, such as the name on the account.

    Refused while the transfer is in progress.
    """
    if transfer.is_open:
        return TRANSACTION_IN_PROGRESS
    order = msgspec.structs.replace(TRANSFER_DETAIL_DECODER.decode(transfer.detail), narration="")
    return msgspec.structs.replace(transfer, detail=encode_text(order), facts_sealed=None)
