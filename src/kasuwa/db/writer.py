"""The one writer: all requests in flight become one batch and one transaction.

Requests that arrive while a commit is under way are the next batch, which stays open until then. Everybody
who writes anything of a merchant raises the version in its book row, under that row's lock. That gives two ways
to run a batch, and both are right:

    on memory   the writer was the last to write these merchants (memory.py): it decides on what it remembers,
                while the batch before is still being committed; the write then holds only if every version
                is the expected one
    locked      the books are locked first, in one order, then all rows are read and decided upon

Either way: decide in memory (batch.py), write everything with one statement, commit, and only then answer. On memory
that statement is the whole transaction.

What can go wrong, and what is done about it:
    a version has moved                    the batch is run again, locked
    a rule raises                          that one is answered 204, the others go on
    the database refuses the batch         each of it is tried alone, so one cannot fail its neighbours
    the connection is lost before COMMIT   nothing happened: the batch is run again on a new connection
    the connection is lost during COMMIT   the batch's mark is looked for: there, then it is answered as such; not
                                           there and nobody left who could still commit, then it is run again
    the database stays away                204, and the writer goes on trying for those who come later
"""

import asyncio
import contextlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import asyncpg
import msgspec

from kasuwa.core.decision import More, Needs, Row
from kasuwa.core.references import book_key
from kasuwa.db import pool
from kasuwa.db.batch import Book, Broken, Desk, Repeat, Result, Submission, World, decide_batch
from kasuwa.db.changes import changes
from kasuwa.db.journal import MarkRow
from kasuwa.db.memory import Memory
from kasuwa.db.pool import Connection
from kasuwa.db.rows import joined, select_by_key, write_sql

MOST_IN_A_BATCH = 256
# A rule that keeps asking for more is a bug. So many rounds takes who draws the last cash of savings: the code, its
# order, the savings that pay it, and their client.
MOST_ROUNDS = 4
# How long requests wait for a database that went away before they are answered 204.
PATIENCE_SECONDS = 8.0
RETRY_SECONDS = 0.1

# Asked in this order, each with a snapshot of its own: what ended between the two is marked.
IS_ALIVE = "select exists (select 1 from pg_stat_activity where pid = $1)"
# Written once more: what was kept through a crash need not be on the synchronous standby yet. This commit waits for it.
WAS_MARKED = "update commit_mark set mark = mark where merchant_id = $1 and mark = $2 returning true"

LOCK_BOOKS = select_by_key(Book) + " order by key for update"
SHIFT_JOBS = """
    update job set run_at = case
        when $2::timestamptz is null then due - make_interval(secs => $3::bigint / 1000000.0)
        when due <= $2 then $4::timestamptz
        else 'infinity' end
    where merchant_id = $1
"""

Taken = list[tuple[Submission, "asyncio.Future[Result]"]]
# Hears of every commit: whether it was locked, how many writes it held, and how many seconds it took.
Heard = Callable[[bool, int, float], None]


class Unreachable(Exception):
    """The database did not answer in time. What was asked did not happen, unless `unsure`."""

    def __init__(self, *, unsure: bool) -> None:
        super().__init__("the database cannot be reached")
        self.unsure = unsure


class CommitLost(Exception):
    """The connection broke while COMMIT was under way. `backend` is the server's process that was committing."""

    def __init__(self, mark: MarkRow, backend: int) -> None:
        super().__init__(mark.mark.hex())
        self.mark = mark
        self.backend = backend


class Moved(Exception):
    """A book was not at the version it was expected to have: somebody else wrote."""


class Decided(msgspec.Struct):
    """A batch that is decided and not yet committed."""

    desk: Desk
    results: list[Result]


