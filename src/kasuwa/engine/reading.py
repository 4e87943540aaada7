"""Database reads: batches look-ups by key, and reads each reply from one state of the database.

The most frequent read is one row by its key, such as the status of a payment. Look-ups that arrive while others run
wait and are sent as one query (core/batched_query.py), which returns the row's position and its merchant first:

    batched_query("select u.n, t.merchant_id, … from", Requests(…), "cross join lateral (…) t")

The query has keys of several merchants, so row-level security cannot guard it. The merchant of each row is compared
before it is handed out.

A reply that is read in several statements could mix two states of the database: a loan before a repayment with the
installments after it. So each reply has a reader that allows one statement, or one snapshot (a repeatable read
transaction) with as many statements as it takes.
"""

import asyncio
import contextlib
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any

from kasuwa.concurrency.shares import Shares
from kasuwa.core.batched_query import BatchedQuery
from kasuwa.core.keyring import Digest
from kasuwa.core.reading import Item, Line
from kasuwa.core.vault import NONCE_BYTES, Vault
from kasuwa.postgres.connection_pool import Connection, Pool
from kasuwa.postgres.layout import find_layout
from kasuwa.postgres.merchant_rows import MerchantReader, snapshot

# Queries with the same text that run at once, and the keys that one query may ask for. A page may look at a thousand
# rows, so that few of them share a query: others would wait for it.
MAX_CONCURRENT_QUERIES = 2
MAX_KEYS_PER_QUERY = 64
MAX_PAGES_PER_QUERY = 32

PendingLookups = list[tuple[int, tuple[Any, ...], "asyncio.Future[Any]"]]


class ForeignRow(Exception):
    """Raised when a look-up found a row of another merchant."""


