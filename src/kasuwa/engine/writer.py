"""The writer: combines all submissions in flight into batches, and commits each batch in one transaction.

While a commit runs, the next batch is decided on top of it and stays open: submissions that arrive may join it.

    request      writer (_run)                commit task (_commit_until_idle)       PostgreSQL
      |--submit A-->| decide A                   |                                       |
      |             |--close A, start task------>|--write A----------------------------->|
      |--submit B-->| decide B on top of A       |                                       |
      |--submit C-->| C joins B                  |                                       |
      |             |                            |<----------------------------A durable-|
      |             |                            |--close B+C, write B+C---------------->|
      |<--------------------------------result A-|                                       |
      |             |                            |<--------------------------B+C durable-|
      |<---------------------------results B, C--|                                       |

Merchants are served in turn, and a batch has a limited number of orders (fair_queue.py). A submission of more orders
than a merchant's share of a batch is run beside, on a connection of its own, with what follows of its merchant.

The states of a batch are methods:

    waiting     _wait_for_work            nothing is queued; a database that failed is probed
    deciding    _decide_from_cache        decided on cached rows, or not possible: then locked
    open        _wait_for_committer       decided; submissions may join until the running commit ends
    committing  _commit_decided           written, valid only if every merchant's version is the expected one
    locked      _run_locked               merchants are locked first, then rows are read, decided and committed

Whoever writes anything of a merchant raises the version in its row of `merchant_state`, under that row's lock. So
deciding from the cache (row_cache.py) and deciding under locks (locked_batch.py) are both correct. In either case a
submission is answered only after its commit. A batch decided from the cache is one statement, which is its own
transaction.

Failures:
    a version has changed                  the batch is run again, locked
    a row expected to be new exists        the batch is run again, locked, which reads it; for the next batches of the
                                           merchant such rows are read first
    another session holds a merchant       the batch goes on without it; the merchant's submissions get a queue of
                                           their own (blocked_merchants.py)
    a rule raises                          that submission gets status 204 (error), the others go on
    the database rejects the batch         each submission is tried alone, so that one cannot fail the others
    connection lost before COMMIT          nothing happened: the batch is run again on a new connection
    connection lost during COMMIT          the batch's commit mark is looked up: if it exists, the batch is durable; if
                                           it does not and the old backend is gone, the batch is run again
    the database does not answer           every operation has a deadline; then as for a lost connection
    the database stays away                DatabaseUnreachable, and the writer keeps trying for later submissions
    a submission's deadline passes         DatabaseUnreachable: nothing happened if its commit was not yet sent, else
                                           the outcome is unknown
"""

import asyncio
import contextlib
import time

import asyncpg

from kasuwa.core.decision import Needs, Row
from kasuwa.engine.batch import BatchState, Deployment, Result, Submission
from kasuwa.engine.blocked_merchants import BlockedMerchantQueues
from kasuwa.engine.fair_queue import MERCHANT_SHARE, FairQueue
from kasuwa.engine.idempotency import IdempotencyRecord
from kasuwa.engine.locked_batch import (
    LockedBatchRunner,
    NewRowExists,
    PendingBatch,
    PendingSubmission,
    fail_all,
    fetch_and_decide,
    has_overdue,
    mark_commit_sent,
    resolve_all,
)
from kasuwa.engine.row_cache import RowCache
from kasuwa.engine.writer_session import CommitInterrupted, CommitObserver, DecidedBatch, VersionConflict, WriterSession
from kasuwa.postgres import connections
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connections import DatabaseUnreachable
from kasuwa.postgres.layout import ONE_SERVER, Layout

# Orders in a batch.
MAX_BATCH_SIZE = 256
# How long a submission may wait for its commit before it fails with DatabaseUnreachable.
SUBMIT_TIMEOUT_SECONDS = 8.0
# How often overdue submissions are looked for.
SWEEP_SECONDS = 0.25
# How much longer submissions wait whose commit was sent: what runs the commit has the same deadline and knows better
# what became of it.
COMMIT_GRACE_SECONDS = 1.0
# A process is not ready if a batch has waited for so long and no write has succeeded meanwhile.
STUCK_SECONDS = 3.0
# How often a database that failed is probed while nothing is queued.
PROBE_SECONDS = 1.0


