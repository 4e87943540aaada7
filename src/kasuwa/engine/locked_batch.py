"""Runs a batch under locks: locks the merchants' rows, reads, decides, writes and commits.

A merchant whose row another session holds must not delay the other merchants of the batch. So there are two modes:

    shared            waits `connections.MERCHANT_LOCK_SECONDS` for the rows of all merchants of a batch, then locks
                      those that are free; the submissions of the others are returned
    single merchant   waits for the row of one merchant until the deadline of its submissions

blocked_merchants.py runs the returned submissions in the second mode, on connections of their own.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

import asyncpg
import msgspec

from kasuwa.concurrency.time_slices import Interruptible, run_in_shared_slices, run_in_slices
from kasuwa.core.decision import Needs, NeedsMore, Row
from kasuwa.core.references import merchant_state_key
from kasuwa.engine.batch import BatchState, Deployment, Result, RuleFailure, Submission, decide_batch
from kasuwa.engine.merchant_state import MerchantState
from kasuwa.engine.row_cache import RowCache
from kasuwa.engine.writer_session import RETRY_SECONDS, CommitInterrupted, DecidedBatch, WriterSession
from kasuwa.postgres import connections
from kasuwa.postgres.bulk_sql import concat_keys
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connection_pool import Connection
from kasuwa.postgres.connections import DatabaseUnreachable
from kasuwa.postgres.layout import ONE_SERVER, Layout
from kasuwa.postgres.row_codes import replace_changed

# A rule that keeps returning NeedsMore is a bug. The longest chain is a rail's word on a dispute of a repayment: the
# dispute, its payment, the accounts, the loan, its acts, and the payments among them with the savings of guarantors.
MAX_DECIDE_ROUNDS = 6


class PendingSubmission(msgspec.Struct, eq=False):
    """A submission that waits for its result."""

    submission: Submission
    merchant_id: int
    future: "asyncio.Future[Result]"
    deadline: float  # on the monotonic clock; the submission fails when it has passed
    orders: int = 1  # of the submission
    is_commit_sent: bool = False  # True while its commit may have happened


PendingBatch = list[PendingSubmission]
GetConnection = Callable[[], Awaitable[Connection]]


class NewRowExists(Exception):
    """A row that was taken to be absent exists. The batch must be decided again with what is in the database."""

    def __init__(self, merchants: set[int]) -> None:
        super().__init__("a row that was taken to be absent exists")
        self.merchants = merchants


class LockedBatchRunner:
    """Runs batches on one session.

    With `single_merchant`, each batch is of one merchant and waits for its lock until the deadline, or for
    `lock_seconds` if that is set."""

    def __init__(
        self,
        session: WriterSession,
        cache: RowCache,
        deployment: Deployment,
        clock: DatabaseClock,
        *,
        single_merchant: bool = False,
    ) -> None:
        self._session = session
        self._cache = cache
        self._deployment = deployment
        self._clock = clock
        self._single_merchant = single_merchant
        self.lock_seconds: float | None = None

    async def run(self, batch: PendingBatch) -> PendingBatch:
        """Runs a batch until each submission is answered. Returns those whose merchant could not be locked.

        Retries after a lost connection. Submissions whose deadline has passed before a try fail with
        DatabaseUnreachable: nothing happened."""
        while batch := drop_overdue(batch):
            deadline = min(entry.deadline for entry in batch)
            decided: DecidedBatch | None = None
            try:
                async with asyncio.timeout(deadline - time.monotonic()):  # nothing is written up to here
                    ours, decided = await self._lock_and_decide(batch, deadline)
                if has_overdue(ours):
                    # Told already that nothing happened, so it must not: a long step may have run in between.
                    await self._session.rollback()
                    continue
                mark_commit_sent(ours, True)
                await self._session.commit(decided, is_locked=True)
            except asyncpg.LockNotAvailableError:
                # Another session holds a merchant's row or another row, such as a job that it claims.
                mark_commit_sent(batch, False)
                await self._session.rollback()
                if not self._single_merchant or self.lock_seconds is not None:
                    return batch
                continue
            except CommitInterrupted as lost:
                committed = await self._session.was_committed(lost, deadline)
                if committed is not False:
                    assert decided is not None, "a commit was sent, so the batch is decided"
                    self._reset()
                    resolve_or_fail(
                        ours, decided.results, None if committed else DatabaseUnreachable(is_outcome_unknown=True)
                    )
                    return exclude(batch, ours)
            except DatabaseUnreachable as error:
                self._reset()
                fail_all(ours, error)
                return exclude(batch, ours)
            except Exception as error:
                if not connections.is_connection_error(error):
                    return await self._run_one_by_one(batch, error)
                self._session.is_failing = True
            else:
                # Answered before the cache is updated: the batch is durable even if that fails.
                resolve_all(ours, decided.results)
                self._cache.remember_batch(decided.state)
                self._cache.forget_closed(decided.state)
                return exclude(batch, ours)
            mark_commit_sent(batch, False)
            self._reset()
            await asyncio.sleep(RETRY_SECONDS)
        return []

    async def _run_one_by_one(self, batch: PendingBatch, error: Exception) -> PendingBatch:
        """Runs each submission of a rejected batch alone, so that one cannot fail the others."""
        self._reset()
        mark_commit_sent(batch, False)
        if len(batch) == 1:
            resolve_all(batch, [RuleFailure(error)])
            return []
        return [pending for entry in batch for pending in await self.run([entry])]

    def _reset(self) -> None:
        self._session.disconnect()
        self._cache.forget_all()

    async def _lock_and_decide(self, batch: PendingBatch, deadline: float) -> tuple[PendingBatch, DecidedBatch]:
        """Locks, reads and decides. Returns the submissions whose merchants could be locked.

        Leaves the transaction open. Raises LockNotAvailableError if no merchant could be locked."""
        merchant_states = await (
            self._lock_single_merchant(batch, deadline)
            if self._single_merchant
            else self._lock_available_merchants(batch)
        )
        state = BatchState(self._deployment, self._clock.now(), self._clock.earliest_now())
        for merchant_state in merchant_states:
            self._cache.check_version(merchant_state)
            state.add_merchant_state(merchant_state)
        ours = [entry for entry in batch if entry.merchant_id in state.merchant_states]
        if not ours:
            raise asyncpg.LockNotAvailableError("every merchant is locked by other sessions")
        submissions = [entry.submission for entry in ours]
        results = await fetch_and_decide(
            state,
            self._cache,
            self._session.transaction_connection,
            submissions,
            self._session.layout,
            run=run_in_shared_slices if self._single_merchant else run_in_slices,
        )
        state.raise_versions()
        return ours, DecidedBatch(state, results)

    async def _lock_available_merchants(self, batch: PendingBatch) -> list[MerchantState]:
        layout, merchants = self._session.layout, {entry.merchant_id for entry in batch}
        keys = concat_keys(sorted(map(merchant_state_key, merchants)))
        values = (keys, *layout.select_values(MerchantState, min(merchants)))
        settings = layout.lock_settings(connections.MERCHANT_LOCK_SECONDS)
        connection = await self._session.begin(*settings)
        try:
            return [MerchantState(*record) for record in await connection.fetch(layout.lock(MerchantState), *values)]
        except asyncpg.LockNotAvailableError:
            connection = await self._session.begin(*settings)
            free = await connection.fetch(layout.lock_free(MerchantState), *values)
            return [MerchantState(*record) for record in free]

    async def _lock_single_merchant(self, batch: PendingBatch, deadline: float) -> list[MerchantState]:
        """Waits in PostgreSQL's lock queue, so that sessions get the lock in order of arrival."""
        timeout_seconds = min(
            deadline - time.monotonic(), connections.WRITE_SECONDS - 1, self.lock_seconds or connections.WRITE_SECONDS
        )
        connection = await self._session.begin(f"set local lock_timeout = {max(1, int(timeout_seconds * 1000))}")
        merchant_id, layout = batch[0].merchant_id, self._session.layout
        values = (merchant_state_key(merchant_id), *layout.select_values(MerchantState, merchant_id))
        return [MerchantState(*record) for record in await connection.fetch(layout.lock(MerchantState), *values)]


