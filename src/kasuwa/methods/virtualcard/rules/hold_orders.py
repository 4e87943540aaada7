"""Rules behind the `Issuer` port for authorizations that are captured later: hold, capture, release.

A rail announces what the card network asks of a card. Each order is decided once under its key. A capture or release of
a hold that has ended otherwise is declined: what the network took all the same is a notice, and the operator books it.
"""

import msgspec

from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, NeedsMore, OperatorNotice, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.core.token_index import make_token_entry
from kasuwa.methods.virtualcard.model import DECLINED, Card, card_key
from kasuwa.methods.virtualcard.rules.authorization import (
    EXPIRED,
    KIND,
    REVERSED,
    STATES,
    TOO_MUCH_CAPTURED,
    OpenHold,
    authorize_hold,
    capture_hold,
    find_open_hold,
    give_up,
)
from kasuwa.methods.virtualcard.rules.declines import CURRENCY_NOT_SUPPORTED, INSUFFICIENT_FUNDS
from kasuwa.methods.virtualcard.rules.funding import CARD_INSUFFICIENT, NO_RATE
from kasuwa.methods.virtualcard.rules.issuer_orders import (
    DUPLICATE,
    INVALID,
    NO_SUCH_CARD,
    NO_SUCH_ORDER,
    ORDER_KEY,
    answer_code,
    make_answer,
    read_order,
    refuse_used_key,
)
from kasuwa.methods.virtualcard.rules.purchase import KIND as PURCHASE
from kasuwa.methods.virtualcard.rules.purchase import (
    METHOD,
    PURCHASE_DETAIL_DECODER,
    begin_purchase,
    digest_purchase,
    make_detail,
    record_purchase,
)
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.decider import DeciderAnswer, DeciderQuestion
from kasuwa.rails.ports.issuer import CaptureOrder, PurchaseOrder, ReleaseOrder
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.event_fields import DeclineReason
from kasuwa.transactions.transactions import (
    FAILED,
    Transaction,
    TransactionOutcome,
    end_transaction,
    transaction_key,
)

APPROVED = "00"

# Code and reason of a capture that is declined. Of any other refusal the authorization holds nothing.
CAPTURE_DECLINES: dict[Refusal, tuple[str, DeclineReason]] = {
    TOO_MUCH_CAPTURED: (INVALID, "captured_too_much"),
    CARD_INSUFFICIENT: (INSUFFICIENT_FUNDS.code, "insufficient_funds"),
    NO_RATE: (CURRENCY_NOT_SUPPORTED.code, "currency_not_supported"),
}


def answer_hold(row: Transaction) -> Answer:
    """Returns whether a hold was given. It was also if it has ended since."""
    is_declined = row.status == FAILED and row.message not in STATES
    status = orders.FAILED if is_declined else orders.SUCCESSFUL
    code = row.code if is_declined else APPROVED
    return Answer(status, code, row.message if is_declined else "Approved", {"txnRef": row.txn_ref})


# --- hold -----------------------------------------------------------------------------------------------------------


def need_hold(order: PurchaseOrder, reference: str, merchant: Merchant) -> Needs:
    key = transaction_key(merchant.merchant_id, KIND, order.key)
    return Needs(((Card, card_key(merchant.merchant_id, reference)), (Transaction, key)))


def decide_hold(
    order: PurchaseOrder, reference: str, context: Context, rows: LoadedRows, answer: DeciderAnswer | None
) -> Decision | NeedsMore:
    merchant_id = context.merchant.merchant_id
    card = rows.get(Card, card_key(merchant_id, reference))
    if card is None:
        return Decision(reply=answer_code(NO_SUCH_CARD, orders.NOT_FOUND))
    first = rows.get(Transaction, transaction_key(merchant_id, KIND, order.key))
    if first is not None:
        is_same = first.digest == digest_purchase(make_detail(card, read_order(order)), context)
        return Decision(reply=answer_hold(first) if is_same else answer_code(DUPLICATE))
    used = refuse_used_key(order.key, context, rows)
    if used is not None:
        return used
    scenario = Scenario(rr=order.scenario.rr)
    authorized = authorize_hold(card, read_order(order), scenario, context, rows, answer, order.key)
    if isinstance(authorized, NeedsMore):
        return authorized
    if isinstance(authorized, DeciderQuestion):
        return Decision(question=authorized)
    row, decision = authorized
    decision.reply = answer_hold(row)
    decision.rows = (*decision.rows, make_token_entry(context, ORDER_KEY, order.key, row.txn_ref))
    return decision


