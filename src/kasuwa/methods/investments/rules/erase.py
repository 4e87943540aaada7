"""Savings without the name that somebody gave them, who asked to be forgotten, and deposits without their payer."""

from typing import ClassVar

import msgspec

from kasuwa.core.purpose import SUBJECT_DETAIL_DECODER
from kasuwa.core.transactions import Transaction, encode_text
from kasuwa.methods.investments.model import Savings

ERASED_NAME = "(erased)"


class ErasableSavings(Savings):
    """Savings of which nothing changes but their name, which otherwise never does."""

    mutable_columns: ClassVar[tuple[str, ...]] = ("name",)


def erase_name(savings: ErasableSavings) -> ErasableSavings:
    return msgspec.structs.replace(savings, name=ERASED_NAME)


class ErasableDeposit(Transaction):
    """A deposit from the wallet of which nothing changes but what was told with it, which otherwise never does."""

    mutable_columns: ClassVar[tuple[str, ...]] = ("detail",)


def erase_payer_metadata(deposit: ErasableDeposit) -> ErasableDeposit:
    """It keeps the savings that it belongs to."""
    savings_id = SUBJECT_DETAIL_DECODER.decode(deposit.detail).savings_id
    return msgspec.structs.replace(deposit, detail=encode_text({"savings_id": savings_id}))
