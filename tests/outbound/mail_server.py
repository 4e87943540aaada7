"""A mail server for tests, written from RFC 5321 (SMTP), 3207 (STARTTLS) and 4954 (AUTH PLAIN), with faults.

It keeps the order of commands: a mail needs EHLO, with STARTTLS first if that is required, a sender, a recipient and
DATA. What is out of order is refused by 503. It tells an end of content by the line of one dot, and takes the dots
that the client doubled off again.
"""

import base64
import contextlib
import email
import email.policy
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path
from typing import Any, NamedTuple

from kasuwa.core.mail import MailServer, Sender
from kasuwa.outbound.mail import MailTransport

SENDER = Sender("console@example.com", "Kasuwa")
PASSWORD = "pass-word"


class Letter(NamedTuple):
    """A mail that the server has taken."""

    sender: str
    to: str
    content: bytes
    is_encrypted: bool
    user: str

    @property
    def message(self) -> EmailMessage:
        found = email.message_from_bytes(self.content, policy=email.policy.default)
        assert isinstance(found, EmailMessage)
        return found

    @property
    def text(self) -> str:
        body = self.message.get_body(("plain",))
        assert body is not None
        return str(body.get_content()).replace("\r\n", "\n")


class Faults:
    """The faults of the server. Each is off until a test sets it."""

    def __init__(self) -> None:
        self.greeting = b"220 mail.example.com ESMTP"
        self.offers_starttls = True
        self.starttls_reply = b"220 2.0.0 go on"
        self.recipients: dict[str, bytes] = {}  # the reply to RCPT, by address
        self.content_reply = b"250 2.0.0 taken"  # to the end of the content
        self.drops_after_content = False  # closes the connection instead of answering the end of the content
        self.drops_at = ""  # the command at which it closes the connection
        self.hangs_at = ""  # the command that it never answers; `.` is the end of the content
        self.injects_after_starttls = False  # sends a reply in clear together with that to STARTTLS


