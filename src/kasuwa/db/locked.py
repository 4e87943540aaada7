"""The locked way to run a batch: lock its books, read, decide, write, commit.

A book that another session holds for longer than a moment must not hold up the other merchants of the batch. So the
locked way comes in two forms:

    together    the books of a batch are waited for `pool.BOOK_LOCK_SECONDS`, then those that are free are locked; who
                belongs to the others is left out, and returned
    alone       one merchant, on connections of its own, waits for its book as long as its requests have patience

lanes.py runs what is left out in the second form, beside the writer.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable

import asyncpg
import msgspec

from kasuwa.core.decision import More, Needs, Row
from kasuwa.core.references import book_key
from kasuwa.db import pool
from kasuwa.db.batch import Book, Broken, Desk, Result, Submission, World, decide_batch
from kasuwa.db.clock import Clock
from kasuwa.db.memory import Memory
from kasuwa.db.pool import Connection
from kasuwa.db.rows import joined, select_by_key
from kasuwa.db.session import RETRY_SECONDS, CommitLost, Decided, Session, Unreachable
from kasuwa.db.turns import run_in_turns

# A rule that keeps asking for more is a bug. So many rounds takes who draws the last cash of savings: the code, its
# order, the savings that pay it, and their client.
MOST_ROUNDS = 4

LOCK_BOOKS = select_by_key(Book) + " order by key for update"
LOCK_FREE_BOOKS = LOCK_BOOKS + " skip locked"


class Entry(msgspec.Struct, eq=False):
    """A submission and who waits for its result, until that moment of the monotonic clock. `is_sent` while its commit
    may have happened: until then, and again when it is known that it did not, nothing has."""

    submission: Submission
    merchant_id: int
    future: "asyncio.Future[Result]"
    until: float
    is_sent: bool = False


Taken = list[Entry]
Connect = Callable[[], Awaitable[Connection]]


class LockedWay:
    """Runs batches on one session. With `alone`, batches are of one merchant each, and nobody is left out unless
    `lock_seconds` bounds how long one run waits for the book."""

    def __init__(self, session: Session, memory: Memory, world: World, clock: Clock, *, alone: bool = False) -> None:
        self._session = session
        self._memory = memory
        self._world = world
        self._clock = clock
        self._alone = alone
        self.lock_seconds: float | None = None

    async def run(self, taken: Taken) -> Taken:
        """Answer everybody, but for those who are left out. Whoever has lost patience by the time of a try is told
        that nothing happened."""
        while taken := drop_impatient(taken):
            until = min(entry.until for entry in taken)
            decided: Decided | None = None
            try:
                async with asyncio.timeout(until - time.monotonic()):  # up to here, nothing can have happened
                    ours, decided = await self._lock_and_decide(taken, until)
                set_sent(ours, True)
                await self._session.commit(decided, locked=True)
            except asyncpg.LockNotAvailableError:
                # Somebody holds a book, or a row beside it, such as a job that is being claimed: which, is not said.
                set_sent(taken, False)
                await self._session.rollback()
                if not self._alone or self.lock_seconds is not None:
                    return taken
                continue
            except CommitLost as lost:
                committed = await self._session.was_committed(lost, until)
                if committed is not False:
                    assert decided is not None, "only what was decided is committed"
                    self._forget()
                    finish(ours, decided.results, None if committed else Unreachable(unsure=True))
                    return without(taken, ours)
            except Unreachable as error:
                self._forget()
                fail(ours, error)
                return without(taken, ours)
            except Exception as error:
                if not pool.is_lost(error):
                    return await self._run_one_by_one(taken, error)
                self._session.is_failing = True
            else:
                # Answered first: it is durable, whatever goes wrong while it is remembered.
                answer(ours, decided.results)
                self._memory.learn(decided.desk)
                self._memory.settle(decided.desk)
                return without(taken, ours)
            set_sent(taken, False)
            self._forget()
            await asyncio.sleep(RETRY_SECONDS)
        return []

    async def _run_one_by_one(self, taken: Taken, error: Exception) -> Taken:
        """The database or a rule refused a batch: so that one cannot fail its neighbours, each is tried alone."""
        self._forget()
        set_sent(taken, False)
        if len(taken) == 1:
            answer(taken, [Broken(error)])
            return []
        return [left for entry in taken for left in await self.run([entry])]

    def _forget(self) -> None:
        self._session.disconnect()
        self._memory.forget_all()

    async def _lock_and_decide(self, taken: Taken, until: float) -> tuple[Taken, Decided]:
        """The entries whose books could be locked, decided. Their transaction is open."""
        books = await (self._lock_alone(taken, until) if self._alone else self._lock_together(taken))
        desk = Desk(self._world, self._clock.now(), self._clock.earliest())
        for book in books:
            self._memory.check(book)
            desk.open_book(book)
        ours = [entry for entry in taken if entry.merchant_id in desk.books]
        if not ours:
            raise asyncpg.LockNotAvailableError("every book is held by others")
        submissions = [entry.submission for entry in ours]
        results = await decide_on(desk, self._memory, self._session.in_transaction, submissions)
        desk.close_books()
        return ours, Decided(desk, results)

    async def _lock_together(self, taken: Taken) -> list[Book]:
        keys = joined(sorted({book_key(entry.merchant_id) for entry in taken}))
        connection = await self._session.begin()
        try:
            return [Book(*record) for record in await connection.fetch(LOCK_BOOKS, keys)]
        except asyncpg.LockNotAvailableError:
            connection = await self._session.begin()
            return [Book(*record) for record in await connection.fetch(LOCK_FREE_BOOKS, keys)]

    async def _lock_alone(self, taken: Taken, until: float) -> list[Book]:
        """PostgreSQL waits, so that whoever came first gets the book first."""
        left = min(until - time.monotonic(), pool.WRITE_SECONDS - 1, self.lock_seconds or pool.WRITE_SECONDS)
        connection = await self._session.begin(f"set local lock_timeout = {max(1, int(left * 1000))}")
        keys = joined({book_key(entry.merchant_id) for entry in taken})
        return [Book(*record) for record in await connection.fetch(LOCK_BOOKS, keys)]


# --- deciding -------------------------------------------------------------------------------------------------------


async def decide_on(desk: Desk, memory: Memory, connect: Connect, submissions: list[Submission]) -> list[Result]:
    """Fetch what the submissions need and decide them, in order; those who ask for more, again. A long batch is decided
    in turns. That is safe: the desk is this task's own, and what it is decided on is locked or checked by the write."""
    await fetch(desk, memory, connect, ((submission, submission.needs) for submission in submissions))
    results = await run_in_turns(decide_batch(desk, submissions))
    for _ in range(MOST_ROUNDS):
        unfinished = [(n, result.needs) for n, result in enumerate(results) if type(result) is More]
        if not unfinished:
            break
        await fetch(desk, memory, connect, [(submissions[n], needs) for n, needs in unfinished])
        for n, needs in unfinished:
            desk.account_names(submissions[n].merchant.merchant_id, needs.accounts)
            results[n] = await run_in_turns(desk.decide(submissions[n]))
    else:
        endless = Broken(RuntimeError("a rule asks for ever more"))
        return [endless if isinstance(result, More) else result for result in results]
    return results


