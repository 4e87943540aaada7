"""Reads the heads of all merchants in one snapshot, and stores closes."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import msgspec

from kasuwa.audit.close_tree import (
    NO_CLOSE_BEFORE,
    OPERATOR_HEAD_ID,
    Close,
    Head,
    close_bytes,
    close_hash,
    head_bytes,
    mark_bytes,
)
from kasuwa.audit.merkle import build_levels, get_root, hash_leaf
from kasuwa.postgres.advisory_locks import AdvisoryLock

# A mark is the value after the group in which a multiple of this number lies, so that proofs stay short.
MARK_EVERY = 256

# The heads as of one moment: a statement sees one snapshot, and no writer waits for it. Beside each the head of the
# newest close.
SELECT_HEADS = f"""
    with s as materialized (
        select merchant_id, last_posting_seq, posting_head, last_event_seq, event_head from merchant_state
        union all select {OPERATOR_HEAD_ID}, 0, decode(repeat('00', 32), 'hex'), 0, decode(repeat('00', 32), 'hex'))
    select s.merchant_id, s.last_posting_seq, s.posting_head, s.last_event_seq, s.event_head,
        coalesce(a.seq, 0), coalesce(a.hash, ''::bytea), p.posting_seq, p.posting_head, p.mark_count, p.mark_root,
        p.event_seq, p.event_head, p.audit_seq, p.audit_head
    from s
    left join lateral (select e.seq, e.hash from audit_entry e where e.merchant_id = s.merchant_id
        order by e.seq desc limit 1) a on true
    left join lateral (select h.* from book_close_head h where h.merchant_id = s.merchant_id
        order by h.close_number desc limit 1) p on true
    order by s.merchant_id
"""
# The marks of a merchant after one posting and up to another. For each multiple of MARK_EVERY: the first value that is
# stored there or shortly after, if there is one.
SELECT_MARKS = f"""
    select m.seq, m.hash from generate_series(($2::bigint / {MARK_EVERY} + 1) * {MARK_EVERY}, $3, {MARK_EVERY}) b (seq)
    cross join lateral (
        select p.seq, p.hash from posting p where p.merchant_id = $1 and p.seq >= b.seq
            and p.seq <= least(b.seq + {MARK_EVERY - 1}, $3) and p.hash is not null
        order by p.seq limit 1) m
    order by m.seq
"""
SELECT_NEWEST = """
    select number, closed_at, tree_size, root, previous from book_close order by number desc limit 1
"""
SELECT_CLOSES = """
    select number, closed_at, tree_size, root, previous, public_key, signature from book_close
    where number > $1 order by number
"""
SELECT_CHANGED_HEADS = """
    select merchant_id, posting_seq, posting_head, mark_count, mark_root, event_seq, event_head, audit_seq, audit_head
    from book_close_head where close_number = $1 order by merchant_id
"""
INSERT_CLOSE = """
    insert into book_close (number, closed_at, tree_size, root, previous, public_key, signature, members)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
"""
INSERT_HEAD = """
    insert into book_close_head (close_number, merchant_id, posting_seq, posting_head, mark_count, mark_root, event_seq,
        event_head, audit_seq, audit_head)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""
INSERT_MARK = "insert into book_close_mark (merchant_id, seq, hash) values ($1, $2, $3)"
INSERT_LEVEL = "insert into book_close_level (close_number, level, hashes) values ($1, $2, $3)"


class SignedClose(msgspec.Struct, frozen=True):
    """A close as it is stored."""

    close: Close
    public_key: bytes
    signature: bytes


class HeadChange(msgspec.Struct, frozen=True):
    """The head of a merchant now, and at the newest close."""

    head: Head
    before: Head | None

    @property
    def is_changed(self) -> bool:
        """Marks are not compared: without further postings there are none."""
        return self.before is None or (
            (self.head.posting_seq, self.head.posting_head, self.head.event_seq, self.head.event_head)
            != (self.before.posting_seq, self.before.posting_head, self.before.event_seq, self.before.event_head)
            or (self.head.audit_seq, self.head.audit_head) != (self.before.audit_seq, self.before.audit_head)
        )


