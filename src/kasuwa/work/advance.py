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

from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs, Refusal, SandboxEffects
from kasuwa.db import deliveries, jobs
from kasuwa.db.batch import MerchantState, Result, RuleFailure, Submission, business_now
from kasuwa.db.connections import Pool
from kasuwa.db.job_times import shift_jobs
from kasuwa.db.writer import MAX_BATCH_SIZE, Writer
from kasuwa.work.leases import ClockLease
from kasuwa.work.steps import StepRunner
from kasuwa.work.webhooks import WebhookSender, has_hung

# How often a job is looked at that somebody else has leased: a request, or a worker that claimed it before.
POLL_SECONDS = 0.02
# The clock's own submission goes with them.
MAX_JOBS_PER_BATCH = MAX_BATCH_SIZE - 1
NO_ENTROPY = bytes(32)
# A clock that goes with the wall's may be past the target by the time an advance stops. Where to go on to is then so
# far ahead that it can still be asked for.
RESUME_MARGIN = timedelta(minutes=1)


class NoProgress(Exception):
    """A job that stays due however often it is run."""


class AdvanceResult(msgspec.Struct):
    """Where an advance came to. `more` when it stopped before `until`."""

    now: datetime
    until: datetime
    job_counts: dict[str, int]
    has_more: bool


class StopSignal:
    """Tells an advance to stop after what is under way."""

    def __init__(self) -> None:
        self.is_set = False

    def set(self) -> None:
        self.is_set = True


class ClockAdvance:
    """One advance of one merchant, whose lease is held."""

    def __init__(
        self, pool: Pool, writer: Writer, stepper: StepRunner, courier: WebhookSender, merchant: Merchant
    ) -> None:
        self._pool = pool
        self._writer = writer
        self._stepper = stepper
        self._courier = courier
        self._merchant = merchant
        self._lanes = [*stepper.lanes, deliveries.WEBHOOK_LANE]
        self._job_counts: Counter[str] = Counter()
        self._last: frozenset[tuple[bytes, datetime]] = frozenset()
        self._has_endpoint_hung = False
        self._stands_still = True

    async def run(
        self, target: Callable[[datetime], datetime | Refusal], seconds: float, lease: ClockLease, stop: StopSignal
    ) -> AdvanceResult | Refusal:
        """`target` is asked under the lease, so that two advances at once add up."""
        over = time.monotonic() + seconds
        until = target(await self._read_clock())
        if isinstance(until, Refusal):
            return until
        more = True
        try:
            while more and not (stop.is_set or lease.is_lost or time.monotonic() > over):
                more = await self._run_next(until)
        finally:
            # On the way the wall times of jobs stay as they are: moving them at every stop would take a thousand jobs
            # a thousand times. They follow here, also when something went wrong, and before the lease ends.
            lease.is_unfinished = True
            now = await self._move_clock(await self._read_clock() if more else until)
            await shift_jobs(self._pool, self._merchant.merchant_id, self._writer.clock.now())
            lease.is_unfinished = False
        if more and not self._stands_still:
            until = max(until, now + RESUME_MARGIN)
        return AdvanceResult(now, until, dict(sorted(self._job_counts.items())), more)

    async def _run_next(self, until: datetime) -> bool:
        """Runs the jobs that are due next. False where nothing falls due any more."""
        records = await self._pool.fetch(
            jobs.NEXT_DUE, self._merchant.merchant_id, until, self._lanes, MAX_JOBS_PER_BATCH
        )
        due = [Job(*record) for record in records]
        if not due:
            return False
        first = due[0]
        if first.lane == deliveries.WEBHOOK_LANE:
            first = await deliveries.find_first_deliverable(self._pool, first)
            if first.due > due[0].due:
                return True
        wall = self._writer.clock.now()
        if is_leased(first, wall):
            await asyncio.sleep(POLL_SECONDS)
            return True
        together = [first] if first.lane == deliveries.WEBHOOK_LANE else take_independent(due, wall)
        self._check_progress(together)
        if first.lane == deliveries.WEBHOOK_LANE:
            await self._deliver(first)
        else:
            await self._run_together(together)
        return True

    def _check_progress(self, together: list[Job]) -> None:
        known = frozenset((job.key, job.due) for job in together)
        if (together[0].key, together[0].due) in self._last:
            raise NoProgress(together[0].reference)
        self._last = known

    async def _run_together(self, together: list[Job]) -> None:
        """Their calls one after the other, then all that they mean in one batch. Nobody is called before the clock
        is there: what a rail of ours decides goes by it too."""
        due = together[0].due
        submissions = [self._clock_submission(due)]
        if not all(self._stepper.is_local(job) for job in together):
            raise_if_failed(await self._writer.submit(submissions.pop()))
        for job in together:
            answer = await self._stepper.call(job, due)
            submissions.append(self._stepper.make_submission(job, self._merchant, answer))
        for result in await asyncio.gather(*[self._writer.submit(submission) for submission in submissions]):
            raise_if_failed(result)
        self._job_counts.update(job.kind.partition(".")[0] for job in together)

    async def _deliver(self, job: Job) -> None:
        raise_if_failed(await self._writer.submit(self._clock_submission(job.due)))
        outcome = await self._courier.deliver_now(self._pool, job, has_endpoint_hung=self._has_endpoint_hung)
        if outcome is not None:
            self._has_endpoint_hung = self._has_endpoint_hung or has_hung(outcome)
            self._job_counts[job.kind.partition(".")[0]] += 1

    # --- the clock ----------------------------------------------------------------------------------------------

    async def _read_clock(self) -> datetime:
        [record] = await self._pool.fetch(jobs.SELECT_MERCHANT_STATE, self._merchant.merchant_id)
        book = MerchantState(*record)
        self._stands_still = book.clock_fixed is not None
        return business_now(book, self._writer.clock.now())

    def _clock_submission(self, to: datetime, *, on_the_way: bool = True) -> Submission:
        rule = partial(decide_clock, to, on_the_way)
        return Submission(self._merchant, Needs(), rule, NO_ENTROPY)

    async def _move_clock(self, to: datetime) -> datetime:
        result = raise_if_failed(await self._writer.submit(self._clock_submission(to, on_the_way=False)))
        assert isinstance(result, Decision)
        assert isinstance(result.reply, datetime)
        return result.reply


def decide_clock(to: datetime, keeps_job_times: bool, context: Context, seen: LoadedRows) -> Decision:
    """Moves the clock forward, never back. Where it is there already, on the way, nothing is written."""
    if keeps_job_times and to <= context.now:
        return Decision(reply=context.now)
    moved = max(to, context.now)
    return Decision(reply=moved, sandbox=SandboxEffects(clock=moved))


def take_independent(due: list[Job], wall: datetime) -> list[Job]:
    """The first of these jobs that may be run together: no deliveries, none that somebody holds, one of a subject."""
    together: dict[bytes, Job] = {}
    for job in due:
        if job.lane == deliveries.WEBHOOK_LANE or job.subject in together or is_leased(job, wall):
            break
        together[job.subject] = job
    return list(together.values())


def is_leased(job: Job, wall: datetime) -> bool:
    return job.leased_until is not None and job.leased_until > wall


def raise_if_failed(result: Result) -> Result:
    if isinstance(result, RuleFailure):
        raise result.error
    return result
