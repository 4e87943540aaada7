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
    another session holds a book           the batch goes on without that merchant, whose submissions get a lane of
                                           their own (lanes.py)
    a rule raises                          that one is answered 204, the others go on
    the database refuses the batch         each of it is tried alone, so one cannot fail its neighbours
    the connection is lost before COMMIT   nothing happened: the batch is run again on a new connection
    the connection is lost during COMMIT   the batch's mark is looked for: there, then it is answered as such; not
                                           there and nobody left who could still commit, then it is run again
    the database does not answer           each statement has a deadline, and is then lost like a connection
    the database stays away                204, and the writer goes on trying for those who come later
    anything else takes too long           who waits is answered: that nothing happened if its commit was not yet
                                           sent, else that the outcome is not known
"""

import asyncio
import contextlib
import time
from collections import deque

import asyncpg

from kasuwa.core.decision import Needs, Row
from kasuwa.db import connections
from kasuwa.db.batch import BatchState, Deployment, IdempotencyRecord, Result, Submission
from kasuwa.db.blocked_merchants import BlockedMerchantQueues
from kasuwa.db.clock import DatabaseClock
from kasuwa.db.locked_batch import (
    LockedBatchRunner,
    PendingBatch,
    PendingSubmission,
    drop_overdue,
    fail_all,
    fetch_and_decide,
    mark_commit_sent,
    resolve_all,
)
from kasuwa.db.row_cache import RowCache
from kasuwa.db.writer_session import (
    CommitInterrupted,
    CommitObserver,
    DatabaseUnreachable,
    DecidedBatch,
    VersionConflict,
    WriterSession,
)

__all__ = ["DatabaseUnreachable", "Writer"]

MAX_BATCH_SIZE = 256
# How long requests wait for a database that went away before they are answered 204.
SUBMIT_TIMEOUT_SECONDS = 8.0
# How often is looked whose patience is over, and how much longer whoever is being committed is given: what commits a
# batch knows better what became of it, and keeps to the same patience.
SWEEP_SECONDS = 0.25
COMMIT_GRACE_SECONDS = 1.0
# A batch that is under way for so long makes a process not ready.
STUCK_SECONDS = 3.0
PROBE_SECONDS = 1.0


class Writer:
    def __init__(
        self,
        dsn: str,
        deployment: Deployment,
        on_commit: CommitObserver = lambda *_: None,
        clock: DatabaseClock | None = None,
        *,
        timeout_seconds: float = SUBMIT_TIMEOUT_SECONDS,
        statement_seconds: float = connections.WRITE_SECONDS,
    ) -> None:
        self.clock = clock or DatabaseClock()
        self._world = deployment
        self._patience = timeout_seconds
        self._cache = RowCache()

        def make_session() -> WriterSession:
            return WriterSession(dsn, self.clock, on_commit, statement_seconds)

        self._session = make_session()
        self._locked = LockedBatchRunner(self._session, self._cache, deployment, self.clock)
        self._blocked = BlockedMerchantQueues(make_session, self._cache, deployment, self.clock)
        self._waiting: deque[PendingSubmission] = deque()
        self._wake = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._sweeping: asyncio.Task[None] | None = None
        self._committing: asyncio.Task[bool] | None = None
        self._open_batch: tuple[DecidedBatch, PendingBatch] | None = None
        # The batches that were taken up and not yet ended, each with the moment of that.
        self._started_batches: dict[int, tuple[PendingBatch, float]] = {}
        self._committed: list[tuple[PendingBatch, list[Result]]] = []
        self._closing = False

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._running = loop.create_task(self._run())
        self._sweeping = loop.create_task(self._sweep())

    async def close(self) -> None:
        """Finish what is waiting, then let go of the connections."""
        self._closing = True
        self._wake.set()
        if self._running is not None:
            await self._running
        await self._blocked.close()
        if self._sweeping is not None:
            self._sweeping.cancel()
        self._session.disconnect()

    def submit(self, submission: Submission) -> "asyncio.Future[Result]":
        if submission.idempotency_claim is not None:
            kept: tuple[type[Row], bytes] = (IdempotencyRecord, submission.idempotency_claim.key)
            submission.needs = Needs((*submission.needs.rows, kept), submission.needs.accounts)
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        until = time.monotonic() + self._patience
        self._waiting.append(PendingSubmission(submission, submission.merchant.merchant_id, future, until))
        self._wake.set()
        return future

    def find_problem(self) -> str | None:
        """What keeps writes from being done now, or None: for readiness. Judged by what batches achieve."""
        if self._session.is_failing:
            return "the last write found the database away"
        began = min((began for _, began in self._started_batches.values()), default=None)
        if began is not None and time.monotonic() - began > STUCK_SECONDS:
            return f"a write has waited for the database for {time.monotonic() - began:.0f} s"
        return None

    # --- patience -------------------------------------------------------------------------------------------

    async def _sweep(self) -> None:
        """Answer those whose patience is over, whatever the rest of the writer is waiting for."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = time.monotonic()
            if self._waiting and self._waiting[0].deadline <= now:
                self._waiting = deque(drop_overdue(list(self._waiting)))
            if self._blocked:
                self._blocked.drop_overdue()
            for taken, began in list(self._started_batches.values()):
                # A bug of ours may have lost a batch: once all of it is answered, it keeps nobody from being ready.
                if now - began > STUCK_SECONDS and all(entry.future.done() for entry in taken):
                    self._mark_ended(taken)
            for taken in (*(taken for taken, _ in self._started_batches.values()), *self._blocked.running.values()):
                fail_all(
                    [e for e in taken if not e.is_commit_sent and e.deadline <= now], DatabaseUnreachable(unsure=False)
                )
                fail_all(
                    [e for e in taken if e.is_commit_sent and e.deadline + COMMIT_GRACE_SECONDS <= now],
                    DatabaseUnreachable(unsure=True),
                )

    def _begin(self, taken: PendingBatch) -> None:
        self._started_batches[id(taken)] = (taken, time.monotonic())

    def _mark_ended(self, taken: PendingBatch) -> None:
        self._started_batches.pop(id(taken), None)

    # --- taking turns ---------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while self._waiting or not self._closing:
            if not self._waiting:
                self._answer_committed()
                self._wake.clear()
                await self._wait_for_work()
                continue
            count = min(len(self._waiting), MAX_BATCH_SIZE)
            taken = self._blocked.divert([self._waiting.popleft() for _ in range(count)])
            if not taken:
                continue
            self._begin(taken)
            try:
                await self._take_turn(taken)
            except Exception as error:  # a bug of ours must not stop the writer for everybody
                self._cache.forget_all()
                self._session.disconnect()
                fail_all(taken, error)
                self._mark_ended(taken)
        await self._commit_finished()
        self._answer_committed()

    async def _wait_for_work(self) -> None:
        """A writer that found the database away looks by itself whether it is back: nobody may come to try it while
        this process is not ready."""
        if not self._session.is_failing:
            await self._wake.wait()
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PROBE_SECONDS):
                await self._wake.wait()
            return
        if self._committing is None or self._committing.done():
            await self._session.probe()

    async def _take_turn(self, taken: PendingBatch) -> None:
        """Decide a batch, and whatever joins it, while the one before is being committed. Who commits goes on with it
        when that is done; where nobody does, it is begun here."""
        decided = DecidedBatch(BatchState(self._world, self.clock.now(), self.clock.earliest_now()), [])
        on_memory = await self._decide_on_memory(decided, taken)
        while on_memory and self._committing is not None and not self._committing.done():
            joining = self._joining(MAX_BATCH_SIZE - len(taken))
            if joining:
                taken += joining
                on_memory = await self._decide_on_memory(decided, joining)
            elif await self._wait_for_committer(decided, taken):
                return
        before_held = await self._commit_finished()
        if not on_memory or not before_held:
            self._answer_committed()
            await self._run_locked(taken)
            return
        self._close(decided)
        self._committing = asyncio.get_running_loop().create_task(self._commit_on(decided, taken))
        self._committing.add_done_callback(lambda _: self._wake.set())

    def _joining(self, room: int) -> PendingBatch:
        """What came while the batch before is still being committed: the more share a commit, the less each costs.
        Nothing where a book must be locked first."""
        came = [self._waiting[n] for n in range(min(room, len(self._waiting)))]
        if not self._cache.can_decide(entry.merchant_id for entry in came):
            return []
        for _ in came:
            self._waiting.popleft()
        return came

    async def _wait_for_committer(self, decided: DecidedBatch, taken: PendingBatch) -> bool:
        """Leave a batch to who is committing the one before, until more may join it or that one is over."""
        self._open_batch = (decided, taken)
        self._wake.clear()
        await self._wake.wait()
        is_ours, self._open_batch = self._open_batch is not None, None
        return not is_ours

    def _answer_committed(self) -> None:
        """Answer those whose batch is committed."""
        while self._committed:
            resolve_all(*self._committed.pop(0))

    async def _commit_finished(self) -> bool:
        """Wait for the commit under way, if any; whether what was decided on top of it still stands."""
        committing, self._committing = self._committing, None
        return True if committing is None else await committing

    # --- on memory ----------------------------------------------------------------------------------------

    async def _decide_on_memory(self, decided: DecidedBatch, taken: PendingBatch) -> bool:
        """Decide these on top of what the desk holds already. Whether that was possible; whatever kept it from being
        so, the locked way says it better."""
        desk, submissions = decided.state, [entry.submission for entry in taken]
        merchants = {submission.merchant.merchant_id for submission in submissions}
        if not self._cache.can_decide(merchants):
            return False
        desk.wall_time, desk.earliest_time = self.clock.now(), self.clock.earliest_now()
        self._cache.load_states(desk, merchants - desk.merchant_states.keys())
        try:
            decided.results += await fetch_and_decide(desk, self._cache, self._session.read_connection, submissions)
        except Exception:
            return False
        return True

    async def _commit_on(self, decided: DecidedBatch, taken: PendingBatch) -> bool:
        """Commit a batch and, as long as each holds, the one that is open by then. It is sent before those of the one
        before are answered: PostgreSQL has work while we talk to clients."""
        while True:
            asyncio.get_running_loop().call_soon(self._answer_committed)
            held = await self._commit_or_fail(decided, taken)
            if not held or self._open_batch is None:
                return held
            (decided, taken), self._open_batch = self._open_batch, None
            self._close(decided)
            self._wake.set()

    def _close(self, decided: DecidedBatch) -> None:
        """Nothing more joins this batch; the next is decided on top of it."""
        decided.state.raise_versions()
        self._cache.remember_batch(decided.state)

    async def _commit_or_fail(self, decided: DecidedBatch, taken: PendingBatch) -> bool:
        """As `_commit_decided`. A bug of ours leaves nobody of this batch without an answer and does not fail the batch
        after it: what is committed is answered as such, the rest with the error."""
        try:
            return await self._commit_decided(decided, taken)
        except Exception as error:
            self._cache.forget_all()
            self._session.disconnect()
            self._answer_committed()
            fail_all(taken, error)
            self._mark_ended(taken)
            return False

    async def _commit_decided(self, decided: DecidedBatch, taken: PendingBatch) -> bool:
        """Commit a batch that was decided on memory; where that does not hold, run it again, locked. So is one in which
        somebody has lost patience, and was told that nothing happened: the locked way drops those."""
        held: bool | None = False
        if taken[0].deadline <= time.monotonic():
            self._cache.forget_all()
            await self._run_locked(taken)
            return False
        mark_commit_sent(taken, True)
        try:
            await self._session.commit(decided, is_locked=False)
            held = True
        except VersionConflict:
            self._cache.mark_contended(decided.state.merchant_states)
            await self._session.rollback()
        except asyncpg.LockNotAvailableError:
            await self._session.rollback()
        except DatabaseUnreachable:
            held = None
        except CommitInterrupted as lost:
            held = await self._session.was_committed(lost, min(entry.deadline for entry in taken))
        except Exception:
            self._session.disconnect()
        if held:
            self._committed.append((taken, decided.results))
            self._mark_ended(taken)
            self._cache.forget_closed(decided.state)
            return True
        self._cache.forget_all()
        mark_commit_sent(taken, held is None)
        if held is None:
            fail_all(taken, DatabaseUnreachable(unsure=True))
            self._mark_ended(taken)
        else:
            await self._run_locked(taken)
        return False

    # --- locked ---------------------------------------------------------------------------------------------

    async def _run_locked(self, taken: PendingBatch) -> None:
        """Lock, decide and commit; whose book others hold, goes on in a lane."""
        try:
            self._blocked.open_queues(await self._locked.run(self._blocked.divert(taken)))
        finally:
            self._mark_ended(taken)
