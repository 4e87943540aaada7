"""The interface between api/server.py, which receives the call-backs of rails, and rails/inbox/callbacks.py."""

from collections.abc import Callable
from typing import Protocol

import msgspec


class CallbackReply(msgspec.Struct, frozen=True):
    http: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


class Callbacks(Protocol):
    async def receive(
        self, path: str, find_header: Callable[[str], str | None], body: bytes, address: str
    ) -> CallbackReply:
        """Receives what a rail sent to a path below /rails/, and returns the reply to it. `address` is the sender's."""
        ...
