"""Sends one mail to a mail server by SMTP (RFC 5321), encrypted by STARTTLS (RFC 3207) or by TLS from the start.

What SMTP can promise: the server has the mail once it has answered the end of its content with 250. Before the last
byte of the content has left, certainly nothing is delivered. Between the two nobody can tell: SMTP has no way to ask.
So there are three outcomes besides success: MailRefused, MailNotSent and MailOutcomeUnknown.

The protocol is that of the standard library, in threads of its own: mails are few, and asyncio has no client.
"""

import asyncio
import contextlib
import re
import smtplib
import socket
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from kasuwa.core.mail import Mail, MailServer, Sender, clean_display_name, is_address
from kasuwa.outbound.return_addresses import HEADER, ReturnAddresses

# How long a mail may wait for one of the connections, and take from then on. Both together are less than the ten
# seconds of a step (jobs/steps.py), so that the outcome is known here and not cut off there.
QUEUE_SECONDS = 1.5
SEND_SECONDS = 7.0
# Of one read or write. A thread whose mail was given up ends when its connection is shut down, or after this.
SOCKET_SECONDS = 6.0
MAX_CONNECTIONS = 8

# Codes of replies.
READY, OK, OK_FORWARDED, START_INPUT = 220, 250, 251, 354
# Lines of ASCII alone: a server need not take more.
POLICY = SMTP.clone(cte_type="7bit")
LEADING_DOT = re.compile(rb"^\.", re.MULTILINE)
# The enhanced status code of a reply (RFC 3463), such as 5.1.1.
ENHANCED = re.compile(r"[245]\.[0-9]{1,3}\.[0-9]{1,3}", re.ASCII)


NO_ADDRESS = "The address cannot be used"
NOT_A_MAIL = "The mail cannot be written: a header or an address is invalid"
# What the standard library raises for addresses and texts that it cannot write. Some of its parsers do not check.
COMPOSE_ERRORS = (ValueError, MessageError, AttributeError, IndexError)


class MailRefused(Exception):
    """The mail is refused for good: by the server (5yz), or because it cannot be written. `code` is that of the
    server's reply, without what it says of it: that may have the address. It is empty if the server was not asked."""

    def __init__(self, reason: str, code: str = "") -> None:
        super().__init__(code or reason)
        self.reason = reason
        self.code = code


