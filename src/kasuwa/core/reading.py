"""What a plain read may do with the database: ask."""

from typing import Any, Protocol


class Reader(Protocol):
    async def fetch(self, query: str, *args: Any) -> list[Any]: ...

    async def fetchrow(self, query: str, *args: Any) -> Any: ...
