"""Recomputes the chains of postings and events, and compares them with what is stored and with the closes.

A chain's value is stored with every group and event, in the merchant's state and in the closes. Where one differs from
the recomputed value, something up to there was changed. The check then goes on from the stored value, so that each
change is reported once. docs/proofs.md says what can be found and what cannot.
"""

from typing import Any

import msgspec

from kasuwa.audit.chain_rows import iterate_events, iterate_groups
from kasuwa.engine.journal import PostingRow
from kasuwa.ledger.chain import EMPTY_CHAIN, extend_by_event, extend_by_group

POSTING_CHAIN = "every posting group extends its merchant's chain"
EVENT_CHAIN = "every event extends its merchant's chain"
CLOSED_BOOKS = "the books contain what was closed"
TRAIL_CLOSED = "the audit trail contains what was closed"
CHAIN_STATEMENTS = (POSTING_CHAIN, EVENT_CHAIN, CLOSED_BOOKS, TRAIL_CLOSED)

# The largest number of violations that are reported for one merchant.
MAX_VIOLATIONS = 20
MAX_SEQ = 2**63 - 1
MERCHANTS_AT_ONCE = 100

STATES = """
    select s.merchant_id, s.last_posting_seq, s.posting_head, s.last_event_seq, s.event_head
    from merchant_state s where s.merchant_id > $1 and ($2::bigint[] is null or s.merchant_id = any($2))
    order by s.merchant_id limit $3
"""
CLOSED_HEADS = """
    select merchant_id, close_number, posting_seq, posting_head, event_seq, event_head from book_close_head
    where merchant_id = any($1) order by merchant_id, close_number
"""
# Entries of the trail at the end of a close whose hash is another than the close has, or that are missing.
TRAIL_DIFFERENCES = """
    select h.merchant_id, 'close ' || h.close_number || ', entry ' || h.audit_seq
    from book_close_head h left join audit_entry a on a.merchant_id = h.merchant_id and a.seq = h.audit_seq
        and ($1::bigint[] is null or a.merchant_id = any($1))
    where h.audit_seq > 0 and a.hash is distinct from h.audit_head
        and ($1::bigint[] is null or h.merchant_id = any($1))
    order by 1, h.close_number limit 20
"""

Violation = tuple[int, str, str]


class ClosedHead(msgspec.Struct, frozen=True):
    """The heads of a merchant at a close."""

    close_number: int
    posting_seq: int
    posting_head: bytes
    event_seq: int
    event_head: bytes


class ChainState(msgspec.Struct, frozen=True):
    """The stored values of a merchant's chains. The columns of STATES, and the heads of closes."""

    merchant_id: int
    last_posting_seq: int
    posting_head: bytes
    last_event_seq: int
    event_head: bytes
    closed: list[ClosedHead]


class ChainCheck:
    """Follows one chain of one merchant. `place` names a row by its number, such as "group 17"."""

    def __init__(self, merchant_id: int, description: str, expected: dict[int, bytes]) -> None:
        self.merchant_id = merchant_id
        self.description = description
        self.expected = expected  # values of closes, to compare at their numbers
        self.value = EMPTY_CHAIN
        self.seq = 0  # the last row that was followed
        self.violations: list[Violation] = []

    def report(self, place: str, description: str = "") -> None:
        if len(self.violations) < MAX_VIOLATIONS:
            self.violations.append((self.merchant_id, description or self.description, place))

    def follow(self, computed: bytes, stored: bytes | None, seq: int, place: str) -> None:
        """Compares the value after a row with the stored one, and goes on from the stored one."""
        if stored != computed:
            self.report(place)
        self.seq, self.value = seq, stored or computed

    def finish(self, head: bytes, last: int, what: str) -> None:
        """Compares the end of the rows with the merchant's state."""
        if self.seq != last:
            self.report(f"the books have {last} {what}s, and rows up to {self.seq}")
        elif head != self.value:
            self.report(f"{what} {self.seq} is not the head of the chain")


