"""Reads: by key, those that arrive together are asked together; for one reply, everything is of one moment.

What merchants ask for most is one row by its key: what became of a payment. Each would be a round trip of its own; so
those that come while one is under way wait for it and go as one statement, as writes do. A query that is gathered
takes an array for each part of the key and answers the row's place in them first:

    select u.n, … from unnest($1::bytea[], $2::bigint[]) with ordinality u (key, merchant, n), lateral (…) t

A reply that is read in several statements could mix two states of the database: a loan of before a repayment with
installments of after it. So each reply has a reader that allows one statement, or one snapshot (a repeatable read
transaction) with as many statements as it takes.
"""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from kasuwa.core.reading import Item, Line
from kasuwa.core.vault import Vault
from kasuwa.db.connections import Connection, Pool
from kasuwa.db.shares import Shares

# Two at once, so that one is answered while the next is asked; and what one statement may ask for at most.
MAX_CONCURRENT_QUERIES = 2
MAX_KEYS_PER_QUERY = 64

PendingLookups = list[tuple[tuple[Any, ...], "asyncio.Future[Any]"]]


class LookupBatcher:
    def __init__(self, readers: Pool) -> None:
        self._readers = readers
        self._waiting: defaultdict[str, PendingLookups] = defaultdict(list)
        self._under_way: defaultdict[str, int] = defaultdict(int)
        self._tasks: set[asyncio.Task[None]] = set()

    def fetch_row_batched(self, query: str, *key: Any) -> "asyncio.Future[Any]":
        """The row of a key, or None."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        self._waiting[query].append((key, answer))
        if self._under_way[query] < MAX_CONCURRENT_QUERIES:
            self._under_way[query] += 1
            task = loop.create_task(self._ask(query))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return answer

    async def _ask(self, query: str) -> None:
        try:
            while waiting := self._waiting[query]:
                asked, self._waiting[query] = waiting[:MAX_KEYS_PER_QUERY], waiting[MAX_KEYS_PER_QUERY:]
                await self._answer(query, asked)
        finally:
            self._under_way[query] -= 1

    async def _answer(self, query: str, asked: PendingLookups) -> None:
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


@contextlib.asynccontextmanager
async def snapshot(pool: Pool) -> AsyncIterator[Connection]:
    """A connection whose statements all see the database as it was at the first of them."""
    async with pool.acquire() as connection:
        try:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                yield connection
        finally:
            # The pool resets nothing. A connection left in its transaction would show the next reader an old state.
            if connection.is_in_transaction():
                connection.terminate()


class DatabaseReaderFactory:
    """What dispatch reads with: each reply through a reader of its own."""

    def __init__(self, readers: Pool, vault: Vault, public_url: str = "") -> None:
        self.readers = readers
        self.gatherer = LookupBatcher(readers)
        self.vault = vault
        self.public_url = public_url
        self.shares = Shares(max(1, readers.size // 2))
        self.fetchrow = readers.fetchrow

    def for_one_reply(self, merchant_id: int) -> "DatabaseReplyReader":
        return DatabaseReplyReader(self, merchant_id)


class TornRead(Exception):
    """A reply was read in several statements that may see different states of the database."""


class DatabaseReplyReader:
    """Reads for one reply (`core.reading.SealedReader`): one statement, or one snapshot for several. A second read
    raises TornRead, whatever it would have found. A statement or a snapshot holds a connection of the merchant's share;
    rows that are gathered share one with everybody's."""

    __slots__ = ("_has_read", "_merchant_id", "_reading")

    def __init__(self, reading: DatabaseReaderFactory, merchant_id: int) -> None:
        self._reading = reading
        self._merchant_id = merchant_id
        self._has_read = False

    @property
    def public_url(self) -> str:
        return self._reading.public_url

    def unseal(self, merchant_id: int, place: str, sealed: bytes) -> bytes:
        return self._reading.vault.unseal(merchant_id, place, sealed)

    def digest(self, said: bytes) -> bytes:
        return self._reading.vault.digest(said)

    def _read_once(self, what: str) -> None:
        if self._has_read:
            raise TornRead(f"read in one snapshot what is answered together: {what}")
        self._has_read = True

    @contextlib.asynccontextmanager
    async def _share(self) -> AsyncIterator[None]:
        """Holds one connection of the merchant's share for as long as it is entered."""
        shares = self._reading.shares
        if not shares.try_take(self._merchant_id):
            await shares.wait(self._merchant_id)
        try:
            yield
        finally:
            shares.give_back(self._merchant_id)

    async def fetch(self, query: str, *args: Any) -> list[Any]:
        self._read_once(query)
        async with self._share():
            return await self._reading.readers.fetch(query, *args)

    async def fetchrow(self, query: str, *args: Any) -> Any:
        self._read_once(query)
        async with self._share():
            return await self._reading.readers.fetchrow(query, *args)

    def fetch_row_batched(self, query: str, *key: Any) -> "asyncio.Future[Any]":
        if self._has_read:
            self._read_once(query)
        self._has_read = True
        return self._reading.gatherer.fetch_row_batched(query, *key)

    @contextlib.asynccontextmanager
    async def snapshot(self) -> AsyncIterator["SnapshotReader"]:
        self._read_once("a snapshot")
        async with self._share(), snapshot(self._reading.readers) as connection:
            yield SnapshotReader(connection)

    async def make_lines(self, make: Callable[[Item], Line], items: Iterable[Item], at_once: int = 20) -> list[Line]:
        return await make_lines(make, items, at_once)


async def make_lines(make: Callable[[Item], Line], items: Iterable[Item], at_once: int = 20) -> list[Line]:
    """The lines of a list's reply. Others are let run after every `at_once` of them."""
    lines: list[Line] = []
    for item in items:
        lines.append(make(item))
        if not len(lines) % at_once:
            await asyncio.sleep(0)
    return lines


class SnapshotReader:
    """Statements on one connection, in one snapshot."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def fetch(self, query: str, *args: Any) -> list[Any]:
        return await self._connection.fetch(query, *args)

    async def fetchrow(self, query: str, *args: Any) -> Any:
        return await self._connection.fetchrow(query, *args)

    async def fetch_row_batched(self, query: str, *key: Any) -> Any:
        """A query that takes arrays of keys, asked for one."""
        return await self._connection.fetchrow(query, *([part] for part in key))


class SnapshotReplies:
    """What dispatch reads with where several replies are shown together (`core.reading.Readers`): all of them are read
    in one snapshot, which the caller opened."""

    def __init__(self, connection: Connection, vault: Vault, public_url: str = "") -> None:
        self._reading = SnapshotReplyReading(connection, vault, public_url)
        self.fetchrow = self._reading.fetchrow

    def for_one_reply(self, merchant_id: int) -> "SnapshotReplyReading":
        return self._reading


class SnapshotReplyReading(SnapshotReader):
    """As ReplyReading, in a snapshot that is open already."""

    def __init__(self, connection: Connection, vault: Vault, public_url: str) -> None:
        super().__init__(connection)
        self.public_url = public_url
        self.unseal = vault.unseal
        self.digest = vault.digest

    @contextlib.asynccontextmanager
    async def snapshot(self) -> AsyncIterator[SnapshotReader]:
        yield self

    async def make_lines(self, make: Callable[[Item], Line], items: Iterable[Item], at_once: int = 20) -> list[Line]:
        return await make_lines(make, items, at_once)
