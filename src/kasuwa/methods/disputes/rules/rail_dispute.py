"""A dispute that a rail announces opens ours, once; its end at the rail ends ours, or corrects its end.

Contract: payment#disputes
"""

from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, NeedsMore, OperatorNotice, Refusal
from kasuwa.core.money import format_minor
from kasuwa.methods.disputes.model import WON, Dispute, DisputeOrigin, dispute_key, origin_key
from kasuwa.methods.disputes.rules.ask_rail import follow_rail
from kasuwa.methods.disputes.rules.correct_dispute import contradicts, correct_dispute
from kasuwa.methods.disputes.rules.end_dispute import dispute_rows, end_dispute
from kasuwa.methods.disputes.rules.open_dispute import NewDispute, need_payment, open_dispute
from kasuwa.methods.payment.model import Payment, payment_key
from kasuwa.rails.ports.feed_entries import AnnouncedDispute


def need_announced(announced: AnnouncedDispute, merchant: Merchant) -> Needs:
    key = origin_key(merchant.merchant_id, announced.rail, announced.rail_dispute_id)
    return Needs(((DisputeOrigin, key), *need_payment(announced.txn_ref, merchant).rows))


def decide_announced(announced: AnnouncedDispute, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Opens or ends the dispute. Never refuses: what cannot be done is a notice to the operator."""
    merchant_id = context.merchant.merchant_id
    origin = rows.get(DisputeOrigin, origin_key(merchant_id, announced.rail, announced.rail_dispute_id))
    if origin is None:
        return open_announced(announced, context, rows)
    key = dispute_key(merchant_id, origin.dispute_id)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(dispute_rows(merchant_id, origin.dispute_id)))
    dispute = rows.get(Dispute, key)
    assert dispute is not None
    if announced.outcome is None:
        return follow_rail(dispute, announced.is_under_review, announced.due_at, context, rows)
    if dispute.is_open:
        return end_dispute(dispute, announced.outcome, context, rows)
    if not contradicts(dispute, announced.outcome):
        return Decision(reply=dispute.dispute_id)
    return correct_dispute(dispute, announced.outcome, context, rows)


def open_announced(announced: AnnouncedDispute, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Opens the dispute for what is left of the payment. One that was won at the rail before is not opened at all; one
    that was lost, or is under review, is opened first, and the same announcement goes on when it is decided again."""
    if announced.outcome == WON:
        return Decision()
    payment = rows.get(Payment, payment_key(context.merchant.merchant_id, announced.txn_ref))
    undisputed = 0 if payment is None else payment.undisputed
    amount = None if announced.amount is None else min(announced.amount, undisputed)
    new = NewDispute(
        txn_ref=announced.txn_ref,
        reason=announced.reason or "not given",
        amount=amount or None,
        due_at=announced.due_at,
        rail=announced.rail,
        rail_dispute_id=announced.rail_dispute_id,
    )
    opened = open_dispute(new, context, rows)
    if isinstance(opened, Refusal):
        message = f"{announced.rail} reports a dispute that is not opened here: {opened.message}"
        return Decision(notices=(OperatorNotice(announced.txn_ref, message),))
    if isinstance(opened, Decision) and announced.amount is not None and announced.amount > undisputed:
        short = (
            f"{announced.rail} disputes {format_minor(announced.amount)}, but only {format_minor(undisputed)} is left"
        )
        opened.notices = (*opened.notices, OperatorNotice(announced.txn_ref, short))
    return opened
