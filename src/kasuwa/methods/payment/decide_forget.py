"""Payments and saved cards without their payer, who asked to be forgotten."""

from typing import ClassVar

import msgspec

from kasuwa.core.decision import Refusal
from kasuwa.core.erasure import UNDER_WAY
from kasuwa.core.transactions import encode_text
from kasuwa.methods.payment.decide import DETAIL, CardFacts, Payment, SavedCard

NO_CARD = encode_text(CardFacts("", "", "", None, None, None, None))


class PayersPayment(Payment):
    """A payment of which nothing changes but what it was asked with, which otherwise never does."""

    changing: ClassVar[tuple[str, ...]] = ("detail",)


def forget_payer(payment: PayersPayment) -> PayersPayment | Refusal:
    """Whatever is under way must first end: its card would be saved then."""
    if payment.is_open:
        return UNDER_WAY
    detail = msgspec.structs.replace(
        DETAIL.decode(payment.detail), fullname="", email="", payer="", ip="", fingerprint="", meta=""
    )
    if detail.errand is not None:
        errand = msgspec.structs.replace(detail.errand, meta="", ip="", fingerprint="")
        detail = msgspec.structs.replace(detail, errand=errand)
    return msgspec.structs.replace(payment, detail=encode_text(detail))


def forget_saved(card: SavedCard) -> SavedCard:
    """Its token stays taken, and opens nothing."""
    return msgspec.structs.replace(card, sealed=b"", detail=NO_CARD)
