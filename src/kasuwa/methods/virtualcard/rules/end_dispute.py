"""Ends a dispute of a card purchase: the card network decides it, or the dispute of a shop of this deployment.

A dispute that is won gives the card its money as a refund of the shop does, at the rate of the purchase
(rules/refund.py). Contract: virtualcard#disputes
"""

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import (
    Context,
    Decision,
    Effects,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    OperatorNotice,
    Refusal,
)
from kasuwa.core.references import job_key, reference_of_rail_key
from kasuwa.methods.virtualcard.dispute_model import (
    DECIDED_BY_SHOP,
    DISPUTE_ENDED,
    LOST,
    UNKNOWN_CARD_DISPUTE,
    WON,
    CardDispute,
    card_dispute_key,
)
from kasuwa.methods.virtualcard.dispute_wire import CardDisputeDecided, CardOutcomeRequest
from kasuwa.methods.virtualcard.model import CardRecord, record_key
from kasuwa.methods.virtualcard.rules.purchase import KIND as PURCHASE
from kasuwa.methods.virtualcard.rules.refund import PurchaseRefund, find_purchase_refund, refund_purchase
from kasuwa.methods.virtualcard.rules.steps_of_dispute import dispute_rows, end_step, reply_dispute, review_job
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.transactions import Transaction, transaction_key

OUTCOMES = {WON: "The card network decided for the cardholder", LOST: "The card network decided for the shop"}
SHOP_OUTCOMES = {WON: "The shop has lost its dispute", LOST: "The shop has won its dispute"}


# --- by the card network --------------------------------------------------------------------------------------------


def need_outcome(request: CardOutcomeRequest, merchant: Merchant) -> Needs:
    return Needs(dispute_rows(merchant.merchant_id, request.dispute_id))


def decide_outcome(
    request: CardOutcomeRequest, context: Context, rows: LoadedRows
) -> Decision[CardDisputeDecided] | Refusal | NeedsMore:
    dispute = rows.get(CardDispute, card_dispute_key(context.merchant.merchant_id, request.dispute_id))
    if dispute is None:
        return UNKNOWN_CARD_DISPUTE
    if not dispute.is_open:
        return DISPUTE_ENDED
    if dispute.is_with_shop_here:
        return DECIDED_BY_SHOP
    job = rows.get(Job, job_key(dispute.key))
    done = () if job is None else (job,)
    if request.outcome == LOST:
        step = end_step(dispute, LOST, OUTCOMES[LOST], context)
        return Decision(
            reply=reply_dispute(step.row), rows=(step.row,), jobs=step.jobs, jobs_done=done, events=(step.event,)
        )
    record_id = record_key(dispute.merchant_id, dispute.txn_ref)
    if not rows.is_loaded(record_id):
        return NeedsMore(Needs(((CardRecord, record_id),)))
    record = rows.get(CardRecord, record_id)
    assert record is not None
    order = record.order_key or dispute.txn_ref
    key = transaction_key(dispute.merchant_id, PURCHASE, order)
    if not rows.is_loaded(key):
        return NeedsMore(Needs(((Transaction, key),)))
    refund = find_purchase_refund(order, dispute.amount, context, rows)
    if not isinstance(refund, PurchaseRefund):
        return refund
    refunded = refund_purchase(refund, None, context, rows, dispute.dispute_id)
    if not isinstance(refunded, tuple):
        return refunded
    row, decision = refunded
    won = win_dispute(dispute, row, OUTCOMES[WON], context)
    decision.add(won)
    decision.jobs_done = done
    [shown] = won.rows
    assert isinstance(shown, CardDispute)
    decision.reply = reply_dispute(shown)
    return decision


def win_dispute(dispute: CardDispute, refund: Transaction, outcome: str, context: Context) -> Effects:
    """Returns the end of a dispute whose money is on the card by `refund`."""
    paid = msgspec.structs.replace(dispute, credited=refund.amount, refund_ref=refund.txn_ref)
    step = end_step(paid, WON, outcome, context)
    return Effects(rows=(step.row,), jobs=step.jobs, events=(step.event,))


# --- by a shop of this deployment -----------------------------------------------------------------------------------


def need_filed(key: str, merchant: Merchant) -> Needs:
    """Returns the dispute that an order of a shop names, or nothing if it names none."""
    if not key:
        return Needs()
    return Needs(((CardDispute, card_dispute_key(merchant.merchant_id, reference_of_rail_key(key))),))


def find_filed(key: str, context: Context, rows: LoadedRows) -> CardDispute | None:
    if not key:
        return None
    return rows.get(CardDispute, card_dispute_key(context.merchant.merchant_id, reference_of_rail_key(key)))


def win_at_shop(key: str, refund: Transaction, context: Context, rows: LoadedRows) -> Effects:
    """Returns the end of the dispute that a refund is paid for. It is won however it ended before."""
    dispute = find_filed(key, context, rows)
    return Effects() if dispute is None else win_dispute(dispute, refund, SHOP_OUTCOMES[WON], context)


def lose_at_shop(key: str, context: Context, rows: LoadedRows) -> Effects:
    """Returns the end of the dispute that the shop has won. One that the card got money for loses it in the same
    decision (rules/take_back.py). One that was withdrawn or closed stays as it is."""
    dispute = find_filed(key, context, rows)
    if dispute is None or not (dispute.is_open or dispute.state == WON):
        return Effects()
    taken = msgspec.structs.replace(dispute, credited=0, refund_ref="")
    step = end_step(taken, LOST, SHOP_OUTCOMES[LOST], context)
    return Effects(rows=(step.row,), jobs=step.jobs, events=(step.event,))


# --- reminders ------------------------------------------------------------------------------------------------------


def need_review(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(dispute_rows(merchant.merchant_id, job.reference))


def decide_review(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision:
    """Tells the operator that there is no outcome yet."""
    dispute, current_job = rows.get(CardDispute, job.subject), rows.get(Job, job.key)
    if current_job is None or dispute is None:
        return Decision()
    if not dispute.is_open:
        return Decision(jobs_done=(current_job,))
    if context.now < current_job.due:
        return Decision(jobs=(current_job,))  # not due yet in business time: release it unchanged
    since = utc_text(dispute.filed_at)
    message = f"the dispute of the card purchase {dispute.txn_ref} has no outcome since {since}: ask the card network"
    return Decision(jobs=(review_job(dispute, context.now),), notices=(OperatorNotice(dispute.dispute_id, message),))
