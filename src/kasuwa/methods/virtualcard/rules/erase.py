"""Erasure of a card's holder: name and billing address. The card itself stays, because its purchases refer to it."""

from typing import ClassVar

import msgspec

from kasuwa.methods.virtualcard.model import Card


class ErasableCard(Card):
    """A card whose only writable column is `holder_sealed`, which nothing but an erasure changes."""

    mutable_columns: ClassVar[tuple[str, ...]] = ("holder_sealed",)


def erase_holder(card: ErasableCard) -> ErasableCard:
    return msgspec.structs.replace(card, holder_sealed=b"")
