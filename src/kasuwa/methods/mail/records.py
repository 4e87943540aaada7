"""How mails are shown. Contract: resources#mail"""

from typing import Any

from kasuwa.core.calendar import utc_text
from kasuwa.methods.mail.model import MailContent, MailRow
from kasuwa.methods.mail.wire import MailRecord, MailSummary


def summary_fields(mail: MailRow, content: MailContent | None) -> dict[str, Any]:
    return {
        "mail_id": mail.mail_id,
        "purpose": mail.purpose,
        "reference": mail.reference,
        "customer_id": mail.customer_id,
        "status": mail.status,
        "attempts": mail.attempts,
        "reply_code": mail.reply_code or None,
        "channel": None if content is None else content.channel,
        "to": None if content is None else content.to,
        "to_name": None if content is None else content.to_name,
        "subject": None if content is None else content.subject,
        "created_at": utc_text(mail.created_at),
        "changed_at": utc_text(mail.changed_at),
        "sent_at": None if mail.sent_at is None else utc_text(mail.sent_at),
    }


def show_summary(mail: MailRow, content: MailContent | None) -> MailSummary:
    return MailSummary(**summary_fields(mail, content))


def show_mail(mail: MailRow, content: MailContent | None) -> MailRecord:
    return MailRecord(
        **summary_fields(mail, content),
        sender_name=None if content is None else content.sender_name,
        reply_to=None if content is None else content.reply_to or None,
        text=None if content is None else content.text,
        html=None if content is None else content.html,
    )
