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

from kasuwa.core.decision import Needs, NeedsMore, Row
from kasuwa.core.references import book_key
from kasuwa.db import connections
from kasuwa.db.batch import BatchState, Deployment, MerchantState, Result, RuleFailure, Submission, decide_batch
from kasuwa.db.bulk_sql import concat_keys, select_by_key
from kasuwa.db.clock import DatabaseClock
from kasuwa.db.connections import Connection
from kasuwa.db.row_cache import RowCache
from kasuwa.db.time_slices import run_in_slices
from kasuwa.db.writer_session import RETRY_SECONDS, CommitInterrupted, DatabaseUnreachable, DecidedBatch, WriterSession

# A rule that keeps asking for more is a bug. So many rounds takes who draws the last cash of savings: the code, its
# order, the savings that pay it, and their client.
MAX_DECIDE_ROUNDS = 4

LOCK_MERCHANTS = select_by_key(MerchantState) + " order by key for update"
LOCK_FREE_MERCHANTS = LOCK_MERCHANTS + " skip locked"


class PendingSubmission(msgspec.Struct, eq=False):
    """A submission and who waits for its result, until that moment of the monotonic clock. `is_sent` while its commit
    may have happened: until then, and again when it is known that it did not, nothing has."""

    submission: Submission
    merchant_id: int
    future: "asyncio.Future[Result]"
    deadline: float
    is_commit_sent: bool = False


PendingBatch = list[PendingSubmission]
GetConnection = Callable[[], Awaitable[Connection]]


class LockedBatchRunner:
    """Runs batches on one session. With `alone`, batches are of one merchant each, and nobody is left out unless
    `lock_seconds` bounds how long one run waits for the book."""

    def __init__(
        self,
        session: WriterSession,
        memory: RowCache,
        world: Deployment,
        clock: DatabaseClock,
        *,
        single_merchant: bool = False,
    ) -> None:
        self._session = session
        self._memory = memory
        self._world = world
        self._clock = clock
        self._alone = single_merchant
        self.lock_seconds: float | None = None

    async def run(self, taken: PendingBatch) -> PendingBatch:
        """Answer everybody, but for those who are left out. Whoever has lost patience by the time of a try is told
        that nothing happened."""
        while taken := drop_overdue(taken):
            until = min(entry.deadline for entry in taken)
            decided: DecidedBatch | None = None
            try:
                async with asyncio.timeout(until - time.monotonic()):  # up to here, nothing can have happened
                    ours, decided = await self._lock_and_decide(taken, until)
                mark_commit_sent(ours, True)
                await self._session.commit(decided, is_locked=True)
            except asyncpg.LockNotAvailableError:
                # Somebody holds a book, or a row beside it, such as a job that is being claimed: which, is not said.
                mark_commit_sent(taken, False)
                await self._session.rollback()
                if not self._alone or self.lock_seconds is not None:
                    return taken
                continue
            except CommitInterrupted as lost:
                committed = await self._session.was_committed(lost, until)
                if committed is not False:
                    assert decided is not None, "only what was decided is committed"
                    self._reset()
                    resolve_or_fail(ours, decided.results, None if committed else DatabaseUnreachable(unsure=True))
                    return exclude(taken, ours)
            except DatabaseUnreachable as error:
                self._reset()
                fail_all(ours, error)
                return exclude(taken, ours)
            except Exception as error:
                if not connections.is_connection_error(error):
                    return await self._run_one_by_one(taken, error)
                self._session.is_failing = True
            else:
                # Answered first: it is durable, whatever goes wrong while it is remembered.
                resolve_all(ours, decided.results)
                self._memory.remember_batch(decided.state)
                self._memory.forget_closed(decided.state)
                return exclude(taken, ours)
            mark_commit_sent(taken, False)
            self._reset()
            await asyncio.sleep(RETRY_SECONDS)
        return []

    async def _run_one_by_one(self, taken: PendingBatch, error: Exception) -> PendingBatch:
        """The database or a rule refused a batch: so that one cannot fail its neighbours, each is tried alone."""
        self._reset()
        mark_commit_sent(taken, False)
        if len(taken) == 1:
            resolve_all(taken, [RuleFailure(error)])
            return []
        return [left for entry in taken for left in await self.run([entry])]

    def _reset(self) -> None:
        self._session.disconnect()
        self._memory.forget_all()

    async def _lock_and_decide(self, taken: PendingBatch, until: float) -> tuple[PendingBatch, DecidedBatch]:
        """The entries whose books could be locked, decided. Their transaction is open."""
        books = await (self._lock_alone(taken, until) if self._alone else self._lock_together(taken))
        desk = BatchState(self._world, self._clock.now(), self._clock.earliest_now())
        for book in books:
            self._memory.check_version(book)
            desk.add_merchant_state(book)
        ours = [entry for entry in taken if entry.merchant_id in desk.merchant_states]
        if not ours:
            raise asyncpg.LockNotAvailableError("every book is held by others")
        submissions = [entry.submission for entry in ours]
        results = await fetch_and_decide(desk, self._memory, self._session.transaction_connection, submissions)
        desk.raise_versions()
        return ours, DecidedBatch(desk, results)

    async def _lock_together(self, taken: PendingBatch) -> list[MerchantState]:
        keys = concat_keys(sorted({book_key(entry.merchant_id) for entry in taken}))
        connection = await self._session.begin()
        try:
            return [MerchantState(*record) for record in await connection.fetch(LOCK_MERCHANTS, keys)]
        except asyncpg.LockNotAvailableError:
            connection = await self._session.begin()
            return [MerchantState(*record) for record in await connection.fetch(LOCK_FREE_MERCHANTS, keys)]

    async def _lock_alone(self, taken: PendingBatch, until: float) -> list[MerchantState]:
        """PostgreSQL waits, so that whoever came first gets the book first."""
        left = min(
            until - time.monotonic(), connections.WRITE_SECONDS - 1, self.lock_seconds or connections.WRITE_SECONDS
        )
        connection = await self._session.begin(f"set local lock_timeout = {max(1, int(left * 1000))}")
        keys = concat_keys({book_key(entry.merchant_id) for entry in taken})
        return [MerchantState(*record) for record in await connection.fetch(LOCK_MERCHANTS, keys)]


