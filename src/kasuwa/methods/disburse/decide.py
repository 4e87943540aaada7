"""The rules of transfers.

Postings of a transfer (all in the wallet's currency):

    requested    hold     wallet                     amount + fee + VAT (+ stamp duty where it is on)
    successful   wallet → rail:bank                  amount
                 wallet → income:transfer            fee
                 wallet → tax:vat                    VAT
                 wallet → tax:stamp_duty             duty, where it is on
    failed       the hold is voided, nothing moves

Money that another slice sends (a loan's principal, a savings account's cash-out, a split's payout) goes the same way:
`send_money` with its own source account and its errand. The fee is the wallet's all the same, under a hold of its own.

An unknown outcome is never sent again as a new transfer: see decide_answer.py.
"""

from functools import partial
from typing import Any

import msgspec

from kasuwa.core.body import read_untyped
from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST, NOT_COVERED
from kasuwa.core.decision import (
    Context,
    Decision,
    Group,
    Merchant,
    Needs,
    Refusal,
    Reserve,
    Seen,
    refuse_fields,
)
from kasuwa.core.decoding import decode
from kasuwa.core.merchant import outside_limits
from kasuwa.core.purpose import Errand
from kasuwa.core.references import fee_hold_key, hold_key, movement_reference
from kasuwa.core.scenario import Scenario, plan_call
from kasuwa.core.tariff import NO_CHARGE, charge_transfer
from kasuwa.core.transactions import (
    PENDING,
    PROCESSING,
    SUCCESSFUL,
    Transaction,
    begin_transaction,
    encode_text,
    new_job,
    transaction_key,
)
from kasuwa.ledger import chart
from kasuwa.methods.disburse.wire import BulkReply, BulkRequest, OrderReply, TransferReply, TransferRequest

KIND = "transfer"
CURRENCY = "NGN"
SEND = "disburse.send"
ASK = "disburse.ask"
LANE = "bank"

WALLET = chart.wallet(CURRENCY)
RAIL = chart.rail("bank", CURRENCY)
INCOME = chart.income("transfer", CURRENCY)
VAT = chart.tax("vat", CURRENCY)
STAMP_DUTY = chart.tax("stamp_duty", CURRENCY)

# Refusals, in order of precedence.
REFERENCE_USED = Refusal(INVALID_REQUEST, "This orderRef was used with another request")
WALLET_SHORT = Refusal(NOT_COVERED, "The wallet does not cover the amount and its fee; fund it and try again")
FEE_SHORT = Refusal(NOT_COVERED, "The wallet does not cover the fee of this transfer; fund it and try again")

MESSAGES = {
    PROCESSING: "Transfer is being processed",
    PENDING: "The bank has not confirmed yet; verify later",
    SUCCESSFUL: "Transfer Successful",
}


# --- what may be asked ------------------------------------------------------------------------------------


def amount_fits(merchant: Merchant, amount: int) -> str | None:
    return outside_limits(merchant, CURRENCY, amount)


# --- a transfer is asked for ------------------------------------------------------------------------------


