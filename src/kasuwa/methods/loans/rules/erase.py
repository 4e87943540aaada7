"""Erasure of personal data: payer data of repayments made from the wallet, and reasons in the merchant's words."""

from typing import ClassVar

import msgspec

from kasuwa.methods.loans.model import WRITE_OFF_DETAIL_DECODER, LoanSchedule, LoanWriteOff
from kasuwa.transactions.purpose import SUBJECT_DETAIL_DECODER
from kasuwa.transactions.transactions import Transaction, encode_text


class ErasableRepayment(Transaction):
    """A wallet repayment whose only writable column is `detail`, which nothing but an erasure changes."""

    mutable_columns: ClassVar[tuple[str, ...]] = ("detail",)


def erase_payer_metadata(repayment: ErasableRepayment) -> ErasableRepayment:
    """Returns the repayment without payer data. Its loan id is kept."""
    loan_id = SUBJECT_DETAIL_DECODER.decode(repayment.detail).loan_id
    return msgspec.structs.replace(repayment, detail=encode_text({"loan_id": loan_id}))


ERASED_REASON = "(erased)"


class ErasableSchedule(LoanSchedule):
    """An earlier schedule whose only writable column is `reason`, which nothing but an erasure changes."""

    mutable_columns: ClassVar[tuple[str, ...]] = ("reason",)


def erase_schedule_reason(schedule: ErasableSchedule) -> ErasableSchedule:
    return msgspec.structs.replace(schedule, reason=ERASED_REASON)


def erase_write_off_reason(proposed: LoanWriteOff) -> LoanWriteOff:
    """Returns a write-off that waited, without its reason. Who proposed and who decided it is kept."""
    detail = msgspec.structs.replace(WRITE_OFF_DETAIL_DECODER.decode(proposed.detail), reason=ERASED_REASON)
    return msgspec.structs.replace(proposed, detail=encode_text(detail))
