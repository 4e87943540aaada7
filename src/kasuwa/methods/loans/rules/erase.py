"""Repayments from the wallet without what the merchant told of a person who asked to be forgotten."""

from typing import ClassVar

import msgspec

from kasuwa.core.purpose import SUBJECT_DETAIL_DECODER
from kasuwa.core.transactions import Transaction, encode_text


class ErasableRepayment(Transaction):
    """A repayment of which nothing changes but what was told with it, which otherwise never does."""

    mutable_columns: ClassVar[tuple[str, ...]] = ("detail",)


def erase_payer_metadata(repayment: ErasableRepayment) -> ErasableRepayment:
    """It keeps the loan that it belongs to."""
    loan_id = SUBJECT_DETAIL_DECODER.decode(repayment.detail).loan_id
    return msgspec.structs.replace(repayment, detail=encode_text({"loan_id": loan_id}))
