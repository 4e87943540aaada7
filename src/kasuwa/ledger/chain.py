"""The hash chains of a merchant: one over its posting groups, one over its events. Pure.

Each value is BLAKE2b-256 of the value before and the canonical bytes of a group or event. docs/proofs.md specifies the
bytes, so that others can check a chain without this code. Fields are texts that end with a NUL byte, which no text in
PostgreSQL can contain. So different groups have different bytes.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import Protocol

from kasuwa.ledger.posting_kinds import TITLES

# The value before the first group and the first event.
EMPTY_CHAIN = bytes(32)
CHAIN_BYTES = 32

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class PostingLine(Protocol):
    """The fields of one posting that a chain covers."""

    reference: str
    debit: str
    credit: str
    amount: int
    debit_after: int
    credit_after: int
    kind: str  # whose title it covers


@lru_cache(maxsize=64)
def to_microseconds(at: datetime) -> int:
    """Returns a time as microseconds. Cached, because all decisions of a batch are made at one moment."""
    return (at - EPOCH) // MICROSECOND


def extend_by_group(head: bytes, merchant_id: int, group_seq: int, at: datetime, lines: Sequence[PostingLine]) -> bytes:
    """Returns the chain's value after a posting group. `group_seq` is the number of the group's first posting; the
    others follow without a gap. All lines have the reference of the first."""
    lead = f"kasuwa group 1\0{merchant_id}\0{group_seq}\0{to_microseconds(at)}\0{lines[0].reference}\0{len(lines)}\0"
    text = lead + "".join(
        [
            f"{line.debit}\0{line.credit}\0{line.amount}\0{line.debit_after}\0{line.credit_after}\0"
            f"{TITLES.get(line.kind, line.kind)}\0"
            for line in lines
        ]
    )
    return blake2b(head + text.encode(), digest_size=CHAIN_BYTES).digest()


class EventLine(Protocol):
    """The fields of one event that a chain covers."""

    merchant_id: int
    seq: int
    reference: str
    object: str
    object_seq: int
    kind: str
    payload: str
    at: datetime


def extend_by_event(head: bytes, event: EventLine) -> bytes:
    """Returns the chain's value after an event."""
    text = (
        f"kasuwa event 1\0{event.merchant_id}\0{event.seq}\0{to_microseconds(event.at)}\0{event.reference}\0"
        f"{event.object}\0{event.object_seq}\0{event.kind}\0{event.payload}\0"
    )
    return blake2b(head + text.encode(), digest_size=CHAIN_BYTES).digest()
