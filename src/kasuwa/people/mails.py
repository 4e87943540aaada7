"""Mails to the people of the console: queued with what they are about, and claimed by the worker that sends them.

A mail is queued in the transaction of its occasion, so that none is lost and none is about what did not happen. It has
the same states as the mails of merchants (docs/decisions/0115). An occasion has one mail for each person.
"""

import os
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any

import msgspec

from kasuwa.core.mail import Mail, MailTry
from kasuwa.core.mail_text import MailText, render_html, render_text
from kasuwa.core.row_codes import OPERATOR_ID
from kasuwa.core.vault import NONCE_BYTES, Vault
from kasuwa.people.users import ConsoleUser, read_link
from kasuwa.postgres.connection_pool import Connection, QueryRunner

QUEUED, SENT, FAILED, UNKNOWN, BOUNCED = "queued", "sent", "failed", "unknown", "bounced"
ID_PREFIX, ID_BYTES = "PM", 16

# What concerns the security of an account: nobody can turn it off.
INVITATION, PASSWORD_RESET, SIGN_IN_ALERT, ACCOUNT_CHANGED = SECURITY_PURPOSES = (
    "invitation",
    "password_reset",
    "sign_in_alert",
    "account_changed",
)
APPROVALS, DISPUTES, ENDPOINTS, PROPOSALS, NOTICES = (
    "approvals_waiting",
    "disputes_waiting",
    "endpoints_failing",
    "proposals_waiting",
    "operator_notices",
)
# What a person can turn off, with its words on the page of the account, and the side that it is for.
CHOICES_OF_MERCHANTS = {
    APPROVALS: "Transfers that wait for your approval",
    DISPUTES: "Disputes that wait for an answer, and those whose time is about to end",
    ENDPOINTS: "Webhook endpoints that fail or were disabled",
}
CHOICES_OF_OPERATORS = {PROPOSALS: "Proposals that wait for a decision", NOTICES: "Notices of the service"}
LINK_PURPOSES = (INVITATION, PASSWORD_RESET)

FOOTER = "Kasuwa sent you this mail because you have an account in its console."
FOOTER_WITH_CHOICE = f"{FOOTER} Which mails you get is on the page of your account."

# Longer than a try may take (rails and their deadlines).
LEASE = timedelta(minutes=1)
MAX_CLAIMED = 8
# After how long a mail is tried again that the mail system did not take. The links in them live for longer.
RETRY_AFTER = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 240, 720, 1440))
# Codes of mails that were not sent because nobody is to have them any more.
REPLACED, DISABLED = "replaced by a newer link", "the account is disabled"
NO_MAIL_SERVER = "no mail server is configured"
# How long mails that have ended are listed.
KEPT_FOR = timedelta(days=90)

ADD = """
    insert into person_mail (mail_id, user_id, mid, purpose, status, content_sealed)
    select $1, $2, $3, $4, 'queued', $5
    where not exists (select 1 from person_mail_off where user_id = $2 and purpose = $4)
    on conflict (mail_id) do nothing returning number
"""
DROP_LINKS = """
    update person_mail set status = 'failed', reply_code = $3, changed_at = now(), content_sealed = null,
        leased_until = null
    where user_id = $1 and purpose = any($2) and status = 'queued' and leased_until is null
"""
CLAIM = """
    update person_mail m set claims = m.claims + 1, leased_until = now() + $1::interval
    from (
        select number from person_mail
        where status = 'queued' and due_at <= now() and (leased_until is null or leased_until <= now())
        order by due_at, number limit $2 for update skip locked) due
    where m.number = due.number
    returning m.number, m.mail_id, m.attempts, m.claims, m.content_sealed,
        (select disabled_at is not null from console_user u where u.user_id = m.user_id)
"""
# A process whose lease ran out changes nothing once another one has claimed the mail.
IS_HELD = "number = $1 and claims = $2 and status = 'queued'"
END = f"""
    update person_mail set status = $3, reply_code = $4, attempts = attempts + 1, changed_at = now(),
        sent_at = case when $3 in ('sent', 'bounced') then now() end, leased_until = null,
        content_sealed = case when $5 then content_sealed end
    where {IS_HELD}
"""
POSTPONE = f"""
    update person_mail set due_at = now() + $3::interval, reply_code = $4, attempts = attempts + $5, claims = 0,
        changed_at = now(), leased_until = null
    where {IS_HELD}
"""
# A bounce of an earlier try than the last changes nothing.
RETURN = """
    update person_mail set status = case when $3 then 'bounced' else status end, reply_code = $4,
        changed_at = case when $3 then now() else changed_at end
    where mail_id = $1 and (attempts - 1 - $2) % 256 = 0 and (status = 'sent' or status = 'unknown' and $3)
        and ($3 or $4 like '4%' and reply_code not like '4%')
    returning number
"""
# The row is locked, so that the end of the try is seen by what follows, or comes after it.
BEING_SENT = """
    select 1 from person_mail where mail_id = $1 and status = 'queued' and (attempts - $2) % 256 = 0 for update
"""
LIST = """
    select m.number, m.mail_id, m.purpose, m.status, m.attempts, m.reply_code, m.created_at, m.changed_at, m.sent_at,
        u.email, m.content_sealed
    from person_mail m join console_user u on u.user_id = m.user_id
    where m.mid is not distinct from $1 and m.number < $2 order by m.number desc limit $3
"""
LAST_MADE = "select max(created_at) from person_mail where user_id = $1 and purpose = $2"
FORGET_OLD = "delete from person_mail where status <> 'queued' and changed_at < now() - $1::interval"
LAST_NUMBER = 2**63 - 1


