"""The worker: claims due jobs lane by lane and runs each through its step.

Lanes keep one rail from holding up another. A claim is a lease in wall time: if its worker dies, another claims the job
when the lease has expired. One poll finds the lanes with due jobs, so that an idle service runs few queries.

A job has a deadline of its own. One that is not done by then is given up as if its worker had died: its lease expires,
and whoever claims it next asks the rail for the outcome first.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from functools import partial

import structlog

from kasuwa.concurrency.deadlines import Deadlines
from kasuwa.core.decision import Merchant
from kasuwa.engine.batch import JOB_LEASE, RuleFailure
from kasuwa.jobs.clock_leases import ClockLeases
from kasuwa.jobs.leases import DELETE_EXPIRED, Claimed, LaneTurns, claim_jobs, list_due_lanes
from kasuwa.jobs.steps import StepRunner
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.observe.log import describe_error
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connection_pool import Pool
from kasuwa.postgres.polling import Polling, log_failure

MAX_CLAIMED = 64
# Poll interval. A job is started at most this late.
POLL_SECONDS = 0.2
ERROR_BACKOFF_SECONDS = 0.5
CLEANUP_SECONDS = 600.0
RECOVERY_SECONDS = 5.0
# How long a job may take from its claim on, with all that it waits for: until just before its lease expires, when
# another worker may claim it. The deadlines of its parts add up to less: 10 s for the rail (steps.py), 8 s for the
# commit (engine/writer.py).
JOB_SECONDS = JOB_LEASE.total_seconds() - 1.0

log = structlog.get_logger("kasuwa.jobs")


class Worker(Polling):
    def __init__(self, claims: Pool, stepper: StepRunner, directory: MerchantDirectory, clock: DatabaseClock) -> None:
        super().__init__()
        self._claims = claims
        self._stepper = stepper
        self._directory = directory
        self._clock = clock
        self._deadlines = Deadlines()
        self._turns: dict[str, LaneTurns] = {}

    async def run(self, lanes: Sequence[str]) -> None:
        due = {lane: asyncio.Event() for lane in lanes}
        lanes_running = (self._run_lane(lane, due[lane]) for lane in lanes)
        # The wall times of jobs whose merchant's `advance` died are not updated yet.
        leases = ClockLeases(self._claims)

        async def end_abandoned() -> None:
            await leases.end_abandoned(self._clock.now())

        await asyncio.gather(
            self.repeat(self._delete_expired, CLEANUP_SECONDS, "tidying failed"),
            self.repeat(end_abandoned, RECOVERY_SECONDS, "ending abandoned advances failed"),
            self._poll(due),
            *lanes_running,
        )

    async def _poll(self, due: Mapping[str, asyncio.Event]) -> None:
        """Wakes the lanes that have due jobs. On stop it wakes all, so that they end."""

        async def wake_due() -> None:
            for lane in await list_due_lanes(self._claims, list(due), self._clock.now()):
                due[lane].set()

        await self.repeat(wake_due, POLL_SECONDS, "look failed")
        for event in due.values():
            event.set()

    async def _delete_expired(self) -> None:
        """Deletes expired idempotency records and old commit marks."""
        await self._claims.execute(DELETE_EXPIRED, self._clock.earliest_now())

    async def _run_lane(self, lane: str, due: asyncio.Event) -> None:
        while not self._stopping.is_set():
            await due.wait()
            due.clear()
            try:
                await self.drain(partial(self.run_once, lane))
            except Exception as error:
                log_failure("lane failed", error, lane=lane)
                await self.pause(ERROR_BACKOFF_SECONDS)

    async def run_once(self, lane: str) -> int:
        """Claims the due jobs of one lane, runs them concurrently and returns their number.

        Jobs that neither call a rail nor read the books reach the writer in the order of their due times, because
        nothing is awaited between the claim and their submission."""
        until = time.monotonic() + JOB_SECONDS
        turns = self._turns.setdefault(lane, LaneTurns())
        async with self._claims.acquire() as connection:
            claimed = await claim_jobs(connection, self._stepper.vault, lane, self._clock.now(), MAX_CLAIMED, turns)
        wanted = {item.job.merchant_id for item in claimed}
        merchants = {merchant_id: await self._find_merchant(merchant_id) for merchant_id in wanted}
        await asyncio.gather(*(self._run_until(until, item, merchants[item.job.merchant_id]) for item in claimed))
        return len(claimed)

    async def _find_merchant(self, merchant_id: int) -> Merchant | None:
        """Returns None if the merchant cannot be read. Its jobs are claimed again when their lease has expired."""
        try:
            return await self._directory.get_by_id(merchant_id)
        except Exception as error:
            log_failure("merchant not read", error)
            return None

    async def _run_until(self, until: float, item: Claimed, merchant: Merchant | None) -> None:
        """Runs a job, and gives it up at its deadline. One whose time is up already is not begun."""
        seconds = until - time.monotonic()
        if seconds > 0:
            deadline = self._deadlines.within(seconds)
            try:
                with deadline:
                    await self._run_job(item, merchant)
                return
            except TimeoutError:
                if not deadline.has_expired:
                    raise
        self._stepper.count_given_up(item.job)
        log.warning("job given up at its deadline", kind=item.job.kind, reference=item.job.reference)

    async def _run_job(self, item: Claimed, merchant: Merchant | None) -> None:
        if merchant is None:
            return
        result = await self._stepper.run(item.job, merchant, item.now)
        if isinstance(result, RuleFailure):
            log.error(
                "step failed",
                kind=item.job.kind,
                reference=item.job.reference,
                **describe_error(result.error),
            )
