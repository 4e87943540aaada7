"""Mails and text messages (SMS): the row, its states, its content and its job. Contract: resources#mail

queued ──> sent       the mail system, or the vendor of text messages, has it
   │  ├──> failed     it refused the mail for good, or did not take it for days
   │  └──> unknown    it may have it: nobody can ask, so it is not sent again by itself
   └─<── failed, unknown, bounced    a person sends it again, under the same Message-ID

sent, unknown ──> bounced   a mail system that took it has returned it
"""

from base64 import b64decode, b64encode
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import ClassVar

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Job, Refusal, Row, make_job
from kasuwa.core.mail import MailTry
from kasuwa.core.references import job_key, row_key
from kasuwa.core.vault import Unsealer, Vault
from kasuwa.terms.mail import MailService
from kasuwa.transactions.transactions import encode_text

QUEUED = "queued"
SENT = "sent"
FAILED = "failed"
UNKNOWN = "unknown"
BOUNCED = "bounced"
# States from which a mail can be sent again.
RESENDABLE = frozenset({FAILED, UNKNOWN, BOUNCED})

# How it reaches the customer.
MAIL, SMS = "mail", "sms"
ID_PREFIX, ID_BYTES = "ML", 16
LANE = "mail"
# The purpose of a mail to the payer of a payment. Its reference is the txnRef, and its customer_id is empty.
RECEIPT_MAIL = "payment_receipt"
SEND = "mail.send"

# A merchant's share of the mail system: mails and text messages in a minute, and how many may leave at once.
MAILS_A_MINUTE = 60
MAIL_BURST = 60
INTERVAL = timedelta(minutes=1) / MAILS_A_MINUTE

# After how long a mail is tried again that the mail system did not take. Then it has failed.
RETRY_AFTER = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=15),
    timedelta(hours=1),
    timedelta(hours=4),
    timedelta(hours=12),
    timedelta(hours=24),
    timedelta(hours=24),
)

UNKNOWN_MAIL = Refusal(INVALID_REQUEST, "Invalid Mail Reference", error_code="mail_not_found")
NOT_CONFIGURED = Refusal(
    INVALID_REQUEST,
    "This deployment sends no mail: no mail server is configured. Nothing was sent",
    error_code="mail_not_configured",
)
SMS_NOT_CONFIGURED = Refusal(
    INVALID_REQUEST,
    "This deployment sends no text messages: no vendor of them is configured. Nothing was sent",
    error_code="sms_not_configured",
)


class MailRow(Row):
    """One mail."""

    table: ClassVar[str] = "mail"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "status",
        "attempts",
        "reply_code",
        "content_sealed",
        "changed_at",
        "sent_at",
    )

    mail_id: str
    purpose: str
    reference: str  # what it is about, such as an invoice_id
    customer_id: str
    status: str
    attempts: int  # how often it was given to the mail system
    reply_code: str  # of the mail system's last reply or bounce; empty if there was none
    content_sealed: bytes | None  # an encrypted MailContent; None once the customer was erased
    created_at: datetime
    changed_at: datetime
    sent_at: datetime | None

    @property
    def is_open(self) -> bool:
        return False


class MailShare(Row):
    """A merchant's share of the mail system: the time from which on its next mail may leave."""

    table: ClassVar[str] = "mail_share"
    mutable_columns: ClassVar[tuple[str, ...]] = ("free_at",)

    free_at: datetime


class MailContent(msgspec.Struct, frozen=True, omit_defaults=True):
    """The recipient and the text of a mail, or of a text message, which has no subject and no HTML."""

    to: str  # an address, or a telephone number in E.164 form
    to_name: str
    subject: str
    text: str
    html: str
    sender_name: str = ""
    reply_to: str = ""
    channel: str = MAIL

    def __repr__(self) -> str:
        return "MailContent(…)"


CONTENT_DECODER: "msgspec.json.Decoder[MailContent]" = msgspec.json.Decoder(MailContent)


class MailWork(msgspec.Struct, frozen=True):
    """The data of a mail's job."""

    sealed_mail: str  # its content as the row has it, in base64
    attempts: int = 0  # how often it was given to the mail system before


WORK_DECODER: "msgspec.json.Decoder[MailWork]" = msgspec.json.Decoder(MailWork)


def make_mail_id(occasion: str) -> str:
    """Returns the id of the one mail of an occasion, such as an invoice as it is today. Occasions have ids that nobody
    can guess."""
    return ID_PREFIX + blake2b(occasion.encode(), digest_size=ID_BYTES).hexdigest()


def mail_key(merchant_id: int, mail_id: str) -> bytes:
    return row_key(merchant_id, "mail", mail_id)


def share_key(merchant_id: int) -> bytes:
    return row_key(merchant_id, "mail share", "")


def content_aad(mail_id: str) -> str:
    return f"mail.content_sealed {mail_id}"


def refuse_channel(channel: str, service: MailService) -> Refusal | None:
    """Returns the refusal of a deployment that cannot send by a channel, or None."""
    if channel == SMS:
        return None if service.sends_sms else SMS_NOT_CONFIGURED
    return None if service.is_configured else NOT_CONFIGURED


def make_send_job(mail: MailRow, due: datetime) -> Job:
    """Returns the job of a queued mail."""
    assert mail.content_sealed is not None
    return make_job(
        key=job_key(mail.key),
        merchant_id=mail.merchant_id,
        kind=SEND,
        lane=LANE,
        reference=mail.mail_id,
        subject=mail.key,
        due=due,
        work=encode_text(MailWork(b64encode(mail.content_sealed).decode(), mail.attempts)),
    )


def describe_try(job: Job) -> MailTry:
    """Returns which try the job of a mail makes."""
    return MailTry(job.merchant_id, job.reference, WORK_DECODER.decode(job.work).attempts)


def restore_content(job: Job, vault: Vault) -> MailContent:
    """Returns the content of a mail out of its job."""
    sealed = b64decode(WORK_DECODER.decode(job.work).sealed_mail)
    return CONTENT_DECODER.decode(vault.unseal(job.merchant_id, content_aad(job.reference), sealed))


def read_content(mail: MailRow, unseal: Unsealer) -> MailContent | None:
    """Returns the content of a mail, or None if it was erased."""
    if mail.content_sealed is None:
        return None
    return CONTENT_DECODER.decode(unseal(mail.merchant_id, content_aad(mail.mail_id), bytes(mail.content_sealed)))


def erase_content(mail: MailRow) -> MailRow:
    """Returns a mail without recipient and text. If it was not sent, it never is: its job ends with them."""
    status = FAILED if mail.status == QUEUED else mail.status
    return msgspec.structs.replace(mail, content_sealed=None, status=status)
