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
from kasuwa.db import pool
from kasuwa.db.batch import Desk, Repeat, Result, Submission, World
from kasuwa.db.clock import Clock
from kasuwa.db.lanes import Lanes
from kasuwa.db.locked import Entry, LockedWay, Taken, answer, decide_on, drop_impatient, fail, set_sent
from kasuwa.db.memory import Memory
from kasuwa.db.session import CommitLost, Decided, Heard, Moved, Session, Unreachable

__all__ = ["Unreachable", "Writer"]

MOST_IN_A_BATCH = 256
# How long requests wait for a database that went away before they are answered 204.
PATIENCE_SECONDS = 8.0
# How often is looked whose patience is over, and how much longer whoever is being committed is given: what commits a
# batch knows better what became of it, and keeps to the same patience.
SWEEP_SECONDS = 0.25
LONGER_SECONDS = 1.0
# A batch that is under way for so long makes a process not ready.
STUCK_SECONDS = 3.0
PROBE_SECONDS = 1.0


class Writer:
    def __init__(
        self,
        dsn: str,
        world: World,
        heard: Heard = lambda *_: None,
        clock: Clock | None = None,
        *,
        patience_seconds: float = PATIENCE_SECONDS,
        statement_seconds: float = pool.WRITE_SECONDS,
    ) -> None:
        self.clock = clock or Clock()
        self._world = world
        self._patience = patience_seconds
        self._memory = Memory()

        def make_session() -> Session:
            return Session(dsn, self.clock, heard, statement_seconds)

        self._session = make_session()
        self._locked = LockedWay(self._session, self._memory, world, self.clock)
        self._lanes = Lanes(make_session, self._memory, world, self.clock)
        self._waiting: deque[Entry] = deque()
        self._wake = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._sweeping: asyncio.Task[None] | None = None
        self._committing: asyncio.Task[bool] | None = None
        self._open: tuple[Decided, Taken] | None = None
        # The batches that were taken up and not yet ended, each with the moment of that.
        self._under_way: dict[int, tuple[Taken, float]] = {}
        self._unanswered: list[tuple[Taken, list[Result]]] = []
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
        await self._lanes.close()
        if self._sweeping is not None:
            self._sweeping.cancel()
        self._session.disconnect()

    def submit(self, submission: Submission) -> "asyncio.Future[Result]":
        if submission.claim is not None:
            kept: tuple[type[Row], bytes] = (Repeat, submission.claim.key)
            submission.needs = Needs((*submission.needs.rows, kept), submission.needs.accounts)
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        until = time.monotonic() + self._patience
        self._waiting.append(Entry(submission, submission.merchant.merchant_id, future, until))
        self._wake.set()
        return future

    def trouble(self) -> str | None:
        """What keeps writes from being done now, or None: for readiness. Judged by what batches achieve."""
        if self._session.is_failing:
            return "the last write found the database away"
        began = min((began for _, began in self._under_way.values()), default=None)
        if began is not None and time.monotonic() - began > STUCK_SECONDS:
            return f"a write has waited for the database for {time.monotonic() - began:.0f} s"
        return None

    # --- patience -------------------------------------------------------------------------------------------

    async def _sweep(self) -> None:
        """Answer those whose patience is over, whatever the rest of the writer is waiting for."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = time.monotonic()
            if self._waiting and self._waiting[0].until <= now:
                self._waiting = deque(drop_impatient(list(self._waiting)))
            if self._lanes:
                self._lanes.drop_impatient()
            for taken, began in list(self._under_way.values()):
                # A bug of ours may have lost a batch: once all of it is answered, it keeps nobody from being ready.
                if now - began > STUCK_SECONDS and all(entry.future.done() for entry in taken):
                    self._ended(taken)
            for taken in (*(taken for taken, _ in self._under_way.values()), *self._lanes.running.values()):
                fail([e for e in taken if not e.is_sent and e.until <= now], Unreachable(unsure=False))
                fail([e for e in taken if e.is_sent and e.until + LONGER_SECONDS <= now], Unreachable(unsure=True))

    def _begin(self, taken: Taken) -> None:
        self._under_way[id(taken)] = (taken, time.monotonic())

    def _ended(self, taken: Taken) -> None:
        self._under_way.pop(id(taken), None)

    # --- taking turns ---------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while self._waiting or not self._closing:
            if not self._waiting:
                self._hand_out()
                self._wake.clear()
                await self._wait_for_work()
                continue
            count = min(len(self._waiting), MOST_IN_A_BATCH)
            taken = self._lanes.divert([self._waiting.popleft() for _ in range(count)])
            if not taken:
                continue
            self._begin(taken)
            try:
                await self._take_turn(taken)
            except Exception as error:  # a bug of ours must not stop the writer for everybody
                self._memory.forget_all()
                self._session.disconnect()
                fail(taken, error)
                self._ended(taken)
        await self._settled()
        self._hand_out()

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

    async def _take_turn(self, taken: Taken) -> None:
        """Decide a batch, and whatever joins it, while the one before is being committed. Who commits goes on with it
        when that is done; where nobody does, it is begun here."""
        decided = Decided(Desk(self._world, self.clock.now(), self.clock.earliest()), [])
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
        if not self._memory.covers(entry.merchant_id for entry in came):
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
        desk, submissions = decided.desk, [entry.submission for entry in taken]
        merchants = {submission.merchant.merchant_id for submission in submissions}
        if not self._memory.covers(merchants):
            return False
        desk.wall, desk.earliest = self.clock.now(), self.clock.earliest()
        self._memory.open_books(desk, merchants - desk.books.keys())
        try:
            decided.results += await decide_on(desk, self._memory, self._session.reading, submissions)
        except Exception:
            return False
        return True

    async def _commit_on(self, decided: Decided, taken: Taken) -> bool:
        """Commit a batch and, as long as each holds, the one that is open by then. It is sent before those of the one
        before are answered: PostgreSQL has work while we talk to clients."""
        while True:
            asyncio.get_running_loop().call_soon(self._hand_out)
            held = await self._commit_or_fail(decided, taken)
            if not held or self._open is None:
                return held
            (decided, taken), self._open = self._open, None
            self._close(decided)
            self._wake.set()

    def _close(self, decided: Decided) -> None:
        """Nothing more joins this batch; the next is decided on top of it."""
        decided.desk.close_books()
        self._memory.learn(decided.desk)

    async def _commit_or_fail(self, decided: Decided, taken: Taken) -> bool:
        """As `_commit_decided`. A bug of ours leaves nobody of this batch without an answer and does not fail the batch
        after it: what is committed is answered as such, the rest with the error."""
        try:
            return await self._commit_decided(decided, taken)
        except Exception as error:
            self._memory.forget_all()
            self._session.disconnect()
            self._hand_out()
            fail(taken, error)
            self._ended(taken)
            return False

    async def _commit_decided(self, decided: Decided, taken: Taken) -> bool:
        """Commit a batch that was decided on memory; where that does not hold, run it again, locked. So is one in which
        somebody has lost patience, and was told that nothing happened: the locked way drops those."""
        held: bool | None = False
        if taken[0].until <= time.monotonic():
            self._memory.forget_all()
            await self._answer_locked(taken)
            return False
        set_sent(taken, True)
        try:
            await self._session.commit(decided, locked=False)
            held = True
        except Moved:
            self._memory.distrust(decided.desk.books)
            await self._session.rollback()
        except asyncpg.LockNotAvailableError:
            await self._session.rollback()
        except Unreachable:
            held = None
        except CommitLost as lost:
            held = await self._session.was_committed(lost, min(entry.until for entry in taken))
        except Exception:
            self._session.disconnect()
        if held:
            self._unanswered.append((taken, decided.results))
            self._ended(taken)
            self._memory.settle(decided.desk)
            return True
        self._memory.forget_all()
        set_sent(taken, held is None)
        if held is None:
            fail(taken, Unreachable(unsure=True))
            self._ended(taken)
        else:
            await self._answer_locked(taken)
        return False

    # --- locked ---------------------------------------------------------------------------------------------

    async def _answer_locked(self, taken: Taken) -> None:
        """Lock, decide and commit; whose book others hold, goes on in a lane."""
        try:
            self._lanes.open(await self._locked.run(self._lanes.divert(taken)))
        finally:
            self._ended(taken)
