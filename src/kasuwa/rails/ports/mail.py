"""The port of the mail system."""

from typing import Protocol

from kasuwa.core.mail import Mail
from kasuwa.rails.ports.orders import Answer

# A fact of an answer: the code of the mail server's reply, such as `550 5.1.1`.
REPLY_CODE = "reply_code"
# A fact of a mail that was taken: it has come back since. A mail server says so by a bounce.
RETURNED = "returned"


class MailRail(Protocol):
    """Takes a mail for delivery. SUCCESSFUL: the mail system has it. FAILED: it refuses it for good.

    Raises Unavailable if it certainly does not have it, and NoAnswer if it may. It cannot be queried."""

    async def send(self, mail: Mail) -> Answer: ...
