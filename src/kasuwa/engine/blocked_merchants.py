"""Queues for merchants that would keep the others waiting. Each is run beside the writer, on its own connections.

A merchant gets a queue when another session holds its row, or with a submission of more orders than a merchant's share
of a batch. The queue exists until it is empty. Submissions of that merchant that arrive meanwhile join it, so that the
writer does not run into the same lock with each batch, and nothing overtakes a large submission. The merchant's version
keeps queue and writer apart, as it does two processes.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable

from kasuwa.engine.batch import Deployment, Result
from kasuwa.engine.fair_queue import MERCHANT_SHARE
from kasuwa.engine.locked_batch import LockedBatchRunner, PendingBatch, drop_overdue, fail_all
from kasuwa.engine.row_cache import RowCache
from kasuwa.engine.writer_session import WriterSession
from kasuwa.postgres.clock import DatabaseClock

# Sessions that all queues of a process share. Waiting for one counts against the submissions' deadlines.
MAX_SESSIONS = 4
# How long the queue on the last free session waits for its lock before it lets others try. Merchants that stay locked
# may occupy the other sessions until their deadlines, and a merchant that is free again must not wait for that.
LAST_SLOT_LOCK_SECONDS = 0.5
# Orders that a queue commits at once, unless a single submission has more. Whoever waits for the session then waits for
# no more than that.
MAX_QUEUE_BATCH = 256


class BlockedMerchantQueues:
    def __init__(
        self, make_session: Callable[[], WriterSession], cache: RowCache, deployment: Deployment, clock: DatabaseClock
    ) -> None:
        self._make_session = make_session
        self._cache = cache
        self._deployment = deployment
        self._clock = clock
        self._queues: dict[int, PendingBatch] = {}
        # Batches that are being run, by merchant.
        self.running: dict[int, PendingBatch] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._session_slots = asyncio.Semaphore(MAX_SESSIONS)
        self._waiting_for_slot = 0
        # Large submissions of several merchants are run one after another: at once they would take the processors of
        # the database from everybody else.
        self._large_turn = asyncio.Lock()

    def __bool__(self) -> bool:
        """Whether any merchant has a queue."""
        return bool(self._queues)

    def divert(self, batch: PendingBatch) -> PendingBatch:
        """Queues the submissions whose merchant has a queue. Returns the others."""
        if not self._queues:
            return batch
        for entry in batch:
            if entry.merchant_id in self._queues:
                self._queues[entry.merchant_id].append(entry)
        return [entry for entry in batch if entry.merchant_id not in self._queues]

    def open_queues(self, entries: PendingBatch, after: "Iterable[asyncio.Future[Result]]" = ()) -> None:
        """Queues these submissions, starting a queue for each merchant that has none. It begins when those of `after`
        have ended."""
        for entry in entries:
            waiting = self._queues.get(entry.merchant_id)
            if waiting is None:
                waiting = self._queues[entry.merchant_id] = []
                task = asyncio.get_running_loop().create_task(self._run(entry.merchant_id, list(after)))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            waiting.append(entry)

    def drop_overdue(self) -> None:
        for merchant_id, waiting in self._queues.items():
            self._queues[merchant_id] = drop_overdue(waiting)

    async def close(self) -> None:
        await asyncio.gather(*self._tasks)

    async def _run(self, merchant_id: int, after: "list[asyncio.Future[Result]]") -> None:
        if after:
            await asyncio.wait(after)
        self._cache.forget_merchants([merchant_id])
        session = self._make_session()
        runner = LockedBatchRunner(session, RowCache(), self._deployment, self._clock, single_merchant=True)
        try:
            while self._queues[merchant_id]:
                self._waiting_for_slot += 1
                try:
                    await self._session_slots.acquire()
                finally:
                    self._waiting_for_slot -= 1
                try:
                    await self._run_queue(merchant_id, runner)
                finally:
                    session.disconnect()
                    self._session_slots.release()
        finally:
            self.running.pop(merchant_id, None)
            del self._queues[merchant_id]

    async def _run_queue(self, merchant_id: int, runner: LockedBatchRunner) -> None:
        """Runs a merchant's queue until it is empty or another queue waits for a session.

        Submissions that could not be run because the merchant is locked stay at the head of the queue."""
        while self._queues[merchant_id]:
            count = count_first(self._queues[merchant_id])
            batch, self._queues[merchant_id] = self._queues[merchant_id][:count], self._queues[merchant_id][count:]
            self.running[merchant_id] = batch
            runner.lock_seconds = LAST_SLOT_LOCK_SECONDS if self._session_slots.locked() else None
            try:
                async with self._large_turn if batch[0].orders > MERCHANT_SHARE else contextlib.nullcontext():
                    left_out = await runner.run(batch)
            except Exception as error:  # a bug must not leave submissions unanswered
                fail_all(batch, error)
                left_out = []
            del self.running[merchant_id]
            self._queues[merchant_id] = left_out + self._queues[merchant_id]
            if self._waiting_for_slot:
                return


def count_first(waiting: PendingBatch) -> int:
    """Returns how many of a queue's first submissions are run together: as many as have MAX_QUEUE_BATCH orders, and a
    large one alone."""
    room = MAX_QUEUE_BATCH
    for count, entry in enumerate(waiting):
        room -= entry.orders
        if count and (room < 0 or entry.orders > MERCHANT_SHARE or waiting[0].orders > MERCHANT_SHARE):
            return count
    return len(waiting)
