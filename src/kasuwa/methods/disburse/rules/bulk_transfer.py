"""The rules of bulk transfers: up to 1,000 orders in one request, each accepted or refused on its own.
Contract: disburse#transfer

An order ends up in one of three ways:

    accepted    a transfer like any other (decide.py), or the state of the transfer that it repeats
    failed      it cannot be read, or the wallet does not cover it: a failed transfer with the reason, and nothing moves
    conflict    its orderRef belongs to another order, of this bulk or of an earlier request: nothing is recorded for it

So every order that is not in conflict is a transaction that verify finds by its orderRef, with its event. The bulk
itself is kept as a `TransferBatch`, which verify finds by its batchRef.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

import msgspec

from kasuwa.core.body import read_untyped
from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, Decision, FieldError, LoadedRows, Merchant, Needs, Refusal, Row
from kasuwa.core.decoding import decode
from kasuwa.core.fields import Amount, read_scalar
from kasuwa.core.references import movement_reference, row_key
from kasuwa.core.transactions import (
    FAILED,
    Transaction,
    begin_transaction,
    encode_text,
    end_transaction,
    transaction_key,
)
from kasuwa.methods.disburse.rules.transfer import (
    KIND,
    WALLET,
    TransferDetail,
    digest_request,
    replay_transfer,
    start_transfer,
)
from kasuwa.methods.disburse.wire import BulkReply, BulkRequest, OrderReply, TransferReply, TransferRequest

CONFLICT = "conflict"
BATCH_REFERENCE_TYPE = "BT"
BATCH_PREFIX = f"GP|{BATCH_REFERENCE_TYPE}|"

NOT_AN_ORDER = "an object with amount, bankcode and accountnumber"
# A refused order keeps its orderRef (Contract: #repeats), so the way out is another one.
INSUFFICIENT_MESSAGE = (
    "The wallet does not cover the amount and its fee; fund it and send the order under a new orderRef"
)
USED_BEFORE = (
    "This orderRef was used before with another request, whose state verify tells; nothing was sent for this order"
)
USED_IN_BULK = "Order {} of this bulk has the same orderRef; nothing was sent for this one"

ACCEPTED_MESSAGE = "Bulk transfer accepted; verify each order"
PARTLY_MESSAGE = "Bulk transfer accepted in part: {accepted} of {all} orders; {failed} failed, {conflict} in conflict"
REFUSED_MESSAGE = (
    "No order of this bulk was accepted: {failed} failed, {conflict} in conflict; see each order's message"
)


# --- rows ---------------------------------------------------------------------------------------------------


class TransferBatch(Row):
    """A bulk that was taken in. `detail` lists its orders as `BatchOrder`s and never changes."""

    table: ClassVar[str] = "transfer_batch"

    batch_ref: str
    detail: str
    created_at: datetime

    @property
    def is_open(self) -> bool:
        return False


class BatchOrder(msgspec.Struct, frozen=True, omit_defaults=True):
    """One order of a bulk: the transfer that stands for it, or why there is none."""

    order_ref: str
    txn_ref: str | None = None
    conflict: str | None = None


BATCH_ORDERS_DECODER: "msgspec.json.Decoder[list[BatchOrder]]" = msgspec.json.Decoder(list[BatchOrder])


def batch_key(merchant_id: int, batch_ref: str) -> bytes:
    return row_key(merchant_id, TransferBatch.table, batch_ref)


# --- reading ------------------------------------------------------------------------------------------------


class InvalidOrder(msgspec.Struct, frozen=True):
    """An order that cannot be sent: why, what of it could be read, and the bytes by which a repeat is known."""

    reason: str
    order_ref: str | None
    amount: int
    order: TransferDetail
    digest_input: bytes


BulkOrder = TransferRequest | InvalidOrder


def read_orders(request: BulkRequest, merchant: Merchant, *, rules: Any) -> Iterator[BulkOrder]:
    """Reads the orders one by one: a thousand bad ones take most of a second."""
    return (read_order(raw, merchant, rules) for raw in request.data)


def read_order(raw: Any, merchant: Merchant, rules: Any) -> BulkOrder:
    try:
        read = decode(TransferRequest, bytes(raw), rules, merchant)
    except msgspec.DecodeError:
        read = ()
    return read if isinstance(read, TransferRequest) else read_invalid_order(read_untyped(bytes(raw)), read)


def read_invalid_order(said: Any, faults: tuple[FieldError, ...]) -> InvalidOrder:
    """Of a field that is at fault nothing is kept, except an amount that is merely outside the limits."""
    reasons = "; ".join(f"{fault.field}: {fault.reason}".removeprefix(": ") for fault in faults)
    if not isinstance(said, dict):
        return InvalidOrder(
            reasons or NOT_AN_ORDER, None, 0, TransferDetail("", "", "", ""), canonical_order_bytes(said)
        )
    wrong = {fault.field for fault in faults}
    texts = {name: value for name, value in said.items() if name not in wrong and isinstance(value, str)}
    order = TransferDetail(
        texts.get("bankcode", ""),
        texts.get("accountnumber", ""),
        texts.get("sender_name", ""),
        texts.get("narration", ""),
    )
    return InvalidOrder(
        reasons or NOT_AN_ORDER,
        texts.get("orderRef"),
        read_any_amount(said.get("amount")),
        order,
        canonical_order_bytes(said),
    )


def canonical_order_bytes(said: Any) -> bytes:
    """An order that cannot be read, written in one way however it was sent: a repeat is known by it. A number that has
    no value of ours is its text."""
    plain = msgspec.json.encode(said, enc_hook=lambda odd: getattr(odd, "text", None), order="sorted")
    return b"refused order " + plain


def read_any_amount(said: Any) -> int:
    """An amount within the limits or not; 0 where it is none."""
    try:
        return int(read_scalar(Amount, said))
    except ValueError:
        return 0


# --- deciding -----------------------------------------------------------------------------------------------


def need_bulk(orders: list[BulkOrder], merchant: Merchant) -> Needs:
    named = [order.order_ref for order in orders]
    keys = dict.fromkeys(transaction_key(merchant.merchant_id, KIND, said) for said in named if said is not None)
    return Needs(tuple((Transaction, key) for key in keys), (WALLET,))


def decide_bulk(orders: list[BulkOrder], context: Context, seen: LoadedRows) -> Decision[BulkReply]:
    batch_ref = movement_reference(BATCH_REFERENCE_TYPE, context.permutation(context.number), lagos_day(context.now))
    return Decision(
        numbers_used=len(orders) + 1,
        sub_decisions=decide_orders(orders, context, seen, batch_ref),
        combine=partial(combine_bulk, batch_ref, context),
    )


def decide_orders(orders: list[BulkOrder], context: Context, seen: LoadedRows, batch_ref: str) -> Iterator[Decision]:
    """Each order stands alone: the first with an orderRef has it, any other with the same is in conflict."""
    first_number = context.number
    places: dict[str, int] = {}
    for place, order in enumerate(orders, start=1):
        order_ref = order.order_ref
        if order_ref is not None and places.setdefault(order_ref, place) != place:
            yield reply_conflict(order_ref, USED_IN_BULK.format(places[order_ref]))
            continue
        part = decide_order(order, context, seen, first_number + place, batch_ref)
        if part.sandbox is not None and part.sandbox.injected_faults is not None:
            context = msgspec.structs.replace(context, injected_faults=part.sandbox.injected_faults)
        yield part


def decide_order(order: BulkOrder, context: Context, seen: LoadedRows, number: int, batch_ref: str) -> Decision:
    digest = context.digest(order.digest_input) if isinstance(order, InvalidOrder) else digest_request(order, context)
    if order.order_ref is not None:
        first = seen.get(Transaction, transaction_key(context.merchant.merchant_id, KIND, order.order_ref))
        if first is not None:
            repeated = replay_transfer(first, digest)
            if isinstance(repeated, Refusal):
                return reply_conflict(order.order_ref, USED_BEFORE)
            return Decision(reply=reply_order(repeated.reply))
    if isinstance(order, InvalidOrder):
        return refuse_order(order, digest, context, number, batch_ref)
    decision = start_transfer(order, digest, context, number, batch_ref)
    decision.numbers_used = 0  # the bulk counts for all of its orders
    decision.reply = reply_order(decision.reply)
    sent = TransferDetail(order.bank_code, order.account_number, order.sender_name or "", order.narration or "")
    short = InvalidOrder(INSUFFICIENT_MESSAGE, order.order_ref, int(order.amount), sent, b"")
    decision.fallback = partial(refuse_order, short, digest, context, number, batch_ref)
    return decision


def refuse_order(order: InvalidOrder, digest: bytes, context: Context, number: int, batch_ref: str) -> Decision:
    """A transfer that has failed before anything was held or sent: it costs nothing."""
    row = begin_transaction(
        context,
        KIND,
        movement_reference("FD", context.permutation(number), lagos_day(context.now)),
        order.amount,
        order_ref=order.order_ref,
        batch_ref=batch_ref,
        digest=digest,
        detail=order.order,
    )
    end = end_transaction(context, row, FAILED, None, order.reason, KIND, context.scenario)
    failed = end.row
    line = OrderReply(order_ref=failed.order_ref, txn_ref=failed.txn_ref, txn_status="failed", message=failed.message)
    return Decision(reply=line, rows=(failed,), jobs=end.jobs, events=(end.event,))


def reply_conflict(order_ref: str, why: str) -> Decision:
    return Decision(reply=OrderReply(order_ref=order_ref, txn_status="conflict", message=why))


def make_batch(batch_ref: str, lines: list[OrderReply], context: Context) -> TransferBatch:
    orders = [batch_order(line) for line in lines]
    merchant_id = context.merchant.merchant_id
    return TransferBatch(batch_key(merchant_id, batch_ref), merchant_id, batch_ref, encode_text(orders), context.now)


def batch_order(line: OrderReply) -> BatchOrder:
    if line.txn_status == CONFLICT:
        return BatchOrder(line.order_ref, conflict=line.message)
    return BatchOrder(line.order_ref, str(line.txn_ref))


# --- replying -----------------------------------------------------------------------------------------------


def reply_order(reply: TransferReply) -> OrderReply:
    return OrderReply(
        order_ref=reply.order_ref, txn_ref=reply.txn_ref, txn_status=reply.txn_status, message=reply.message
    )


def combine_bulk(batch_ref: str, context: Context, results: list[Decision | Refusal]) -> Decision:
    lines = [result.reply for result in results if isinstance(result, Decision)]
    assert len(lines) == len(results), "an order that is refused has a decision of its own"
    reply = BulkReply(batch_ref=batch_ref, message=bulk_message(lines), data=lines)
    return Decision(reply=reply, rows=(make_batch(batch_ref, lines, context),))


def bulk_message(lines: list[OrderReply]) -> str:
    """Says whether all, some or none of the orders were accepted."""
    counts = Counter(line.txn_status for line in lines)
    accepted = len(lines) - counts["failed"] - counts["conflict"]
    if accepted == len(lines):
        return ACCEPTED_MESSAGE
    message = PARTLY_MESSAGE if accepted else REFUSED_MESSAGE
    return message.format(accepted=accepted, all=len(lines), failed=counts["failed"], conflict=counts["conflict"])
