"""Bulk transfers: up to 1,000 orders in one request, each accepted or refused on its own.

Each order has one of three outcomes:

    accepted    becomes a transfer like any other (transfer.py), or replies with the state of the transfer it repeats
    failed      is invalid, or the wallet does not cover it: a failed transfer with the reason, and no postings
    conflict    its orderRef belongs to another order, of this bulk or of an earlier request: nothing is recorded

So every order that is not in conflict is a transaction with an event, and verify finds it by its orderRef. The bulk
itself is a `TransferBatch`, which verify finds by its batchRef.

Contract: disburse#bulk
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, Decision, FieldError, LoadedRows, Merchant, Needs, Refusal, Row
from kasuwa.core.money import format_minor
from kasuwa.core.references import movement_reference
from kasuwa.methods.disburse.model import (
    BATCH_REFERENCE_TYPE,
    CONFLICT,
    KIND,
    WALLET,
    BatchOrder,
    TransferBatch,
    TransferDetail,
    batch_key,
)
from kasuwa.methods.disburse.rules.payout_checks import check_payout, need_counters
from kasuwa.methods.disburse.rules.transfer import digest_request, make_order, replay_transfer, start_transfer
from kasuwa.methods.disburse.wire import BulkReply, BulkRequest, OrderReply, TransferReply, TransferRequest
from kasuwa.terms.payouts import PayoutTerms
from kasuwa.transactions.transactions import (
    FAILED,
    NewTransaction,
    Transaction,
    TransactionOutcome,
    begin_transaction,
    encode_text,
    end_transaction,
    transaction_key,
)
from kasuwa.wire.body import read_untyped
from kasuwa.wire.decoding import decode
from kasuwa.wire.fields import Amount, read_scalar
from kasuwa.wire.masking import mask_card_numbers, mask_reference

NOT_AN_ORDER = "an object with amount, bankcode and accountnumber"
# A refused order keeps its orderRef, so it can only be sent again under another one. Contract: #repeats
INSUFFICIENT_MESSAGE = (
    "The wallet does not cover the amount and its fee; fund it and send the order under a new orderRef"
)
USED_BEFORE = (
    "This orderRef was used before with another request, whose state verify tells; nothing was sent for this order"
)
USED_IN_BULK = "Order {} of this bulk has the same orderRef; nothing was sent for this one"

ACCEPTED_MESSAGE = "Bulk transfer accepted; verify each order"
PARTLY_MESSAGE = "Bulk transfer accepted in part: {accepted} of {all} orders; {failed} failed, {conflict} in conflict"
# Characters of all messages of a reply that explain several faults. Beyond them a message names the fields alone.
MAX_FAULT_CHARACTERS = 32 * 1024
FIELDS_AT_FAULT = "{}: not valid; verify tells why"
REFUSED_MESSAGE = (
    "No order of this bulk was accepted: {failed} failed, {conflict} in conflict; see each order's message"
)


# --- decoding -----------------------------------------------------------------------------------------------


class InvalidOrder(msgspec.Struct, frozen=True):
    """An order that cannot be sent."""

    reason: str
    order_ref: str | None  # None if absent or invalid
    amount: int  # 0 if absent or not an amount
    detail: TransferDetail  # empty text for each field that is absent or invalid
    digest_input: bytes  # the bytes whose digest identifies a repeated order


BulkOrder = TransferRequest | InvalidOrder


def read_orders(request: BulkRequest, merchant: Merchant, *, rules: Any) -> Iterator[BulkOrder]:
    """Yields the decoded orders lazily, because decoding a thousand invalid ones takes most of a second."""
    return (read_order(raw, merchant, rules) for raw in request.data)


def sum_orders(request: BulkRequest, merchant: Merchant, *, rules: Any) -> int | None:
    """Returns the sum of the orders' amounts, or None if one of the orders cannot be decoded."""
    orders = list(read_orders(request, merchant, rules=rules))
    valid = [order.amount for order in orders if isinstance(order, TransferRequest)]
    return sum(valid) if len(valid) == len(orders) else None


def read_order(raw: Any, merchant: Merchant, rules: Any) -> BulkOrder:
    try:
        request_or_errors = decode(TransferRequest, bytes(raw), rules, merchant)
    except msgspec.DecodeError:
        request_or_errors = ()
    return (
        request_or_errors
        if isinstance(request_or_errors, TransferRequest)
        else read_invalid_order(read_untyped(bytes(raw)), request_or_errors)
    )


