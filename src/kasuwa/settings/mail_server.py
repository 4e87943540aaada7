"""Reads the address of the mail server, and the address that mails are sent from."""

from email.utils import getaddresses
from urllib.parse import unquote, urlsplit

from kasuwa.core.mail import MailServer, Sender, is_address

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def read_mail_server(url: str) -> MailServer:
    """Parses the URL of a mail server. Raises ValueError, without the URL in its text because it has a password."""
    try:
        parts = urlsplit(url)
        port = parts.port or (465 if parts.scheme == "smtps" else 587)
    except ValueError:
        raise ValueError("cannot be read") from None
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname or parts.query or parts.path.strip("/"):
        raise ValueError("must be smtp://user:password@host:port, or smtps://… for TLS from the start")
    user, password, has_implicit_tls = (
        unquote(parts.username or ""),
        unquote(parts.password or ""),
        parts.scheme == "smtps",
    )
    is_in_clear = not has_implicit_tls and parts.hostname in LOOPBACK
    return MailServer(parts.hostname, port, user, password, has_implicit_tls, is_in_clear)


def read_sender(text: str) -> Sender:
    """Parses `name@example.com` or `Name <name@example.com>`. Raises ValueError."""
    addresses = getaddresses([text])
    name, address = addresses[0] if len(addresses) == 1 else ("", "")
    if not is_address(address) or not name.isprintable():
        raise ValueError("must be an address such as no-reply@example.com, or Name <no-reply@example.com>")
    return Sender(address, name)
