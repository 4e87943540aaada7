"""A dispute that a rail announced is decided by that rail alone: it is asked, and its word is followed.

Our deadline decides nothing there. Once it is over, the rail is asked every hour until it has decided; a dispute under
review is asked after daily. Contract: payment#disputes
"""

from datetime import UTC, datetime, timedelta

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, NeedsMore, OperatorNotice
from kasuwa.core.references import job_key
from kasuwa.methods.disputes.model import (
    ASK,
    ASK_INTERVAL,
    DEADLINE,
    DUE_FACT,
    NEEDS_RESPONSE,
    OUTCOME_FACT,
    OVERDUE_INTERVAL,
    REVIEW_FACT,
    REVIEW_INTERVAL,
    UNDER_REVIEW,
    Dispute,
)
from kasuwa.methods.disputes.rules.correct_dispute import contradicts, correct_dispute
from kasuwa.methods.disputes.rules.end_dispute import end_dispute
from kasuwa.methods.disputes.rules.open_dispute import next_deadline_step
from kasuwa.methods.disputes.rules.steps_of_dispute import (
    ask_job,
    dispute_job,
    name_at_rail,
    reply_dispute,
    review_job,
    take_step,
)
from kasuwa.rails.ports.orders import Answer

# The operator gets a notice of a long review once per this many queries of its rail.
ASKS_UNTIL_NOTICE = REVIEW_INTERVAL // ASK_INTERVAL


def decide_asked(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Follows the rail's answer. Without one, or without a decision of the rail, it is asked again.

    The dispute may have ended while the rail was asked: an answer that contradicts its end corrects it."""
    dispute, current_job = rows.get(Dispute, job.subject), rows.get(Job, job.key)
    assert dispute is not None
    outcome = answer.facts.get(OUTCOME_FACT)
    if not dispute.is_open and outcome and contradicts(dispute, outcome):
        return correct_dispute(dispute, outcome, context, rows)
    if current_job is None or current_job.kind != ASK:
        return Decision()
    if not dispute.is_open:
        return Decision(jobs_done=(current_job,))
    if outcome:
        return end_dispute(dispute, outcome, context, rows)
    due = answer.facts.get(DUE_FACT)
    due_at = None if due is None else datetime.fromtimestamp(float(due), UTC)
    followed = follow_rail(dispute, REVIEW_FACT in answer.facts, due_at, context, rows)
    return followed if followed.jobs else ask_again(dispute, current_job, answer, context)


def follow_rail(
    dispute: Dispute, is_under_review: bool, due_at: datetime | None, context: Context, rows: LoadedRows
) -> Decision:
    """Applies what a rail reports about a dispute that it has not decided: it has an answer, or gives more time."""
    if dispute.state != NEEDS_RESPONSE:
        return Decision(reply=reply_dispute(dispute))
    if is_under_review:
        step = take_step(msgspec.structs.replace(dispute, state=UNDER_REVIEW), UNDER_REVIEW, context)
        jobs = (review_job(step.row, context.now), *step.jobs)
        return Decision(reply=reply_dispute(step.row), rows=(step.row,), jobs=jobs, events=(step.event,))
    if due_at is not None and due_at > max(dispute.due_at, context.now):
        moved = msgspec.structs.replace(dispute, due_at=due_at)
        following = dispute_job(moved, DEADLINE, next_deadline_step(moved, context.now))
        return Decision(reply=reply_dispute(moved), rows=(moved,), jobs=(following,))
    return Decision(reply=reply_dispute(dispute))


def ask_again(dispute: Dispute, job: Job, answer: Answer, context: Context) -> Decision:
    """Schedules the next time that the rail is asked. The operator is told when it is overdue, and of long reviews."""
    is_overdue = dispute.state == NEEDS_RESPONSE
    interval = OVERDUE_INTERVAL if is_overdue else ASK_INTERVAL
    due = context.now + max(interval, timedelta(seconds=answer.retry_after))
    name, status = name_at_rail(dispute), answer.message
    messages = []
    if is_overdue and not job.attempt:
        nobody = f"nobody responded to the dispute of {dispute.txn_ref} in time"
        messages.append(f"{nobody}. Nothing is taken until {name} ends: {status}")
    if not is_overdue and (job.attempt + 1) % ASKS_UNTIL_NOTICE == 0:
        since = utc_text(dispute.responded_at or dispute.opened_at)
        messages.append(f"the dispute of {dispute.txn_ref} has no outcome since {since}: {name} is {status}")
    if answer.notice and not job.attempt:
        messages.append(answer.notice)
    notices = tuple(OperatorNotice(dispute.dispute_id, message) for message in messages)
    assert job.key == job_key(dispute.key)
    return Decision(jobs=(ask_job(dispute, due, job.attempt + 1),), notices=notices)
