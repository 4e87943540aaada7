"""Erasure of personal data: names of savings, payer data of deposits from the wallet, and reasons of reactivations."""

from typing import ClassVar

import msgspec

from kasuwa.methods.investments.model import Savings
from kasuwa.methods.investments.reactivation_model import DETAIL_DECODER, SavingsReactivation
from kasuwa.transactions.purpose import SUBJECT_DETAIL_DECODER
from kasuwa.transactions.transactions import Transaction, encode_text

ERASED_NAME = "(erased)"


class ErasableSavings(Savings):
    """Savings whose only writable column is `name`, which nothing but an erasure changes."""

    mutable_columns: ClassVar[tuple[str, ...]] = ("name",)


def erase_name(savings: ErasableSavings) -> ErasableSavings:
    return msgspec.structs.replace(savings, name=ERASED_NAME)


class ErasableDeposit(Transaction):
    """A wallet deposit whose only writable column is `detail`, which nothing but an erasure changes."""

    mutable_columns: ClassVar[tuple[str, ...]] = ("detail",)


def erase_payer_metadata(deposit: ErasableDeposit) -> ErasableDeposit:
    """Returns the deposit without payer data. Its savings id is kept."""
    savings_id = SUBJECT_DETAIL_DECODER.decode(deposit.detail).savings_id
    return msgspec.structs.replace(deposit, detail=encode_text({"savings_id": savings_id}))


def erase_reactivation_reason(reactivation: SavingsReactivation) -> SavingsReactivation:
    """Returns a reactivation without its reason. Who asked for it and who decided it is kept."""
    detail = msgspec.structs.replace(DETAIL_DECODER.decode(reactivation.detail), reason=ERASED_NAME)
    return msgspec.structs.replace(reactivation, detail=encode_text(detail))
