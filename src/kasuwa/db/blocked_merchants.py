"""Lanes: each runs the submissions of one merchant whose book another session holds, beside the writer.

A lane lives from the moment in which a batch had to go on without its merchant until nothing of that merchant waits any
more. It is to the writer what another process is: the book's version keeps the two apart. What arrives for its merchant
meanwhile joins it, so that the writer does not meet the held book again with each batch.
"""

import asyncio
from collections.abc import Callable

from kasuwa.db.batch import Deployment
from kasuwa.db.clock import DatabaseClock
from kasuwa.db.locked_batch import LockedBatchRunner, PendingBatch, drop_overdue, fail_all
from kasuwa.db.row_cache import RowCache
from kasuwa.db.writer_session import WriterSession

# Connections that lanes may have together, in a process. Whoever waits for one of them has patience as everybody.
MAX_SESSIONS = 4
# How long the lane on the last place waits for its book before it makes room for others. Books that stay held may take
# all the other places for as long as their requests have patience, and a lane whose book is free again must not wait
# for that.
TURN_SECONDS = 0.5


class BlockedMerchantQueues:
    def __init__(
        self, make_session: Callable[[], WriterSession], memory: RowCache, world: Deployment, clock: DatabaseClock
    ) -> None:
        self._make_session = make_session
        self._memory = memory
        self._world = world
        self._clock = clock
        self._waiting: dict[int, PendingBatch] = {}
        # What is being run, by merchant.
        self.running: dict[int, PendingBatch] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._places = asyncio.Semaphore(MAX_SESSIONS)
        self._without_place = 0

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._waiting)

    def divert(self, taken: PendingBatch) -> PendingBatch:
        """Have those run by lanes whose merchant has one. Returns the others."""
        if not self._waiting:
            return taken
        for entry in taken:
            if entry.merchant_id in self._waiting:
                self._waiting[entry.merchant_id].append(entry)
        return [entry for entry in taken if entry.merchant_id not in self._waiting]

    def open_queues(self, left_out: PendingBatch) -> None:
        """Lanes for the merchants of these."""
        for entry in left_out:
            waiting = self._waiting.get(entry.merchant_id)
            if waiting is None:
                waiting = self._waiting[entry.merchant_id] = []
                task = asyncio.get_running_loop().create_task(self._run(entry.merchant_id))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            waiting.append(entry)

    def drop_overdue(self) -> None:
        for merchant_id, waiting in self._waiting.items():
            self._waiting[merchant_id] = drop_overdue(waiting)

    async def close(self) -> None:
        await asyncio.gather(*self._tasks)

    async def _run(self, merchant_id: int) -> None:
        self._memory.forget_merchants([merchant_id])
        session = self._make_session()
        way = LockedBatchRunner(session, RowCache(), self._world, self._clock, single_merchant=True)
        try:
            while self._waiting[merchant_id]:
                self._without_place += 1
                try:
                    await self._places.acquire()
                finally:
                    self._without_place -= 1
                try:
                    await self._take_turn(merchant_id, way)
                finally:
                    session.disconnect()
                    self._places.release()
        finally:
            self.running.pop(merchant_id, None)
            del self._waiting[merchant_id]

    async def _take_turn(self, merchant_id: int, way: LockedBatchRunner) -> None:
        """Runs what waits for a merchant until nothing does, or until others wait for the place. What could not be run
        because the book is held waits on, before what came later."""
        while self._waiting[merchant_id]:
            taken, self._waiting[merchant_id] = self._waiting[merchant_id], []
            self.running[merchant_id] = taken
            way.lock_seconds = TURN_SECONDS if self._places.locked() else None
            try:
                left_out = await way.run(taken)
            except Exception as error:  # a bug of ours must not let anybody wait for ever
                fail_all(taken, error)
                left_out = []
            del self.running[merchant_id]
            self._waiting[merchant_id] = left_out + self._waiting[merchant_id]
            if self._without_place:
                return
