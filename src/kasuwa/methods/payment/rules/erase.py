"""Payments and saved cards without their payer, who asked to be forgotten."""

from typing import ClassVar

import msgspec

from kasuwa.core.decision import Refusal
from kasuwa.core.erasure import TRANSACTION_IN_PROGRESS
from kasuwa.core.transactions import encode_text
from kasuwa.methods.payment.model import DETAIL_DECODER, CardSummary, Payment, SavedCard

ERASED_CARD = encode_text(CardSummary("", "", "", None, None, None, None))


class ErasablePayment(Payment):
    """A payment of which nothing changes but what it was asked with, which otherwise never does."""

    mutable_columns: ClassVar[tuple[str, ...]] = ("detail",)


def erase_payer(payment: ErasablePayment) -> ErasablePayment | Refusal:
    """Whatever is under way must first end: its card would be saved then."""
    if payment.is_open:
        return TRANSACTION_IN_PROGRESS
    detail = msgspec.structs.replace(
        DETAIL_DECODER.decode(payment.detail), fullname="", email="", payer="", ip="", fingerprint="", meta=""
    )
    if detail.purpose is not None:
        purpose = msgspec.structs.replace(detail.purpose, meta="", ip="", fingerprint="")
        detail = msgspec.structs.replace(detail, purpose=purpose)
    return msgspec.structs.replace(payment, detail=encode_text(detail))


def erase_saved_card(card: SavedCard) -> SavedCard:
    """Its token stays taken, and opens nothing."""
    return msgspec.structs.replace(card, sealed=b"", detail=ERASED_CARD)
