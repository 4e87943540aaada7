"""Reads postings and events in the order of their chains, in pieces."""

from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import Any

import msgspec

# Postings or events that one query reads. A group is never divided, so a piece may have more.
PIECE = 2_000

POSTINGS = f"""
    select seq, group_seq, reference, debit, credit, amount, debit_after, credit_after, kind, at, hash
    from posting where merchant_id = $1 and seq > $2 and seq <= $3 and seq < coalesce((
        select n.seq from posting n where n.merchant_id = $1 and n.seq > $2 + {PIECE} and n.seq = n.group_seq
        order by n.seq limit 1), 9223372036854775807)
    order by seq
"""
EVENTS = f"""
    select merchant_id, seq, reference, object, object_seq, kind, payload, at, hash
    from event where merchant_id = $1 and seq > $2 and seq <= $3 order by seq limit {PIECE}
"""


class PostingRecord(msgspec.Struct):
    """A posting as its chain is computed from it."""

    seq: int
    group_seq: int
    reference: str
    debit: str
    credit: str
    amount: int
    debit_after: int
    credit_after: int
    kind: str
    at: datetime
    hash: bytes | None  # the chain's value after the group, on the group's last posting


class EventRecord(msgspec.Struct):
    """An event as its chain is computed from it."""

    merchant_id: int
    seq: int
    reference: str
    object: str
    object_seq: int
    kind: str
    payload: str
    at: datetime
    hash: bytes


def split_groups(postings: list[PostingRecord]) -> Iterator[list[PostingRecord]]:
    """Yields the groups of consecutive postings."""
    start = 0
    for n in range(1, len(postings) + 1):
        if n == len(postings) or postings[n].group_seq != postings[start].group_seq:
            yield postings[start:n]
            start = n


async def read_postings(connection: Any, merchant_id: int, after: int, up_to: int) -> list[PostingRecord]:
    """Returns the next whole groups after a posting. Empty at the end."""
    return [PostingRecord(*row) for row in await connection.fetch(POSTINGS, merchant_id, after, up_to)]


async def read_events(connection: Any, merchant_id: int, after: int, up_to: int) -> list[EventRecord]:
    """Returns the next events after one. Empty at the end."""
    return [EventRecord(*row) for row in await connection.fetch(EVENTS, merchant_id, after, up_to)]


async def iterate_groups(
    connection: Any, merchant_id: int, after: int, up_to: int
) -> AsyncIterator[list[PostingRecord]]:
    """Yields the groups after a posting, in order."""
    while piece := await read_postings(connection, merchant_id, after, up_to):
        for group in split_groups(piece):
            yield group
        if piece[-1].seq < after + PIECE:
            return  # a further group would begin after these numbers, and the piece would reach up to it
        after = piece[-1].seq


async def iterate_events(connection: Any, merchant_id: int, after: int, up_to: int) -> AsyncIterator[EventRecord]:
    """Yields the events after one, in order."""
    while piece := await read_events(connection, merchant_id, after, up_to):
        for event in piece:
            yield event
        if len(piece) < PIECE:
            return
        after = piece[-1].seq
