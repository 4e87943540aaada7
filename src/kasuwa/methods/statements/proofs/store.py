"""Reads proofs of postings. Never writes; every WHERE has the merchant_id.

Postings, marks and closes never change, so a proof can be read in several statements. Contract: resources#proofs
"""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from kasuwa.audit.close_tree import close_time_text, mark_bytes
from kasuwa.audit.merkle import HASH_BYTES, build_levels, hash_leaf, path_places
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.reading import ActionReader, Reader
from kasuwa.ledger.posting_kinds import title_sql
from kasuwa.methods.statements.proofs.wire import (
    Proof,
    ProofClose,
    ProofGroup,
    ProofHead,
    ProofMark,
    ProofPosting,
    ProofReply,
    ProofRequest,
)
from kasuwa.transactions.transactions import TRANSACTION_KINDS, transaction_key

UNKNOWN_REFERENCE = Refusal(INVALID_REQUEST, "Invalid Transaction Reference", error_code="transaction_not_found")
MAX_GROUPS = 20
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MEMBER_BYTES = 8

GROUPS_OF_REFERENCE = f"""
    select g.seq, coalesce((select n.seq - 1 from posting n where n.merchant_id = $1 and n.seq > g.seq
        and n.seq = n.group_seq order by n.seq limit 1), s.last_posting_seq)
    from posting g join merchant_state s on s.merchant_id = g.merchant_id
    where g.merchant_id = $1 and g.reference = $2 and g.seq = g.group_seq order by g.seq limit {MAX_GROUPS}
"""
# By txnRef, else by the merchant's own reference.
TRANSACTION = """
    select txn_ref from transaction where merchant_id = $1 and (txn_ref = $2 or key = any($3))
    order by txn_ref <> $2, created_at desc, seq desc, key desc limit 1
"""

# The first close that has a posting, with the merchant's head there and the last posting of the close before.
FIRST_CLOSE = """
    select h.merchant_id, h.posting_seq, h.posting_head, h.mark_count, h.mark_root, h.event_seq, h.event_head,
        h.audit_seq, h.audit_head, c.number, c.closed_at, c.tree_size, c.root, c.previous, c.public_key, c.signature,
        c.members, coalesce((select max(b.posting_seq) from book_close_head b
            where b.merchant_id = $1 and b.close_number < h.close_number), 0)
    from book_close_head h join book_close c on c.number = h.close_number
    where h.merchant_id = $1 and h.posting_seq >= $2 order by h.close_number limit 1
"""
MARKS = "select seq, hash from book_close_mark where merchant_id = $1 and seq > $2 and seq <= $3 order by seq"
PATH = f"""
    select substr(l.hashes, s.place::int * {HASH_BYTES} + 1, {HASH_BYTES})
    from book_close_head h join book_close_level l on l.close_number = h.close_number
    join unnest($3::bigint[], $4::bigint[]) as s (level, place) on s.level = l.level
    where h.merchant_id = $1 and h.close_number = $2 order by l.level, h.close_number
"""
# The end of the group before the one that contains a posting, and the value of the chain there.
VALUE_BEFORE = """
    select b.seq, b.hash from posting p join posting b on b.merchant_id = p.merchant_id and b.seq = p.group_seq - 1
    where p.merchant_id = $1 and p.seq = $2
"""
POSTINGS = f"""
    select group_seq, at, reference, debit, credit, amount, debit_after, credit_after, {title_sql()}
    from posting where merchant_id = $1 and seq > $2 and seq <= $3 order by seq
"""


async def show_proofs(request: ProofRequest, merchant: Merchant, reader: ActionReader) -> ProofReply | Refusal:
    merchant_id = merchant.merchant_id
    async with reader.snapshot() as snapshot:
        keys = [transaction_key(merchant_id, kind, request.reference) for kind in TRANSACTION_KINDS]
        transaction = await snapshot.fetchrow(TRANSACTION, merchant_id, request.reference, keys)
        reference = request.reference if transaction is None else transaction[0]
        groups = await snapshot.fetch(GROUPS_OF_REFERENCE, merchant_id, reference)
        if transaction is None and not groups:
            return UNKNOWN_REFERENCE
        proofs = [await prove(first, last, merchant_id, snapshot) for first, last in groups]
    if not proofs:
        return ProofReply(message="No money moved", data=[])
    is_pending = any(proof.state == "pending" for proof in proofs)
    return ProofReply(message="Pending until the next close" if is_pending else "Closed", data=proofs)


