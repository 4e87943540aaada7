"""A dispute that the holder of a card issued here has filed opens one of the shop's payment, once.

It is a dispute as any other: the merchant responds, and the operator decides. Its end tells the cardholder's
(rules/card_of_dispute.py). One that the cardholder withdraws is won. Contract: payment#disputes
"""

from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, NeedsMore, Refusal
from kasuwa.core.references import reference_of_rail_key
from kasuwa.methods.disputes.model import WON, Dispute, DisputeOrigin, dispute_key, origin_key
from kasuwa.methods.disputes.rules.end_dispute import dispute_rows, end_dispute
from kasuwa.methods.disputes.rules.open_dispute import NewDispute, need_payment, open_dispute
from kasuwa.methods.payment.model import Payment, payment_key
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from kasuwa.rails.ports.shops import CARDHOLDER_RAIL, ShopDispute

OPENED = Answer(orders.SUCCESSFUL, None, "the dispute is open")
ENDED = Answer(orders.SUCCESSFUL, None, "the dispute has ended")


def need_cardholder_dispute(filed: ShopDispute, merchant: Merchant) -> Needs:
    key = origin_key(merchant.merchant_id, CARDHOLDER_RAIL, filed.key)
    return Needs(((DisputeOrigin, key), *need_payment(reference_of_rail_key(filed.payment_key), merchant).rows))


def decide_filed(filed: ShopDispute, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Opens the dispute, unless that was done before. Of a payment that was refunded in part, what is left."""
    merchant_id, txn_ref = context.merchant.merchant_id, reference_of_rail_key(filed.payment_key)
    if rows.get(DisputeOrigin, origin_key(merchant_id, CARDHOLDER_RAIL, filed.key)) is not None:
        return Decision(reply=OPENED)
    payment = rows.get(Payment, payment_key(merchant_id, txn_ref))
    undisputed = 0 if payment is None else payment.undisputed
    new = NewDispute(
        txn_ref=txn_ref,
        reason=filed.reason,
        amount=min(filed.amount, undisputed) or None,
        rail=CARDHOLDER_RAIL,
        rail_dispute_id=filed.key,
    )
    opened = open_dispute(new, context, rows)
    if isinstance(opened, NeedsMore):
        return opened
    if isinstance(opened, Refusal):
        return Decision(reply=Answer(orders.FAILED, None, opened.message))
    opened.reply = OPENED  # type: ignore[assignment]
    return opened


def decide_withdrawn(filed: ShopDispute, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Ends the dispute for the shop. One that has ended stays as it is: the cardholder's follows it."""
    merchant_id = context.merchant.merchant_id
    origin = rows.get(DisputeOrigin, origin_key(merchant_id, CARDHOLDER_RAIL, filed.key))
    if origin is None:
        return Decision(reply=ENDED)
    key = dispute_key(merchant_id, origin.dispute_id)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(dispute_rows(merchant_id, origin.dispute_id)))
    dispute = rows.get(Dispute, key)
    assert dispute is not None
    if not dispute.is_open:
        return Decision(reply=ENDED)
    ended = end_dispute(dispute, WON, context, rows)
    if isinstance(ended, NeedsMore):
        return ended
    ended.reply = ENDED  # type: ignore[assignment]
    ended.follow_up = None  # a worker tells the cardholder's dispute: this is no request of the shop
    return ended