async def find_chain_violations(connection: Any, merchants: list[int] | None = None) -> list[Violation]:
    """Returns (merchant_id, statement, place) of each place where a chain is broken."""
    violations: list[Violation] = []
    after, is_closed = -1, merchants is None
    while states := await connection.fetch(STATES, after, merchants, MERCHANTS_AT_ONCE):
        closed: dict[int, list[ClosedHead]] = {row[0]: [] for row in states}
        for merchant_id, *head in await connection.fetch(CLOSED_HEADS, list(closed)):
            closed[merchant_id].append(ClosedHead(*head))
        for row in states:
            columns = (*row, closed[row[0]])
            state = ChainState(*columns)
            is_closed = is_closed or bool(state.closed)
            violations += await check_merchant(connection, state)
        after = states[-1][0]
        if len(states) < MERCHANTS_AT_ONCE:
            break
    rows = await connection.fetch(TRAIL_DIFFERENCES, merchants) if is_closed else []
    return violations + [(merchant_id, TRAIL_CLOSED, place) for merchant_id, place in rows]


async def check_merchant(connection: Any, state: ChainState) -> list[Violation]:
    closed = {head.posting_seq: head.posting_head for head in state.closed}
    postings = ChainCheck(state.merchant_id, POSTING_CHAIN, closed)
    await check_postings(connection, postings, state)
    closed = {head.event_seq: head.event_head for head in state.closed}
    events = ChainCheck(state.merchant_id, EVENT_CHAIN, closed)
    await check_events(connection, events, state)
    return [*postings.violations, *events.violations]


async def check_postings(connection: Any, check: ChainCheck, state: ChainState) -> None:
    unseen = check.expected
    unseen.pop(0, None)
    async for group in iterate_groups(connection, check.merchant_id, 0, MAX_SEQ):
        first, last = group[0], group[-1]
        place = f"group {first.seq} ({first.reference})"
        if not is_whole(group, check.seq):
            check.report(f"{place}: its postings are not numbered in order, or not of one reference and time")
        computed = extend_by_group(check.value, check.merchant_id, first.group_seq, first.at, group)
        check.follow(computed, last.hash, last.seq, place)
        compare_with_close(check, unseen, "group", place)
    check.finish(state.posting_head, state.last_posting_seq, "posting")
    report_unseen(check, unseen, "posting")


def is_whole(group: list[PostingRow], seq_before: int) -> bool:
    """Tells whether the postings of a group are numbered without a gap and belong together."""
    first = group[0]
    return (
        first.seq == first.group_seq == seq_before + 1
        and all(line.seq == first.seq + n for n, line in enumerate(group))
        and all((line.reference, line.at) == (first.reference, first.at) for line in group)
        and all(line.hash is None for line in group[:-1])
    )


async def check_events(connection: Any, check: ChainCheck, state: ChainState) -> None:
    unseen = check.expected
    unseen.pop(0, None)
    async for event in iterate_events(connection, check.merchant_id, 0, MAX_SEQ):
        place = f"event {event.seq} ({event.reference})"
        if event.seq != check.seq + 1:
            check.report(f"{place}: the one before is missing")
        check.follow(extend_by_event(check.value, event), event.hash, event.seq, place)
        compare_with_close(check, unseen, "event", place)
    check.finish(state.event_head, state.last_event_seq, "event")
    report_unseen(check, unseen, "event")


def compare_with_close(check: ChainCheck, unseen: dict[int, bytes], what: str, place: str) -> None:
    """Compares the value after a row with that of the close that ends with it."""
    expected = unseen.pop(check.seq, None)
    if expected is not None and expected != check.value:
        check.report(f"{place} is not the {what} that was closed, or one before it was changed", CLOSED_BOOKS)


def report_unseen(check: ChainCheck, unseen: dict[int, bytes], what: str) -> None:
    for seq in sorted(unseen):
        check.report(f"{what} {seq} was closed and is missing, or ends no group any more", CLOSED_BOOKS)
