"""The port of the vendor of text messages (SMS)."""

from typing import Protocol

from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.sms import Sms


class SmsRail(Protocol):
    """Takes a text message for delivery, as the mail system takes a mail (rails/ports/mail.py): the same outcomes, and
    REPLY_CODE is the HTTP status of a refusal.

    Raises Unavailable if it certainly does not have it, and NoAnswer if it may. It cannot be queried."""

    async def send(self, sms: Sms) -> Answer: ...
