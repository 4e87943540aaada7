"""Adds rows that were written without a chain to the chains: those of versions that had none.

Such a version may have written before the upgrade, or may still serve beside this one. Its rows are followed in pieces
while requests run, and the values go to `chain_checkpoint`. Only the last piece is done under the merchant's lock; then
the merchant's state has the newest value, and from then on the writer extends the chain (docs/decisions/0052).
"""

from typing import Any

import msgspec

from kasuwa.audit.chain_rows import read_events, read_postings, split_groups
from kasuwa.ledger.chain import extend_by_event, extend_by_group

# A value is stored at the end of the group in which a multiple of this number lies, so that proofs stay short.
MARK_EVERY = 256

SELECT_BEHIND = """
    select merchant_id from merchant_state
    where chained_posting_seq < last_posting_seq or chained_event_seq < last_event_seq order by merchant_id
"""
# How far the chains reach: the merchant's state, or a later checkpoint.
POSITION = """
    select s.last_posting_seq, s.last_event_seq,
        coalesce(p.seq, s.chained_posting_seq), coalesce(p.hash, s.posting_head),
        coalesce(e.seq, s.chained_event_seq), coalesce(e.hash, s.event_head)
    from merchant_state s
    left join lateral (select c.seq, c.hash from chain_checkpoint c where c.merchant_id = $1 and c.chain = 'posting'
        and c.seq > s.chained_posting_seq order by c.seq desc limit 1) p on true
    left join lateral (select c.seq, c.hash from chain_checkpoint c where c.merchant_id = $1 and c.chain = 'event'
        and c.seq > s.chained_event_seq order by c.seq desc limit 1) e on true
    where s.merchant_id = $1
"""
LOCK = "select 1 from merchant_state where merchant_id = $1 for update"
INSERT = "insert into chain_checkpoint (merchant_id, chain, seq, hash) values ($1, $2, $3, $4) on conflict do nothing"
# Raises the version, so that no process goes on from a cached state without the chain.
UPDATE_STATE = """
    update merchant_state set posting_head = $2, chained_posting_seq = $3, event_head = $4, chained_event_seq = $5,
        version = version + 1
    where merchant_id = $1
"""


class Position(msgspec.Struct):
    """The end of a merchant's chains. The columns of POSITION."""

    last_posting_seq: int
    last_event_seq: int
    posting_seq: int
    posting_head: bytes
    event_seq: int
    event_head: bytes

    @property
    def is_complete(self) -> bool:
        return self.posting_seq == self.last_posting_seq and self.event_seq == self.last_event_seq


async def catch_up_all(connection: Any) -> int:
    """Completes the chains of all merchants. Returns how many were not complete. Safe to run in several processes."""
    behind = [row[0] for row in await connection.fetch(SELECT_BEHIND)]
    for merchant_id in behind:
        await catch_up_merchant(connection, merchant_id)
    return len(behind)


async def catch_up_merchant(connection: Any, merchant_id: int) -> None:
    """Completes the chains of one merchant."""
    while not await add_piece(connection, merchant_id):
        pass
    async with connection.transaction():
        await connection.execute(LOCK, merchant_id)
        while not await add_piece(connection, merchant_id):
            pass
        found = Position(*await connection.fetchrow(POSITION, merchant_id))
        await connection.execute(
            UPDATE_STATE, merchant_id, found.posting_head, found.posting_seq, found.event_head, found.event_seq
        )


async def add_piece(connection: Any, merchant_id: int) -> bool:
    """Follows the next piece of both chains and stores checkpoints. Returns whether the end was reached."""
    found = Position(*await connection.fetchrow(POSITION, merchant_id))
    if found.is_complete:
        return True
    checkpoints: list[tuple[int, str, int, bytes]] = []
    head = found.posting_head
    postings = await read_postings(connection, merchant_id, found.posting_seq, found.last_posting_seq)
    for group in split_groups(postings):
        first, last = group[0], group[-1]
        head = extend_by_group(head, merchant_id, first.group_seq, first.at, group)
        if is_mark(first.seq, last.seq) or last is postings[-1]:
            checkpoints.append((merchant_id, "posting", last.seq, head))
    head = found.event_head
    events = await read_events(connection, merchant_id, found.event_seq, found.last_event_seq)
    for event in events:
        head = extend_by_event(head, event)
        if is_mark(event.seq, event.seq) or event is events[-1]:
            checkpoints.append((merchant_id, "event", event.seq, head))
    await connection.executemany(INSERT, checkpoints)
    return not postings and not events


def is_mark(first_seq: int, last_seq: int) -> bool:
    """Tells whether a multiple of MARK_EVERY lies in these numbers."""
    return last_seq // MARK_EVERY > (first_seq - 1) // MARK_EVERY
