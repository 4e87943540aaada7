"""The interfaces between api/, which serves pages and files, and pages/ and documentation/, which make them."""

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


class Pieces(Protocol):
    """The body of a reply that is made while it is sent. Whoever sends it calls `aclose`, however that ends."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


class StreamedPage(msgspec.Struct, frozen=True):
    """A reply whose body is made while it is sent."""

    http: int
    pieces: Pieces
    headers: tuple[tuple[str, str], ...]


class Files(Protocol):
    async def serve(self, verb: str, path: str, address: str) -> Page | StreamedPage:
        """Returns the file for a path below /statements/ that somebody opened from a network address."""
        ...


class Documentation(Protocol):
    """The files of the documentation, named by their path below /docs."""

    def has(self, address: str) -> bool: ...

    def read(self, address: str) -> bytes:
        """Returns the content of a file. Raises KeyError if there is no such file."""
        ...
