"""The interface between web/server.py, which serves payer pages, and pages/, which renders them."""

from typing import Protocol

import msgspec


class Page(msgspec.Struct, frozen=True):
    http: int
    body: bytes
    headers: tuple[tuple[str, str], ...]


class Pages(Protocol):
    async def serve(self, verb: str, path: str, form: bytes) -> Page:
        """Returns the page for a path below /pay/ that a payer opened (GET) or whose form was sent (POST)."""
        ...
