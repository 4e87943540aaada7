"""Sends a mail again that failed, or whose outcome is unknown. Contract: resources#mail-states"""

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs, NeedsMore, Refusal
from kasuwa.core.references import job_key
from kasuwa.methods.mail.model import (
    QUEUED,
    SENT,
    UNKNOWN_MAIL,
    MailRow,
    MailShare,
    mail_key,
    read_content,
    refuse_channel,
    share_key,
)
from kasuwa.methods.mail.records import show_mail
from kasuwa.methods.mail.rules.queue_mail import requeue, write_mail
from kasuwa.methods.mail.wire import MailReply, MailSendRequest
from kasuwa.terms.mail import MailService

ALREADY_SENT = Refusal(INVALID_REQUEST, "The mail was sent already. Nothing was sent again", error_code="mail_sent")
STILL_QUEUED = Refusal(
    INVALID_REQUEST, "The mail is still on its way. Nothing was sent again", error_code="mail_queued"
)
ERASED = Refusal(INVALID_REQUEST, "The mail cannot be sent: its customer was erased", error_code="customer_erased")


def need_mail(request: MailSendRequest, merchant: Merchant) -> Needs:
    key = mail_key(merchant.merchant_id, request.mail_id)
    return Needs(((MailRow, key), (Job, job_key(key)), (MailShare, share_key(merchant.merchant_id))))


def decide_send_again(
    request: MailSendRequest, context: Context, rows: LoadedRows
) -> Decision[MailReply] | Refusal | NeedsMore:
    mail = rows.get(MailRow, mail_key(context.merchant.merchant_id, request.mail_id))
    if mail is None:
        return UNKNOWN_MAIL
    content = read_content(mail, context.vault.unseal)
    refused = None if content is None else refuse_channel(content.channel, context.terms(MailService))
    if refused is not None:
        return refused
    if mail.status == QUEUED:
        return STILL_QUEUED
    if mail.status == SENT:
        return ALREADY_SENT
    if content is None:
        return ERASED
    queued, effects = write_mail(requeue(mail, context), context, rows)
    decision = Decision(reply=MailReply(message="The mail is queued again", data=show_mail(queued, content)))
    decision.add(effects)
    return decision