class PersonMailContent(msgspec.Struct, frozen=True, omit_defaults=True):
    """The recipient and the text of a mail to a person."""

    to: str
    subject: str
    text: str
    html: str

    def __repr__(self) -> str:
        return "PersonMailContent(…)"


CONTENT_DECODER: "msgspec.json.Decoder[PersonMailContent]" = msgspec.json.Decoder(PersonMailContent)


class ClaimedMail(msgspec.Struct, frozen=True):
    """A mail that this process is to send."""

    number: int
    mail_id: str
    attempts: int
    claims: int
    sealed: bytes | None
    is_disabled: bool  # its person was disabled meanwhile

    def open(self, vault: Vault, at: datetime) -> Mail:
        content = open_content(vault, self.mail_id, self.sealed)
        assert content is not None
        return Mail(
            message_id=self.mail_id.lower(),
            to=content.to,
            subject=content.subject,
            text=content.text,
            html=content.html,
            at=at,
            sent_as=MailTry(OPERATOR_ID, self.mail_id, self.attempts),
        )


class ListedMail(msgspec.Struct, frozen=True):
    """A mail as pages list it."""

    number: int
    mail_id: str
    purpose: str
    status: str
    attempts: int
    reply_code: str
    created_at: datetime
    changed_at: datetime
    sent_at: datetime | None
    email: str
    content: PersonMailContent | None  # None in live once it has ended


def person_mail_aad(mail_id: str) -> str:
    return f"person_mail.content_sealed {mail_id}"


def open_content(vault: Vault, mail_id: str, sealed: bytes | None) -> PersonMailContent | None:
    if sealed is None:
        return None
    return CONTENT_DECODER.decode(vault.unseal(OPERATOR_ID, person_mail_aad(mail_id), bytes(sealed)))


def list_choices(mid: str | None) -> dict[str, str]:
    """Returns what a person of a merchant, or an operator (None), can turn off: words by purpose."""
    return CHOICES_OF_OPERATORS if mid is None else CHOICES_OF_MERCHANTS


def make_mail_id(user_id: int, occasion: str, vault: Vault) -> str:
    """Returns the id of the one mail of an occasion to a person. Nobody can tell the occasion by it."""
    digest = vault.digest(f"person mail {user_id} {occasion}".encode())
    return ID_PREFIX + blake2b(digest, digest_size=ID_BYTES).hexdigest()


async def queue_mail(
    connection: Connection, vault: Vault, user: ConsoleUser, purpose: str, occasion: str, text: MailText
) -> bool:
    """Queues a mail, unless there is one of the occasion or the person has turned such mails off. Returns whether it
    was queued. The address is that of a row that was checked."""
    mail_id = make_mail_id(user.user_id, occasion, vault)
    footer = FOOTER if purpose in SECURITY_PURPOSES else FOOTER_WITH_CHOICE
    content = PersonMailContent(user.email, text.subject, render_text(text, footer), render_html(text, footer))
    sealed = vault.seal(OPERATOR_ID, person_mail_aad(mail_id), msgspec.json.encode(content), os.urandom(NONCE_BYTES))
    number = await connection.fetchval(ADD, mail_id, user.user_id, user.mid, purpose, sealed)
    return number is not None


async def queue_link(connection: Connection, vault: Vault, token: str, console_url: str) -> None:
    """Queues the mail with a link, in the transaction that made the link. Links that were queued before do not work any
    more, and are not sent."""
    link = await read_link(connection, vault, token)
    assert link is not None, "a link that was just made can be used"
    user = link[0]
    await connection.execute(DROP_LINKS, user.user_id, list(LINK_PURPOSES), REPLACED)
    purpose = PASSWORD_RESET if user.joined_at is not None else INVITATION
    text = write_link(purpose, f"{console_url}/link/{token}")
    await queue_mail(connection, vault, user, purpose, f"link {token}", text)


