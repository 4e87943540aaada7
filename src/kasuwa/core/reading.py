"""What a plain read may do with the database: ask; and open what was sealed for its merchant."""

from collections.abc import Awaitable
from typing import Any, Protocol


class Reader(Protocol):
    async def fetch(self, query: str, *args: Any) -> list[Any]: ...

    async def fetchrow(self, query: str, *args: Any) -> Any: ...


class SealedReader(Reader, Protocol):
    """What an action's read is given: some of what it answers is not kept plain, and some are addresses of ours."""

    @property
    def public_url(self) -> str:
        """The address at which payers reach this deployment."""
        ...

    def gather_row(self, query: str, *key: Any) -> Awaitable[Any]:
        """One row by its key, asked together with others that come at the same time: see db/gather.py."""
        ...

    def unseal(self, merchant_id: int, place: str, sealed: bytes) -> bytes: ...
