"""Interfaces of database reads: queries and snapshots, and unsealing for actions. Implemented in engine/reading.py."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

from kasuwa.core.batched_query import BatchedQuery
from kasuwa.core.keyring import Digest

Item = TypeVar("Item")
Line = TypeVar("Line")


class Reader(Protocol):
    async def fetch(self, query: str, *args: Any) -> list[Any]: ...

    async def fetchrow(self, query: str, *args: Any) -> Any: ...


class RequestReader(Reader, Protocol):
    async def fetch_requests(self, query: BatchedQuery, requests: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Runs a batched query for several requests."""
        ...


class KeyReader(Reader, Protocol):
    def fetch_row_batched(self, query: BatchedQuery, *key: Any) -> Awaitable[Any]:
        """Runs a batched query for one key."""
        ...


class Snapshot(RequestReader, KeyReader, Protocol):
    """A reader whose statements all see the database as of the first of them (repeatable read)."""


class ReplyReader(Reader, Protocol):
    """A reader for one reply. It allows one statement outside a snapshot, so that no reply mixes two states."""

    def snapshot(self) -> AbstractAsyncContextManager[Snapshot]: ...

    async def make_lines(self, make: Callable[[Item], Line], items: Iterable[Item], at_once: int = 20) -> list[Line]:
        """Makes the lines of a list reply. Yields to the event loop after every `at_once` lines."""
        ...


class ActionReader(ReplyReader, Protocol):
    """The reader given to an action's read: queries, unsealing and the deployment's public URL."""

    @property
    def public_url(self) -> str:
        """The base URL at which payers reach this deployment."""
        ...

    def fetch_row_batched(self, query: BatchedQuery, *key: Any) -> Awaitable[Any]:
        """Fetches one row by key in a query shared with concurrent callers (engine/reading.py). The row has its
        position and its merchant first."""
        ...

    def fetch_page_batched(self, query: BatchedQuery, *key: Any) -> Awaitable[Any]:
        """Fetches a row of a page in a query shared with concurrent callers. May be called again for the same reply:
        the order of a list never changes, so that a page read in parts equals several pages."""
        ...

    def unseal(self, merchant_id: int, place: str, sealed: bytes) -> bytes: ...

    def seal(self, merchant_id: int, place: str, plain: bytes) -> bytes:
        """Encrypts bytes that the reply hands out, such as those of a link. Draws the nonce at random."""
        ...

    def digest(self, data: bytes) -> bytes:
        """Returns the keyed hash by which tokens and customers are searched."""
        ...

    @property
    def index_digests(self) -> tuple[Digest, ...]:
        """The keyed hashes by which clients are searched: a client has one of them (Vault.index_digests)."""
        ...


def merchant_read(*columns: str) -> str:
    """Returns the SQL expression of the merchant whose rows a batched statement has read, which the reader compares.

    `columns` name the merchants of the rows. The expression is null if they differ. If there are no rows, it is the
    merchant that asked, `u.merchant`."""
    least, greatest = f"least({', '.join(columns)})", f"greatest({', '.join(columns)})"
    return f"case when {least} = {greatest} then {least} when {greatest} is null then u.merchant end"


class ReaderFactory(Protocol):
    """Makes a reader for each reply. Limits the connections that the readers of one merchant hold together."""

    def for_one_reply(self, merchant_id: int) -> ActionReader: ...
