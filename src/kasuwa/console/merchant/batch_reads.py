"""Database reads of bulk transfers. No writes, and merchant_id is in every WHERE.

A bulk has at most MAX_ORDERS orders, so that all of them are read at once by their references.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

import msgspec

from kasuwa.core.decision import Merchant
from kasuwa.core.reading import Reader
from kasuwa.methods.disburse.model import BATCH_ORDERS_DECODER, CONFLICT, KIND, TRANSFER_DETAIL_DECODER, batch_key
from kasuwa.methods.disburse.payout_model import REJECTED, WAITING
from kasuwa.transactions.transactions import FAILED, transaction_key

# Bulks that the page of transfers lists.
LATEST_BATCHES = 10
# An order of the bulk that repeats a transfer which was made before.
REPEATED = "repeated"
# The states of orders in the order in which pages show them.
STATES = (WAITING, "processing", "pending", "successful", FAILED, CONFLICT, REPEATED)
OPEN_STATES = frozenset({"processing", "pending"})
MAX_REFERENCE = 100
TRY_NUMBER = re.compile(r"(.*)~([0-9]{1,6})", re.ASCII | re.DOTALL)


class BatchLine(msgspec.Struct, frozen=True):
    """An order of a bulk with what became of it."""

    order_ref: str
    state: str  # one of STATES
    message: str
    txn_ref: str = ""  # empty if it is in conflict
    amount: int = 0  # in minor units
    charges: int = 0  # fee, VAT and duty; 0 if it failed
    bank_code: str = ""
    account_number: str = ""
    sender_name: str = ""
    narration: str = ""
    facts_sealed: bytes | None = None  # what the rail reported of it
    is_rejected: bool = False  # a person decided that it is not sent
    is_sent_again: bool = False  # it failed, and was sent again under another orderRef


class StateSum(msgspec.Struct, frozen=True):
    """Number and sum of the orders of one state."""

    state: str
    count: int
    amount: int


class Batch(msgspec.Struct, frozen=True):
    """A bulk with its orders, in the order in which they were sent."""

    batch_ref: str
    created_at: datetime
    lines: list[BatchLine]

    @property
    def own_lines(self) -> list[BatchLine]:
        """The orders that became transfers of this bulk."""
        return [line for line in self.lines if line.state not in (CONFLICT, REPEATED)]

    @property
    def total(self) -> int:
        return sum(line.amount for line in self.own_lines)

    @property
    def ended(self) -> int:
        """The number of transfers that are successful or failed."""
        return sum(line.state not in OPEN_STATES and line.state != WAITING for line in self.own_lines)

    @property
    def is_moving(self) -> bool:
        """Whether transfers are on their way. Those that wait for a person do not move by themselves."""
        return any(line.state in OPEN_STATES for line in self.lines)

    @property
    def sums(self) -> list[StateSum]:
        """The states that orders have."""
        by_state = {state: [line for line in self.lines if line.state == state] for state in STATES}
        return [
            StateSum(state, len(lines), sum(line.amount for line in lines))
            for state, lines in by_state.items()
            if lines
        ]

    @property
    def retryable(self) -> list[BatchLine]:
        """The orders that failed, were not rejected by a person and were not sent again yet."""
        return [line for line in self.lines if line.state == FAILED and not line.is_rejected and not line.is_sent_again]


class BatchSummary(msgspec.Struct, frozen=True):
    """A bulk in a list."""

    batch_ref: str
    count: int
    created_at: datetime


BATCH = "select detail, created_at from transfer_batch where key = $1 and merchant_id = $2"
TRANSFERS = """
    select t.txn_ref, t.status, t.message, t.amount, t.fee + t.vat + t.duty, t.detail, t.batch_ref, a.state,
        t.facts_sealed
    from transaction t left join transfer_approval a on a.merchant_id = t.merchant_id and a.txn_ref = t.txn_ref
    where t.merchant_id = $1 and t.txn_ref = any($2::text[])
"""
SENT_AGAIN = "select key from transaction where merchant_id = $1 and key = any($2::bytea[])"
LATEST = """
    select batch_ref, json_array_length(detail), created_at from transfer_batch
    where merchant_id = $1 order by created_at desc, key desc limit $2
"""


async def find_batch(reader: Reader, merchant: Merchant, batch_ref: str) -> Batch | None:
    """Returns a bulk with all its orders, or None. Call it within a snapshot."""
    merchant_id = merchant.merchant_id
    row = await reader.fetchrow(BATCH, batch_key(merchant_id, batch_ref), merchant_id)
    if row is None:
        return None
    orders = BATCH_ORDERS_DECODER.decode(row[0])
    references = [order.txn_ref for order in orders if order.txn_ref is not None]
    transfers = {transfer[0]: tuple(transfer) for transfer in await reader.fetch(TRANSFERS, merchant_id, references)}
    lines = [
        BatchLine(order.order_ref, CONFLICT, order.conflict or "")
        if order.txn_ref is None
        else make_line(order.order_ref, batch_ref, transfers[order.txn_ref])
        for order in orders
    ]
    return Batch(batch_ref, row[1], await mark_sent_again(reader, merchant_id, lines))


def make_line(order_ref: str, of_batch: str, transfer: tuple[Any, ...]) -> BatchLine:
    txn_ref, status, message, amount, charges, detail, batch_ref, approval, facts_sealed = transfer
    order = TRANSFER_DETAIL_DECODER.decode(detail)
    return BatchLine(
        order_ref,
        REPEATED if batch_ref != of_batch else WAITING if approval == WAITING else status,
        message,
        txn_ref,
        amount,
        0 if status == FAILED else charges,
        order.bank_code,
        order.account_number,
        order.sender_name,
        order.narration,
        facts_sealed,
        is_rejected=approval == REJECTED,
    )


async def mark_sent_again(reader: Reader, merchant_id: int, lines: Sequence[BatchLine]) -> list[BatchLine]:
    """Returns the lines, with `is_sent_again` set of those whose next try exists."""
    keys = {
        transaction_key(merchant_id, KIND, next_reference(line.order_ref)): line.order_ref
        for line in lines
        if line.state == FAILED
    }
    if not keys:
        return list(lines)
    again = {keys[bytes(row[0])] for row in await reader.fetch(SENT_AGAIN, merchant_id, list(keys))}
    return [
        msgspec.structs.replace(line, is_sent_again=line.order_ref in again) if line.state == FAILED else line
        for line in lines
    ]


def next_reference(order_ref: str) -> str:
    """Returns the orderRef under which a failed order is sent again: always the same one, so that two people who do so
    at once send it once."""
    match = TRY_NUMBER.fullmatch(order_ref)
    base, number = (match[1], int(match[2]) + 1) if match else (order_ref, 2)
    if len(f"{base}~{number}") > MAX_REFERENCE:
        base = f"{base[:80]}-{sha256(base.encode()).hexdigest()[:10]}"
    return f"{base}~{number}"


async def list_latest(reader: Reader, merchant: Merchant) -> list[BatchSummary]:
    """Returns the newest bulks."""
    return [BatchSummary(*row) for row in await reader.fetch(LATEST, merchant.merchant_id, LATEST_BATCHES)]


def of_state(lines: Iterable[BatchLine], state: str) -> list[BatchLine]:
    """Returns the lines of a state, or all if it is none of STATES."""
    return [line for line in lines if state not in STATES or line.state == state]