# Records, in the transaction of a close, who made it.
Record = Callable[[Any, SignedClose], Awaitable[None]]
Sign = Callable[[bytes], tuple[bytes, bytes]]  # returns the public key and the signature


async def newest_close(connection: Any) -> Close | None:
    row = await connection.fetchrow(SELECT_NEWEST)
    return None if row is None else Close(*row)


async def list_closes(connection: Any, after: int = 0) -> list[SignedClose]:
    rows = await connection.fetch(SELECT_CLOSES, after)
    return [SignedClose(Close(*row[:5]), *row[5:]) for row in map(tuple, rows)]


async def changed_heads(connection: Any, number: int) -> list[Head]:
    """Returns the heads that a close has and the one before had not, by merchant."""
    return [Head(*row) for row in await connection.fetch(SELECT_CHANGED_HEADS, number)]


async def make_close(
    connection: Any,
    sign: Sign,
    now: datetime,
    *,
    is_due: Callable[[Close | None], bool] = lambda _: True,
    record: Record | None = None,
) -> SignedClose | None:
    """Closes the books as they are. Returns None if `is_due` says of the newest close that another is not due.

    Writers are not stopped: the close has what was committed when its heads were read."""
    async with connection.transaction():
        await connection.execute("select pg_advisory_xact_lock($1)", AdvisoryLock.CLOSE)
        before = await newest_close(connection)
        if not is_due(before):
            return None
        changes = [read_change(tuple(row)) for row in await connection.fetch(SELECT_HEADS)]
        changed = [await add_marks(connection, change) for change in changes if change.is_changed]
        current = {head.merchant_id: head for head in changed}
        heads = [current.get(c.head.merchant_id) or c.before or c.head for c in changes]
        levels = build_levels([hash_leaf(head_bytes(head)) for head in heads])
        close = Close(
            number=1 if before is None else before.number + 1,
            closed_at=now,
            tree_size=len(heads),
            root=get_root(levels),
            previous=NO_CLOSE_BEFORE if before is None else close_hash(before),
        )
        signed_close = SignedClose(close, *sign(close_bytes(close)))
        await store_close(connection, signed_close, heads, changed, levels)
        if record is not None:
            await record(connection, signed_close)
    return signed_close


def read_change(row: tuple[Any, ...]) -> HeadChange:
    """Reads a row of SELECT_HEADS."""
    merchant_id, posting_seq, posting_head, event_seq, event_head, audit_seq, audit_head, *earlier_head = row
    head = Head(
        merchant_id=merchant_id,
        posting_seq=posting_seq,
        posting_head=posting_head,
        event_seq=event_seq,
        event_head=event_head,
        audit_seq=audit_seq,
        audit_head=audit_head,
    )
    return HeadChange(head, None if earlier_head[0] is None else Head(merchant_id, *earlier_head))


async def add_marks(connection: Any, change: HeadChange) -> Head:
    """Stores the marks since the newest close. Returns the head with their tree."""
    since = 0 if change.before is None else change.before.posting_seq
    merchant_id = change.head.merchant_id
    rows = await connection.fetch(SELECT_MARKS, merchant_id, since, change.head.posting_seq)
    await connection.executemany(INSERT_MARK, [(merchant_id, seq, value) for seq, value in rows])
    levels = build_levels([hash_leaf(mark_bytes(seq, value)) for seq, value in rows])
    return msgspec.structs.replace(change.head, mark_count=len(rows), mark_root=get_root(levels))


async def store_close(
    connection: Any, signed_close: SignedClose, heads: list[Head], changed: list[Head], levels: list[list[bytes]]
) -> None:
    close = signed_close.close
    members = b"".join(head.merchant_id.to_bytes(8) for head in heads)
    await connection.execute(
        INSERT_CLOSE,
        close.number,
        close.closed_at,
        close.tree_size,
        close.root,
        close.previous,
        signed_close.public_key,
        signed_close.signature,
        members,
    )
    await connection.executemany(INSERT_HEAD, [(close.number, *msgspec.structs.astuple(head)) for head in changed])
    await connection.executemany(
        INSERT_LEVEL, [(close.number, level, b"".join(hashes)) for level, hashes in enumerate(levels)]
    )
