"""Savings without the name that somebody gave them, who asked to be forgotten, and deposits without their payer."""

from typing import ClassVar

import msgspec

from kasuwa.core.purpose import BELONGING
from kasuwa.core.transactions import Transaction, encode_text
from kasuwa.methods.investments.decide import Savings

ERASED_NAME = "(erased)"


class PersonsSavings(Savings):
    """Savings of which nothing changes but their name, which otherwise never does."""

    changing: ClassVar[tuple[str, ...]] = ("name",)


def forget_name(savings: PersonsSavings) -> PersonsSavings:
    return msgspec.structs.replace(savings, name=ERASED_NAME)


class PersonsDeposit(Transaction):
    """A deposit from the wallet of which nothing changes but what was told with it, which otherwise never does."""

    changing: ClassVar[tuple[str, ...]] = ("detail",)


def forget_told(deposit: PersonsDeposit) -> PersonsDeposit:
    """It keeps the savings that it belongs to."""
    savings_id = BELONGING.decode(deposit.detail).savings_id
    return msgspec.structs.replace(deposit, detail=encode_text({"savings_id": savings_id}))
