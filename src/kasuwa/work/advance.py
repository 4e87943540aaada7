"""`advance` in the test environment: moves a merchant's business time and runs what falls due on the way, in order.

The order is that of `db/jobs.py`: business time, then the order of writing. Jobs of one moment go through the writer
together, each decided on what those before it did, so a moment with thousands of them costs a few commits. The clock
stands at a job's due time when the job is decided. Deliveries of events are sent one after the other.

An advance has a limit of time. When that is over, or its client leaves, it finishes what is under way and stops at the
moment it has reached: everything before is done, nothing after it is begun, and another advance goes on from there.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import msgspec

from kasuwa.core.decision import Context, Decision, Job, Merchant, Needs, Refusal, Seen
from kasuwa.db import deliveries, jobs
from kasuwa.db.batch import Book, Broken, Result, Submission, business_now
from kasuwa.db.job_times import shift_jobs
from kasuwa.db.pool import Pool
from kasuwa.db.writer import MOST_IN_A_BATCH, Writer
from kasuwa.work.leases import Held
from kasuwa.work.steps import Stepper
from kasuwa.work.webhooks import Courier, has_hung

# How often a job is looked at that somebody else has leased: a request, or a worker that claimed it before.
POLL_SECONDS = 0.02
# The clock's own submission goes with them.
MOST_TOGETHER = MOST_IN_A_BATCH - 1
NO_ENTROPY = bytes(32)
# A clock that goes with the wall's may be past the target by the time an advance stops. Where to go on to is then so
# far ahead that it can still be asked for.
AHEAD = timedelta(minutes=1)


class Stuck(Exception):
    """A job that stays due however often it is run."""


class Advanced(msgspec.Struct):
    """Where an advance came to. `more` when it stopped before `until`."""

    now: datetime
    until: datetime
    ran: dict[str, int]
    more: bool


class Stop:
    """Tells an advance to stop after what is under way."""

    def __init__(self) -> None:
        self.is_set = False

    def set(self) -> None:
        self.is_set = True


class Advance:
    """One advance of one merchant, whose lease is held."""

    def __init__(self, pool: Pool, writer: Writer, stepper: Stepper, courier: Courier, merchant: Merchant) -> None:
        self._pool = pool
        self._writer = writer
        self._stepper = stepper
        self._courier = courier
        self._merchant = merchant
        self._lanes = [*stepper.lanes, deliveries.LANE]
        self._ran: Counter[str] = Counter()
        self._last: frozenset[tuple[bytes, datetime]] = frozenset()
        self._hung = False
        self._stands_still = True

    async def run(
        self, target: Callable[[datetime], datetime | Refusal], seconds: float, held: Held, stop: Stop
    ) -> Advanced | Refusal:
        """`target` is asked under the lease, so that two advances at once add up."""
        over = time.monotonic() + seconds
        until = target(await self._read_clock())
        if isinstance(until, Refusal):
            return until
        more = True
        try:
            while more and not (stop.is_set or held.is_lost or time.monotonic() > over):
                more = await self._run_next(until)
        finally:
            # On the way the wall times of jobs stay as they are: moving them at every stop would take a thousand jobs
            # a thousand times. They follow here, also when something went wrong, and before the lease ends.
            held.is_unfinished = True
            now = await self._move_clock(await self._read_clock() if more else until)
            await shift_jobs(self._pool, self._merchant.merchant_id, self._writer.clock.now())
            held.is_unfinished = False
        if more and not self._stands_still:
            until = max(until, now + AHEAD)
        return Advanced(now, until, dict(sorted(self._ran.items())), more)

    async def _run_next(self, until: datetime) -> bool:
        """Runs the jobs that are due next. False where nothing falls due any more."""
        records = await self._pool.fetch(jobs.NEXT_DUE, self._merchant.merchant_id, until, self._lanes, MOST_TOGETHER)
        due = [Job(*record) for record in records]
        if not due:
            return False
        first = due[0]
        if first.lane == deliveries.LANE:
            first = await deliveries.first_in_line(self._pool, first)
            if first.due > due[0].due:
                return True
        wall = self._writer.clock.now()
        if is_leased(first, wall):
            await asyncio.sleep(POLL_SECONDS)
            return True
        together = [first] if first.lane == deliveries.LANE else independent(due, wall)
        self._check_progress(together)
        if first.lane == deliveries.LANE:
            await self._deliver(first)
        else:
            await self._run_together(together)
        return True

    def _check_progress(self, together: list[Job]) -> None:
        known = frozenset((job.key, job.due) for job in together)
        if (together[0].key, together[0].due) in self._last:
            raise Stuck(together[0].reference)
        self._last = known

    async def _run_together(self, together: list[Job]) -> None:
        """Their calls one after the other, then all that they mean in one batch. Nobody is called before the clock
        is there: what a rail of ours decides goes by it too."""
        due = together[0].due
        submissions = [self._clock_at(due)]
        if not all(self._stepper.calls_nobody(job) for job in together):
            check(await self._writer.submit(submissions.pop()))
        for job in together:
            answer = await self._stepper.call(job, due)
            submissions.append(self._stepper.submission(job, self._merchant, answer))
        for result in await asyncio.gather(*[self._writer.submit(submission) for submission in submissions]):
            check(result)
        self._ran.update(job.kind.partition(".")[0] for job in together)

    async def _deliver(self, job: Job) -> None:
        check(await self._writer.submit(self._clock_at(job.due)))
        outcome = await self._courier.deliver_now(self._pool, job, hung=self._hung)
        if outcome is not None:
            self._hung = self._hung or has_hung(outcome)
            self._ran[job.kind.partition(".")[0]] += 1

    # --- the clock ----------------------------------------------------------------------------------------------

    async def _read_clock(self) -> datetime:
        [record] = await self._pool.fetch(jobs.CLOCK, self._merchant.merchant_id)
        book = Book(*record)
        self._stands_still = book.clock_fixed is not None
        return business_now(book, self._writer.clock.now())

    def _clock_at(self, to: datetime, *, on_the_way: bool = True) -> Submission:
        rule = partial(decide_clock, to, on_the_way)
        return Submission(self._merchant, Needs(), rule, NO_ENTROPY)

    async def _move_clock(self, to: datetime) -> datetime:
        result = check(await self._writer.submit(self._clock_at(to, on_the_way=False)))
        assert isinstance(result, Decision)
        assert isinstance(result.reply, datetime)
        return result.reply


def decide_clock(to: datetime, on_the_way: bool, context: Context, seen: Seen) -> Decision:
    """Moves the clock forward, never back. Where it is there already, on the way, nothing is written."""
    if on_the_way and to <= context.now:
        return Decision(reply=context.now)
    moved = max(to, context.now)
    return Decision(reply=moved, clock=moved)


def independent(due: list[Job], wall: datetime) -> list[Job]:
    """The first of these jobs that may be run together: no deliveries, none that somebody holds, one of a subject."""
    together: dict[bytes, Job] = {}
    for job in due:
        if job.lane == deliveries.LANE or job.subject in together or is_leased(job, wall):
            break
        together[job.subject] = job
    return list(together.values())


def is_leased(job: Job, wall: datetime) -> bool:
    return job.leased_until is not None and job.leased_until > wall


def check(result: Result) -> Result:
    if isinstance(result, Broken):
        raise result.error
    return result
