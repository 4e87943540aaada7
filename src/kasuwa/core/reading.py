"""What a plain read may do with the database: ask; and open what was sealed for its merchant."""

from typing import Any, Protocol


class Reader(Protocol):
    async def fetch(self, query: str, *args: Any) -> list[Any]: ...

    async def fetchrow(self, query: str, *args: Any) -> Any: ...


class SealedReader(Reader, Protocol):
    """What an action's read is given: some of what it answers is not kept plain."""

    def unseal(self, merchant_id: int, place: str, sealed: bytes) -> bytes: ...
