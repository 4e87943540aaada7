"""What adapters of vendors need from the HTTP client. Implemented by rails/watch/transport.py."""

from collections.abc import Mapping
from typing import Protocol

import msgspec


class NotSent(Exception):
    """Raised if no byte of the request left: no address, no connection, no TLS, or the target is not allowed."""


class AnswerLost(Exception):
    """Raised if the request may have arrived, and there is no answer."""


class HttpReply(msgspec.Struct, frozen=True):
    """An answer. `is_complete` is False if the body broke off or was too long. `retry_after` is in seconds, 0 without
    the header. Names in `headers` are found in any case."""

    status: int
    body: bytes
    is_complete: bool = True
    retry_after: float = 0
    date: str = ""
    headers: Mapping[str, str] = {}


class HttpTransport(Protocol):
    async def send(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> HttpReply:
        """Sends one request, once. Follows no redirect. Raises NotSent or AnswerLost."""
        ...
