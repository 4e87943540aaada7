"""Requests and replies about disputes of card purchases by the cardholder. Contract: virtualcard#disputes"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.methods.disputes.model import MAX_FILES
from kasuwa.methods.disputes.wire import EvidenceFile, EvidenceFileLine, LongText, Reason
from kasuwa.methods.virtualcard.dispute_model import CardDisputeState
from kasuwa.wire.fields import Amount, Reference
from kasuwa.wire.interest_wire import DryRunFigure
from kasuwa.wire.paging import Paged


class CardEvidence(msgspec.Struct, kw_only=True):
    """The words and files of the cardholder. They may be left out."""

    explanation: LongText | None = None
    "What happened, in the cardholder's words."
    files: Annotated[list[EvidenceFile], Meta(max_length=MAX_FILES, description="at most 5 files")] | None = None
    "At most 5 files, such as a receipt, a mail to the shop or a photograph."


class CardDisputeRequest(msgspec.Struct, kw_only=True):
    """Disputes a purchase of a card, or a part of it, for the cardholder. A body may have 15 MiB."""

    reference: Reference
    "The card, by the `reference` that `create` returned."
    id: Reference
    "The purchase, by its `txnRef`. Of an authorization, the purchase that captured it."
    reason: Reason
    "The cardholder's reason, such as `fraudulent`, `not received` or `duplicate`."
    amount: Amount | None = None
    "The disputed amount, in the shop's currency. Default: all that was not refunded."
    evidence: CardEvidence | None = None
    "What the cardholder says and shows."
    dry_run: bool | None = None
    "If true, the reply says what would happen, and nothing is changed."


class CardDisputeNamed(msgspec.Struct, kw_only=True):
    """Names a dispute of a card purchase."""

    dispute_id: Reference
    "The dispute, by its `dispute_id`."


class WithdrawRequest(msgspec.Struct, kw_only=True):
    """Withdraws a dispute that is not decided yet. The purchase may be disputed again."""

    dispute_id: Reference
    "The dispute, by its `dispute_id`."
    dry_run: bool | None = None
    "If true, the reply says what would happen, and nothing is changed."


class CardDisputesRequest(Paged, kw_only=True):
    """Lists disputes of card purchases, newest first."""

    reference: Reference | None = None
    "Lists only disputes of this card."
    state: CardDisputeState | None = None
    "Lists only disputes in this state."


class CardDisputeSummary(msgspec.Struct, kw_only=True):
    """A dispute of a card purchase."""

    dispute_id: str
    "Reference of the dispute. Empty in the dry run of `dispute`."
    reference: str
    "The card."
    txn_ref: str = field(name="txnRef")
    "The purchase that is disputed."
    state: CardDisputeState
    """`submitted`: it is not decided yet. `won`: the card has the money, or your wallet if the card is terminated.
    `lost`: the shop keeps it. `withdrawn`: by you. `closed`: nothing is left of the purchase to decide on."""
    reason: str
    "The cardholder's reason."
    amount: str
    "What is disputed, in the shop's currency. What the shop refunds meanwhile is subtracted."
    currency: str
    "Currency of the shop."
    credited: str
    "What the card got for it, in the card's currency. 0.00 unless it is won."
    card_currency: str
    "Currency of the card."
    outcome: str | None
    "How it ended, in words. Null while it is open."
    filed_at: str
    "Time at which it was filed, in UTC."
    ended_at: str | None
    "Time at which it ended, in UTC. Null while it is open."
    refund_ref: str | None = field(name="refundRef")
    "The `txnRef` of the refund by which the card got the money. Null if it got none."


class CardDisputesReply(msgspec.Struct, kw_only=True):
    """One page of disputes of card purchases."""

    status: Literal[200] = 200
    "200."
    data: list[CardDisputeSummary]
    "The disputes."
    total: int
    "How many disputes match."
    offset: int
    "The number of records skipped."
    limit: int
    "The largest number of records of a page."


class CardEvidenceView(msgspec.Struct, kw_only=True):
    """The evidence that was sent."""

    explanation: str | None
    "What happened, in the cardholder's words. Null if there is none, or it was erased."
    files: list[EvidenceFileLine]
    "The files, in the order in which they were sent."


class CardDisputeStep(msgspec.Struct, kw_only=True):
    """One step in the life of a dispute."""

    at: str
    "Time of the step, in UTC."
    step: str
    "What happened: `submitted`, `reduced` by a refund of the shop, or the state that it got."


class CardDisputeDetail(CardDisputeSummary, kw_only=True):
    """A dispute of a card purchase with its evidence and its steps."""

    evidence: CardEvidenceView | None
    "The evidence that was sent with it. Null if there was none."
    timeline: list[CardDisputeStep]
    "Its steps so far, oldest first. An event was sent at each."


class CardDisputeReply(msgspec.Struct, kw_only=True):
    """The dispute."""

    status: Literal[200] = 200
    "200."
    data: CardDisputeDetail
    "The dispute."


class CardDisputeDecided(msgspec.Struct, kw_only=True):
    """The dispute after the request."""

    status: Literal[200] = 200
    "200: it was done."
    message: str
    "The outcome in words."
    data: CardDisputeSummary
    "The dispute."


class CardDisputeChanged(CardDisputeDecided, kw_only=True):
    """The dispute after the request, or as it would be after a dry run."""

    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with how it comes about. Else absent."


class CardOutcomeRequest(msgspec.Struct, kw_only=True):
    """Simulates the decision of the card network on a dispute of a card purchase. That of a shop of this deployment
    is decided by `dispute_outcome` of the shop."""

    dispute_id: Reference
    "The dispute, by its `dispute_id`."
    outcome: Literal["won", "lost"]
    "`won`: the network decides for the cardholder; `lost`: for the shop."
