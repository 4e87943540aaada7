"""Decides on the bounce of a mail that the mail system had taken. Contract: resources#mail-states"""

import msgspec

from kasuwa.core.decision import AuditEntry, Context, Decision, LoadedRows, Needs
from kasuwa.core.mail import MailTry
from kasuwa.methods.mail.model import BOUNCED, QUEUED, SENT, UNKNOWN, MailRow, mail_key

# What codes of temporary failures begin with.
LATE = "4"
NOTED, NOTHING_CHANGED = "noted", "nothing changed"
# The answer of the mail system is not recorded yet. The bounce is to be given again.
NOT_SENT_YET = "the mail is still being sent"


def need_bounced_mail(sent_as: MailTry) -> Needs:
    return Needs(((MailRow, mail_key(sent_as.merchant_id, sent_as.mail_id)),))


def decide_bounce(
    sent_as: MailTry, code: str, is_final: bool, entry: AuditEntry, context: Context, rows: LoadedRows
) -> Decision[str]:
    """Records that a mail was returned, or with `is_final` false that a mail system is still trying. Only a bounce of
    the last try counts, and each once: of late mails the first. Replies BOUNCED, NOTED, NOTHING_CHANGED
    or NOT_SENT_YET."""
    mail = rows.get(MailRow, mail_key(context.merchant.merchant_id, sent_as.mail_id))
    if mail is None:
        return Decision(reply=NOTHING_CHANGED)
    if mail.status == QUEUED and (mail.attempts - sent_as.number) % 256 == 0:
        return Decision(reply=NOT_SENT_YET)
    if mail.status not in (SENT, UNKNOWN) or (mail.attempts - 1 - sent_as.number) % 256:
        return Decision(reply=NOTHING_CHANGED)
    if is_final:
        bounced = msgspec.structs.replace(mail, status=BOUNCED, reply_code=code, changed_at=context.now)
        return Decision(reply=BOUNCED, rows=(bounced,), audit_entries=(entry,))
    if mail.status == UNKNOWN or not code.startswith(LATE) or mail.reply_code.startswith(LATE):
        return Decision(reply=NOTHING_CHANGED)
    return Decision(reply=NOTED, rows=(msgspec.structs.replace(mail, reply_code=code),), audit_entries=(entry,))
