"""What a plain read may do with the database: ask; and open what was sealed for its merchant."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")
Line = TypeVar("Line")


class Reader(Protocol):
    async def fetch(self, query: str, *args: Any) -> list[Any]: ...

    async def fetchrow(self, query: str, *args: Any) -> Any: ...


class Snapshot(Reader, Protocol):
    """A reader whose statements all see the database as it was at the first of them."""

    def fetch_row_batched(self, query: str, *key: Any) -> Awaitable[Any]: ...


class ReplyReader(Reader, Protocol):
    """A reader for one reply. It allows one statement outside a snapshot, so that no reply mixes two states of the
    database."""

    def snapshot(self) -> AbstractAsyncContextManager[Snapshot]: ...

    async def make_lines(self, make: Callable[[Item], Line], items: Iterable[Item], at_once: int = 20) -> list[Line]:
        """The lines of a list's reply. Others are let run after every `at_once` of them: none waits for the whole."""
        ...


class ActionReader(ReplyReader, Protocol):
    """What an action's read is given: some of what it answers is not kept plain, and some are addresses of ours."""

    @property
    def public_url(self) -> str:
        """The address at which payers reach this deployment."""
        ...

    def fetch_row_batched(self, query: str, *key: Any) -> Awaitable[Any]:
        """One row by its key, asked together with others that come at the same time: see db/reading.py."""
        ...

    def unseal(self, merchant_id: int, place: str, sealed: bytes) -> bytes: ...

    def digest(self, said: bytes) -> bytes:
        """The keyed hash that sealed values are found by."""
        ...


class ReaderFactory(Protocol):
    """What makes a reader for each reply. A merchant's readers together hold a share of the connections at most."""

    def for_one_reply(self, merchant_id: int) -> ActionReader: ...
