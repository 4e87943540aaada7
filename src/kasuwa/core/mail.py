"""One mail to one person, its addresses, and the server that takes it."""

import re
from datetime import datetime

import msgspec


class MailTry(msgspec.Struct, frozen=True):
    """One try to send a mail, as a bounce names it."""

    merchant_id: int  # 0: a mail to a person of the console
    mail_id: str
    number: int  # how often the mail was tried before


# Of the address that bounces go to, before the @: with a token it has at most 64 characters (RFC 5321).
MAX_BOUNCE_LOCAL_LENGTH = 13


class Mail(msgspec.Struct, frozen=True, kw_only=True):
    """One mail to one person."""

    message_id: str  # the part before the @: the same at every try, so that mail systems can recognize a second copy
    to: str
    to_name: str = ""
    subject: str
    text: str
    html: str = ""
    sender_name: str = ""  # shown beside the sender's address; empty for the name that the deployment has
    reply_to: str = ""
    at: datetime
    sent_as: MailTry | None = None  # which try it is; None if nobody looks for bounces of it

    def __repr__(self) -> str:
        return f"Mail({self.message_id})"


# A dot-atom (RFC 5322): words of printable ASCII with single dots between them. Quoted names and numeric hosts in
# brackets are not taken.
WORD = r"[!#-'*+\-/-9=?A-Z^-~]+"
ADDRESS = re.compile(rf"{WORD}(\.{WORD})*@{WORD}(\.{WORD})*", re.ASCII)


def is_address(text: str) -> bool:
    """Tells whether a text can be the address of a mail, so that every mail system takes the form of it."""
    return ADDRESS.fullmatch(text) is not None


# Of a name beside an address. Longer ones are cut.
MAX_DISPLAY_NAME = 100


def clean_display_name(text: str) -> str:
    """Returns a name as it may be shown beside an address: on one line, and empty if it looks like an address itself.
    Mail programs show the name alone, so that a name with an @ would be taken for the sender."""
    name = make_one_line(text)[:MAX_DISPLAY_NAME].strip()
    return "" if set(name) & set("@\uff20\ufe6b<>") else name


def make_one_line(text: str) -> str:
    """Returns a text without line breaks, tabs and characters that cannot be seen, such as those that turn the
    direction of writing."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


class MailServer(msgspec.Struct, frozen=True):
    """A mail server, parsed from a URL such as smtp://user:password@host:587."""

    host: str
    port: int
    user: str
    password: str
    has_implicit_tls: bool  # TLS from the start; otherwise STARTTLS
    is_in_clear: bool  # only to this machine

    def __repr__(self) -> str:
        return f"MailServer({self.host}:{self.port})"


class Sender(msgspec.Struct, frozen=True):
    """The address that mails are sent from, and bounces go to."""

    address: str
    name: str = ""  # shown beside it unless a mail has a name of its own
