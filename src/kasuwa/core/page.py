"""A page for a browser as bytes, and who makes them: web/server.py serves what pages/ draws, and neither knows the
other."""

from typing import Protocol

import msgspec


class Page(msgspec.Struct, frozen=True):
    http: int
    body: bytes
    headers: tuple[tuple[str, str], ...]


class Pages(Protocol):
    async def serve(self, verb: str, path: str, form: bytes) -> Page:
        """What a payer sees who opened a path below /pay/ (GET), or sent its form (POST)."""
        ...
