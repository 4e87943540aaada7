"""Rules behind the `Issuer` port: a virtual card used to pay this or another merchant.

These rules see only the books of the card's merchant. The paid merchant's books change in another decision, made from
the answer of the rail call. Orders are idempotent by their key: a second order with the same key gets the first answer.
"""

from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, NeedsMore, Refusal
from kasuwa.core.scenario import Scenario
from kasuwa.core.token_index import make_token_entry
from kasuwa.methods.virtualcard.model import Card, card_key
from kasuwa.methods.virtualcard.rules.declines import AuthorizationRequest, response_code_meanings
from kasuwa.methods.virtualcard.rules.purchase import (
    KIND,
    PURCHASE_DETAIL_DECODER,
    PurchaseDetail,
    authorize_purchase,
    digest_purchase,
    scripted_decline,
)
from kasuwa.methods.virtualcard.rules.refund import REFUND_KIND, PurchaseRefund, find_purchase_refund, refund_purchase
from kasuwa.methods.virtualcard.rules.take_back import take_back
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.issuer import PurchaseOrder, RefundOrder, TakeBackOrder
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction, transaction_key

# The kind of order keys in the token index, by which the status of an order can be queried.
ORDER_KEY = "issuer order"

# Of the merchants of this service, who are paid by orders of this port.
HOME_COUNTRY = "NG"

DUPLICATE = "94"
INVALID = "13"
NO_SUCH_CARD = "14"
NO_SUCH_ORDER = "25"


def make_answer(row: Transaction) -> Answer:
    status = orders.SUCCESSFUL if row.status == SUCCESSFUL else orders.FAILED
    return Answer(status, row.code, row.message, {"txnRef": row.txn_ref})


def answer_code(code: str, status: str = orders.FAILED) -> Answer:
    return Answer(status, code, response_code_meanings()[code])


def need_authorization(order: PurchaseOrder, reference: str, merchant: Merchant) -> Needs:
    key = transaction_key(merchant.merchant_id, KIND, order.key)
    return Needs(((Card, card_key(merchant.merchant_id, reference)), (Transaction, key)))


def decide_authorization(
    order: PurchaseOrder, reference: str, context: Context, rows: LoadedRows
) -> Decision | NeedsMore:
    merchant_id = context.merchant.merchant_id
    detail = PurchaseDetail(reference, order.amount, order.currency, order.merchant_name, order.category)
    first = rows.get(Transaction, transaction_key(merchant_id, KIND, order.key))
    if first is not None:
        is_same = first.digest == digest_purchase(detail, context)
        return Decision(reply=make_answer(first) if is_same else answer_code(DUPLICATE))
    card = rows.get(Card, card_key(merchant_id, reference))
    if card is None:
        return Decision(reply=answer_code(NO_SUCH_CARD, orders.NOT_FOUND))
    request = AuthorizationRequest(
        amount=order.amount,
        currency=order.currency,
        merchant_name=order.merchant_name,
        category=order.category,
        cvv=order.cvv,
        expiry=order.expiry,
        country=HOME_COUNTRY,
    )
    authorized = authorize_purchase(card, request, order.key, Scenario(rr=order.scenario.rr), context, rows)
    if isinstance(authorized, NeedsMore):
        return authorized
    row, decision = authorized
    decision.reply = make_answer(row)
    decision.rows = (*decision.rows, make_token_entry(context, ORDER_KEY, order.key, row.txn_ref))
    return decision


def need_refund_order(order: RefundOrder, merchant: Merchant) -> Needs:
    merchant_id = merchant.merchant_id
    purchase, refund = (KIND, order.purchase_key), (REFUND_KIND, order.key)
    return Needs(tuple((Transaction, transaction_key(merchant_id, kind, key)) for kind, key in (purchase, refund)))


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
    decline = scripted_decline(Scenario(rr=order.scenario.rr))
    if decline is not None:
        return Decision(reply=Answer(orders.FAILED, decline.code, decline.message))
    refund = find_purchase_refund(order.purchase_key, order.amount, context, rows)
    if isinstance(refund, NeedsMore):
        return refund
    refunded = refund_purchase(refund, order.key, context, rows) if isinstance(refund, PurchaseRefund) else refund
    if isinstance(refunded, NeedsMore):
        return refunded
    if isinstance(refunded, Refusal):
        return Decision(reply=Answer(orders.FAILED, INVALID, refunded.message))
    row, decision = refunded
    decision.reply = make_answer(row)
    decision.rows = (*decision.rows, make_token_entry(context, ORDER_KEY, order.key, row.txn_ref))
    return decision


def need_take_back(order: TakeBackOrder, merchant: Merchant) -> Needs:
    keys = (KIND, order.key), (REFUND_KIND, order.refund_key), (KIND, order.purchase_key)
    return Needs(tuple((Transaction, transaction_key(merchant.merchant_id, kind, key)) for kind, key in keys))


def decide_take_back(order: TakeBackOrder, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    merchant_id = context.merchant.merchant_id
    first = rows.get(Transaction, transaction_key(merchant_id, KIND, order.key))
    if first is not None:
        return Decision(reply=make_answer(first))
    refund = rows.get(Transaction, transaction_key(merchant_id, REFUND_KIND, order.refund_key))
    purchase = rows.get(Transaction, transaction_key(merchant_id, KIND, order.purchase_key))
    if refund is None or purchase is None or refund.batch_ref != purchase.txn_ref:
        return Decision(reply=answer_code(NO_SUCH_ORDER, orders.NOT_FOUND))
    result = take_back(refund, purchase, order.key, context, rows)
    if isinstance(result, NeedsMore):
        return result
    row, decision = result
    decision.reply = make_answer(row)
    decision.rows = (*decision.rows, make_token_entry(context, ORDER_KEY, order.key, row.txn_ref))
    return decision
