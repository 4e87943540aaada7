"""`advance` in the test environment: moves a merchant's business time and runs the jobs that fall due, in order.

The order is that of `jobs/leases.py`: business time, then the order of writing. Jobs of one moment go through the
writer together, each decided on what those before it did, so a moment with thousands of them costs a few commits. The
clock stands at a job's due time when the job is decided. Deliveries of events are sent one after the other.

An advance has a time limit. When it is reached, or the client disconnects, the advance finishes the jobs it has begun
and stops at the business time it has reached: everything before is done, nothing after it has begun, and another
advance continues from there.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import msgspec

from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs, Outcome, Refusal, SandboxEffects
from kasuwa.engine.batch import Result, RuleFailure, Submission
from kasuwa.engine.merchant_state import MerchantState, business_now
from kasuwa.engine.writer import MAX_BATCH_SIZE, Writer
from kasuwa.jobs import leases
from kasuwa.jobs.clock_leases import ClockLease
from kasuwa.jobs.job_times import reschedule_jobs
from kasuwa.jobs.steps import StepRunner
from kasuwa.postgres.connection_pool import Pool
from kasuwa.postgres.row_codes import require_intact
from kasuwa.transactions.transactions import WEBHOOK_LANE
from kasuwa.webhooks import deliveries
from kasuwa.webhooks.sender import WebhookSender, has_hung

# Poll interval while a job is leased by a request or a worker.
POLL_SECONDS = 0.02
# One place in the batch is for the submission that moves the clock.
MAX_JOBS_PER_BATCH = MAX_BATCH_SIZE - 1
NO_ENTROPY = bytes(32)
# A running clock may have passed the target by the time an advance stops. The target to resume with is then this far
# ahead, so that it is still in the future when it is requested.
RESUME_MARGIN = timedelta(minutes=1)

JobVersion = tuple[bytes, datetime, str, int]  # see job_version


class NoProgress(Exception):
    """Raised if a job is still due after it was run."""


class AdvanceResult(msgspec.Struct):
    """The result of an advance."""

    now: datetime
    until: datetime
    job_counts: dict[str, int]
    has_more: bool  # it stopped before `until`


class StopSignal:
    """Tells an advance to stop after the jobs it has begun."""

    def __init__(self) -> None:
        self.is_set = False

    def set(self) -> None:
        self.is_set = True


class ClockAdvance:
    """One advance of one merchant. The caller holds the merchant's clock lease."""

    def __init__(
        self, pool: Pool, writer: Writer, stepper: StepRunner, webhook_sender: WebhookSender, merchant: Merchant
    ) -> None:
        self._pool = pool
        self._writer = writer
        self._stepper = stepper
        self._webhook_sender = webhook_sender
        self._merchant = merchant
        self._lanes = [*stepper.lanes, WEBHOOK_LANE]
        self._job_counts: Counter[str] = Counter()
        # The jobs of the last run that their rules found as they were read.
        self._unchanged: set[JobVersion] = set()
        self._hung_endpoints: set[int] = set()
        self._stands_still = True

    async def run(
        self, target: Callable[[datetime], datetime | Refusal], seconds: float, lease: ClockLease, stop: StopSignal
    ) -> AdvanceResult | Refusal:
        """Advances the clock to `target(now)`. The target is computed under the lease, so that two concurrent advances
        add up."""
        over = time.monotonic() + seconds
        until = target(await self._read_clock())
        if isinstance(until, Refusal):
            return until
        more = True
        try:
            while more and not (stop.is_set or lease.is_lost or time.monotonic() > over):
                more = await self._run_next(until)
        finally:
            # The wall times of jobs are not updated at every stop: a thousand jobs would mean a million updates.
            # They are updated here, also after an error, and before the lease ends.
            lease.is_unfinished = True
            now = await self._move_clock(await self._read_clock() if more else until)
            # Where the clock stands still, later jobs have the time that they keep: a day costs what is due on it.
            last = now if self._stands_still and not lease.was_left else None
            await reschedule_jobs(self._pool, self._merchant.merchant_id, self._writer.clock.now(), until=last)
            lease.is_unfinished = False
        if more and not self._stands_still:
            until = max(until, now + RESUME_MARGIN)
        return AdvanceResult(now, until, dict(sorted(self._job_counts.items())), more)

    async def _run_next(self, until: datetime) -> bool:
        """Runs the jobs that are due next. Returns False if none is due before `until`."""
        records = await self._pool.fetch(
            leases.NEXT_DUE, self._merchant.merchant_id, until, self._lanes, MAX_JOBS_PER_BATCH
        )
        due = [Job(*record) for record in records]
        for job in due:
            require_intact(self._stepper.vault, job)
        if not due:
            return False
        first = due[0]
        if first.lane == WEBHOOK_LANE:
            first = await deliveries.find_first_deliverable(self._pool, first)
            if first.due > due[0].due:
                return True
        wall = self._writer.clock.now()
        if is_leased(first, wall):
            await asyncio.sleep(POLL_SECONDS)
            return True
        together = [first] if first.lane == WEBHOOK_LANE else take_independent(due, wall)
        self._check_progress(together[0])
        if first.lane == WEBHOOK_LANE:
            await self._deliver(first)
        else:
            await self._run_together(together)
        return True

    def _check_progress(self, first: Job) -> None:
        """Raises NoProgress if a job that was run is due again as it was: it would be run again and again."""
        if job_version(first) in self._unchanged:
            raise NoProgress(first.reference)
        self._unchanged.clear()

    def _decide(
        self, job: Job, decide: Callable[[Context, LoadedRows], Outcome], context: Context, rows: LoadedRows
    ) -> Outcome:
        """Decides on a job. If the rule finds it changed, another request has taken its next step since it was read,
        and may give it back as it was: a payment that waits for the payer's code again, say."""
        current = rows.get(Job, job.key)
        if current is not None and job_version(current) == job_version(job):
            self._unchanged.add(job_version(job))
        else:
            self._unchanged.discard(job_version(job))
        return decide(context, rows)

    async def _run_together(self, together: list[Job]) -> None:
        """Calls the rails of the jobs one after the other, then records the answers in one batch. The clock is moved
        before the first call, because the card issuer's rules use it too, and because a day that is read has ended
        then: what is decided later is of the next."""
        due = together[0].due
        submissions = [self._clock_submission(due)]
        if not all(self._stepper.is_local(job) for job in together):
            raise_if_failed(await self._writer.submit(submissions.pop()))
        for job in together:
            # As if claimed: a job whose lease has expired was perhaps sent, and its code or card is not here.
            claimed = msgspec.structs.replace(job, claims=job.claims + 1)
            answer = await self._stepper.call(claimed, due)
            submission = self._stepper.make_submission(claimed, self._merchant, answer)
            submission.decide = partial(self._decide, job, submission.decide)
            submissions.append(submission)
        for result in await asyncio.gather(*[self._writer.submit(submission) for submission in submissions]):
            raise_if_failed(result)
        self._job_counts.update(job.kind.partition(".")[0] for job in together)

    async def _deliver(self, job: Job) -> None:
        self._unchanged.add(job_version(job))
        raise_if_failed(await self._writer.submit(self._clock_submission(job.due)))
        has_hung_before = job.endpoint_id in self._hung_endpoints
        outcome = await self._webhook_sender.deliver_now(self._pool, job, has_endpoint_hung=has_hung_before)
        if outcome is not None:
            if has_hung(outcome):
                self._hung_endpoints.add(job.endpoint_id)
            self._job_counts[job.kind.partition(".")[0]] += 1

    # --- the clock ----------------------------------------------------------------------------------------------

    async def _read_clock(self) -> datetime:
        [record] = await self._pool.fetch(leases.SELECT_MERCHANT_STATE, self._merchant.merchant_id)
        merchant_state = MerchantState(*record)
        self._stands_still = merchant_state.clock_fixed_at is not None
        return business_now(merchant_state, self._writer.clock.now())

    def _clock_submission(self, to: datetime, *, keeps_job_times: bool = True) -> Submission:
        rule = partial(decide_clock, to, keeps_job_times)
        return Submission(self._merchant, Needs(), rule, NO_ENTROPY)

    async def _move_clock(self, to: datetime) -> datetime:
        result = raise_if_failed(await self._writer.submit(self._clock_submission(to, keeps_job_times=False)))
        assert isinstance(result, Decision)
        assert isinstance(result.reply, datetime)
        return result.reply


def decide_clock(to: datetime, keeps_job_times: bool, context: Context, rows: LoadedRows) -> Decision:
    """Moves the clock forward, never back. With `keeps_job_times`, writes nothing if the clock is there already."""
    if keeps_job_times and to <= context.now:
        return Decision(reply=context.now)
    moved = max(to, context.now)
    return Decision(reply=moved, sandbox=SandboxEffects(clock=moved))


def take_independent(due: list[Job], wall: datetime) -> list[Job]:
    """Returns the first jobs that can run in one batch: no deliveries, none that is leased, one for each subject."""
    together: dict[bytes, Job] = {}
    for job in due:
        if job.lane == WEBHOOK_LANE or job.subject in together or is_leased(job, wall):
            break
        together[job.subject] = job
    return list(together.values())


def job_version(job: Job) -> JobVersion:
    """Returns what every run of a job changes. Another request may give it a new step with the same due time."""
    return job.key, job.due, job.kind, job.attempt


def is_leased(job: Job, wall: datetime) -> bool:
    return job.leased_until is not None and job.leased_until > wall


def raise_if_failed(result: Result) -> Result:
    if isinstance(result, RuleFailure):
        raise result.error
    return result