class LookupBatcher:
    """Combines look-ups by key that arrive together into one query."""

    def __init__(self, readers: Pool, max_keys: int = MAX_KEYS_PER_QUERY) -> None:
        self._readers = readers
        self._max_keys = max_keys
        self._pending: defaultdict[BatchedQuery, PendingLookups] = defaultdict(list)
        self._running_queries: defaultdict[BatchedQuery, int] = defaultdict(int)
        self._tasks: set[asyncio.Task[None]] = set()

    def fetch_row_batched(self, merchant_id: int, query: BatchedQuery, *key: Any) -> "asyncio.Future[Any]":
        """Returns the future of the merchant's row with this key, or of None. It raises ForeignRow if the row that was
        found is another merchant's."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        self._pending[query].append((merchant_id, key, answer))
        if self._running_queries[query] < MAX_CONCURRENT_QUERIES:
            self._running_queries[query] += 1
            task = loop.create_task(self._run_queries(query))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return answer

    async def _run_queries(self, query: BatchedQuery) -> None:
        try:
            while waiting := self._pending[query]:
                lookups, self._pending[query] = waiting[: self._max_keys], waiting[self._max_keys :]
                await self._run_query(query, lookups)
        finally:
            self._running_queries[query] -= 1

    async def _run_query(self, query: BatchedQuery, lookups: PendingLookups) -> None:
        try:
            requests = [key for _, key, _ in lookups]
            rows = {row[0]: row for row in await self._readers.fetch_requests(query, requests)}
        except Exception as error:
            for _, _, answer in lookups:
                if not answer.done():
                    answer.set_exception(error)
            return
        for place, (merchant_id, _, answer) in enumerate(lookups, start=1):
            row = rows.get(place)
            if answer.done():
                continue
            if row is not None and row[1] != merchant_id:
                answer.set_exception(ForeignRow(query.of_many))
            else:
                answer.set_result(row)


class DatabaseReaderFactory:
    """Makes a reader for each reply (`core.reading.ReaderFactory`).

    Batched look-ups use `readers`. All else uses `lists`, whose login sees only the rows of the reply's merchant."""

    def __init__(self, readers: Pool, lists: Pool, vault: Vault, public_url: str = "") -> None:
        self.lists = lists
        self.lookups = LookupBatcher(readers)
        self.pages = LookupBatcher(readers, MAX_PAGES_PER_QUERY)
        self.vault = vault
        self.public_url = public_url
        self.shares: Shares[int] = Shares(max(1, lists.size // 2))

    def for_one_reply(self, merchant_id: int) -> "DatabaseReplyReader":
        return DatabaseReplyReader(self, merchant_id)


class TornRead(Exception):
    """Raised when a reply is read in several statements, which may see different states of the database."""


class DatabaseReplyReader:
    """Reads for one reply (`core.reading.SealedReader`): one statement, or one snapshot for several.

    A second read raises TornRead. Statements and snapshots use a connection of the merchant's share. Batched look-ups
    do not."""

    __slots__ = ("_factory", "_has_read", "_merchant_id")

    def __init__(self, factory: DatabaseReaderFactory, merchant_id: int) -> None:
        self._factory = factory
        self._merchant_id = merchant_id
        self._has_read = False

    @property
    def public_url(self) -> str:
        return self._factory.public_url

    def unseal(self, merchant_id: int, place: str, sealed: bytes) -> bytes:
        return self._factory.vault.unseal(merchant_id, place, sealed)

    def seal(self, merchant_id: int, place: str, plain: bytes) -> bytes:
        return self._factory.vault.seal(merchant_id, place, plain, os.urandom(NONCE_BYTES))

    def digest(self, data: bytes) -> bytes:
        return self._factory.vault.digest(data)

    @property
    def index_digests(self) -> tuple[Digest, ...]:
        return self._factory.vault.index_digests

    def _read_once(self, what: str) -> None:
        if self._has_read:
            raise TornRead(f"use one snapshot for all reads of a reply: {what}")
        self._has_read = True

    def _share(self) -> AbstractAsyncContextManager[None]:
        """Holds one connection of the merchant's share for as long as it is entered."""
        return self._factory.shares.holding(self._merchant_id)

    async def fetch(self, query: str, *args: Any) -> list[Any]:
        self._read_once(query)
        async with self._share():
            return await self._rows().fetch(query, *args)

    async def fetchrow(self, query: str, *args: Any) -> Any:
        self._read_once(query)
        async with self._share():
            return await self._rows().fetchrow(query, *args)

    def _rows(self) -> MerchantReader:
        return MerchantReader(self._factory.lists, self._merchant_id)

    def fetch_row_batched(self, query: BatchedQuery, *key: Any) -> "asyncio.Future[Any]":
        if self._has_read:
            self._read_once(query.of_many)
        self._has_read = True
        return self._factory.lookups.fetch_row_batched(self._merchant_id, query, *key)

    def fetch_page_batched(self, query: BatchedQuery, *key: Any) -> "asyncio.Future[Any]":
        return self._factory.pages.fetch_row_batched(self._merchant_id, query, *key)

    @contextlib.asynccontextmanager
    async def snapshot(self) -> AsyncIterator["SnapshotReader"]:
        self._read_once("a snapshot")
        async with self._share(), snapshot(self._factory.lists, self._merchant_id) as connection:
            yield SnapshotReader(connection)

    async def make_lines(self, make: Callable[[Item], Line], items: Iterable[Item], at_once: int = 20) -> list[Line]:
        return await make_lines(make, items, at_once)


async def make_lines(make: Callable[[Item], Line], items: Iterable[Item], at_once: int = 20) -> list[Line]:
    """Makes the lines of a list reply. Lets other tasks run after every `at_once` lines."""
    lines: list[Line] = []
    for item in items:
        lines.append(make(item))
        if not len(lines) % at_once:
            await asyncio.sleep(0)
    return lines


class SnapshotReader:
    """Reads on one connection, in one snapshot."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def fetch(self, query: str, *args: Any) -> list[Any]:
        return await self._connection.fetch(query, *args)

    async def fetchrow(self, query: str, *args: Any) -> Any:
        return await self._connection.fetchrow(query, *args)

    async def fetch_requests(self, query: BatchedQuery, requests: Iterable[tuple[Any, ...]]) -> list[Any]:
        return await find_layout(self._connection).fetch_requests(self._connection, query, requests)

    async def fetch_row_batched(self, query: BatchedQuery, *key: Any) -> Any:
        """Runs a batched query (see LookupBatcher) for one key."""
        return next(iter(await self.fetch_requests(query, [key])), None)


class SnapshotReaderFactory:
    """A reader factory whose replies are all read in one snapshot, which the caller opened."""

    def __init__(self, connection: Connection, vault: Vault, public_url: str = "") -> None:
        self._reader = SnapshotReplyReader(connection, vault, public_url)

    def for_one_reply(self, merchant_id: int) -> "SnapshotReplyReader":
        return self._reader


class SnapshotReplyReader(SnapshotReader):
    """Reads for a reply in a snapshot that is already open."""

    def __init__(self, connection: Connection, vault: Vault, public_url: str) -> None:
        super().__init__(connection)
        self.public_url = public_url
        self._vault = vault
        self.unseal = vault.unseal
        self.digest = vault.digest
        self.index_digests = vault.index_digests

    async def fetch_page_batched(self, query: BatchedQuery, *key: Any) -> Any:
        return await self.fetch_row_batched(query, *key)

    def seal(self, merchant_id: int, place: str, plain: bytes) -> bytes:
        return self._vault.seal(merchant_id, place, plain, os.urandom(NONCE_BYTES))

    @contextlib.asynccontextmanager
    async def snapshot(self) -> AsyncIterator[SnapshotReader]:
        yield self

    async def make_lines(self, make: Callable[[Item], Line], items: Iterable[Item], at_once: int = 20) -> list[Line]:
        return await make_lines(make, items, at_once)
