"""Disputes of payments: rows, states, accounts and the files of their evidence.

    needs_response ─┬─(evidence)─> under_review ─┬─> won
                    │                            └─> lost
                    ├─(accept)───> accepted
                    ├─(deadline)─> expired            not if a rail announced it: the rail alone ends it
                    └─(outcome)──> won, lost          the rail or the operator decided without an answer

A rail's final word counts, also if it comes late and contradicts the end of a dispute (rules/correct_dispute.py):

    lost, accepted, expired ──> won        won ──> lost

Postings, in the payment's currency. The hold has what the wallet covers of amount, fee and VAT:

    opened                       receivable:disputes → wallet    what the wallet lacks, within the operator's credit
                                 hold   wallet                   amount, fee and VAT, or what is there
    won                          the hold is voided
    lost, accepted, expired      wallet → rail:<card|debit|mobile>   amount
                                 wallet → income:dispute             fee
                                 wallet → tax:vat                    VAT on it
                                 receivable:disputes → the same      what the hold does not cover
    later                        wallet → receivable:disputes        every hour, what the wallet has
    won after it was lost        the postings of `lost` back to the wallet
    lost after it was won        the postings of `lost`, all of them as a debt

A dispute that needs a response has one job: the next reminder, or its deadline. If a rail announced it, the rail is
asked when its time is over, until the rail has decided. One under review has a job too: its rail is asked daily, and
without a rail the operator gets a notice of disputes that stay open long.

If the payer's card was issued here, the card's merchant has books of its own. A job of the issuer's port gives the card
its money when a dispute is lost, and takes it back when that is corrected (rules/card_of_dispute.py). A dispute that
the cardholder has filed there (rules/cardholder_dispute.py) has the rail `issuer`. Nobody is asked for its outcome: it
ends like one without a rail, and a job tells the cardholder's dispute also if it was won.
"""

import binascii
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal, get_args

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import FieldError, HeldAmount, Refusal, Row
from kasuwa.core.references import row_key
from kasuwa.ledger import chart
from kasuwa.rails.ports.shops import CARDHOLDER_RAIL
from kasuwa.wire.fields import CustomFieldType

DisputeState = Literal["needs_response", "under_review", "won", "lost", "accepted", "expired"]
STATES: tuple[str, ...] = get_args(DisputeState)
NEEDS_RESPONSE, UNDER_REVIEW, WON, LOST, ACCEPTED, EXPIRED = STATES
OPEN_STATES = frozenset({NEEDS_RESPONSE, UNDER_REVIEW})

# Kind of its events, and the two letters of its reference.
KIND = "dispute"
REFERENCE_TYPE = "DS"
REFERENCE_PREFIX = f"GP|{REFERENCE_TYPE}|"

# Job kinds. All of a dispute have the key `job_key(dispute.key)`.
DEADLINE = "dispute.deadline"  # reminds the merchant, and ends the dispute when its time is over
REVIEW = "dispute.review"  # tells the operator that there is no outcome yet
ASK = "dispute.ask"  # asks the rail that announced it what it has decided
COLLECT = "dispute.collect"  # takes what the merchant owes from its wallet
# Job kinds of a card that was issued here. Each has a key of its own.
PAY_CARD = "dispute.pay_card"  # gives the card its money
TAKE_CARD = "dispute.take_card"  # takes it back
TELL_CARD = "dispute.tell_card"  # tells the cardholder's dispute that the shop has won

LANE = "schedule"

# Hours before the deadline at which the merchant is reminded. Contract: payment#disputes
REMINDER_HOURS = (48, 12)
# The time to respond if nobody names one.
DEFAULT_HOURS = 7 * 24
REVIEW_INTERVAL = timedelta(days=30)
COLLECT_INTERVAL = timedelta(hours=1)
# How often a rail is asked that has not decided: once the time to respond is over, and while a dispute is under review.
OVERDUE_INTERVAL = timedelta(hours=1)
ASK_INTERVAL = timedelta(days=1)
CARD_LANE = "card"

MAX_FILES = 5
MAX_FILE_BYTES = 2 * 1024 * 1024
# A body with five files of 2 MiB in base64, and room for the texts.
MAX_BODY_BYTES = 15 * 1024 * 1024

# Refusals, in order of precedence.
UNKNOWN_DISPUTE = Refusal(INVALID_REQUEST, "Invalid Dispute Reference", error_code="dispute_not_found")
NOT_DISPUTABLE = Refusal(
    INVALID_REQUEST, "Only a successful payment can be disputed", error_code="payment_not_disputable"
)
NOTHING_LEFT = Refusal(
    INVALID_REQUEST,
    "Nothing is left to dispute: the payment was refunded, reversed or disputed",
    error_code="nothing_left_to_dispute",
)
ALREADY_ANSWERED = Refusal(INVALID_REQUEST, "The dispute was answered already", error_code="dispute_answered")
ALREADY_ENDED = Refusal(INVALID_REQUEST, "The dispute has ended", error_code="dispute_ended")
TOO_LATE = Refusal(INVALID_REQUEST, "The time to respond is over", error_code="dispute_response_late")
ONE_ANSWER = Refusal(
    INVALID_REQUEST,
    "evidence: send accept, or evidence, and not both",
    (FieldError("evidence", "send accept, or evidence, and not both"),),
    error_code="dispute_answer_ambiguous",
)