def read_invalid_order(body: Any, faults: tuple[FieldError, ...]) -> InvalidOrder:
    """Keeps the valid fields of an invalid order, and an amount that is merely outside the limits."""
    reasons = "; ".join(f"{fault.field}: {fault.reason}".removeprefix(": ") for fault in faults)
    if not isinstance(body, dict):
        return InvalidOrder(
            reasons or NOT_AN_ORDER, None, 0, TransferDetail("", "", "", ""), canonical_order_bytes(body)
        )
    wrong = {fault.field for fault in faults}
    texts = {
        name: mask_reference(value) if name == "orderRef" else mask_card_numbers(value)
        for name, value in body.items()
        if name not in wrong and isinstance(value, str)
    }
    detail = TransferDetail(
        texts.get("bankcode", ""),
        texts.get("accountnumber", ""),
        texts.get("sender_name", ""),
        texts.get("narration", ""),
    )
    return InvalidOrder(
        reasons or NOT_AN_ORDER,
        texts.get("orderRef"),
        read_any_amount(body.get("amount")),
        detail,
        canonical_order_bytes(body),
    )


def canonical_order_bytes(body: Any) -> bytes:
    """Returns the same bytes for every spelling of an invalid order, to recognize a repeated one.

    A number that cannot be represented is encoded as its text.
    """
    plain = msgspec.json.encode(body, enc_hook=lambda odd: getattr(odd, "text", None), order="sorted")
    return b"refused order " + plain


def read_any_amount(value: Any) -> int:
    """Returns an amount without checking the limits, or 0 if the value is not an amount."""
    try:
        return int(read_scalar(Amount, value))
    except ValueError:
        return 0


# --- deciding -----------------------------------------------------------------------------------------------


def need_bulk(orders: list[BulkOrder], merchant: Merchant) -> Needs:
    order_refs = [order.order_ref for order in orders]
    keys = dict.fromkeys(transaction_key(merchant.merchant_id, KIND, ref) for ref in order_refs if ref is not None)
    rows: list[tuple[type[Row], bytes]] = [(Transaction, key) for key in keys]
    if merchant.terms(PayoutTerms).rules is not None:
        valid = [order for order in orders if isinstance(order, TransferRequest)]
        counters = (need_counters(merchant, order.bank_code, order.account_number) for order in valid)
        rows += dict.fromkeys(need for needs in counters for need in needs)
    return Needs(tuple(rows), (WALLET,))


def decide_bulk(orders: list[BulkOrder], context: Context, rows: LoadedRows) -> Decision[BulkReply]:
    batch_ref = movement_reference(BATCH_REFERENCE_TYPE, context.permutation(context.number), lagos_day(context.now))
    return Decision(
        numbers_used=len(orders) + 1,
        sub_decisions=decide_orders(orders, context, rows, batch_ref),
        combine=partial(combine_bulk, batch_ref, context),
        audit_facts={"batchRef": batch_ref, **sum_new_orders(orders, context, rows)},
    )


def sum_new_orders(orders: list[BulkOrder], context: Context, rows: LoadedRows) -> dict[str, str | int]:
    """Returns what an audit entry says of a bulk: number and sum of the valid orders that were not made before."""
    merchant_id = context.merchant.merchant_id
    new = [
        order.amount
        for order in orders
        if isinstance(order, TransferRequest)
        and (
            order.order_ref is None
            or rows.get(Transaction, transaction_key(merchant_id, KIND, order.order_ref)) is None
        )
    ]
    return {"transfers": len(new), "amount": format_minor(sum(new)), "currency": "NGN"}


def decide_orders(orders: list[BulkOrder], context: Context, rows: LoadedRows, batch_ref: str) -> Iterator[Decision]:
    """Yields one decision per order. Of several orders with one orderRef, all but the first are in conflict."""
    first_number = context.number
    places: dict[str, int] = {}
    for place, order in enumerate(orders, start=1):
        order_ref = order.order_ref
        if order_ref is not None and places.setdefault(order_ref, place) != place:
            yield reply_conflict(order_ref, USED_IN_BULK.format(places[order_ref]))
            continue
        decision = decide_order(order, context, rows, first_number + place, batch_ref)
        if decision.sandbox is not None and decision.sandbox.injected_faults is not None:
            context = msgspec.structs.replace(context, injected_faults=decision.sandbox.injected_faults)
        yield decision


