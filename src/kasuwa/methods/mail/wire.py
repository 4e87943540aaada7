"""Requests and replies of `resources` about mails. Contract: resources#mail"""

from typing import Literal

import msgspec

from kasuwa.wire.fields import Reference
from kasuwa.wire.paging import Paged

MailStatus = Literal["queued", "sent", "failed", "unknown", "bounced"]
Channel = Literal["mail", "sms"]


class MailsRequest(Paged, kw_only=True):
    """Lists mails and text messages, newest first."""

    status: MailStatus | None = None
    "Lists only mails in this state."
    customer_id: Reference | None = None
    "Lists only mails to this customer."


class MailShowRequest(msgspec.Struct, kw_only=True):
    """Shows one mail."""

    mail_id: Reference
    "Identifier of the mail."


class MailSendRequest(msgspec.Struct, kw_only=True):
    """Sends a mail again that failed or bounced, or whose outcome is unknown."""

    mail_id: Reference
    "Identifier of the mail."
    dry_run: bool | None = None
    "Not supported: a request with `true` is refused and sends nothing."


class MailSummary(msgspec.Struct, kw_only=True):
    """A mail without its text."""

    mail_id: str
    "Identifier of the mail."
    purpose: str
    "What it is for: `invoice`, `invoice_reminder` or `payment_receipt`."
    reference: str
    "What it is about: the `invoice_id`, or the `txnRef` of a receipt."
    customer_id: str
    "The customer that it is for. Empty for a receipt: it is for whoever paid."
    status: MailStatus
    "State of the mail."
    attempts: int
    "How often it was given to the mail system."
    reply_code: str | None
    """Code of the mail system's last reply or bounce, such as `550 5.1.1`; of a text message that of its vendor, such
    as `400`. Null if there was none, or none that it explained."""
    channel: Channel | None
    "`mail`, or `sms` for a text message. Null if the customer was erased."
    to: str | None
    "Address that it is for, or telephone number with its country's code. Null if the customer was erased."
    to_name: str | None
    "Name of whom it is for. Null if the customer was erased."
    subject: str | None
    "Subject. A text message has none: it is empty. Null if the customer was erased."
    created_at: str
    "Time at which it was made, in UTC."
    changed_at: str
    "Time at which its state changed last, in UTC."
    sent_at: str | None
    "Time at which the mail system took it, in UTC. Else null."


class MailRecord(MailSummary, kw_only=True):
    """A mail."""

    sender_name: str | None
    "Name that it is sent with. Empty for a text message. Null if the customer was erased."
    reply_to: str | None
    "Address that answers go to. Null if you have set none, or if the customer was erased."
    text: str | None
    "The mail as plain text, or the text message. Null if the customer was erased."
    html: str | None
    "The mail as HTML, with the same words. Empty for a text message. Null if the customer was erased."


class MailReply(msgspec.Struct, kw_only=True):
    """One mail."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: MailRecord
    "The mail."


class MailsReply(msgspec.Struct, kw_only=True):
    """One page of mails, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[MailSummary]
    "The mails."
    total: int
    "Number of mails on all pages."
    offset: int
    "Number of mails that were skipped."
    limit: int
    "Largest number of mails on this page. The next page begins at `offset` + `limit`."
