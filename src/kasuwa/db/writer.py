"""The one writer: all requests in flight become one batch and one transaction.

Requests that arrive while a commit is under way wait for the next one; a batch is what is waiting. Its
merchants' book rows are locked first, in one order, and every writer does so: a merchant's rows are therefore
only ever changed under its lock, nothing read after it is stale, and no two batches can deadlock. Then:
fetch, decide in memory (batch.py), write everything with one statement, commit, and only then answer.

What can go wrong, and what is done about it:
    a rule raises                          that one is answered 204, the others go on
    the database refuses the batch         each of it is tried alone, so one cannot fail its neighbours
    the connection is lost before COMMIT   nothing happened: the batch is run again on a new connection
    the connection is lost during COMMIT   the transaction's id is asked after: committed, then it is answered
                                           as such; aborted, then it is run again
    the database stays away                204, and the writer goes on trying for those who come later
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import asyncpg

from kasuwa.core.decision import Job, More, Needs, Row
from kasuwa.core.references import account_key, book_key
from kasuwa.db import pool
from kasuwa.db.batch import (
    Book,
    Broken,
    Desk,
    EventRow,
    NoticeRow,
    PostingRow,
    Repeat,
    Result,
    Submission,
    World,
    decide_batch,
)
from kasuwa.db.rows import Columns, Part, column_arrays, columns_of, select_by_key, write_sql
from kasuwa.ledger.chart import Account

MOST_IN_A_BATCH = 256
# A rule that keeps asking for more is a bug; two rounds are the most any slice needs.
MOST_ROUNDS = 4
# How long requests wait for a database that went away before they are answered 204.
PATIENCE_SECONDS = 8.0
RETRY_SECONDS = 0.1

LOCK_BOOKS = select_by_key(Book) + " order by key for update"
SHIFT_JOBS = """
    update job set run_at = case
        when $2::timestamptz is null then due - make_interval(secs => $3::bigint / 1000000.0)
        when due <= $2 then $4::timestamptz
        else 'infinity' end
    where merchant_id = $1
