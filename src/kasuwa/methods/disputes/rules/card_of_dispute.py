"""A dispute of a payment with a card that was issued here: the card gets its money, and loses it if that is corrected.

The card's merchant has books of its own, so the issuer is called by a job, as it is for a refund. Orders are
idempotent: a job that gets no answer is run again under the same key. The orders of a dispute that the cardholder has
filed name it, so that it ends with them; one that the shop wins is told by a job too. Contract: payment#disputes
"""

from datetime import datetime, timedelta

import msgspec

from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs, OperatorNotice, make_job
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key, row_key
from kasuwa.methods.disputes.model import CARD_LANE, PAY_CARD, TAKE_CARD, TELL_CARD, Dispute, dispute_key
from kasuwa.methods.disputes.rules.steps_of_dispute import event_reference, reply_dispute
from kasuwa.methods.payment.model import Payment
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.issuer import ISSUED_SESSION
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.requery import NOT_FOUND_IS_FAILED_AFTER_SECONDS, next_requery_at
from kasuwa.transactions.transactions import encode_text


class CardOrder(msgspec.Struct, frozen=True, omit_defaults=True):
    """The work of a job that pays a card, or takes back what it was paid. References are the paid merchant's."""

    dispute_id: str
    payment: str
    amount: int
    began_at: float  # Unix time
    paid_under: str = ""  # reference of the order that paid the card, to take it back
    filed_as: str = ""  # key of the cardholder's dispute, if there is one


CARD_ORDER_DECODER: "msgspec.json.Decoder[CardOrder]" = msgspec.json.Decoder(CardOrder)


def pay_card(ended: Dispute, payment: Payment, context: Context) -> Job | None:
    """Returns the job that gives the payer's card its money, or None if it was not issued here. `ended` is the dispute
    after the step that ended it."""
    if payment.session != ISSUED_SESSION:
        return None
    order = make_order(ended, ended.amount, context)
    return card_job(ended, PAY_CARD, order, context.now)


def make_order(dispute: Dispute, amount: int, context: Context, paid_under: str = "") -> CardOrder:
    filed_as = dispute.rail_dispute_id if dispute.is_filed_here else ""
    return CardOrder(dispute.dispute_id, dispute.txn_ref, amount, context.now.timestamp(), paid_under, filed_as)


def tell_card(won: Dispute, context: Context) -> Job | None:
    """Returns the job that tells the cardholder's dispute that the shop has won. None if no cardholder filed it."""
    return card_job(won, TELL_CARD, make_order(won, 0, context), context.now) if won.is_filed_here else None


def take_card(before: Dispute, corrected: Dispute, payment: Payment, context: Context) -> Job | None:
    """Returns the job that takes back what the card was paid at the step before, or None if it was not issued here."""
    if payment.session != ISSUED_SESSION:
        return None
    paid_under = event_reference(before.dispute_id, before.events)
    order = make_order(before, before.amount, context, paid_under)
    return card_job(corrected, TAKE_CARD, order, context.now)


def card_job(dispute: Dispute, kind: str, order: CardOrder, due: datetime) -> Job:
    """Returns a job of its own for each step, so that a correction does not wait for the order before."""
    reference = event_reference(dispute.dispute_id, dispute.events)
    subject = row_key(dispute.merchant_id, "dispute card", reference)
    return make_job(
        key=job_key(subject),
        merchant_id=dispute.merchant_id,
        kind=kind,
        lane=CARD_LANE,
        reference=reference,
        subject=subject,
        due=due,
        work=encode_text(order),
    )


def need_card_answer(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    dispute_id = CARD_ORDER_DECODER.decode(job.work).dispute_id
    return Needs(((Job, job.key), (Dispute, dispute_key(merchant.merchant_id, dispute_id))))


def decide_card_answer(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision:
    """Ends the order, or has it repeated on the requery schedule."""
    current, order = rows.get(Job, job.key), CARD_ORDER_DECODER.decode(job.work)
    dispute = rows.get(Dispute, dispute_key(context.merchant.merchant_id, order.dispute_id))
    assert dispute is not None
    if current is None or answer.status == orders.SUCCESSFUL:
        return Decision(reply=reply_dispute(dispute), jobs_done=() if current is None else (current,))
    age = context.now.timestamp() - order.began_at
    # The order that paid the card may still be repeated by its own job.
    is_awaited = answer.status == orders.NOT_FOUND and job.kind == TAKE_CARD and age < NOT_FOUND_IS_FAILED_AFTER_SECONDS
    if answer.status in (orders.FAILED, orders.NOT_FOUND) and not is_awaited:
        notice = OperatorNotice(dispute.dispute_id, describe_failure(job.kind, order, dispute, answer))
        return Decision(reply=reply_dispute(dispute), jobs_done=(current,), notices=(notice,))
    due = max(next_requery_at(context.now, age), context.now + timedelta(seconds=answer.retry_after))
    again = msgspec.structs.replace(current, due=due, attempt=current.attempt + 1)
    return Decision(reply=reply_dispute(dispute), jobs=(again,))


def describe_failure(kind: str, order: CardOrder, dispute: Dispute, answer: Answer) -> str:
    if kind == TELL_CARD:
        ended = f"the shop has won the dispute of {dispute.txn_ref}"
        return f"{ended}, and that of the cardholder could not be ended: {answer.message}"
    what = "given to" if kind == PAY_CARD else "taken back from"
    amount = f"{dispute.currency} {format_minor(order.amount)}"
    return f"{amount} of the dispute of {dispute.txn_ref} could not be {what} the card issued here: {answer.message}"
