"""Jobs of open disputes: reminders, the deadline, and the review by the payer's bank. Contract: payment#disputes"""

from datetime import timedelta

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs, NeedsMore, OperatorNotice
from kasuwa.methods.disputes.model import (
    DEADLINE,
    EXPIRED,
    NEEDS_RESPONSE,
    REMINDER_HOURS,
    REVIEW,
    UNDER_REVIEW,
    Dispute,
)
from kasuwa.methods.disputes.rules.end_dispute import dispute_rows, end_dispute
from kasuwa.methods.disputes.rules.open_dispute import next_deadline_step
from kasuwa.methods.disputes.rules.steps_of_dispute import (
    REMINDER,
    ask_job,
    dispute_job,
    name_at_rail,
    review_job,
    take_step,
)
from kasuwa.rails.ports.orders import Answer


def need_dispute_job(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(dispute_rows(merchant.merchant_id, job.reference))


def decide_deadline(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Reminds the merchant. If the time is over, ends the dispute, or has the rail asked that announced it.

    If several steps lie behind, because nothing ran for days, the deadline counts and missed reminders are left out.
    """
    dispute, current_job = rows.get(Dispute, job.subject), rows.get(Job, job.key)
    if current_job is None or current_job.kind != DEADLINE:
        return Decision()
    assert dispute is not None
    if dispute.state != NEEDS_RESPONSE:
        return Decision(jobs_done=(current_job,))
    if dispute.due_at <= context.now and dispute.has_rail:
        return Decision(jobs=(ask_job(dispute, context.now),))  # the rail decides
    if dispute.due_at <= context.now:
        return end_dispute(dispute, EXPIRED, context, rows)
    following = dispute_job(dispute, DEADLINE, next_deadline_step(dispute, context.now))
    first_reminder = dispute.due_at - timedelta(hours=max(REMINDER_HOURS))
    if context.now < first_reminder:
        return Decision(jobs=(following,))  # the deadline was moved
    step = take_step(dispute, REMINDER, context)
    return Decision(rows=(step.row,), jobs=(following, *step.jobs), events=(step.event,))


def decide_review(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision:
    """Tells the operator that there is no outcome yet."""
    dispute, current_job = rows.get(Dispute, job.subject), rows.get(Job, job.key)
    if current_job is None or current_job.kind != REVIEW:
        return Decision()
    assert dispute is not None
    if dispute.state != UNDER_REVIEW:
        return Decision(jobs_done=(current_job,))
    following = review_job(dispute, context.now)
    since, known = utc_text(dispute.responded_at or dispute.opened_at), name_at_rail(dispute)
    message = f"the dispute of {dispute.txn_ref} has no outcome since {since}: ask about {known}"
    return Decision(jobs=(following,), notices=(OperatorNotice(dispute.dispute_id, message),))
