"""Rules behind the `Issuer` port for authorizations that are captured later: hold, capture, release.

A rail announces what the card network asks of a card. Each order is decided once under its key. A capture or release of
a hold that has ended otherwise is refused: what the network took all the same is a notice, and the operator books it.
"""

from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, NeedsMore, OperatorNotice, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.scenario import Scenario
from kasuwa.core.token_index import make_token_entry
from kasuwa.methods.virtualcard.model import Card, card_key
from kasuwa.methods.virtualcard.rules.authorization import (
    EXPIRED,
    KIND,
    REVERSED,
    STATES,
    OpenHold,
    authorize_hold,
    capture_hold,
    find_open_hold,
    give_up,
)
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
from kasuwa.methods.virtualcard.rules.purchase import PURCHASE_DETAIL_DECODER, digest_purchase, make_detail
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.decider import DeciderAnswer, DeciderQuestion
from kasuwa.rails.ports.issuer import CaptureOrder, PurchaseOrder, ReleaseOrder
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.transactions import FAILED, Transaction, transaction_key

APPROVED = "00"


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
        return refuse_capture(order, held, captured)
    row, decision = captured
    decision.reply = make_answer(row)
    decision.rows = (*decision.rows, make_token_entry(context, ORDER_KEY, order.key, row.txn_ref))
    return decision


def refuse_capture(order: CaptureOrder, held: Transaction, refusal: Refusal) -> Decision:
    """Refuses a capture. The network may have paid the shop all the same, so the operator is told."""
    detail = PURCHASE_DETAIL_DECODER.decode(held.detail)
    amount = f"{detail.currency} {format_minor(order.amount)}"
    message = f"a capture of {amount} of the card authorization {held.txn_ref} is not booked: {refusal.message}"
    return Decision(
        reply=Answer(orders.FAILED, INVALID, refusal.message), notices=(OperatorNotice(held.txn_ref, message),)
    )


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
