"""Who decides on purchases besides the limits of the card: a service of the merchant, of one card or of all.

Contract: virtualcard#decider
"""

from typing import ClassVar

import msgspec
from msgspec import UNSET

from kasuwa.core.decision import LoadedRows, Needs, Row
from kasuwa.core.references import row_key
from kasuwa.methods.virtualcard.wire import DeciderShown, DecisionShown
from kasuwa.rails.ports.decider import DeciderAnswer, DeciderFault
from kasuwa.transactions.transactions import encode_text

# In place of a card's reference, the decider of all cards that have none of their own.
ALL_CARDS = ""


class CardDecider(Row):
    """The decider of one card, or of all cards of a merchant."""

    table: ClassVar[str] = "virtual_card_decider"
    mutable_columns: ClassVar[tuple[str, ...]] = ("url", "on_timeout")
    coded_columns: ClassVar[tuple[str, ...]] = ("reference", "url", "on_timeout")

    reference: str  # of the card, or ALL_CARDS
    url: str  # empty if it was removed
    on_timeout: str  # an OnTimeout
    row_code: bytes | None = None


class StoredDecision(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer of a decider, as the record of the purchase has it."""

    id: str
    ms: int
    approves: bool = False
    reason: str = ""
    fault: DeciderFault | None = None


STORED_DECODER: "msgspec.json.Decoder[StoredDecision]" = msgspec.json.Decoder(StoredDecision)


def decider_key(merchant_id: int, reference: str) -> bytes:
    return row_key(merchant_id, "card_decider", reference)


def need_deciders(merchant_id: int, reference: str) -> Needs:
    """Returns the rows that say who decides on the purchases of a card."""
    return Needs(tuple((CardDecider, decider_key(merchant_id, name)) for name in (reference, ALL_CARDS)))


def find_decider(merchant_id: int, reference: str, rows: LoadedRows) -> CardDecider | None:
    """Returns the decider of a card: its own, or that of all cards."""
    for name in (reference, ALL_CARDS):
        row = rows.get(CardDecider, decider_key(merchant_id, name))
        if row is not None and row.url:
            return row
    return None


def show_decider(row: CardDecider) -> DeciderShown:
    return DeciderShown(reference=row.reference or UNSET, decision_url=row.url or None, on_timeout=row.on_timeout)  # type: ignore[arg-type]


def encode_decision(answer: DeciderAnswer | None) -> str | None:
    """Returns the answer of a decider as it is stored, or None if nobody was asked."""
    if answer is None:
        return None
    return encode_text(StoredDecision(answer.id, answer.ms, answer.approves, answer.reason, answer.fault))


def show_decision(stored: str) -> DecisionShown:
    decision = STORED_DECODER.decode(stored)
    return DecisionShown(
        id=decision.id,
        answer="none" if decision.fault else "approved" if decision.approves else "declined",
        fault=decision.fault or UNSET,
        reason=decision.reason or UNSET,
        latency_ms=decision.ms,
    )
