"""The mail system of the test environment: every mail and text message stays in the merchant's outbox, and goes nowhere
else.

The recipient selects the outcome: `bounce@…` is refused, `returned@…` is taken and returned, `busy@…` is declined for
now, and of `lost@…` nobody knows. So do the last digits of a telephone number: 0550, 0450 and 0504.
"""

from kasuwa.core.mail import Mail
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.mail import REPLY_CODE, RETURNED
from kasuwa.rails.ports.orders import Answer, NoAnswer, Unavailable
from kasuwa.terms.sms import Sms


class SandboxMail:
    async def send(self, mail: Mail) -> Answer:
        local = mail.to.partition("@")[0].lower()
        if local == "bounce":
            return Answer(orders.FAILED, None, "The recipient is unknown", {REPLY_CODE: "550 5.1.1"})
        if local == "returned":
            return Answer(orders.SUCCESSFUL, None, "The mailbox is full", {REPLY_CODE: "552 5.2.2", RETURNED: "true"})
        if local == "busy":
            raise Unavailable("the mailbox is busy")
        if local == "lost":
            raise NoAnswer("the connection was lost")
        return Answer(orders.SUCCESSFUL, None, "The mail is in the outbox", {REPLY_CODE: "250 2.0.0"})


class SandboxSms:
    async def send(self, sms: Sms) -> Answer:
        if sms.to.endswith("0550"):
            return Answer(orders.FAILED, None, "The number is refused", {REPLY_CODE: "400"})
        if sms.to.endswith("0450"):
            raise Unavailable("the vendor is busy")
        if sms.to.endswith("0504"):
            raise NoAnswer("the connection was lost")
        return Answer(orders.SUCCESSFUL, None, "The message is in the outbox", {REPLY_CODE: "200"})
