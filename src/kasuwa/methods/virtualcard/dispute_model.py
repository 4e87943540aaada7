"""Disputes of card purchases by the cardholder: rows and states.

    submitted ─┬─(the card network, or the shop's own dispute)─> won    the card gets the amount as a refund
               ├─(the same)─────────────────────────────────────> lost
               ├─(withdraw)──────────────────────────────────────> withdrawn
               └─(nothing is left of the purchase)───────────────> closed

A card gets nothing before its dispute is won: there is no provisional credit (docs/decisions/0113). What the shop
refunds meanwhile is no longer disputed.

If the shop is a merchant of this deployment, a job opens a dispute of its payment (methods/disputes), which decides
this one. It may be corrected later, and has the last word:

    lost, withdrawn, closed ──> won        won ──> lost

A dispute with another shop has one job, which reminds the operator of it. Contract: virtualcard#disputes
"""

from datetime import datetime, timedelta
from typing import ClassVar, Literal, get_args

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import FieldError, Refusal, Row, refuse_fields
from kasuwa.core.references import row_key

CardDisputeState = Literal["submitted", "won", "lost", "withdrawn", "closed"]
STATES: tuple[str, ...] = get_args(CardDisputeState)
SUBMITTED, WON, LOST, WITHDRAWN, CLOSED = STATES

# Kind of its events, and the two letters of its reference.
KIND = "card_dispute"
REFERENCE_TYPE = "CD"

# Job kinds. Those of the first two have the key `job_key(dispute.key)`.
REVIEW = "virtualcard.dispute_review"  # tells the operator that there is no outcome yet
OPEN_AT_SHOP = "virtualcard.dispute_open"  # opens the shop's dispute
END_AT_SHOP = "virtualcard.dispute_end"  # ends the shop's dispute, because this one is over

LANE = "card"

# Contract: virtualcard#disputes
FILE_WITHIN = timedelta(days=120)
REVIEW_INTERVAL = timedelta(days=30)

# Refusals, in order of precedence. UNKNOWN_CARD, UNKNOWN_PURCHASE and PURCHASE_DECLINED come before the first.
NOT_CAPTURED = Refusal(
    INVALID_REQUEST,
    "An authorization takes no money: dispute the purchase that captured it",
    error_code="authorization_not_disputable",
)
DISPUTE_OPEN = Refusal(INVALID_REQUEST, "The purchase is disputed already", error_code="dispute_open")
DISPUTE_DECIDED = Refusal(
    INVALID_REQUEST, "A dispute of the purchase was lost, and that is final", error_code="dispute_decided"
)
NOTHING_LEFT = Refusal(
    INVALID_REQUEST,
    "Nothing is left to dispute: the purchase was refunded, or cost nothing",
    error_code="nothing_left_to_dispute",
)
FILED_LATE = Refusal(
    INVALID_REQUEST,
    f"A purchase is disputed within {FILE_WITHIN.days} days, and this one is older",
    error_code="dispute_filed_late",
)
# Fields that are wrong.
TOO_LITTLE_DISPUTED = refuse_fields(
    FieldError("amount", "more: it is less than the smallest unit of the card's currency", "dispute_too_small")
)
UNKNOWN_CARD_DISPUTE = Refusal(INVALID_REQUEST, "Invalid Dispute Reference", error_code="dispute_not_found")
DISPUTE_ENDED = Refusal(INVALID_REQUEST, "The dispute has ended", error_code="dispute_ended")
DECIDED_BY_SHOP = Refusal(
    INVALID_REQUEST,
    "The shop is a merchant here: the dispute of its payment decides this one",
    error_code="dispute_decided_at_shop",
)


class CardDispute(Row):
    """A dispute of a card purchase, or of a part of it. Amounts are in minor units."""

    table: ClassVar[str] = "virtual_card_dispute"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "amount",
        "credited",
        "refund_ref",
        "state",
        "outcome",
        "ended_at",
        "events",
        "evidence_sealed",
        "trail",
    )

    dispute_id: str
    number: int
    reference: str  # of the card
    client_id: str  # whose card it is; "" if it is nobody's
    txn_ref: str  # of the purchase
    currency: str  # of the shop
    amount: int  # what is disputed and was not refunded meanwhile
    card_currency: str
    credited: int  # what the card got for it, in the card's currency
    refund_ref: str  # of the refund by which the card got it; "" if it got nothing
    reason: str
    shop_key: str  # the order of a shop of this deployment; "" for any other shop
    state: str
    outcome: str  # how it ended, in words; "" while it is open
    filed_at: datetime
    ended_at: datetime | None
    events: int  # number of its events so far
    files: int
    evidence_sealed: bytes | None  # an encrypted CardEvidenceTexts; None without evidence, or if it was erased
    trail: str  # its steps, as in transactions

    @property
    def is_open(self) -> bool:
        return self.state == SUBMITTED

    @property
    def is_with_shop_here(self) -> bool:
        return bool(self.shop_key)


def card_dispute_key(merchant_id: int, dispute_id: str) -> bytes:
    return row_key(merchant_id, "card dispute", dispute_id)


class CardEvidenceTexts(msgspec.Struct, frozen=True, omit_defaults=True):
    """The texts of the evidence as they are stored, encrypted (column virtual_card_dispute.evidence_sealed)."""

    explanation: str = ""
    file_names: tuple[str, ...] = ()


CARD_EVIDENCE_DECODER: "msgspec.json.Decoder[CardEvidenceTexts]" = msgspec.json.Decoder(CardEvidenceTexts)


def card_evidence_aad(dispute_id: str) -> str:
    """Returns the associated data of the encryption of the texts: they decrypt in their own dispute only."""
    return f"virtual_card_dispute.evidence_sealed {dispute_id}"
