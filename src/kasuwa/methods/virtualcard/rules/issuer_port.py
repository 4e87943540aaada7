"""Rules behind the `Issuer` port: a virtual card used to pay this or another merchant.

These rules see only the books of the card's merchant. The paid merchant's books change in another decision, made from
the answer of the rail call. Orders are idempotent by their key: a second order with the same key gets the first answer.
"""

from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, NeedsMore, OperatorNotice, Refusal
from kasuwa.core.money import format_minor
from kasuwa.core.references import read_rail_key
from kasuwa.core.scenario import Scenario
from kasuwa.core.token_index import make_token_entry
from kasuwa.methods.virtualcard.model import Card, card_key
from kasuwa.methods.virtualcard.rules.end_dispute import find_filed, lose_at_shop, need_filed, win_at_shop
from kasuwa.methods.virtualcard.rules.hold_orders import decide_hold, need_hold
from kasuwa.methods.virtualcard.rules.issuer_orders import (
    DUPLICATE,
    NO_SUCH_CARD,
    NO_SUCH_ORDER,
    ORDER_KEY,
    answer_code,
    make_answer,
    read_order,
    refuse_used_key,
)
from kasuwa.methods.virtualcard.rules.purchase import (
    KIND,
    PURCHASE_DETAIL_DECODER,
    PurchaseDetail,
    authorize_purchase,
    digest_purchase,
    scripted_decline,
)
from kasuwa.methods.virtualcard.rules.refund import (
    REFUND_KIND,
    PurchaseRefund,
    decline_refund,
    find_purchase_refund,
    refund_purchase,
)
from kasuwa.methods.virtualcard.rules.take_back import take_back
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.decider import DeciderAnswer, DeciderQuestion
from kasuwa.rails.ports.issuer import LostDispute, PurchaseOrder, RefundOrder, TakeBackOrder
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction, transaction_key


def need_authorization(order: PurchaseOrder, reference: str, merchant: Merchant) -> Needs:
    if order.is_hold:
        return need_hold(order, reference, merchant)
    key = transaction_key(merchant.merchant_id, KIND, order.key)
    return Needs(((Card, card_key(merchant.merchant_id, reference)), (Transaction, key)))


def decide_authorization(
    order: PurchaseOrder, reference: str, context: Context, rows: LoadedRows, answer: DeciderAnswer | None = None
) -> Decision | NeedsMore:
    if order.is_hold:
        return decide_hold(order, reference, context, rows, answer)
    merchant_id = context.merchant.merchant_id
    detail = PurchaseDetail(reference, order.amount, order.currency, order.merchant_name, order.category)
    first = rows.get(Transaction, transaction_key(merchant_id, KIND, order.key))
    if first is not None:
        is_same = first.digest == digest_purchase(detail, context)
        return Decision(reply=make_answer(first) if is_same else answer_code(DUPLICATE))
    used = refuse_used_key(order.key, context, rows)
    if used is not None:
        return used
    card = rows.get(Card, card_key(merchant_id, reference))
    if card is None:
        return Decision(reply=answer_code(NO_SUCH_CARD, orders.NOT_FOUND))
    authorized = authorize_purchase(
        card, read_order(order), order.key, Scenario(rr=order.scenario.rr), context, rows, answer
    )
    if isinstance(authorized, NeedsMore):
        return authorized
    if isinstance(authorized, DeciderQuestion):
        return Decision(question=authorized)
    row, decision = authorized
    decision.reply = make_answer(row)
    decision.rows = (*decision.rows, make_token_entry(context, ORDER_KEY, order.key, row.txn_ref))
    return decision


def need_refund_order(order: RefundOrder, merchant: Merchant) -> Needs:
    merchant_id = merchant.merchant_id
    purchase, refund = (KIND, order.purchase_key), (REFUND_KIND, order.key)
    keys = tuple((Transaction, transaction_key(merchant_id, kind, key)) for kind, key in (purchase, refund))
    return Needs((*keys, *need_filed(order.dispute_key, merchant).rows))


def replay_refund(order: RefundOrder, first: Transaction, context: Context, rows: LoadedRows) -> Decision:
    purchase = rows.get(Transaction, transaction_key(context.merchant.merchant_id, KIND, order.purchase_key))
    is_same = purchase is not None and first.batch_ref == purchase.txn_ref
    if not is_same or PURCHASE_DETAIL_DECODER.decode(first.detail).amount != order.amount:
        return Decision(reply=answer_code(DUPLICATE))
    return Decision(reply=make_answer(first))