def decide_order(order: BulkOrder, context: Context, rows: LoadedRows, number: int, batch_ref: str) -> Decision:
    digest = context.digest(order.digest_input) if isinstance(order, InvalidOrder) else digest_request(order, context)
    if order.order_ref is not None:
        first = rows.get(Transaction, transaction_key(context.merchant.merchant_id, KIND, order.order_ref))
        if first is not None:
            replay = replay_transfer(first, digest, context)
            if isinstance(replay, Refusal):
                return reply_conflict(order.order_ref, USED_BEFORE)
            return Decision(reply=reply_order(replay.reply))
    if isinstance(order, InvalidOrder):
        return refuse_order(order, digest, context, number, batch_ref)
    detail = make_order(order)
    # Counters that earlier orders of the bulk have changed are seen here: each is recorded before the next is decided.
    checked = check_payout(detail, int(order.amount), context, rows, is_bulk=True)
    if isinstance(checked, Refusal):
        limited = InvalidOrder(checked.message, order.order_ref, int(order.amount), detail, b"")
        return refuse_order(limited, digest, context, number, batch_ref)
    decision = start_transfer(order, digest, context, number, batch_ref, checked)
    decision.numbers_used = 0  # decide_bulk has reserved the numbers of all orders
    decision.reply = reply_order(decision.reply)
    uncovered = InvalidOrder(INSUFFICIENT_MESSAGE, order.order_ref, int(order.amount), detail, b"")
    decision.fallback = partial(refuse_order, uncovered, digest, context, number, batch_ref)
    return decision


def refuse_order(order: InvalidOrder, digest: bytes, context: Context, number: int, batch_ref: str) -> Decision:
    """Records a failed transfer for an order of which nothing was held or sent. It costs nothing."""
    row = begin_transaction(
        context,
        NewTransaction(
            kind=KIND,
            txn_ref=movement_reference("FD", context.permutation(number), lagos_day(context.now)),
            amount=order.amount,
            order_ref=order.order_ref,
            batch_ref=batch_ref,
            digest=digest,
            detail=order.detail,
        ),
    )
    end = end_transaction(
        context, row, TransactionOutcome(status=FAILED, message=order.reason, method=KIND, scenario=context.scenario)
    )
    failed = end.row
    line = OrderReply(order_ref=failed.order_ref, txn_ref=failed.txn_ref, txn_status="failed", message=failed.message)
    return Decision(reply=line, rows=(failed,), jobs=end.jobs, events=(end.event,))


def reply_conflict(order_ref: str, message: str) -> Decision:
    return Decision(reply=OrderReply(order_ref=order_ref, txn_status="conflict", message=message))


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
    assert len(lines) == len(results), "every order ends in a decision, a refused one by its fallback"
    reply = BulkReply(batch_ref=batch_ref, message=bulk_message(lines), data=list(shorten_messages(lines)))
    return Decision(reply=reply, rows=(make_batch(batch_ref, lines, context),))


def bulk_message(lines: list[OrderReply]) -> str:
    """Returns the message of the whole bulk: all, some or none of the orders were accepted."""
    counts = Counter(line.txn_status for line in lines)
    accepted = len(lines) - counts["failed"] - counts["conflict"]
    if accepted == len(lines):
        return ACCEPTED_MESSAGE
    message = PARTLY_MESSAGE if accepted else REFUSED_MESSAGE
    return message.format(accepted=accepted, all=len(lines), failed=counts["failed"], conflict=counts["conflict"])


def shorten_messages(lines: list[OrderReply]) -> Iterator[OrderReply]:
    """Yields the lines, so that the reply to a thousand orders with many faults each has a limited size. Their
    transfers keep the whole messages."""
    room = MAX_FAULT_CHARACTERS
    for line in lines:
        fields = [fault.partition(": ")[0] for fault in line.message.split("; ") if ": " in fault]
        if line.txn_status == "failed" and len(fields) > 1:
            room -= len(line.message)
            if room < 0:
                line = msgspec.structs.replace(line, message=FIELDS_AT_FAULT.format(", ".join(fields)))
        yield line