"""
KEY_COLUMN = Columns(("key",), ("bytea",))


class Unreachable(Exception):
    """The database did not answer in time. What was asked did not happen, unless `unsure`."""

    def __init__(self, *, unsure: bool) -> None:
        super().__init__("the database cannot be reached")
        self.unsure = unsure


class CommitLost(Exception):
    """The connection broke while COMMIT was under way."""

    def __init__(self, transaction_id: str, results: list[Result]) -> None:
        super().__init__(transaction_id)
        self.transaction_id = transaction_id
        self.results = results


class Writer:
    def __init__(self, dsn: str, world: World) -> None:
        self._dsn = dsn
        self._world = world
        self._waiting: deque[tuple[Submission, asyncio.Future[Result]]] = deque()
        self._wake = asyncio.Event()
        self._connection: asyncpg.Connection[Any] | None = None
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Finish what is waiting, then let go of the connection."""
        self._closing = True
        self._wake.set()
        if self._task is not None:
            await self._task
        await self._disconnect()

    def submit(self, submission: Submission) -> "asyncio.Future[Result]":
        if submission.claim is not None:
            rows = (*submission.needs.rows, (Repeat, submission.claim.key))
            submission.needs = Needs(rows, submission.needs.accounts)
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((submission, future))
        self._wake.set()
        return future

    async def _run(self) -> None:
        while True:
            if not self._waiting:
                if self._closing:
                    return
                self._wake.clear()
                await self._wake.wait()
                continue
            count = min(len(self._waiting), MOST_IN_A_BATCH)
            taken = [self._waiting.popleft() for _ in range(count)]
            await self._answer(taken)

    async def _answer(self, taken: list[tuple[Submission, "asyncio.Future[Result]"]]) -> None:
        try:
            results = await self._decide([submission for submission, _ in taken])
        except Unreachable as error:
            for _, future in taken:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), result in zip(taken, results, strict=True):
            if not future.done():
                future.set_result(result)

    # --- trying, and trying again -----------------------------------------------------------------------

    async def _decide(self, submissions: list[Submission]) -> list[Result]:
        until = time.monotonic() + PATIENCE_SECONDS
        unsure = False
        while True:
            try:
                return await self._attempt(submissions)
            except CommitLost as lost:
                committed = await self._was_committed(lost.transaction_id, until)
                if committed:
                    return lost.results
                unsure = committed is None
            except Exception as error:
                await self._disconnect()
                if not pool.is_lost(error):
                    if len(submissions) == 1:
                        return [Broken(error)]
                    return [(await self._decide([submission]))[0] for submission in submissions]
            await self._disconnect()
            if unsure or time.monotonic() > until:
                raise Unreachable(unsure=unsure)
            await asyncio.sleep(RETRY_SECONDS)

    async def _attempt(self, submissions: list[Submission]) -> list[Result]:
        connection = await self._connected()
        desk = Desk(self._world, datetime.now(UTC))
        results = await self._decide_on(desk, connection, submissions)
        if not (desk.new or desk.changed or desk.gone or desk.notices):
            await connection.execute("rollback and chain")
            return results
        transaction_id = await self._write(connection, desk)
        try:
            await connection.execute("commit and chain")
        except Exception as error:
            if pool.is_lost(error):
                raise CommitLost(transaction_id, results) from None
            raise
        return results

    async def _was_committed(self, transaction_id: str, until: float) -> bool | None:
        """What became of a COMMIT whose answer was lost; None when the database does not come back to say."""
        while time.monotonic() < until:
            await self._disconnect()
            try:
                connection = await self._connected()
                status = await connection.fetchval("select pg_xact_status($1::text::xid8)", transaction_id)
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                status = "in progress"
            if status != "in progress":
                return bool(status == "committed")
            await asyncio.sleep(RETRY_SECONDS)
        return None

    async def _connected(self) -> "asyncpg.Connection[Any]":
        if self._connection is None or self._connection.is_closed():
            self._connection = await pool.connect(self._dsn, pool.WRITER_SETTINGS)
            await self._connection.execute("begin")
        return self._connection

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.terminate()

    # --- one transaction ----------------------------------------------------------------------------------

    async def _decide_on(
        self, desk: Desk, connection: "asyncpg.Connection[Any]", submissions: list[Submission]
    ) -> list[Result]:
        books = sorted({book_key(submission.merchant.merchant_id) for submission in submissions})
        desk.fetched(books, [Book(*record) for record in await connection.fetch(LOCK_BOOKS, books)])
        await self._fetch(desk, connection, [(s.merchant.merchant_id, s.needs) for s in submissions])
        results = decide_batch(desk, submissions)
        for _ in range(MOST_ROUNDS):
            unfinished = [n for n, result in enumerate(results) if isinstance(result, More)]
            if not unfinished:
                return results
            wanted = [(submissions[n].merchant.merchant_id, results[n].needs) for n in unfinished]  # type: ignore[union-attr]
            await self._fetch(desk, connection, wanted)
            for n, (merchant_id, needs) in zip(unfinished, wanted, strict=True):
                desk.account_names(merchant_id, needs.accounts)
                results[n] = desk.decide(submissions[n])
        return [Broken(RuntimeError("asks for ever more")) if isinstance(r, More) else r for r in results]

    async def _fetch(
        self, desk: Desk, connection: "asyncpg.Connection[Any]", wanted: Iterable[tuple[int, Needs]]
    ) -> None:
        """Everything the batch needs, one statement a table. The book rows are locked: these cannot move."""
        keys: dict[type[Row], dict[bytes, None]] = {}
        for merchant_id, needs in wanted:
            for kind, key in needs.rows:
                if key not in desk.rows:
                    keys.setdefault(kind, {})[key] = None
            for name in needs.accounts:
                key = account_key(merchant_id, name)
                if key not in desk.rows:
                    keys.setdefault(Account, {})[key] = None
        for kind, asked in keys.items():
            records = await connection.fetch(select_by_key(kind), list(asked))
            desk.fetched(list(asked), [kind(*record) for record in records])

    async def _write(self, connection: "asyncpg.Connection[Any]", desk: Desk) -> str:
        parts, arrays = changes(desk)
        transaction_id = await connection.fetchval(write_sql(parts), *arrays)
        for merchant_id, book in desk.moved_clocks.items():
            await connection.execute(SHIFT_JOBS, merchant_id, book.clock_fixed, book.clock_offset, desk.wall)
        assert isinstance(transaction_id, str)
        return transaction_id


def changes(desk: Desk) -> tuple[tuple[Part, ...], list[list[Any]]]:
    """All that a desk changed, as the parts of one statement and their arrays."""
    parts: list[Part] = []
    arrays: list[list[Any]] = []

    def add(verb: str, table: str, columns: Columns, rows: Iterable[Any]) -> None:
        parts.append(Part(verb, table, columns))
        arrays.extend(column_arrays(columns, rows))

    for kind, rows in by_kind(desk.new.values()):
        add("insert", kind.table, columns_of(kind), rows)
    for kind, rows in by_kind(desk.changed[key] for key in desk.changed if key not in desk.new):
        add("update", kind.table, columns_of(kind).only(("key", *kind.changing)), rows)
    if desk.gone:
        add("delete", Job.table, KEY_COLUMN, desk.gone.values())
    for name, kept in (("posting", desk.postings), ("event", desk.events), ("notice", desk.notices)):
        if kept:
            add("insert", name, columns_of(type(kept[0])), kept)
    return tuple(parts), arrays


def by_kind(rows: Iterable[Row]) -> list[tuple[type[Row], list[Row]]]:
    """Rows by table, tables by name, so that the same mix always makes the same statement."""
    found: dict[type[Row], list[Row]] = {}
    for row in rows:
        found.setdefault(type(row), []).append(row)
    return sorted(found.items(), key=lambda item: item[0].table)
