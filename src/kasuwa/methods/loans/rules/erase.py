"""Erasure of payer data from repayments made from the wallet."""

from typing import ClassVar

import msgspec

from kasuwa.transactions.purpose import SUBJECT_DETAIL_DECODER
from kasuwa.transactions.transactions import Transaction, encode_text


class ErasableRepayment(Transaction):
    """A wallet repayment whose only writable column is `detail`, which nothing but an erasure changes."""

    mutable_columns: ClassVar[tuple[str, ...]] = ("detail",)


def erase_payer_metadata(repayment: ErasableRepayment) -> ErasableRepayment:
    """Returns the repayment without payer data. Its loan id is kept."""
    loan_id = SUBJECT_DETAIL_DECODER.decode(repayment.detail).loan_id
    return msgspec.structs.replace(repayment, detail=encode_text({"loan_id": loan_id}))
