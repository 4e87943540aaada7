"""The interfaces between web/, which serves pages and files, and pages/ and documentation/, which make them."""

from collections.abc import AsyncIterator
from typing import Protocol

import msgspec


class Page(msgspec.Struct, frozen=True):
    http: int
    body: bytes
    headers: tuple[tuple[str, str], ...]


class Pages(Protocol):
    async def serve(self, verb: str, path: str, form: bytes, address: str = "") -> Page:
        """Returns the page for a path below /pay/ that a payer opened (GET) or whose form was sent (POST).

        `address` is the network address of the payer."""
        ...


class StreamedPage(msgspec.Struct, frozen=True):
    """A reply whose body is made while it is sent."""

    http: int
    pieces: AsyncIterator[bytes]
    headers: tuple[tuple[str, str], ...]


class Files(Protocol):
    async def serve(self, verb: str, path: str) -> Page | StreamedPage:
        """Returns the file for a path below /statements/ that somebody opened."""
        ...


class Documentation(Protocol):
    """The files of the documentation, named by their path below /docs."""

    def has(self, address: str) -> bool: ...

    def read(self, address: str) -> bytes:
        """Returns the content of a file. Raises KeyError if there is no such file."""
        ...
