"""Lanes: each runs the submissions of one merchant whose book another session holds, beside the writer.

A lane lives from the moment in which a batch had to go on without its merchant until nothing of that merchant waits any
more. It is to the writer what another process is: the book's version keeps the two apart. What arrives for its merchant
meanwhile joins it, so that the writer does not meet the held book again with each batch.
"""

import asyncio
from collections.abc import Callable

from kasuwa.db.batch import World
from kasuwa.db.clock import Clock
from kasuwa.db.locked import LockedWay, Taken, drop_impatient, fail
from kasuwa.db.memory import Memory
from kasuwa.db.session import Session

# Connections that lanes may have together, in a process. Whoever waits for one of them has patience as everybody.
MOST_AT_ONCE = 4
# How long the lane on the last place waits for its book before it makes room for others. Books that stay held may take
# all the other places for as long as their requests have patience, and a lane whose book is free again must not wait
# for that.
TURN_SECONDS = 0.5


class Lanes:
    def __init__(self, make_session: Callable[[], Session], memory: Memory, world: World, clock: Clock) -> None:
        self._make_session = make_session
        self._memory = memory
        self._world = world
        self._clock = clock
        self._waiting: dict[int, Taken] = {}
        # What is being run, by merchant.
        self.running: dict[int, Taken] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._places = asyncio.Semaphore(MOST_AT_ONCE)
        self._without_place = 0

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._waiting)

    def divert(self, taken: Taken) -> Taken:
        """Have those run by lanes whose merchant has one. Returns the others."""
        if not self._waiting:
            return taken
        for entry in taken:
            if entry.merchant_id in self._waiting:
                self._waiting[entry.merchant_id].append(entry)
        return [entry for entry in taken if entry.merchant_id not in self._waiting]

    def open(self, left_out: Taken) -> None:
        """Lanes for the merchants of these."""
        for entry in left_out:
            waiting = self._waiting.get(entry.merchant_id)
            if waiting is None:
                waiting = self._waiting[entry.merchant_id] = []
                task = asyncio.get_running_loop().create_task(self._run(entry.merchant_id))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            waiting.append(entry)

    def drop_impatient(self) -> None:
        for merchant_id, waiting in self._waiting.items():
            self._waiting[merchant_id] = drop_impatient(waiting)

    async def close(self) -> None:
        await asyncio.gather(*self._tasks)

    async def _run(self, merchant_id: int) -> None:
        self._memory.forget([merchant_id])
        session = self._make_session()
        way = LockedWay(session, Memory(), self._world, self._clock, alone=True)
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

    async def _take_turn(self, merchant_id: int, way: LockedWay) -> None:
        """Runs what waits for a merchant until nothing does, or until others wait for the place. What could not be run
        because the book is held waits on, before what came later."""
        while self._waiting[merchant_id]:
            taken, self._waiting[merchant_id] = self._waiting[merchant_id], []
            self.running[merchant_id] = taken
            way.lock_seconds = TURN_SECONDS if self._places.locked() else None
            try:
                left_out = await way.run(taken)
            except Exception as error:  # a bug of ours must not let anybody wait for ever
                fail(taken, error)
                left_out = []
            del self.running[merchant_id]
            self._waiting[merchant_id] = left_out + self._waiting[merchant_id]
            if self._without_place:
                return