# --- deciding -------------------------------------------------------------------------------------------------------


async def fetch_and_decide(
    state: BatchState, cache: RowCache, get_connection: GetConnection, submissions: list[Submission]
) -> list[Result]:
    """Fetch what the submissions need and decide them, in order; those who ask for more, again. A long batch is decided
    in turns. That is safe: the desk is this task's own, and what it is decided on is locked or checked by the write."""
    await fetch_needed_rows(
        state, cache, get_connection, ((submission, submission.needs) for submission in submissions)
    )
    results = await run_in_slices(decide_batch(state, submissions))
    for _ in range(MAX_DECIDE_ROUNDS):
        unfinished = [(n, result.needs) for n, result in enumerate(results) if type(result) is NeedsMore]
        if not unfinished:
            break
        await fetch_needed_rows(state, cache, get_connection, [(submissions[n], needs) for n, needs in unfinished])
        for n, needs in unfinished:
            state.open_missing_accounts(submissions[n].merchant.merchant_id, needs.accounts)
            results[n] = await run_in_slices(state.decide(submissions[n]))
    else:
        endless = RuleFailure(RuntimeError("a rule asks for ever more"))
        return [endless if isinstance(result, NeedsMore) else result for result in results]
    return results


async def fetch_needed_rows(
    desk: BatchState, memory: RowCache, connect: GetConnection, wanted: Iterable[tuple[Submission, Needs]]
) -> None:
    """Everything the batch needs: what is remembered, and the rest with one statement a table."""
    unknown: dict[type[Row], dict[bytes, None]] = {}
    for submission, needs in wanted:
        memory.load_rows(desk, desk.request_rows(submission, needs), unknown)
    for kind, keys in unknown.items():
        records = await (await connect()).fetch(select_by_key(kind), concat_keys(keys))
        desk.add_fetched_rows(keys, [kind(*record) for record in records])


# --- answering ------------------------------------------------------------------------------------------------------


def drop_overdue(taken: PendingBatch) -> PendingBatch:
    """Those who still wait; the others are told that nothing happened, as it did not."""
    now = time.monotonic()
    fail_all([entry for entry in taken if entry.deadline <= now], DatabaseUnreachable(unsure=False))
    return [entry for entry in taken if entry.deadline > now]


def exclude(taken: PendingBatch, ours: PendingBatch) -> PendingBatch:
    if len(ours) == len(taken):
        return []
    mine = set(ours)
    return [entry for entry in taken if entry not in mine]


def mark_commit_sent(taken: PendingBatch, is_sent: bool) -> None:
    for entry in taken:
        entry.is_commit_sent = is_sent


def fail_all(taken: PendingBatch, error: Exception) -> None:
    for entry in taken:
        if not entry.future.done():
            entry.future.set_exception(error)


def resolve_all(taken: PendingBatch, results: list[Result]) -> None:
    for entry, result in zip(taken, results, strict=True):
        if not entry.future.done():
            entry.future.set_result(result)


def resolve_or_fail(taken: PendingBatch, results: list[Result], error: Exception | None) -> None:
    if error is None:
        resolve_all(taken, results)
    else:
        fail_all(taken, error)