class Writer:
    def __init__(self, dsn: str, world: World, heard: Heard = lambda *_: None) -> None:
        self._dsn = dsn
        self._world = world
        self._heard = heard
        self._memory = Memory()
        self._waiting: deque[tuple[Submission, asyncio.Future[Result]]] = deque()
        self._wake = asyncio.Event()
        self._writes: Connection | None = None
        self._reads: Connection | None = None
        self._running: asyncio.Task[None] | None = None
        self._committing: asyncio.Task[bool] | None = None
        self._open: tuple[Decided, Taken] | None = None
        self._unanswered: list[tuple[Taken, list[Result]]] = []
        self._closing = False
        self._warned = False

    def start(self) -> None:
        self._running = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Finish what is waiting, then let go of the connections."""
        self._closing = True
        self._wake.set()
        if self._running is not None:
            await self._running
        self._disconnect()

    def submit(self, submission: Submission) -> "asyncio.Future[Result]":
        if submission.claim is not None:
            kept: tuple[type[Row], bytes] = (Repeat, submission.claim.key)
            submission.needs = Needs((*submission.needs.rows, kept), submission.needs.accounts)
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((submission, future))
        self._wake.set()
        return future

    def trouble(self) -> str | None:
        return None

    async def _run(self) -> None:
        while self._waiting or not self._closing:
            if not self._waiting:
                self._hand_out()
                self._wake.clear()
                await self._wake.wait()
                continue
            count = min(len(self._waiting), MOST_IN_A_BATCH)
            taken = [self._waiting.popleft() for _ in range(count)]
            try:
                await self._take_turn(taken)
            except Exception as error:  # a bug of ours must not stop the writer for everybody
                self._memory.forget_all()
                self._disconnect()
                fail(taken, error)
        await self._settled()
        self._hand_out()

    async def _take_turn(self, taken: Taken) -> None:
        """Decide a batch, and whatever joins it, while the one before is being committed. Who commits goes on with it
        when that is done; where nobody does, it is begun here."""
        decided = Decided(Desk(self._world, datetime.now(UTC)), [])
        on_memory = await self._decide_on_memory(decided, taken)
        while on_memory and self._committing is not None and not self._committing.done():
            joining = self._joining(MOST_IN_A_BATCH - len(taken))
            if joining:
                taken += joining
                on_memory = await self._decide_on_memory(decided, joining)
            elif await self._is_taken_over(decided, taken):
                return
        before_held = await self._settled()
        if not on_memory or not before_held:
            self._hand_out()
            await self._answer_locked(taken)
            return
        self._close(decided)
        self._committing = asyncio.get_running_loop().create_task(self._commit_on(decided, taken))
        self._committing.add_done_callback(lambda _: self._wake.set())

    def _joining(self, room: int) -> Taken:
        """What came while the batch before is still being committed: the more share a commit, the less each costs.
        Nothing where a book must be locked first."""
        came = [self._waiting[n] for n in range(min(room, len(self._waiting)))]
        if not self._memory.covers(submission.merchant.merchant_id for submission, _ in came):
            return []
        for _ in came:
            self._waiting.popleft()
        return came

    async def _is_taken_over(self, decided: Decided, taken: Taken) -> bool:
        """Leave a batch to who is committing the one before, until more may join it or that one is over."""
        self._open = (decided, taken)
        self._wake.clear()
        await self._wake.wait()
        is_ours, self._open = self._open is not None, None
        return not is_ours

    def _hand_out(self) -> None:
        """Answer those whose batch is committed."""
        while self._unanswered:
            answer(*self._unanswered.pop(0))

    async def _settled(self) -> bool:
        """Wait for the commit under way, if any; whether what was decided on top of it still stands."""
        committing, self._committing = self._committing, None
        return True if committing is None else await committing

    # --- on memory ----------------------------------------------------------------------------------------

    async def _decide_on_memory(self, decided: Decided, taken: Taken) -> bool:
        """Decide these on top of what the desk holds already. Whether that was possible; whatever kept it from being
        so, the locked way says it better."""
        desk, submissions = decided.desk, [submission for submission, _ in taken]
        merchants = {submission.merchant.merchant_id for submission in submissions}
        if not self._memory.covers(merchants):
            return False
        desk.wall = datetime.now(UTC)
        self._memory.open_books(desk, merchants - desk.books.keys())
        try:
            decided.results += await self._decide_on(desk, self._reading, submissions)
        except Exception:
            return False
        return True

    async def _commit_on(self, decided: Decided, taken: Taken) -> bool:
        """Commit a batch and, as long as each holds, the one that is open by then. It is sent before those of the one
        before are answered: PostgreSQL has work while we talk to clients."""
        while True:
            asyncio.get_running_loop().call_soon(self._hand_out)
            held = await self._commit_decided(decided, taken)
            if not held or self._open is None:
                return held
            (decided, taken), self._open = self._open, None
            self._close(decided)
            self._wake.set()

    def _close(self, decided: Decided) -> None:
        """Nothing more joins this batch; the next is decided on top of it."""
        decided.desk.close_books()
        self._memory.learn(decided.desk)

    async def _commit_decided(self, decided: Decided, taken: Taken) -> bool:
        """Commit a batch that was decided on memory; where that does not hold, run it again, locked."""
        desk = decided.desk
        try:
            held = await self._commit(await self._writing(), decided, locked=False)
        except Moved:
            self._memory.distrust(desk.books)
            held = False
        except Unreachable as error:
            self._memory.forget_all()
            fail(taken, error)
            return False
        except CommitLost as lost:
            committed = await self._was_committed(lost, time.monotonic() + PATIENCE_SECONDS)
            if committed is None:
                self._memory.forget_all()
                fail(taken, Unreachable(unsure=True))
                return False
            held = committed
        except Exception:
            held = False
        if held:
            self._memory.settle(desk)
            self._unanswered.append((taken, decided.results))
            return True
        self._memory.forget_all()
        self._disconnect()
        await self._answer_locked(taken)
        return False

    # --- locked ---------------------------------------------------------------------------------------------

    async def _answer_locked(self, taken: Taken) -> None:
        try:
            answer(taken, await self._decide_locked([submission for submission, _ in taken]))
        except Unreachable as error:
            fail(taken, error)

    async def _decide_locked(self, submissions: list[Submission]) -> list[Result]:
        until = time.monotonic() + PATIENCE_SECONDS
        unsure = False
        while True:
            decided: Decided | None = None
            try:
                decided = await self._lock_and_decide(submissions)
                await self._commit(await self._writing(), decided, locked=True)
                self._memory.learn(decided.desk)
                self._memory.settle(decided.desk)
                return decided.results
            except CommitLost as lost:
                committed = await self._was_committed(lost, until)
                if committed and decided is not None:
                    return decided.results
                unsure = committed is None
            except Unreachable:
                self._memory.forget_all()
                raise
            except Exception as error:
                if not pool.is_lost(error):
                    self._disconnect()
                    self._memory.forget_all()
                    if len(submissions) == 1:
                        return [Broken(error)]
                    return [(await self._decide_locked([submission]))[0] for submission in submissions]
            self._disconnect()
            self._memory.forget_all()
            if unsure or time.monotonic() > until:
                raise Unreachable(unsure=unsure)
            await asyncio.sleep(RETRY_SECONDS)

    async def _lock_and_decide(self, submissions: list[Submission]) -> Decided:
        connection = await self._writing()
        desk = Desk(self._world, datetime.now(UTC))
        await connection.execute("begin")
        keys = sorted({book_key(submission.merchant.merchant_id) for submission in submissions})
        for record in await connection.fetch(LOCK_BOOKS, joined(keys)):
            book = Book(*record)
            self._memory.check(book)
            desk.open_book(book)
        results = await self._decide_on(desk, self._writing, submissions)
        desk.close_books()
        return Decided(desk, results)

    async def _was_committed(self, lost: CommitLost, until: float) -> bool | None:
        """What became of a COMMIT whose answer was lost; None when the database does not come back to say. While
        the process that was committing lives, it may still do so."""
        while time.monotonic() < until:
            self._disconnect()
            with contextlib.suppress(Exception):  # whatever it was, it is asked again: somebody waits for the answer
                connection = await self._writing()
                alive = await connection.fetchval(IS_ALIVE, lost.backend)
                self._warned, left = False, until - time.monotonic()
                marked = await connection.fetchval(WAS_MARKED, lost.mark.merchant_id, lost.mark.mark, timeout=left)
                if marked and not self._warned:
                    return True
                if not marked and not alive:
                    return False
            await asyncio.sleep(RETRY_SECONDS)
        return None

    # --- connections ----------------------------------------------------------------------------------------

    async def _writing(self) -> Connection:
        """The connection that writes, with no transaction open between batches."""
        if self._writes is None or self._writes.is_closed():
            self._writes = await pool.connect(self._dsn, pool.WRITER_SETTINGS)
            self._writes.add_log_listener(self._hear)
        return self._writes

    def _hear(self, connection: Any, message: Any) -> None:
        """A commit that only warns may not have reached its synchronous standby: its outcome is not known."""
        if message.severity_en == "WARNING":
            self._warned = True

    async def _reading(self) -> Connection:
        """The connection that reads for a batch while the one before it is being committed."""
        if self._reads is None or self._reads.is_closed():
            self._reads = await pool.connect(self._dsn, pool.WRITER_SETTINGS)
        return self._reads

    def _disconnect(self) -> None:
        for connection in (self._writes, self._reads):
            if connection is not None:
                with contextlib.suppress(Exception):
                    connection.terminate()
        self._writes = self._reads = None

    # --- both ways ------------------------------------------------------------------------------------------

    async def _decide_on(self, desk: Desk, connect: Any, submissions: list[Submission]) -> list[Result]:
        await self._fetch(desk, connect, [(submission, submission.needs) for submission in submissions])
        results = decide_batch(desk, submissions)
        for _ in range(MOST_ROUNDS):
            unfinished = [(n, result.needs) for n, result in enumerate(results) if isinstance(result, More)]
            if not unfinished:
                break
            await self._fetch(desk, connect, [(submissions[n], needs) for n, needs in unfinished])
            for n, needs in unfinished:
                desk.account_names(submissions[n].merchant.merchant_id, needs.accounts)
                results[n] = desk.decide(submissions[n])
        endless = Broken(RuntimeError("a rule asks for ever more"))
        return [endless if isinstance(result, More) else result for result in results]

    async def _fetch(self, desk: Desk, connect: Any, wanted: Iterable[tuple[Submission, Needs]]) -> None:
        """Everything the batch needs: what is remembered, and the rest with one statement a table."""
        keys: dict[type[Row], dict[bytes, None]] = {}
        for submission, needs in wanted:
            for key, kind in desk.ask(submission, needs).items():
                keys.setdefault(kind, {})[key] = None
        for kind, asked in keys.items():
            unknown = self._memory.recall(desk, asked)
            if unknown:
                records = await (await connect()).fetch(select_by_key(kind), joined(unknown))
                desk.fetched(unknown, [kind(*record) for record in records])

    async def _commit(self, connection: Connection, decided: Decided, *, locked: bool) -> bool:
        """Write what was decided and commit it. True, or it raises.

        What is decided on memory is one statement, which commits by itself. What was locked is in a transaction
        already, and moving clocks takes a second statement."""
        began, desk = time.perf_counter(), decided.desk
        mark = MarkRow(min(desk.books), os.urandom(16), desk.wall)
        parts, rows = changes(desk, mark)
        if desk.moved_clocks and not locked:
            await connection.execute("begin")
        at_once = not (locked or desk.moved_clocks)
        self._warned = False
        try:
            await connection.fetch(write_sql(parts), *rows, len(desk.books))
            for merchant_id, book in desk.moved_clocks.items():
                await connection.execute(SHIFT_JOBS, merchant_id, book.clock_fixed, book.clock_offset, desk.wall)
        except asyncpg.DivisionByZeroError:
            raise Moved from None
        except Exception as error:
            if at_once and desk.touched and pool.is_lost(error):
                raise CommitLost(mark, connection.get_server_pid()) from None
            raise
        if not at_once:
            await self._end(connection, mark, desk)
        if self._warned:
            raise Unreachable(unsure=True)
        self._heard(locked, len(decided.results), time.perf_counter() - began)
        return True

    async def _end(self, connection: Connection, mark: MarkRow, desk: Desk) -> None:
        try:
            await connection.execute("commit")
        except Exception:
            if not desk.touched:
                raise
            raise CommitLost(mark, connection.get_server_pid()) from None


def fail(taken: Taken, error: Exception) -> None:
    for _, future in taken:
        if not future.done():
            future.set_exception(error)


def answer(taken: Taken, results: list[Result]) -> None:
    for (_, future), result in zip(taken, results, strict=True):
        if not future.done():
            future.set_result(result)