async def prove(first: int, last: int, merchant_id: int, reader: Reader) -> Proof:
    """Returns the proof of the postings from one number to another, which must be whole groups."""
    close_row = await reader.fetchrow(FIRST_CLOSE, merchant_id, last)
    if close_row is None:
        return Proof(state="pending", first=first, last=last)
    *fields, members, closed_before = tuple(close_row)
    head, close = show_head(fields[:9]), show_close(fields[9:])
    marks = await reader.fetch(MARKS, merchant_id, closed_before, head.posting_seq)
    place = bisect_left([row[0] for row in marks], last)
    end = head.posting_seq if place == len(marks) else marks[place][0]
    start_seq, start = await find_start(first, merchant_id, reader)
    index = bisect_left(range(close.tree_size), merchant_id, key=lambda n: member(members, n))
    levels, places = zip(*path_places(index, close.tree_size), strict=True) if close.tree_size > 1 else ((), ())
    path = await reader.fetch(PATH, merchant_id, close.number, list(levels), list(places))
    return Proof(
        state="closed",
        first=first,
        last=last,
        start=start.hex(),
        groups=show_groups(await reader.fetch(POSTINGS, merchant_id, start_seq, end)),
        mark=None if place == len(marks) else show_mark(marks, place),
        head=head,
        index=index,
        path=[row[0].hex() for row in path],
        close=close,
    )


# The first close that has the last posting group of a reference. A close has whole groups.
CLOSE_OF = """
    select c.number, c.closed_at, c.tree_size, c.root, c.previous, c.public_key, c.signature
    from book_close_head h join book_close c on c.number = h.close_number
    where h.merchant_id = $1 and h.posting_seq >= (select max(g.seq) from posting g
        where g.merchant_id = $1 and g.reference = $2 and g.seq = g.group_seq)
    order by h.close_number limit 1
"""


async def find_close(reference: str, merchant_id: int, reader: Reader) -> ProofClose | None:
    """Returns the signed close that has all postings of a reference, or None if they are not closed yet."""
    row = await reader.fetchrow(CLOSE_OF, merchant_id, reference)
    return None if row is None else show_close(tuple(row))


def member(members: bytes, n: int) -> int:
    return int.from_bytes(members[n * MEMBER_BYTES : (n + 1) * MEMBER_BYTES])


async def find_start(first: int, merchant_id: int, reader: Reader) -> tuple[int, bytes]:
    """Returns where the groups of a proof begin: the number before, and the chain's value there.

    That is before the group that precedes `first`, so that a proof shows what came just before."""
    before = await reader.fetchrow(VALUE_BEFORE, merchant_id, first - 1)
    return (0, bytes(HASH_BYTES)) if before is None else (before[0], before[1])


def show_head(row: Sequence[Any]) -> ProofHead:
    shown: list[Any] = [value.hex() if isinstance(value, bytes) else value for value in row]
    fields: dict[str, Any] = dict(zip(ProofHead.__struct_fields__, shown, strict=True))
    return ProofHead(**fields)


def show_close(row: Sequence[Any]) -> ProofClose:
    number, closed_at, tree_size, *rest = row
    root, previous, public_key, signature = (value.hex() for value in rest)
    return ProofClose(
        number=number,
        closed_at=close_time_text(closed_at),
        tree_size=tree_size,
        root=root,
        previous=previous,
        public_key=public_key,
        signature=signature,
    )


def show_mark(marks: Sequence[Any], place: int) -> ProofMark:
    levels = build_levels([hash_leaf(mark_bytes(seq, value)) for seq, value in marks])
    return ProofMark(index=place, path=[levels[level][n].hex() for level, n in path_places(place, len(marks))])


def show_groups(rows: Sequence[Any]) -> list[ProofGroup]:
    groups: list[ProofGroup] = []
    for group_seq, at, reference, debit, credit, amount, debit_after, credit_after, kind in rows:
        if not groups or groups[-1].number != group_seq:
            microseconds = (at - EPOCH) // MICROSECOND
            groups.append(ProofGroup(number=group_seq, at=microseconds, reference=reference, postings=[]))
        groups[-1].postings.append(
            ProofPosting(
                debit_account=debit,
                credit_account=credit,
                amount_minor=str(amount),
                debit_after=str(debit_after),
                credit_after=str(credit_after),
                kind=kind,
            )
        )
    return groups


# --- statements ---------------------------------------------------------------------------------------------------

LAST_OF_GROUP = """
    select coalesce((select n.seq - 1 from posting n where n.merchant_id = $1 and n.seq > $2 and n.seq = n.group_seq
        order by n.seq limit 1), (select last_posting_seq from merchant_state where merchant_id = $1))
"""


class ProvenPage(msgspec.Struct, frozen=True):
    """The postings of a page of a statement with its proof: whole groups."""

    first: int
    last: int


async def find_page(first: int, end: int, limit: int, merchant_id: int, reader: Reader) -> ProvenPage | None:
    """Returns the postings of the next page: about `limit` of them before `end`. None if there are none."""
    if first >= end:
        return None
    [[last]] = await reader.fetch(LAST_OF_GROUP, merchant_id, min(first + limit, end) - 1)
    return ProvenPage(first, last)