# --- capture --------------------------------------------------------------------------------------------------------


def need_capture(order: CaptureOrder, merchant: Merchant) -> Needs:
    keys = (PURCHASE, order.key), (KIND, order.hold_key)
    return Needs(tuple((Transaction, transaction_key(merchant.merchant_id, kind, key)) for kind, key in keys))


def decide_capture(order: CaptureOrder, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    merchant_id = context.merchant.merchant_id
    first = rows.get(Transaction, transaction_key(merchant_id, PURCHASE, order.key))
    held = rows.get(Transaction, transaction_key(merchant_id, KIND, order.hold_key))
    if held is None:
        return Decision(reply=answer_code(NO_SUCH_ORDER, orders.NOT_FOUND))
    if first is not None:
        is_same = first.batch_ref == held.txn_ref
        is_same = is_same and PURCHASE_DETAIL_DECODER.decode(first.detail).amount == order.amount
        return Decision(reply=make_answer(first) if is_same else answer_code(DUPLICATE))
    used = refuse_used_key(order.key, context, rows)
    if used is not None:
        return used
    hold = find_open_hold(order.hold_key, context, rows)
    if isinstance(hold, NeedsMore):
        return hold
    captured = capture_hold(hold, order.amount, context, rows, order.key) if isinstance(hold, OpenHold) else hold
    if isinstance(captured, Refusal):
        return decline_capture(order, held, captured, context, rows)
    row, decision = captured
    decision.reply = make_answer(row)
    decision.rows = (*decision.rows, make_token_entry(context, ORDER_KEY, order.key, row.txn_ref))
    return decision


def decline_capture(
    order: CaptureOrder, held: Transaction, refusal: Refusal, context: Context, rows: LoadedRows
) -> Decision | NeedsMore:
    """Declines a capture, for good. The network may have paid the shop all the same, so the operator is told."""
    detail = msgspec.structs.replace(PURCHASE_DETAIL_DECODER.decode(held.detail), amount=order.amount)
    card_id = card_key(context.merchant.merchant_id, detail.card)
    if not rows.is_loaded(card_id):
        return NeedsMore(Needs(((Card, card_id),)))
    card = rows.get(Card, card_id)
    assert card is not None
    code, reason = CAPTURE_DECLINES.get(refusal, (INVALID, "authorization_ended"))
    end = end_transaction(
        context,
        begin_purchase(card, detail, None, order.key, context, held.txn_ref),
        TransactionOutcome(
            status=FAILED,
            code=code,
            message=refusal.message,
            method=METHOD,
            scenario=NO_SCENARIO,
            event_fields={
                "reference": card.reference,
                "authorization_ref": held.txn_ref,
                "decline_reason": reason,
            },
        ),
    )
    decision = record_purchase(card, end, DECLINED, context, None, reason)
    decision.reply = make_answer(end.row)
    decision.rows = (*decision.rows, make_token_entry(context, ORDER_KEY, order.key, end.row.txn_ref))
    amount = f"{detail.currency} {format_minor(order.amount)}"
    message = f"a capture of {amount} of the card authorization {held.txn_ref} is not booked: {refusal.message}"
    decision.notices = (OperatorNotice(held.txn_ref, message),)
    return decision


# --- release --------------------------------------------------------------------------------------------------------


def need_release(order: ReleaseOrder, merchant: Merchant) -> Needs:
    return Needs(((Transaction, transaction_key(merchant.merchant_id, KIND, order.hold_key)),))


def decide_release(order: ReleaseOrder, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Releases a hold. One that was released before, or was never given, answers the same; a captured one is
    refused."""
    hold = find_open_hold(order.hold_key, context, rows)
    if isinstance(hold, NeedsMore):
        return hold
    row = rows.get(Transaction, transaction_key(context.merchant.merchant_id, KIND, order.hold_key))
    if row is None:
        return Decision(reply=answer_code(NO_SUCH_ORDER, orders.NOT_FOUND))
    released = Answer(orders.SUCCESSFUL, APPROVED, "Released", {"txnRef": row.txn_ref})
    if not isinstance(hold, OpenHold):
        is_released = row.status == FAILED
        return Decision(reply=released if is_released else Answer(orders.FAILED, INVALID, hold.message))
    decision = give_up(hold, EXPIRED if order.has_expired else REVERSED, context, rows)
    if isinstance(decision, Refusal):
        return Decision(reply=Answer(orders.FAILED, INVALID, decision.message))
    decision.reply = released
    return decision
