"""Repayments from the wallet without what the merchant told of a person who asked to be forgotten."""

from typing import ClassVar

import msgspec

from kasuwa.core.purpose import BELONGING
from kasuwa.core.transactions import Transaction, encode_text


class PersonsRepayment(Transaction):
    """A repayment of which nothing changes but what was told with it, which otherwise never does."""

    changing: ClassVar[tuple[str, ...]] = ("detail",)


def forget_told(repayment: PersonsRepayment) -> PersonsRepayment:
    """It keeps the loan that it belongs to."""
    loan_id = BELONGING.decode(repayment.detail).loan_id
    return msgspec.structs.replace(repayment, detail=encode_text({"loan_id": loan_id}))
