"""Reads postings and events in the order of their chains, in pieces."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from kasuwa.engine.journal import EventRow, PostingRow

# Postings or events that one query reads. A group is never divided, so a piece may have more.
PIECE = 2_000

POSTINGS = f"""
    select {", ".join(PostingRow.__struct_fields__)}
    from posting where merchant_id = $1 and seq > $2 and seq <= $3 and seq < coalesce((
        select n.seq from posting n where n.merchant_id = $1 and n.seq > $2 + {PIECE} and n.seq = n.group_seq
        order by n.seq limit 1), 9223372036854775807)
    order by seq
"""
EVENTS = f"""
    select {", ".join(EventRow.__struct_fields__)}
    from event where merchant_id = $1 and seq > $2 and seq <= $3 order by seq limit {PIECE}
"""


def split_groups(postings: list[PostingRow]) -> Iterator[list[PostingRow]]:
    """Yields the groups of consecutive postings."""
    start = 0
    for n in range(1, len(postings) + 1):
        if n == len(postings) or postings[n].group_seq != postings[start].group_seq:
            yield postings[start:n]
            start = n


async def read_postings(connection: Any, merchant_id: int, after: int, up_to: int) -> list[PostingRow]:
    """Returns the next whole groups after a posting. Empty at the end."""
    return [PostingRow(*row) for row in await connection.fetch(POSTINGS, merchant_id, after, up_to)]


async def read_events(connection: Any, merchant_id: int, after: int, up_to: int) -> list[EventRow]:
    """Returns the next events after one. Empty at the end."""
    return [EventRow(*row) for row in await connection.fetch(EVENTS, merchant_id, after, up_to)]


async def iterate_groups(connection: Any, merchant_id: int, after: int, up_to: int) -> AsyncIterator[list[PostingRow]]:
    """Yields the groups after a posting, in order."""
    while piece := await read_postings(connection, merchant_id, after, up_to):
        for group in split_groups(piece):
            yield group
        if piece[-1].seq < after + PIECE:
            return  # a further group would begin after these numbers, and the piece would reach up to it
        after = piece[-1].seq


async def iterate_events(connection: Any, merchant_id: int, after: int, up_to: int) -> AsyncIterator[EventRow]:
    """Yields the events after one, in order."""
    while piece := await read_events(connection, merchant_id, after, up_to):
        for event in piece:
            yield event
        if len(piece) < PIECE:
            return
        after = piece[-1].seq
