"""The lease of a merchant's clock in the test environment. It is held to advance the clock or to reset the books.

It is a row of the database (`advance_lease`), so it holds across processes. The worker and the webhook sender do not
claim jobs of a merchant whose lease is held. It expires in wall time and is renewed while it is held, so the lease of
a holder that dies expires. It takes one short statement each to take, renew and end it.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import structlog

from kasuwa.jobs import leases
from kasuwa.jobs.job_times import reschedule_jobs
from kasuwa.observe.log import describe_error
from kasuwa.postgres.connection_pool import Pool

LEASE = timedelta(seconds=30)
# How long a request waits for its turn before it is refused.
WAIT_SECONDS = 20.0
POLL_SECONDS = 0.02
RENEWALS_PER_LEASE = 3

log = structlog.get_logger("kasuwa.jobs")


class LeaseTimeout(Exception):
    """The lease was held by others for longer than a request waits."""


class ClockLease:
    """A lease that is held.

    `is_lost` is set when it could not be renewed in time, so another may hold it. `is_unfinished` is set while jobs may
    have wall times from before the clock moved. Such a lease is left to the worker, which updates the times.
    `was_left` is set if it was taken before the worker did so."""

    def __init__(self, merchant_id: int, holder: bytes) -> None:
        self.merchant_id = merchant_id
        self.holder_id = holder
        self.is_lost = False
        self.is_unfinished = False
        self.was_left = False


class ClockLeases:
    def __init__(self, pool: Pool, *, length: timedelta = LEASE, wait_seconds: float = WAIT_SECONDS) -> None:
        self._pool = pool
        self._length = length
        self._wait_seconds = wait_seconds
        # Requests of one process queue up here, so that one of them at a time asks the database.
        self._queues: dict[int, asyncio.Lock] = {}

    @contextlib.asynccontextmanager
    async def acquire(self, merchant_id: int) -> AsyncIterator[ClockLease]:
        """Waits for the lease, then renews it until the block ends. Raises LeaseTimeout if the wait is too long."""
        queue = self._queues.setdefault(merchant_id, asyncio.Lock())
        held = ClockLease(merchant_id, os.urandom(16))
        try:
            async with asyncio.timeout(self._wait_seconds):
                await queue.acquire()
        except TimeoutError:
            raise LeaseTimeout from None
        try:
            await self._take(held)
            async with self._renewing(held):
                yield held
        finally:
            queue.release()
            if not queue.locked():
                self._queues.pop(merchant_id, None)

    async def end_abandoned(self, wall: datetime) -> None:
        """Ends the leases whose holders died, after updating the wall times of their merchants' jobs."""
        holder = os.urandom(16)
        while (merchant_id := await self._pool.fetchval(leases.TAKE_ABANDONED, self._length, holder)) is not None:
            held = ClockLease(merchant_id, holder)
            async with self._renewing(held):
                held.is_unfinished = True
                if await self._pool.fetchval(leases.IS_CURRENT, merchant_id):
                    await reschedule_jobs(self._pool, merchant_id, wall)
                held.is_unfinished = False

    @contextlib.asynccontextmanager
    async def _renewing(self, held: ClockLease) -> AsyncIterator[None]:
        renewing = asyncio.create_task(self._renew(held))
        try:
            yield
        finally:
            renewing.cancel()
            await self._end(held)

    async def _take(self, held: ClockLease) -> None:
        until = time.monotonic() + self._wait_seconds
        values = (held.merchant_id, self._length, held.holder_id)
        while (was_left := await self._pool.fetchval(leases.TAKE_ADVANCE, *values)) is None:
            if time.monotonic() > until:
                raise LeaseTimeout
            await asyncio.sleep(POLL_SECONDS)
        # Whoever takes it and does not update all times leaves it again.
        held.was_left = held.is_unfinished = was_left

    async def _renew(self, held: ClockLease) -> None:
        seconds = self._length.total_seconds()
        renewed = time.monotonic()
        while not held.is_lost:
            await asyncio.sleep(seconds / RENEWALS_PER_LEASE)
            attempt_at = time.monotonic()
            try:
                is_extended = await self._pool.fetchval(
                    leases.EXTEND_ADVANCE, held.merchant_id, self._length, held.holder_id
                )
                renewed = attempt_at if is_extended else renewed - seconds
            except Exception as error:  # asked again, as long as the lease lasts
                log.warning("a lease was not renewed", **describe_error(error))
            held.is_lost = time.monotonic() - renewed >= seconds

    async def _end(self, held: ClockLease) -> None:
        """Ends the lease. Ignores errors, because a lease that cannot be ended expires."""
        with contextlib.suppress(Exception):
            end = leases.LEAVE_ADVANCE if held.is_unfinished else leases.END_ADVANCE
            await self._pool.execute(end, held.merchant_id, held.holder_id)
