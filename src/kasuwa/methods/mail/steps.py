"""The call of a mail's job. No decisions and no SQL here."""

from datetime import datetime

from kasuwa.core.decision import Job
from kasuwa.core.mail import Mail
from kasuwa.methods.mail.model import SMS, MailContent, describe_try
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.sms import Sms


async def send(rails: Rails, job: Job, now: datetime, secrets: MailContent) -> Answer:
    """Gives a mail to the mail system, or a text message to its vendor.

    A process that died may have sent the mail of a job that was claimed before, and the mail system cannot be asked:
    the outcome is unknown, and it is not sent again by itself."""
    if job.claims > 1 or job.is_queried_first:
        return orders.RAIL_SILENT
    if secrets.channel == SMS:
        return await rails.sms.send(Sms(to=secrets.to, text=secrets.text))
    mail = Mail(
        message_id=job.reference.lower(),
        to=secrets.to,
        to_name=secrets.to_name,
        subject=secrets.subject,
        text=secrets.text,
        html=secrets.html,
        sender_name=secrets.sender_name,
        reply_to=secrets.reply_to,
        at=now,
        sent_as=describe_try(job),
    )
    return await rails.mail.send(mail)