class Writer:
    """Decides and commits submissions. One per process: call `start` first and `close` last."""

    def __init__(
        self,
        dsn: str,
        deployment: Deployment,
        on_commit: CommitObserver = lambda *_: None,
        clock: DatabaseClock | None = None,
        *,
        timeout_seconds: float = SUBMIT_TIMEOUT_SECONDS,
        statement_seconds: float = connections.WRITE_SECONDS,
        layout: Layout = ONE_SERVER,
    ) -> None:
        self.clock = clock or DatabaseClock()
        self._deployment = deployment
        self.timeout_seconds = timeout_seconds
        self._cache = RowCache()
        self._layout = layout

        def make_session() -> WriterSession:
            return WriterSession(dsn, self.clock, on_commit, statement_seconds, layout)

        self._session = make_session()
        self._locked = LockedBatchRunner(self._session, self._cache, deployment, self.clock)
        self._blocked = BlockedMerchantQueues(make_session, self._cache, deployment, self.clock)
        self._queue: FairQueue[PendingSubmission] = FairQueue()
        # Kept: to ask for the running loop is a system call in some versions of Python.
        self._loop: asyncio.AbstractEventLoop
        self._wake = asyncio.Event()
        self._run_task: asyncio.Task[None] | None = None
        self._sweep_task: asyncio.Task[None] | None = None
        self._commit_task: asyncio.Task[bool] | None = None
        # The decided batch that waits for the running commit. Submissions may join it.
        self._open_batch: tuple[DecidedBatch, PendingBatch] | None = None
        # Batches that were started and have not ended, by id, each with its start time.
        self._started_batches: dict[int, tuple[PendingBatch, float]] = {}
        # Committed batches whose submissions are not yet answered.
        self._committed: list[tuple[PendingBatch, list[Result]]] = []
        self._closing = False

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._run_task = self._loop.create_task(self._run())
        self._sweep_task = self._loop.create_task(self._sweep())

    async def close(self) -> None:
        """Commits what is queued, then closes the connections."""
        self._closing = True
        self._wake.set()
        if self._run_task is not None:
            await self._run_task
        await self._blocked.close()
        if self._sweep_task is not None:
            self._sweep_task.cancel()
        self._session.disconnect()

    def submit(self, submission: Submission) -> "asyncio.Future[Result]":
        """Queues a submission. The future has its result once that is durable, or raises DatabaseUnreachable."""
        if submission.idempotency_claim is not None:
            record: tuple[type[Row], bytes] = (IdempotencyRecord, submission.idempotency_claim.key)
            needs = submission.needs
            submission.needs = Needs((*needs.rows, record), needs.accounts, needs.new_keys)
        future: asyncio.Future[Result] = self._loop.create_future()
        deadline = time.monotonic() + self.timeout_seconds
        merchant_id, orders = submission.merchant.merchant_id, submission.orders
        entry = PendingSubmission(submission, merchant_id, future, deadline, orders)
        if orders > MERCHANT_SHARE:
            self._run_apart(entry)
        else:
            self._queue.append(entry)
            self._wake.set()
        return future

    def _run_apart(self, entry: PendingSubmission) -> None:
        """Runs a large submission on a connection of its own, after all that its merchant submitted before."""
        merchant_id = entry.merchant_id
        batches = [batch for batch, _ in self._started_batches.values()]
        before = [one.future for batch in batches for one in batch if one.merchant_id == merchant_id]
        self._blocked.open_queues([*self._queue.take_entries(merchant_id), entry], after=before)

    def find_problem(self) -> str | None:
        """Returns why writes cannot be done now, or None. Used by the readiness check.

        A batch counts until it has ended, also if all its submissions were answered at their deadlines."""
        if self._session.is_failing:
            return "the last write found the database away"
        started_at = min((started_at for _, started_at in self._started_batches.values()), default=None)
        if started_at is not None:
            seconds = time.monotonic() - max(started_at, self._session.succeeded_at)
            if seconds > STUCK_SECONDS:
                return f"a write has waited for the database for {seconds:.0f} s, and none has succeeded"
        return None

    # --- deadlines ------------------------------------------------------------------------------------------

    async def _sweep(self) -> None:
        """Fails submissions whose deadline has passed, whatever the rest of the writer is waiting for."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = time.monotonic()
            fail_all(self._queue.take_overdue(now), DatabaseUnreachable(is_outcome_unknown=False))
            if self._blocked:
                self._blocked.drop_overdue()
            for batch in (*(batch for batch, _ in self._started_batches.values()), *self._blocked.running.values()):
                fail_all(
                    [e for e in batch if not e.is_commit_sent and e.deadline <= now],
                    DatabaseUnreachable(is_outcome_unknown=False),
                )
                fail_all(
                    [e for e in batch if e.is_commit_sent and e.deadline + COMMIT_GRACE_SECONDS <= now],
                    DatabaseUnreachable(is_outcome_unknown=True),
                )

    def _mark_started(self, batch: PendingBatch) -> None:
        self._started_batches[id(batch)] = (batch, time.monotonic())

    def _mark_ended(self, batch: PendingBatch) -> None:
        self._started_batches.pop(id(batch), None)

    # --- the main loop ---------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while self._queue or not self._closing:
            if not self._queue:
                self._answer_committed()
                self._wake.clear()
                if self._commit_task is None or self._commit_task.done():
                    self._started_batches.clear()  # none runs: a bug has lost track of those that are left
                await self._wait_for_work()
                continue
            batch = self._blocked.divert(self._take_batch())
            if not batch:
                continue
            self._mark_started(batch)
            try:
                await self._process_batch(batch)
            except Exception as error:  # a bug must not stop the writer
                self._cache.forget_all()
                self._session.disconnect()
                fail_all(batch, error)
                self._mark_ended(batch)
        await self._commit_finished()
        self._answer_committed()

    def _take_batch(self) -> PendingBatch:
        """Takes the submissions of the next batch from the queue, which is not empty."""
        if self._layout.spans_merchants:
            entries = self._queue.choose(MAX_BATCH_SIZE)
        else:
            entries = self._queue.choose_entries(self._queue.next_merchant, MAX_BATCH_SIZE)
        self._queue.remove(entries)
        return entries

    async def _wait_for_work(self) -> None:
        """Waits for a submission. Probes a database that failed: a process that is not ready gets no requests, so
        nothing else would notice that the database is back."""
        if not self._session.is_failing:
            await self._wake.wait()
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PROBE_SECONDS):
                await self._wake.wait()
            return
        if self._commit_task is None or self._commit_task.done():
            await self._session.probe()

    async def _process_batch(self, batch: PendingBatch) -> None:
        """Decides a batch, and what joins it, while the previous one is being committed.

        The running commit task commits it afterwards. If there is none, one is started."""
        decided = DecidedBatch(BatchState(self._deployment, self.clock.now(), self.clock.earliest_now()), [])
        is_from_cache = await self._decide_from_cache(decided, batch)
        while is_from_cache and self._commit_task is not None and not self._commit_task.done():
            joining = self._take_joining(batch)
            if joining:
                batch += joining
                is_from_cache = await self._decide_from_cache(decided, joining)
            elif await self._wait_for_committer(decided, batch):
                return
        is_previous_valid = await self._commit_finished()
        if not is_from_cache or not is_previous_valid:
            self._answer_committed()
            await self._run_locked(batch)
            return
        self._close_batch(decided)
        self._commit_task = self._loop.create_task(self._commit_until_idle(decided, batch))
        self._commit_task.add_done_callback(lambda _: self._wake.set())

    def _take_joining(self, batch: PendingBatch) -> PendingBatch:
        """Takes queued submissions that may join the open batch. Sharing a commit makes each cheaper.

        Returns none of them if a merchant among them must be locked first."""
        if not self._queue:
            return []
        if self._layout.spans_merchants:
            joinable = self._queue.choose(MAX_BATCH_SIZE, batch)
        else:
            joinable = self._queue.choose_entries(
                batch[0].merchant_id, MAX_BATCH_SIZE - sum(one.orders for one in batch)
            )
        if not self._cache.can_decide(entry.merchant_id for entry in joinable):
            return []
        self._queue.remove(joinable)
        return joinable

    async def _wait_for_committer(self, decided: DecidedBatch, batch: PendingBatch) -> bool:
        """Waits until more submissions arrive or the running commit ends. Returns True if the commit task took the
        batch over."""
        self._open_batch = (decided, batch)
        self._wake.clear()
        await self._wake.wait()
        is_ours, self._open_batch = self._open_batch is not None, None
        return not is_ours

    def _answer_committed(self) -> None:
        """Resolves the futures of committed batches."""
        while self._committed:
            resolve_all(*self._committed.pop(0))

    async def _commit_finished(self) -> bool:
        """Waits for the commit task, if any. Returns whether what was decided on top of its batches is still valid."""
        committing, self._commit_task = self._commit_task, None
        return True if committing is None else await committing

    # --- from the cache ----------------------------------------------------------------------------------------

    async def _decide_from_cache(self, decided: DecidedBatch, batch: PendingBatch) -> bool:
        """Decides submissions on top of the batch's state. Returns False if they must be run locked instead: an error
        here is met again there, and reported."""
        state, submissions = decided.state, [entry.submission for entry in batch]
        merchants = {submission.merchant.merchant_id for submission in submissions}
        if not self._cache.can_decide(merchants):
            return False
        state.wall_time, state.earliest_time = self.clock.now(), self.clock.earliest_now()
        self._cache.load_states(state, merchants - state.merchant_states.keys())
        try:
            decided.results += await fetch_and_decide(
                state, self._cache, self._session.read_connection, submissions, self._layout, are_rows_new=True
            )
        except NewRowExists as repeated:
            self._cache.expect_repeats(repeated.merchants)
            return False
        except Exception:
            return False
        return True

    async def _commit_until_idle(self, decided: DecidedBatch, batch: PendingBatch) -> bool:
        """Commits a batch, and then the open batch as long as there is one and each commit succeeds.

        The next batch is sent before the previous one is answered, so that PostgreSQL works meanwhile. Returns whether
        the last batch was committed as decided."""
        while True:
            self._loop.call_soon(self._answer_committed)
            is_committed = await self._commit_or_fail(decided, batch)
            if not is_committed or self._open_batch is None:
                return is_committed
            (decided, batch), self._open_batch = self._open_batch, None
            self._close_batch(decided)
            self._wake.set()

    def _close_batch(self, decided: DecidedBatch) -> None:
        """Closes a batch: nothing joins it any more, and the next one is decided on top of it."""
        decided.state.raise_versions()
        self._cache.remember_batch(decided.state)

    async def _commit_or_fail(self, decided: DecidedBatch, batch: PendingBatch) -> bool:
        """Runs `_commit_decided`. If that raises (a bug), fails this batch with the error, but answers batches that
        are already committed as such."""
        try:
            return await self._commit_decided(decided, batch)
        except Exception as error:
            self._cache.forget_all()
            self._session.disconnect()
            self._answer_committed()
            fail_all(batch, error)
            self._mark_ended(batch)
            return False

    async def _commit_decided(self, decided: DecidedBatch, batch: PendingBatch) -> bool:
        """Commits a batch that was decided from the cache. Returns False if it was not committed as decided.

        It is then run again, locked. So is a batch of which a deadline has passed, since that submission was told that
        nothing happened: the locked run drops it."""
        is_committed: bool | None = False
        if has_overdue(batch):
            self._cache.forget_all()
            await self._run_locked(batch)
            return False
        mark_commit_sent(batch, True)
        try:
            await self._session.commit(decided, is_locked=False)
            is_committed = True
        except VersionConflict:
            self._cache.mark_contended(decided.state.merchant_states)
            await self._session.rollback()
        except asyncpg.UniqueViolationError:
            # A row that was expected to be new exists.
            self._cache.expect_repeats(decided.state.merchant_states)
            await self._session.rollback()
        except asyncpg.LockNotAvailableError:
            await self._session.rollback()
        except DatabaseUnreachable:
            is_committed = None
        except CommitInterrupted as lost:
            is_committed = await self._session.was_committed(lost, min(entry.deadline for entry in batch))
        except Exception:
            self._session.disconnect()
        if is_committed:
            self._committed.append((batch, decided.results))
            self._mark_ended(batch)
            self._cache.forget_closed(decided.state)
            return True
        self._cache.forget_all()
        mark_commit_sent(batch, is_committed is None)
        if is_committed is None:
            fail_all(batch, DatabaseUnreachable(is_outcome_unknown=True))
            self._mark_ended(batch)
        else:
            await self._run_locked(batch)
        return False

    # --- locked ---------------------------------------------------------------------------------------------

    async def _run_locked(self, batch: PendingBatch) -> None:
        """Locks, decides and commits a batch. Submissions of merchants that others hold get queues of their own."""
        try:
            self._blocked.open_queues(await self._locked.run(self._blocked.divert(batch)))
        finally:
            self._mark_ended(batch)