class Order(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the rail is told, kept with the transaction; and where the money comes from and what for."""

    bank_code: str
    account_number: str
    sender_name: str
    narration: str
    source: str = WALLET
    errand: Errand | None = None


class Work(msgspec.Struct, frozen=True):
    """What a transfer's job knows besides its transaction: when it was first sent, and the scenario."""

    sent_at: float
    order: Order
    amount: int
    scenario: Scenario


WORK: "msgspec.json.Decoder[Work]" = msgspec.json.Decoder(Work)


def need_transfer(request: TransferRequest, merchant: Merchant) -> Needs:
    if request.order_ref is None:
        return Needs((), (WALLET,))
    return Needs(((Transaction, transaction_key(merchant.merchant_id, KIND, request.order_ref)),), (WALLET,))


def decide_transfer(request: TransferRequest, context: Context, seen: Seen) -> Decision | Refusal:
    digest = digest_of(request, context)
    if request.order_ref is not None:
        key = transaction_key(context.merchant.merchant_id, KIND, request.order_ref)
        first = seen.get(Transaction, key)
        if first is not None:
            return repeat_transfer(first, digest)
    decision = order_transfer(request, digest, context, context.number, None)
    decision.then = decision.jobs[0]
    return decision


def digest_of(request: TransferRequest, context: Context) -> bytes:
    return context.digest(msgspec.msgpack.encode(request, enc_hook=int))


def repeat_transfer(first: Transaction, digest: bytes) -> Decision | Refusal:
    """The first answer with its current status; while it is at the rail, worth waiting for. Spec silent: D7"""
    if first.digest != digest:
        return REFERENCE_USED
    return Decision(reply=reply_transfer(first), wait=first.code is None and not first.is_final)


def order_transfer(
    request: TransferRequest, digest: bytes, context: Context, number: int, batch_ref: str | None
) -> Decision:
    order = Order(request.bank_code, request.account_number, request.sender_name or "", request.narration or "")
    return send_money(order, int(request.amount), context, number, request.order_ref, digest, batch_ref)


def send_money(
    order: Order,
    amount: int,
    context: Context,
    number: int,
    order_ref: str | None = None,
    digest: bytes = b"",
    batch_ref: str | None = None,
    *,
    letters: str = "FD",
    short: Refusal = WALLET_SHORT,
    free: bool = False,
) -> Decision:
    """Hold the money and write the job that calls the bank; `short` answers for a source that is not the wallet, and
    nobody pays for what is `free`."""
    txn_ref = movement_reference(letters, context.permutation(number), lagos_day(context.now))
    merchant = context.merchant
    charge = NO_CHARGE if free else charge_transfer(merchant.tariff, amount)
    luck = int.from_bytes(context.entropy[:8], "big") + number
    scenario, faults = plan_call(context.scenario, context.faults, LANE, luck)
    row = begin_transaction(
        context,
        KIND,
        txn_ref,
        amount,
        order_ref=order_ref,
        batch_ref=batch_ref,
        charge=charge,
        message=MESSAGES[PROCESSING],
        digest=digest,
        detail=order,
    )
    work = encode_text(Work(context.now.timestamp(), order, row.amount, scenario))
    return Decision(
        reply=reply_transfer(row),
        groups=hold_money(row, order.source, short),
        rows=(row,),
        jobs=(new_job(context, SEND, LANE, row, work),),
        numbers=1,
        faults=faults,
    )


def hold_money(row: Transaction, source: str, short: Refusal) -> tuple[Group, ...]:
    """Amount and fee under one hold where the wallet pays both; else each under its own."""
    fees = row.fee + row.vat + row.duty
    if source == WALLET:
        hold = Reserve(hold_key(row.key), WALLET, row.amount + fees)
        return (Group(row.txn_ref, WALLET_SHORT, reserves=(hold,)),)
    amount = Group(row.txn_ref, short, reserves=(Reserve(hold_key(row.key), source, row.amount),))
    if not fees:
        return (amount,)
    return amount, Group(row.txn_ref, FEE_SHORT, reserves=(Reserve(fee_hold_key(row.key), WALLET, fees),))


def reply_transfer(row: Transaction, code: int = 200) -> TransferReply:
    return TransferReply(
        status=code,  # type: ignore[arg-type]
        txn_status=row.status,  # type: ignore[arg-type]
        txn_ref=row.txn_ref,
        order_ref=row.order_ref,
        message=row.message,
    )


# --- many at once -------------------------------------------------------------------------------------------


def read_order(raw: Any, merchant: Merchant, rules: Any) -> TransferRequest | Refusal:
    try:
        read = decode(TransferRequest, bytes(raw), rules, merchant)
    except msgspec.DecodeError:
        read = ()
    return read if isinstance(read, TransferRequest) else refuse_fields(*read)


def need_bulk(request: BulkRequest, merchant: Merchant, *, rules: Any) -> Needs:
    orders = [read_order(raw, merchant, rules) for raw in request.data]
    named = [order.order_ref for order in orders if isinstance(order, TransferRequest) and order.order_ref is not None]
    keys = dict.fromkeys(transaction_key(merchant.merchant_id, KIND, order_ref) for order_ref in named)
    return Needs(tuple((Transaction, key) for key in keys), (WALLET,))


def decide_bulk(request: BulkRequest, context: Context, seen: Seen, *, rules: Any) -> Decision:
    """Each order stands alone; a second use of a reference inside one bulk is a repeat of the first."""
    first_number = context.number
    batch_ref = movement_reference("BT", context.permutation(first_number), lagos_day(context.now))
    firsts: dict[str, tuple[TransferRequest, int]] = {}
    names: list[str | None] = []
    parts: list[Decision | Refusal] = []
    for place, raw in enumerate(request.data):
        order = read_order(raw, context.merchant, rules)
        names.append(order.order_ref if isinstance(order, TransferRequest) else said_order_ref(raw))
        if isinstance(order, Refusal):
            parts.append(order)
            continue
        if order.order_ref is not None:
            first, first_place = firsts.setdefault(order.order_ref, (order, place))
            if first_place != place:
                parts.append(Decision(reply=SameAs(first_place)) if first == order else REFERENCE_USED)
                continue
        part = decide_order(order, context, seen, first_number + place + 1, batch_ref)
        parts.append(part)
        if isinstance(part, Decision) and part.faults is not None:
            context = msgspec.structs.replace(context, faults=part.faults)
    return Decision(numbers=len(parts) + 1, parts=tuple(parts), join=partial(join_bulk, batch_ref, names))


def decide_order(
    order: TransferRequest, context: Context, seen: Seen, number: int, batch_ref: str
) -> Decision | Refusal:
    digest = digest_of(order, context)
    if order.order_ref is not None:
        first = seen.get(Transaction, transaction_key(context.merchant.merchant_id, KIND, order.order_ref))
        if first is not None:
            return repeat_transfer(first, digest)
    decision = order_transfer(order, digest, context, number, batch_ref)
    decision.numbers = 0  # the bulk counts for all of its orders
    return decision


class SameAs(msgspec.Struct, frozen=True):
    """The reply of an order that repeats an earlier one of the same bulk."""

    place: int


def said_order_ref(raw: Any) -> str | None:
    """The reference of an order that could not be read, where it says one."""
    said = read_untyped(bytes(raw))
    order_ref = said.get("orderRef") if isinstance(said, dict) else None
    return order_ref if isinstance(order_ref, str) else None


def join_bulk(batch_ref: str, names: list[str | None], results: list[Decision | Refusal]) -> BulkReply:
    rows = []
    for name, result in zip(names, results, strict=True):
        if isinstance(result, Decision) and isinstance(result.reply, SameAs):
            result = results[result.reply.place]
        rows.append(reply_order(name, result))
    return BulkReply(batch_ref=batch_ref, message="Bulk transfer accepted; verify each order", data=rows)


def reply_order(name: str | None, result: Decision | Refusal) -> OrderReply:
    if isinstance(result, Refusal):
        reasons = "; ".join(f"{fault.field}: {fault.reason}".removeprefix(": ") for fault in result.faults)
        return OrderReply(order_ref=name, txn_status="failed", message=reasons or result.message)
    reply = result.reply
    return OrderReply(
        order_ref=reply.order_ref, txn_ref=reply.txn_ref, txn_status=reply.txn_status, message=reply.message
    )