def write_link(purpose: str, link: str) -> MailText:
    is_reset = purpose == PASSWORD_RESET
    return MailText(
        subject="Set your password for the Kasuwa console anew"
        if is_reset
        else "Your invitation to the Kasuwa console",
        greeting="Hello,",
        paragraphs=(
            "Your account was reset: you set your password anew, and your second factor with it."
            if is_reset
            else "Somebody invited you to the Kasuwa console.",
            "The link is for you alone. It works once, within seven days. Give it to nobody.",
            "If you expected nothing of the kind, do not open it, and tell whoever runs the service.",
        ),
        links=(("Set your password", link),),
    )


async def find_last_mail(connection: QueryRunner, user_id: int, purpose: str) -> datetime | None:
    """Returns when the last mail for a purpose was made for a person, or None."""
    last = await connection.fetchval(LAST_MADE, user_id, purpose)
    return last if isinstance(last, datetime) else None


async def has_mail(connection: QueryRunner, vault: Vault, user_id: int, occasion: str) -> bool:
    """Returns whether a person has the mail of an occasion."""
    mail_id = make_mail_id(user_id, occasion, vault)
    return bool(await connection.fetchval("select exists (select 1 from person_mail where mail_id = $1)", mail_id))


# --- choices ----------------------------------------------------------------------------------------------------------


async def read_turned_off(connection: QueryRunner, user_id: int) -> frozenset[str]:
    """Returns the purposes of the mails that a person has turned off."""
    rows = await connection.fetch("select purpose from person_mail_off where user_id = $1", user_id)
    return frozenset(purpose for (purpose,) in rows)


async def turn_off(connection: Connection, user_id: int, purposes: Collection[str]) -> None:
    """Turns mails of these purposes off for a person, and all others on."""
    await connection.execute("delete from person_mail_off where user_id = $1", user_id)
    await connection.execute(
        "insert into person_mail_off (user_id, purpose) select $1, unnest($2::text[])", user_id, sorted(purposes)
    )


# --- sending ----------------------------------------------------------------------------------------------------------


async def claim(connection: QueryRunner) -> list[ClaimedMail]:
    """Leases the mails that are due, the oldest first, at most MAX_CLAIMED."""
    rows = await connection.fetch(CLAIM, LEASE, MAX_CLAIMED)
    return sorted((ClaimedMail(*row) for row in rows), key=lambda mail: mail.number)


async def end(connection: QueryRunner, mail: ClaimedMail, status: str, code: str, *, keeps_content: bool) -> None:
    """Records the end of a mail, if the lease is still held."""
    await connection.execute(END, mail.number, mail.claims, status, code, keeps_content)


async def record_bounce(connection: QueryRunner, sent_as: MailTry, code: str, *, is_final: bool) -> bool:
    """Records that a mail was returned, or that a mail system is still trying. Returns whether that is new."""
    changed = await connection.fetch(RETURN, sent_as.mail_id, sent_as.number, is_final, code)
    return bool(changed)


async def is_being_sent(connection: QueryRunner, sent_as: MailTry) -> bool:
    """Returns whether the outcome of a try is not recorded yet."""
    return await connection.fetchval(BEING_SENT, sent_as.mail_id, sent_as.number) is not None


async def postpone(
    connection: QueryRunner, mail: ClaimedMail, delay: timedelta, code: str = "", *, was_tried: bool
) -> None:
    """Tries a mail again after a delay, if the lease is still held."""
    await connection.execute(POSTPONE, mail.number, mail.claims, delay, code, int(was_tried))


async def forget_old(connection: QueryRunner) -> None:
    await connection.execute(FORGET_OLD, KEPT_FOR)


# --- reading ----------------------------------------------------------------------------------------------------------


async def list_mails(
    connection: QueryRunner, vault: Vault, mid: str | None, before: int = LAST_NUMBER, limit: int = 50
) -> list[ListedMail]:
    """Returns the mails to the people of a merchant, or to the operators (None), newest first."""
    return [read_listed(vault, row) for row in await connection.fetch(LIST, mid, before, limit)]


def read_listed(vault: Vault, row: Sequence[Any]) -> ListedMail:
    *known, sealed = tuple(row)
    values: tuple[Any, ...] = (*known, open_content(vault, known[1], sealed))
    return ListedMail(*values)
