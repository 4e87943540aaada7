"""Delivers sign-in links: printed in the test environment, sent by mail, or left to the administrator's command.

The person who requests a link for somebody else never sees it: whoever has the link can sign in as that user.
"""

import asyncio
import smtplib
import ssl
import sys
from email.message import EmailMessage
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
import structlog

SEND_SECONDS = 10.0
MAX_CONCURRENT_MAILS = 4
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
SUBJECT = "Your link to the Kasuwa console"
BODY = """Somebody invited you to the Kasuwa console, or you are to set your password anew.

This link is for you alone. It works once, within seven days:

{link}

If you expected nothing of the kind, do nothing and tell whoever runs the service.
"""

log = structlog.get_logger("kasuwa.mail")


class MailServer(msgspec.Struct, frozen=True):
    """A mail server, parsed from a URL such as smtp://user:password@host:587?from=console@example.com."""

    host: str
    port: int
    user: str
    password: str
    sender: str
    is_tls: bool


def read_mail_server(address: str) -> MailServer:
    """Parses the URL of a mail server. Raises ValueError, without the URL in its text because it has a password."""
    try:
        parts = urlsplit(address)
        port = parts.port or (465 if parts.scheme == "smtps" else 587)
    except ValueError:
        raise ValueError("the address of the mail server cannot be read") from None
    sender = parse_qs(parts.query).get("from", [""])[0]
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname or "@" not in sender or not sender.isprintable():
        raise ValueError("the mail server is smtp://user:password@host:port?from=address, or smtps://…")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return MailServer(parts.hostname, port, user, password, sender, parts.scheme == "smtps")


def send(server: MailServer, email: str, link: str) -> None:
    """Sends one mail. Blocks. Raises OSError or smtplib.SMTPException."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = server.sender, email, SUBJECT
    message.set_content(BODY.format(link=link))
    context = ssl.create_default_context()
    if server.is_tls:
        client: smtplib.SMTP = smtplib.SMTP_SSL(server.host, server.port, timeout=SEND_SECONDS, context=context)
    else:
        client = smtplib.SMTP(server.host, server.port, timeout=SEND_SECONDS)
    with client:
        # Plain text only to this machine: the link is a credential.
        if not server.is_tls and server.host not in LOOPBACK:
            client.starttls(context=context)
        if server.user:
            client.login(server.user, server.password)
        client.send_message(message)


class LinkSender:
    """Delivers links by the configured method: `print`, `command`, or the URL of a mail server."""

    def __init__(self, method: str) -> None:
        self._method = method
        self._server = None if method in ("print", "command") else read_mail_server(method)
        self._slots = asyncio.Semaphore(MAX_CONCURRENT_MAILS)

    async def deliver(self, email: str, link: str) -> str:
        """Delivers a link and returns a message about it for the requesting page. The message never has the link."""
        if self._server is None:
            if self._method == "print":
                sys.stdout.write(f"link for {email}: {link}\n")
                sys.stdout.flush()
                return f"The link for {email} is printed where the server was started."
            return f"The system administrator hands the link over: kasuwa user link {email}"
        try:
            async with asyncio.timeout(2 * SEND_SECONDS), self._slots:
                await asyncio.to_thread(send, self._server, email, link)
        except (OSError, smtplib.SMTPException, TimeoutError) as error:
            log.warning("a link could not be sent", error=type(error).__name__)
            return f"The link could not be sent to {email}. Send it again from the list, or ask the administrator."
        return f"A link was sent to {email}."
