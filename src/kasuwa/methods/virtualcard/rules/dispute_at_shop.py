"""Answers of a shop of this deployment, whose dispute is opened when the cardholder's is filed, and ended when that is
over.

The shop's merchant has books of its own, so it is called by jobs. Orders are idempotent: a job that gets no answer is
run again. The shop's dispute decides in the end (rules/end_dispute.py). Contract: virtualcard#disputes
"""

from datetime import timedelta

import msgspec

from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs
from kasuwa.methods.virtualcard.dispute_model import CLOSED, END_AT_SHOP, CardDispute, card_dispute_key
from kasuwa.methods.virtualcard.rules.steps_of_dispute import end_step, reply_dispute, shop_job
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.requery import next_requery_at


def need_shop_answer(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((Job, job.key), (CardDispute, card_dispute_key(merchant.merchant_id, job.reference))))


def decide_opened(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision:
    """Closes a dispute of which nothing is left at the shop. One that is over meanwhile has the shop's ended."""
    current, dispute = rows.get(Job, job.key), find_dispute(job, context, rows)
    if answer.status not in (orders.SUCCESSFUL, orders.FAILED):
        return repeat(current, answer, dispute, context)
    done = () if current is None else (current,)
    if answer.status == orders.SUCCESSFUL:
        ended = () if dispute.is_open else (shop_job(dispute, END_AT_SHOP, context.now),)
        return Decision(reply=reply_dispute(dispute), jobs=ended, jobs_done=done)
    if not dispute.is_open:
        return Decision(reply=reply_dispute(dispute), jobs_done=done)
    step = end_step(dispute, CLOSED, answer.message, context)
    return Decision(
        reply=reply_dispute(step.row), rows=(step.row,), jobs=step.jobs, jobs_done=done, events=(step.event,)
    )


def decide_ended(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision:
    """Has the order repeated until the shop has answered."""
    current, dispute = rows.get(Job, job.key), find_dispute(job, context, rows)
    if answer.status in (orders.SUCCESSFUL, orders.FAILED):
        return Decision(reply=reply_dispute(dispute), jobs_done=() if current is None else (current,))
    return repeat(current, answer, dispute, context)


def find_dispute(job: Job, context: Context, rows: LoadedRows) -> CardDispute:
    dispute = rows.get(CardDispute, card_dispute_key(context.merchant.merchant_id, job.reference))
    assert dispute is not None
    return dispute


def repeat(current: Job | None, answer: Answer, dispute: CardDispute, context: Context) -> Decision:
    """Has an order without an answer repeated on the requery schedule."""
    if current is None:
        return Decision(reply=reply_dispute(dispute))
    began_at = dispute.ended_at or dispute.filed_at
    age = (context.now - began_at).total_seconds()
    due = max(next_requery_at(context.now, age), context.now + timedelta(seconds=answer.retry_after))
    again = msgspec.structs.replace(current, due=due, attempt=current.attempt + 1)
    return Decision(reply=reply_dispute(dispute), jobs=(again,))