class MailNotSent(Exception):
    """Nothing was delivered, and a later try may succeed: the server cannot be reached or said so (4yz), or what it
    offers is not enough. The text has no address, no content and no password."""

    def __init__(self, reason: str, code: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code


class MailOutcomeUnknown(Exception):
    """The whole content was handed over, and the server's answer to it never came: it may be delivered."""


def compose(mail: Mail, sender: Sender, token: str = "") -> bytes:
    """Returns a mail as its lines are sent. Raises one of COMPOSE_ERRORS if a header would have a line break, or what
    is to be an address is none."""
    message = EmailMessage(policy=POLICY)
    message["From"] = Address(clean_display_name(mail.sender_name) or sender.name, addr_spec=sender.address)
    message["To"] = Address(clean_display_name(mail.to_name), addr_spec=mail.to)
    if mail.reply_to:
        message["Reply-To"] = Address(addr_spec=mail.reply_to)
    message["Subject"] = mail.subject
    message["Date"] = format_datetime(mail.at)
    message["Message-ID"] = f"<{mail.message_id}@{sender.address.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    if token:
        message[HEADER] = token
    message.set_content(mail.text)
    if mail.html:
        message.add_alternative(mail.html, subtype="html")
    return message.as_bytes()


def describe_code(code: int, text: bytes | str) -> str:
    """Returns the code of a reply with its enhanced status code, such as `550 5.1.1`, and nothing else of it."""
    words = text.decode(errors="replace") if isinstance(text, bytes) else text
    enhanced = ENHANCED.match(words)
    return f"{code} {enhanced[0]}" if enhanced else str(code)


class Exchange:
    """One connection with one mail, in a thread. `give_up` may be called by another one."""

    def __init__(self, server: MailServer, tls: ssl.SSLContext, envelope: tuple[str, str, bytes]) -> None:
        self._server = server
        self._tls = tls
        self._sender, self._recipient, self._content = envelope
        self._lock = threading.Lock()
        self._client: smtplib.SMTP | None = None
        self._is_given_up = False
        self._has_handed_over = False

    def give_up(self) -> bool:
        """Ends the exchange. Returns whether the content was handed over by then."""
        with self._lock:
            self._is_given_up = True
            connection = None if self._client is None else self._client.sock
            if connection is not None:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            return self._has_handed_over

    def run(self) -> None:
        """Sends the mail. Raises MailRefused, MailNotSent or MailOutcomeUnknown."""
        client = self._make_client()
        try:
            self._connect(client)
            self._send(client)
        except (OSError, ValueError) as error:  # smtplib's are OSErrors
            if self._has_handed_over:
                raise MailOutcomeUnknown from None
            raise describe_failure(error) from None
        finally:
            client.close()

    def _make_client(self) -> smtplib.SMTP:
        name = self._sender.rpartition("@")[2]
        if self._server.has_implicit_tls:
            client: smtplib.SMTP = smtplib.SMTP_SSL(local_hostname=name, timeout=SOCKET_SECONDS, context=self._tls)
        else:
            client = smtplib.SMTP(local_hostname=name, timeout=SOCKET_SECONDS)
        # The name that the certificate must have. smtplib sets it only if it connects at once.
        client._host = self._server.host  # type: ignore[attr-defined]
        with self._lock:
            self._client = client
        return client

    def _connect(self, client: smtplib.SMTP) -> None:
        check_reply(client.connect(self._server.host, self._server.port), READY)
        client.ehlo_or_helo_if_needed()
        if not (self._server.has_implicit_tls or self._server.is_in_clear):
            client.starttls(context=self._tls)  # raises if the server does not offer it: never in clear
            client.ehlo_or_helo_if_needed()
        if self._server.user:
            client.login(self._server.user, self._server.password)

    def _send(self, client: smtplib.SMTP) -> None:
        check_reply(client.mail(self._sender))
        check_reply(client.rcpt(self._recipient), is_about_mail=True)
        check_reply(client.docmd("DATA"), START_INPUT, is_about_mail=True)
        content = LEADING_DOT.sub(b"..", self._content)
        with self._lock:
            if self._is_given_up:
                raise ConnectionAbortedError
            self._has_handed_over = True
        client.send(content + b".\r\n")
        code, text = client.getreply()
        if 400 <= code <= 599:
            self._has_handed_over = False  # it has answered that it does not have it
        elif code != OK:
            raise ConnectionAbortedError
        check_reply((code, text), is_about_mail=True)
        with contextlib.suppress(OSError):
            client.quit()


def check_reply(reply: tuple[int, bytes], wanted: int = OK, *, is_about_mail: bool = False) -> None:
    """Raises unless a reply is the wanted one: MailRefused for one that is final for this mail and its recipient."""
    code, text = reply
    if code == wanted or (wanted == OK and code == OK_FORWARDED):
        return
    if is_about_mail and 500 <= code <= 599:
        raise MailRefused("The mail server refused the mail", describe_code(code, text))
    raise smtplib.SMTPResponseException(code, text)


def describe_failure(error: Exception) -> MailNotSent:
    """Returns the failure of a mail of which nothing was delivered. Faults of the connection, of TLS and of the login
    are the deployment's and not the mail's, whatever the code: the mail is tried again."""
    if isinstance(error, smtplib.SMTPAuthenticationError):
        code = describe_code(error.smtp_code, error.smtp_error)
        return MailNotSent("the mail server refuses the user or the password", code)
    if isinstance(error, smtplib.SMTPResponseException):
        return MailNotSent("the mail server declined", describe_code(error.smtp_code, error.smtp_error))
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return MailNotSent("the mail server offers no STARTTLS, or no login that is known")
    if isinstance(error, ssl.SSLError):
        return MailNotSent("the mail server's TLS or certificate cannot be used")
    return MailNotSent("the mail server cannot be reached, or closed the connection")


class MailTransport:
    """Hands mails to one server, at most MAX_CONNECTIONS at a time. Bounces go to an address of each try if there are
    such, and else to the sender's."""

    def __init__(
        self,
        server: MailServer,
        sender: Sender,
        tls: ssl.SSLContext | None = None,
        returns: ReturnAddresses | None = None,
    ) -> None:
        self.server = server
        self.sender = sender
        self._returns = returns
        self._tls = tls or ssl.create_default_context()
        self._slots = asyncio.Semaphore(MAX_CONNECTIONS)
        self._threads = ThreadPoolExecutor(MAX_CONNECTIONS, "mail")

    async def send(self, mail: Mail) -> None:
        """Sends one mail. Raises MailRefused, MailNotSent or MailOutcomeUnknown."""
        if not is_address(mail.to):
            raise MailRefused(NO_ADDRESS)
        token, envelope_sender = "", self.sender.address
        if self._returns is not None and mail.sent_as is not None:
            token = self._returns.make_token(mail.sent_as)
            envelope_sender = self._returns.make_address(token)
        try:
            content = compose(mail, self.sender, token)
        except COMPOSE_ERRORS:
            raise MailRefused(NOT_A_MAIL) from None
        try:
            async with asyncio.timeout(QUEUE_SECONDS):
                await self._slots.acquire()
        except TimeoutError:
            raise MailNotSent("all connections to the mail server are busy") from None
        exchange = Exchange(self.server, self._tls, (envelope_sender, mail.to, content))
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await asyncio.get_running_loop().run_in_executor(self._threads, exchange.run)
        except TimeoutError:
            if exchange.give_up():
                raise MailOutcomeUnknown from None
            raise MailNotSent("the mail server was too slow") from None
        except asyncio.CancelledError:
            exchange.give_up()
            raise
        finally:
            self._slots.release()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