def decide_refund_order(order: RefundOrder, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    first = rows.get(Transaction, transaction_key(context.merchant.merchant_id, REFUND_KIND, order.key))
    if first is not None:
        return replay_refund(order, first, context, rows)
    used = refuse_used_key(order.key, context, rows)
    if used is not None:
        return used
    decline = scripted_decline(Scenario(rr=order.scenario.rr))
    if decline is not None:
        return Decision(reply=Answer(orders.FAILED, decline.code, decline.message))
    refund = find_purchase_refund(order.purchase_key, order.amount, context, rows)
    if isinstance(refund, NeedsMore):
        return refund
    filed = find_filed(order.dispute_key, context, rows)
    dispute_id = "" if filed is None else filed.dispute_id
    refunded = (
        refund_purchase(refund, order.key, context, rows, dispute_id) if isinstance(refund, PurchaseRefund) else refund
    )
    if isinstance(refunded, NeedsMore):
        return refunded
    if isinstance(refunded, Refusal):
        return refuse_refund(order, refunded, context, rows)
    row, decision = refunded
    decision.add(win_at_shop(order.dispute_key, row, context, rows))
    decision.reply = make_answer(row)
    decision.rows = (*decision.rows, make_token_entry(context, ORDER_KEY, order.key, row.txn_ref))
    return decision


def refuse_refund(order: RefundOrder, refusal: Refusal, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Declines a refund, for good. A rail's network may have paid it back all the same, so the operator is told."""
    purchase = rows.get(Transaction, transaction_key(context.merchant.merchant_id, KIND, order.purchase_key))
    if purchase is None:
        return Decision(reply=answer_code(NO_SUCH_ORDER, orders.NOT_FOUND))
    declined = decline_refund(purchase, order.amount, order.key, refusal, context, rows)
    if isinstance(declined, NeedsMore):
        return declined
    row, decision = declined
    decision.reply = make_answer(row)
    decision.rows = (*decision.rows, make_token_entry(context, ORDER_KEY, order.key, row.txn_ref))
    number, _ = read_rail_key(order.key)
    if not number:
        amount = f"{row.currency} {format_minor(row.amount)}"
        message = f"a refund of {amount} of the card purchase {purchase.txn_ref} is not booked: {refusal.message}"
        decision.notices = (OperatorNotice(purchase.txn_ref, message),)
    return decision


def need_take_back(order: TakeBackOrder, merchant: Merchant) -> Needs:
    names = (KIND, order.key), (REFUND_KIND, order.refund_key), (KIND, order.purchase_key)
    keys = tuple((Transaction, transaction_key(merchant.merchant_id, kind, key)) for kind, key in names)
    return Needs((*keys, *need_filed(order.dispute_key, merchant).rows))


def decide_take_back(order: TakeBackOrder, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    merchant_id = context.merchant.merchant_id
    first = rows.get(Transaction, transaction_key(merchant_id, KIND, order.key))
    if first is not None:
        return Decision(reply=make_answer(first))
    refund = rows.get(Transaction, transaction_key(merchant_id, REFUND_KIND, order.refund_key))
    purchase = rows.get(Transaction, transaction_key(merchant_id, KIND, order.purchase_key))
    if refund is None or refund.status != SUCCESSFUL or purchase is None or refund.batch_ref != purchase.txn_ref:
        return Decision(reply=answer_code(NO_SUCH_ORDER, orders.NOT_FOUND))
    result = take_back(refund, purchase, order.key, context, rows)
    if isinstance(result, NeedsMore):
        return result
    row, decision = result
    decision.add(lose_at_shop(order.dispute_key, context, rows))
    decision.reply = make_answer(row)
    decision.rows = (*decision.rows, make_token_entry(context, ORDER_KEY, order.key, row.txn_ref))
    return decision


def need_lost_dispute(lost: LostDispute, merchant: Merchant) -> Needs:
    return need_filed(lost.key, merchant)


def decide_lost_dispute(lost: LostDispute, context: Context, rows: LoadedRows) -> Decision:
    """Ends the cardholder's dispute. One that has ended stays as it is: the shop's may be told twice, or late."""
    filed = find_filed(lost.key, context, rows)
    if filed is None:
        return Decision(reply=answer_code(NO_SUCH_ORDER, orders.NOT_FOUND))
    decision = Decision(reply=Answer(orders.SUCCESSFUL, None, "the dispute has ended"))
    if filed.is_open:
        decision.add(lose_at_shop(lost.key, context, rows))
    return decision
