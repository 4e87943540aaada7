"""Queues a mail or a text message of a merchant, once for each occasion, and within the merchant's share.

A rule that sends a mail adds the effects of `queue_mail` to its own: the mail is queued in the same commit, and a job
sends it. Contract: resources#mail
"""

from datetime import datetime

import msgspec

from kasuwa.core.decision import Context, Effects, Job, LoadedRows, Merchant, Needs, NeedsMore, Row
from kasuwa.core.mail import is_address
from kasuwa.core.mail_text import MailText, make_footer, render_html, render_text
from kasuwa.core.references import job_key
from kasuwa.methods.mail.model import (
    INTERVAL,
    MAIL,
    MAIL_BURST,
    QUEUED,
    RESENDABLE,
    SMS,
    MailContent,
    MailRow,
    MailShare,
    content_aad,
    mail_key,
    make_mail_id,
    make_send_job,
    share_key,
)
from kasuwa.terms.mail import MailService, MailTerms
from kasuwa.terms.sms import SmsText, is_sms_number


class NewMail(msgspec.Struct, frozen=True, kw_only=True):
    """A mail or a text message that a rule sends."""

    occasion: str  # what it is sent for, such as an invoice as it is today: there is one mail of each
    purpose: str
    reference: str  # what it is about
    customer_id: str
    to: str  # an address, or the telephone number of a text message
    to_name: str
    content: MailText | SmsText


class Recipient(msgspec.Struct, frozen=True):
    """The channel by which somebody is reached, and the address or the number."""

    channel: str
    to: str


class QueuedMail(msgspec.Struct, frozen=True):
    """A mail, and what queues it. Without effects it was queued or sent before."""

    row: MailRow
    effects: Effects


def choose_recipient(email: str, number: str, context: Context) -> Recipient:
    """Returns the address of a person, or the telephone number if no mail can be sent to the address and the merchant
    has turned text messages on. Where neither can be used the address is returned: a mail to it fails at once."""
    is_turned_on = context.merchant.terms(MailTerms).sms and context.terms(MailService).sends_sms
    if is_turned_on and not is_address(email) and is_sms_number(number):
        return Recipient(SMS, number)
    return Recipient(MAIL, email)


def need_mail_rows(merchant_id: int, occasion: str) -> Needs:
    key = mail_key(merchant_id, make_mail_id(occasion))
    return Needs(((MailRow, key), (Job, job_key(key)), (MailShare, share_key(merchant_id))))


def queue_mail(new: NewMail, context: Context, rows: LoadedRows) -> QueuedMail | NeedsMore:
    """Queues a mail. The mail of an occasion that failed, or whose outcome is unknown, is queued again as it was."""
    merchant_id = context.merchant.merchant_id
    mail_id = make_mail_id(new.occasion)
    key = mail_key(merchant_id, mail_id)
    if not rows.is_loaded(key):
        return NeedsMore(need_mail_rows(merchant_id, new.occasion))
    known = rows.get(MailRow, key)
    if known is None:
        return QueuedMail(*write_mail(begin_mail(mail_id, new, context), context, rows))
    if known.status in RESENDABLE and known.content_sealed is not None:
        return QueuedMail(*write_mail(requeue(known, context), context, rows))
    return QueuedMail(known, Effects())


def begin_mail(mail_id: str, new: NewMail, context: Context) -> MailRow:
    merchant = context.merchant
    content = make_content(new, merchant)
    return MailRow(
        key=mail_key(merchant.merchant_id, mail_id),
        merchant_id=merchant.merchant_id,
        mail_id=mail_id,
        purpose=new.purpose,
        reference=new.reference,
        customer_id=new.customer_id,
        status=QUEUED,
        attempts=0,
        reply_code="",
        content_sealed=context.seal(content_aad(mail_id), msgspec.json.encode(content)),
        created_at=context.now,
        changed_at=context.now,
        sent_at=None,
    )


def make_content(new: NewMail, merchant: Merchant) -> MailContent:
    if isinstance(new.content, SmsText):
        return MailContent(new.to, new.to_name, subject="", text=new.content.text, html="", channel=SMS)
    terms, footer = merchant.terms(MailTerms), make_footer(merchant.name)
    return MailContent(
        to=new.to,
        to_name=new.to_name,
        subject=new.content.subject,
        text=render_text(new.content, footer),
        html=render_html(new.content, footer),
        sender_name=terms.sender_name or merchant.name,
        reply_to=terms.reply_to,
    )


def requeue(mail: MailRow, context: Context) -> MailRow:
    return msgspec.structs.replace(mail, status=QUEUED, changed_at=context.now)


def write_mail(mail: MailRow, context: Context, rows: LoadedRows) -> tuple[MailRow, Effects]:
    """Returns a queued mail with the effects that write it, its job and the merchant's share. The share must be
    loaded."""
    key = share_key(mail.merchant_id)
    due, free_at = take_share(rows.get(MailShare, key), context.now)
    written: tuple[Row, ...] = (mail, MailShare(key, mail.merchant_id, free_at))
    return mail, Effects(rows=written, jobs=(make_send_job(mail, due),))


def take_share(share: MailShare | None, now: datetime) -> tuple[datetime, datetime]:
    """Returns when a mail may leave, and from when on the next one may but for the burst.

    A burst leaves at once; what is queued beyond it leaves by and by, so that no merchant fills the mail system."""
    earliest = now - (MAIL_BURST - 1) * INTERVAL
    free_at = earliest if share is None else max(share.free_at, earliest)
    return max(now, free_at), free_at + INTERVAL