async def fetch(desk: Desk, memory: Memory, connect: Connect, wanted: Iterable[tuple[Submission, Needs]]) -> None:
    """Everything the batch needs: what is remembered, and the rest with one statement a table."""
    unknown: dict[type[Row], dict[bytes, None]] = {}
    for submission, needs in wanted:
        memory.recall(desk, desk.ask(submission, needs), unknown)
    for kind, keys in unknown.items():
        records = await (await connect()).fetch(select_by_key(kind), joined(keys))
        desk.fetched(keys, [kind(*record) for record in records])


# --- answering ------------------------------------------------------------------------------------------------------


def drop_impatient(taken: Taken) -> Taken:
    """Those who still wait; the others are told that nothing happened, as it did not."""
    now = time.monotonic()
    fail([entry for entry in taken if entry.until <= now], Unreachable(unsure=False))
    return [entry for entry in taken if entry.until > now]


def without(taken: Taken, ours: Taken) -> Taken:
    if len(ours) == len(taken):
        return []
    mine = set(ours)
    return [entry for entry in taken if entry not in mine]


def set_sent(taken: Taken, is_sent: bool) -> None:
    for entry in taken:
        entry.is_sent = is_sent


def fail(taken: Taken, error: Exception) -> None:
    for entry in taken:
        if not entry.future.done():
            entry.future.set_exception(error)


def answer(taken: Taken, results: list[Result]) -> None:
    for entry, result in zip(taken, results, strict=True):
        if not entry.future.done():
            entry.future.set_result(result)


def finish(taken: Taken, results: list[Result], error: Exception | None) -> None:
    if error is None:
        answer(taken, results)
    else:
        fail(taken, error)