# --- deciding -------------------------------------------------------------------------------------------------------


async def fetch_and_decide(
    state: BatchState,
    cache: RowCache,
    get_connection: GetConnection,
    submissions: list[Submission],
    layout: Layout = ONE_SERVER,
    *,
    are_rows_new: bool = False,
    run: "Callable[[Interruptible[Any]], Awaitable[Any]]" = run_in_slices,
) -> list[Result]:
    """Fetches what the submissions need and decides them in order. Those that return NeedsMore are decided again.

    With `are_rows_new`, the rows that submissions are to create (`Needs.new_keys`) are taken to be absent: most are,
    and reading them costs a round trip. If one exists, either the write fails, or no decision creates it: then it is
    read afterwards, and NewRowExists is raised (docs/decisions/0072).

    A long batch is decided in time slices, by `run`. That is safe: no other task uses the state, and the rows are
    locked or their versions are checked by the write."""
    fetch = partial(fetch_needed_rows, state, cache, get_connection, layout, are_rows_new=are_rows_new)
    await fetch((submission, submission.needs) for submission in submissions)
    results: list[Result] = await run(decide_batch(state, submissions))
    for _ in range(MAX_DECIDE_ROUNDS):
        unfinished = [(n, result.needs) for n, result in enumerate(results) if type(result) is NeedsMore]
        if not unfinished:
            break
        await fetch((submissions[n], needs) for n, needs in unfinished)
        for n, needs in unfinished:
            state.open_missing_accounts(submissions[n].merchant.merchant_id, needs.accounts)
            results[n] = await run(state.decide(submissions[n]))
    else:
        failure = RuleFailure(RuntimeError("a rule returned NeedsMore too often"))
        results = [failure if isinstance(result, NeedsMore) else result for result in results]
    unproven = state.take_unproven_rows()
    existing = [
        row for kind, keys in unproven.items() for row in await read_rows(state, get_connection, layout, kind, keys)
    ]
    if existing:
        raise NewRowExists({row.merchant_id for row in existing})
    return results


