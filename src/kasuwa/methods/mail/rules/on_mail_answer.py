"""Decides on the answer of the mail system. Contract: resources#mail-states"""

from datetime import timedelta

import msgspec

from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs
from kasuwa.methods.mail.model import BOUNCED, FAILED, QUEUED, RETRY_AFTER, SENT, UNKNOWN, MailRow, make_send_job
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.mail import REPLY_CODE, RETURNED
from kasuwa.rails.ports.orders import Answer

# What an answer makes of a mail. One that was not taken stays queued, until it was tried often enough.
OUTCOMES = {orders.SUCCESSFUL: SENT, orders.FAILED: FAILED, orders.UNKNOWN: UNKNOWN}


def need_queued_mail(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((MailRow, job.subject), (Job, job.key)))


def decide_mail_answer(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision:
    """Records what became of a mail. The answer to a try that another one has followed changes nothing."""
    mail, current_job = rows.get(MailRow, job.subject), rows.get(Job, job.key)
    if mail is None or current_job is None or mail.status != QUEUED or current_job.attempt != job.attempt:
        return Decision()
    if answer.status == orders.UNAVAILABLE and answer.retry_after:
        # Held back, by the share of the deployment or by a vendor that has said until when: that is no try.
        later = make_send_job(mail, context.now + timedelta(seconds=answer.retry_after))
        return Decision(jobs=(msgspec.structs.replace(later, attempt=job.attempt),))
    tried = msgspec.structs.replace(
        mail,
        attempts=mail.attempts + 1,
        reply_code=answer.facts.get(REPLY_CODE, ""),
        changed_at=context.now,
    )
    status = OUTCOMES.get(answer.status, QUEUED)
    if status == QUEUED and job.attempt < len(RETRY_AFTER):
        again = make_send_job(tried, context.now + RETRY_AFTER[job.attempt])
        return Decision(rows=(tried,), jobs=(msgspec.structs.replace(again, attempt=job.attempt + 1),))
    ended = msgspec.structs.replace(
        tried,
        status=FAILED if status == QUEUED else BOUNCED if answer.facts.get(RETURNED) else status,
        sent_at=context.now if status == SENT else None,
    )
    return Decision(rows=(ended,), jobs_done=(current_job,))