class SmtpServer(socketserver.ThreadingTCPServer):
    """Accepts mail on a port of this machine."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, tls: ssl.SSLContext | None = None, *, has_implicit_tls: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), Conversation)
        self.tls = tls
        self.has_implicit_tls = has_implicit_tls
        self.faults = Faults()
        self.letters: list[Letter] = []
        self.commands: list[str] = []  # verbs, in the order of their arrival
        # While it is closed, clients wait for the greeting: `waiting` counts them.
        self.is_open = threading.Event()
        self.is_open.set()
        self.waiting = 0
        self.stopped = threading.Event()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    def transport(self, *, ca: Path | None = None, user: str = "", host: str = "localhost") -> MailTransport:
        """Returns a transport to this server: with a CA it needs TLS, as to a server elsewhere."""
        server = MailServer(host, self.port, user, PASSWORD, self.has_implicit_tls, ca is None)
        return MailTransport(server, SENDER, None if ca is None else ssl.create_default_context(cafile=str(ca)))


class Conversation(socketserver.StreamRequestHandler):
    server: SmtpServer
    is_encrypted = False
    has_greeted = False
    user = ""
    sender = ""
    recipient = ""

    def setup(self) -> None:
        if self.server.has_implicit_tls:
            assert self.server.tls is not None
            self.request = self.server.tls.wrap_socket(self.request, server_side=True)
            self.is_encrypted = True
        super().setup()

    def finish(self) -> None:
        with contextlib.suppress(OSError):
            super().finish()
        self.request.close()

    def handle(self) -> None:
        with contextlib.suppress(OSError):
            self.converse()

    def converse(self) -> None:
        server = self.server
        server.waiting += 1
        server.is_open.wait()
        server.waiting -= 1
        self.say(server.faults.greeting)
        while line := self.rfile.readline():
            verb, _, rest = line.decode().strip().partition(" ")
            verb = verb.upper()
            server.commands.append(verb)
            if self.misbehaves(verb):
                return
            if verb == "QUIT":
                self.say(b"221 2.0.0 bye")
                return
            answer = getattr(self, f"answer_{verb.lower()}", None)
            if answer is None:
                self.say(b"502 5.5.1 unknown")
            elif answer(rest) is False:
                return

    def say(self, line: bytes) -> None:
        self.wfile.write(line + b"\r\n")

    def misbehaves(self, verb: str) -> bool:
        """Tells whether the conversation ends here."""
        if self.server.faults.drops_at == verb:
            return True
        if self.server.faults.hangs_at == verb:
            self.server.stopped.wait()
            return True
        return False

    def answer_ehlo(self, rest: str) -> None:
        self.has_greeted = True
        lines = [b"mail.example.com", b"8BITMIME", b"ENHANCEDSTATUSCODES"]
        if self.server.tls is not None and not self.is_encrypted and self.server.faults.offers_starttls:
            lines.append(b"STARTTLS")
        if self.is_encrypted:
            lines.append(b"AUTH PLAIN")
        for line in lines[:-1]:
            self.say(b"250-" + line)
        self.say(b"250 " + lines[-1])

    def answer_starttls(self, rest: str) -> None:
        reply = self.server.faults.starttls_reply
        self.wfile.write(reply + b"\r\n")
        if not reply.startswith(b"220"):
            return
        assert self.server.tls is not None
        if self.server.faults.injects_after_starttls:
            self.wfile.write(b"250 2.0.0 injected\r\n")
        self.request = self.server.tls.wrap_socket(self.request, server_side=True)
        self.rfile = self.request.makefile("rb")
        self.wfile = self.request.makefile("wb", buffering=0)
        # Nothing that was said in clear counts any more.
        self.is_encrypted, self.has_greeted, self.sender, self.recipient = True, False, "", ""

    def answer_auth(self, rest: str) -> None:
        mechanism, _, response = rest.partition(" ")
        _, user, password = base64.b64decode(response).decode().split("\0")
        if not self.is_encrypted or mechanism.upper() != "PLAIN" or password != PASSWORD or user == "stranger":
            self.say(b"535 5.7.8 wrong")
            return
        self.user = user
        self.say(b"235 2.7.0 welcome")

    def answer_mail(self, rest: str) -> None:
        if not self.has_greeted or not rest.upper().startswith("FROM:<"):
            self.say(b"503 5.5.1 out of order")
            return
        self.sender, self.recipient = rest.partition("<")[2].partition(">")[0], ""
        self.say(b"250 2.1.0 ok")

    def answer_rcpt(self, rest: str) -> None:
        address = rest.partition("<")[2].partition(">")[0]
        if not self.sender or not address:
            self.say(b"503 5.5.1 out of order")
            return
        reply = self.server.faults.recipients.get(address, b"250 2.1.5 ok")
        if reply.startswith(b"2"):
            self.recipient = address
        self.say(reply)

    def answer_rset(self, rest: str) -> None:
        self.sender = self.recipient = ""
        self.say(b"250 2.0.0 ok")

    def answer_data(self, rest: str) -> bool | None:
        if not self.recipient:
            self.say(b"503 5.5.1 out of order")
            return None
        self.say(b"354 go on")
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            if not line:
                return False  # without its end the content is not a mail
            lines.append(line[1:] if line.startswith(b".") else line)
        faults = self.server.faults
        if faults.content_reply.startswith(b"2"):
            letter = Letter(self.sender, self.recipient, b"".join(lines), self.is_encrypted, self.user)
            self.server.letters.append(letter)
        if faults.drops_after_content or self.misbehaves("."):
            return False
        self.say(faults.content_reply)
        self.sender = self.recipient = ""
        return None


@contextmanager
def taking_mail(tls: ssl.SSLContext | None = None, *, has_implicit_tls: bool = False) -> Iterator[SmtpServer]:
    with SmtpServer(tls, has_implicit_tls=has_implicit_tls) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.is_open.set()
        running.stopped.set()
        running.shutdown()


def make_server_context(certificate: Any, key: Any) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(str(certificate), str(key))
    return context
