"""Reads by key that arrive together are asked together.

What merchants ask for most is one row by its key: what became of a payment. Each would be a round trip of its own; so
those that come while one is under way wait for it and go as one statement, as writes do. A query that is gathered
takes an array for each part of the key and answers the row's place in them first:

    select u.n, … from unnest($1::bytea[], $2::bigint[]) with ordinality u (key, merchant, n), lateral (…) t
"""

import asyncio
from collections import defaultdict
from typing import Any

from kasuwa.core.secrets import Vault
from kasuwa.db.pool import Pool

# Two at once, so that one is answered while the next is asked; and what one statement may ask for at most.
MOST_UNDER_WAY = 2
MOST_AT_ONCE = 64

Waiting = list[tuple[tuple[Any, ...], "asyncio.Future[Any]"]]


class Gatherer:
    def __init__(self, readers: Pool) -> None:
        self._readers = readers
        self._waiting: defaultdict[str, Waiting] = defaultdict(list)
        self._under_way: defaultdict[str, int] = defaultdict(int)
        self._tasks: set[asyncio.Task[None]] = set()

    def gather_row(self, query: str, *key: Any) -> "asyncio.Future[Any]":
        """The row of a key, or None."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        self._waiting[query].append((key, answer))
        if self._under_way[query] < MOST_UNDER_WAY:
            self._under_way[query] += 1
            task = loop.create_task(self._ask(query))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return answer

    async def _ask(self, query: str) -> None:
        try:
            while waiting := self._waiting[query]:
                asked, self._waiting[query] = waiting[:MOST_AT_ONCE], waiting[MOST_AT_ONCE:]
                await self._answer(query, asked)
        finally:
            self._under_way[query] -= 1

    async def _answer(self, query: str, asked: Waiting) -> None:
        try:
            columns = [list(parts) for parts in zip(*(key for key, _ in asked), strict=True)]
            found = {row[0]: row for row in await self._readers.fetch(query, *columns)}
        except Exception as error:
            for _, answer in asked:
                if not answer.done():
                    answer.set_exception(error)
            return
        for place, (_, answer) in enumerate(asked, start=1):
            if not answer.done():
                answer.set_result(found.get(place))


class Reading:
    """What plain reads are given (`core.reading.SealedReader`): the pool's questions, and the vault's answer."""

    def __init__(self, readers: Pool, vault: Vault, public_url: str = "") -> None:
        self.public_url = public_url
        self.fetch = readers.fetch
        self.fetchrow = readers.fetchrow
        self.gather_row = Gatherer(readers).gather_row
        self.unseal = vault.open
