"""The mail system by SMTP: what its outcomes mean to a rule, and the share of the deployment, which text messages have
too."""

import time

import structlog

from kasuwa.core.mail import Mail
from kasuwa.outbound.mail import MailNotSent, MailOutcomeUnknown, MailRefused, MailTransport
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.mail import REPLY_CODE
from kasuwa.rails.ports.orders import Answer, NoAnswer, NothingSent, Unavailable
from kasuwa.rails.ports.sms import SmsRail
from kasuwa.terms.sms import Sms

log = structlog.get_logger("kasuwa.mail")


# How much of a minute's mails may leave at once.
BURST_SECONDS = 10.0


class MailPace:
    """The share of a process: the mails, or text messages, of all that it gives to the mail server or vendor in a
    minute."""

    def __init__(self, mails_a_minute: int) -> None:
        self._interval = 60.0 / mails_a_minute
        self._burst = max(1, int(BURST_SECONDS / self._interval))
        self._free_at = float("-inf")
        self._retry_at = float("-inf")

    def take(self, now: float) -> float:
        """Returns 0 if a mail may leave now, and counts it. Else returns after how many seconds it may be tried again:
        those that wait come one after the other."""
        self._free_at = max(self._free_at, now - (self._burst - 1) * self._interval)
        if self._free_at <= now:
            self._free_at += self._interval
            return 0.0
        self._retry_at = max(self._retry_at, self._free_at) + self._interval
        return self._retry_at - now


class SmtpMail:
    def __init__(self, transport: MailTransport, pace: MailPace) -> None:
        self._transport = transport
        self._pace = pace

    async def send(self, mail: Mail) -> Answer:
        wait = self._pace.take(time.monotonic())
        if wait:
            raise NothingSent("the deployment's share of the mail server is used up", retry_after=wait)
        try:
            await self._transport.send(mail)
        except MailRefused as error:
            return Answer(orders.FAILED, None, error.reason, {REPLY_CODE: error.code} if error.code else {})
        except MailNotSent as error:
            log.warning("mail not sent", message_id=mail.message_id, reason=error.reason, code=error.code)
            trouble = Unavailable(str(error))
            trouble.facts = {REPLY_CODE: error.code}
            raise trouble from None
        except MailOutcomeUnknown:
            log.warning("the outcome of a mail is unknown", message_id=mail.message_id)
            raise NoAnswer from None
        return Answer(orders.SUCCESSFUL, None, "The mail server has the mail")


class PacedSms:
    """A vendor of text messages, within the share of the deployment."""

    def __init__(self, rail: SmsRail, pace: MailPace) -> None:
        self._rail = rail
        self._pace = pace

    async def send(self, sms: Sms) -> Answer:
        wait = self._pace.take(time.monotonic())
        if wait:
            raise NothingSent("the deployment's share of text messages is used up", retry_after=wait)
        return await self._rail.send(sms)