class Dispute(Row):
    """A dispute of a payment, or of a part of it. Amounts are in minor units."""

    table: ClassVar[str] = "dispute"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "due_at",
        "state",
        "responded_at",
        "ended_at",
        "events",
        "files",
        "evidence_sealed",
        "trail",
    )

    dispute_id: str
    number: int
    txn_ref: str  # of the payment
    method: str  # of the payment
    currency: str
    amount: int
    fee: int
    vat: int
    covered: int  # what the hold has of amount, fee and VAT
    reason: str
    plan_id: str  # the plan that the payment was a charge of; empty if none
    rail: str  # that announced it; "issuer" if a cardholder here filed it; empty if an operator or the sandbox did
    rail_dispute_id: str
    opened_at: datetime
    due_at: datetime
    state: str
    responded_at: datetime | None
    ended_at: datetime | None
    events: int  # number of its events so far
    files: int
    evidence_sealed: bytes | None  # an encrypted EvidenceTexts; None without an answer, or if it was erased
    trail: str  # its steps, as in transactions

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES

    @property
    def is_filed_here(self) -> bool:
        """Whether the holder of a card that was issued here has filed it."""
        return self.rail == CARDHOLDER_RAIL

    @property
    def has_rail(self) -> bool:
        """Whether a rail announced it, which alone ends it."""
        return bool(self.rail) and not self.is_filed_here

    @property
    def total(self) -> int:
        """The sum that the dispute takes from the merchant if it is not won."""
        return self.amount + self.fee + self.vat

    @property
    def held(self) -> HeldAmount | None:
        """The amount that it reserves in the wallet as long as it is open, or None if the wallet covered nothing."""
        return HeldAmount(chart.wallet(self.currency), self.covered) if self.covered else None


class AskedDispute(msgspec.Struct, frozen=True):
    """The work of a job that asks a rail."""

    rail: str
    rail_dispute_id: str


ASKED_DISPUTE_DECODER: "msgspec.json.Decoder[AskedDispute]" = msgspec.json.Decoder(AskedDispute)

# Facts of a rail's answer about a dispute. Without an outcome it is not decided. The due time is a Unix time.
OUTCOME_FACT, REVIEW_FACT, DUE_FACT = "outcome", "under_review", "due_at"


def dispute_key(merchant_id: int, dispute_id: str) -> bytes:
    return row_key(merchant_id, "dispute", dispute_id)


class DisputeOrigin(Row):
    """Marks a dispute of a rail for which one was opened here."""

    table: ClassVar[str] = "dispute_origin"

    rail: str
    rail_dispute_id: str
    dispute_id: str

    @property
    def is_open(self) -> bool:
        return False


def origin_key(merchant_id: int, rail: str, rail_dispute_id: str) -> bytes:
    return row_key(merchant_id, "dispute origin", f"{rail} {rail_dispute_id}")


# --- evidence -------------------------------------------------------------------------------------------------------


class EvidenceTexts(msgspec.Struct, frozen=True, omit_defaults=True):
    """The merchant's answer as it is stored, encrypted (column dispute.evidence_sealed)."""

    explanation: str = ""
    product_description: str = ""
    customer_name: str = ""
    customer_email: str = ""
    customer_phone: str = ""
    service_date: str = ""
    tracking_number: str = ""
    refund_policy: str = ""
    file_names: tuple[str, ...] = ()


EVIDENCE_DECODER: "msgspec.json.Decoder[EvidenceTexts]" = msgspec.json.Decoder(EvidenceTexts)


class DisputeFile(Row):
    """A file of the evidence. Its name is with the texts. An erased file has an empty `content_sealed`."""

    table: ClassVar[str] = "dispute_file"
    mutable_columns: ClassVar[tuple[str, ...]] = ("content_sealed",)

    dispute_id: str
    place: int
    media_type: str
    size: int
    content_sealed: bytes

    @property
    def is_open(self) -> bool:
        return False


def file_key(merchant_id: int, dispute_id: str, place: int) -> bytes:
    return row_key(merchant_id, "dispute file", f"{dispute_id} {place}")


def evidence_aad(dispute_id: str) -> str:
    """Returns the associated data of the encryption of the texts: they decrypt in their own dispute only."""
    return f"dispute.evidence_sealed {dispute_id}"


def file_aad(dispute_id: str, place: int) -> str:
    return f"dispute_file.content_sealed {dispute_id} {place}"


# How files of each accepted type begin.
SIGNATURES = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
)


def detect_media_type(content: bytes) -> str | None:
    """Returns the media type of a file by its first bytes, or None if it is neither PDF, PNG nor JPEG."""
    return next((media_type for beginning, media_type in SIGNATURES if content.startswith(beginning)), None)


FILE_REASON = "a PDF, PNG or JPEG file of at most 2 MiB in base64"
MAX_BASE64 = (MAX_FILE_BYTES + 2) // 3 * 4


class FileContent(str, CustomFieldType):
    """The base64 text of a PDF, PNG or JPEG file, and its content. The type of the file is read from the content."""

    content: bytes

    @classmethod
    def read(cls, raw: Any) -> "FileContent":
        if not isinstance(raw, str) or len(raw) > MAX_BASE64:
            raise ValueError(FILE_REASON)
        try:
            content = binascii.a2b_base64(raw, strict_mode=True)
        except ValueError:
            raise ValueError(FILE_REASON) from None
        if len(content) > MAX_FILE_BYTES or detect_media_type(content) is None:
            raise ValueError(FILE_REASON)
        file = cls(raw)
        file.content = content
        return file

    @classmethod
    def schema(cls) -> dict[str, Any]:
        return {"type": "string", "contentEncoding": "base64", "maxLength": MAX_BASE64, "description": FILE_REASON}