async def fetch_needed_rows(
    state: BatchState,
    cache: RowCache,
    get_connection: GetConnection,
    layout: Layout,
    wanted: Iterable[tuple[Submission, Needs]],
    *,
    are_rows_new: bool,
) -> None:
    """Adds the needed rows to the state: from the cache, and the others with one query per table."""
    unknown: dict[type[Row], dict[bytes, None]] = {}
    for submission, needs in wanted:
        cache.load_rows(state, state.request_rows(submission, needs), unknown)
        if are_rows_new and needs.new_keys and cache.expects_new_rows(submission.merchant.merchant_id):
            state.assume_absent(needs, unknown)
    for kind, keys in unknown.items():
        if keys:
            state.add_fetched_rows(keys, await read_rows(state, get_connection, layout, kind, keys))


async def read_rows(
    state: BatchState,
    get_connection: GetConnection,
    layout: Layout,
    kind: type[Row],
    keys: Iterable[bytes],
) -> list[Row]:
    values = (concat_keys(keys), *layout.select_values(kind, min(state.merchant_states)))
    records = await (await get_connection()).fetch(layout.select(kind), *values)
    rows: list[Row] = [kind(*record) for record in records]
    return replace_changed(state.deployment.vault, rows) if kind.coded_columns else rows


# --- answering ------------------------------------------------------------------------------------------------------


def drop_overdue(batch: PendingBatch) -> PendingBatch:
    """Returns the submissions whose deadline has not passed. Fails the others: nothing of them was written."""
    now = time.monotonic()
    fail_all([entry for entry in batch if entry.deadline <= now], DatabaseUnreachable(is_outcome_unknown=False))
    return [entry for entry in batch if entry.deadline > now]


def has_overdue(batch: PendingBatch) -> bool:
    """Whether a submission of the batch was, or may have been, told that nothing happened."""
    now = time.monotonic()
    return any(entry.deadline <= now for entry in batch)


def exclude(batch: PendingBatch, excluded: PendingBatch) -> PendingBatch:
    if len(excluded) == len(batch):
        return []
    dropped = set(excluded)
    return [entry for entry in batch if entry not in dropped]


def mark_commit_sent(batch: PendingBatch, is_sent: bool) -> None:
    for entry in batch:
        entry.is_commit_sent = is_sent


def fail_all(batch: PendingBatch, error: Exception) -> None:
    for entry in batch:
        if not entry.future.done():
            entry.future.set_exception(error)


def resolve_all(batch: PendingBatch, results: list[Result]) -> None:
    for entry, result in zip(batch, results, strict=True):
        if not entry.future.done():
            entry.future.set_result(result)


def resolve_or_fail(batch: PendingBatch, results: list[Result], error: Exception | None) -> None:
    if error is None:
        resolve_all(batch, results)
    else:
        fail_all(batch, error)
