"""The worker's poll for due jobs, which is repeated after any failure, and the deadline of a job."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import asyncpg
import pytest

from kasuwa.concurrency.deadlines import Deadline
from kasuwa.core.decision import Decision, Job
from kasuwa.jobs import worker
from kasuwa.jobs.steps import StepRunner
from kasuwa.jobs.worker import Worker
from kasuwa.observe.metrics import JOBS_GIVEN_UP, Metrics
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connections import open_operator_pool
from kasuwa.postgres.row_codes import code_new_row, describe_table
from tests.merchant_client import MerchantClient
from tests.running import Deployment


class Claims:
    """A pool that fails, then reports a lane with a due job."""

    def __init__(self, trouble: Exception) -> None:
        self._trouble: list[Exception] = [trouble]

    @contextlib.asynccontextmanager
    async def acquire(self) -> AsyncIterator["Claims"]:
        yield self

    async def fetch(self, query: str, *values: Any) -> list[tuple[str]]:
        if self._trouble:
            raise self._trouble.pop()
        return [("bank",)]

    async def execute(self, query: str) -> None:
        raise asyncpg.InvalidCachedStatementError("the schema has changed")


class Noticing(Worker):
    """Stops when its lane is run."""

    async def run_once(self, lane: str) -> int:
        self.ran = lane
        self.stop()
        return 0


@pytest.mark.parametrize("trouble", [ConnectionResetError(), asyncpg.InvalidCachedStatementError("changed")])
def test_a_look_that_fails_is_taken_again(trouble: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "POLL_SECONDS", 0.01)

    async def run() -> str:
        made = Noticing(Claims(trouble), None, None, DatabaseClock())  # type: ignore[arg-type]
        async with asyncio.timeout(10):
            await made.run(["bank", "card"])
        return made.ran

    assert asyncio.run(run()) == "bank"


LANE = "a lane of jobs that hang"
INSERT = """
    insert into scheduled_job (key, merchant_id, kind, lane, reference, subject, due, run_at, claims, attempt, work)
    select k, merchant_id, 'probe', $1, r, k, now(), now(), 0, 0, '{}'
    from merchant, unnest($3::text[]) r, decode(md5($1 || r), 'hex') k where mid = $2 and current
"""
END_LEASES = "update scheduled_job set leased_until = now() where lane = $1"


class HangingSteps(StepRunner):
    """Runs jobs whose reference is `hang` without an end, and all others at once."""

    def __init__(self, vault: Any, metrics: Metrics) -> None:
        super().__init__(None, None, {}, vault, metrics, None)  # type: ignore[arg-type]
        self.ran: list[tuple[str, bool]] = []
        self.running: set[Deadline] = set()  # the worker's deadlines

    async def run(self, job: Job, *_: Any) -> Decision:
        self.ran.append((job.reference, job.is_queried_first))
        if job.reference == "hang":
            for deadline in self.running:
                deadline.expires_at = 0.0
            await asyncio.Event().wait()
        return Decision()


class Directory:
    async def get_by_id(self, merchant_id: int) -> int:
        return merchant_id


def test_a_job_that_does_not_end_is_given_up_and_run_again_as_after_a_crash(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop, metrics = open_shop(), Metrics()

    async def run(connection: Any) -> list[tuple[str, bool]]:
        vault, pool = await deployment.open_vault(connection), await open_operator_pool(deployment.dsn)
        steps = HangingSteps(vault, metrics)
        made = Worker(pool, steps, Directory(), DatabaseClock())  # type: ignore[arg-type]
        steps.running = made._deadlines.running
        await connection.execute(INSERT, LANE, shop.mid, ["hang", "well"])
        await code_new_row(connection, vault, describe_table(Job), "lane = $1", LANE)
        async with asyncio.timeout(60):
            assert await made.run_once(LANE) == 2
            assert await made.run_once(LANE) == 0  # the lease is kept
            await connection.execute(END_LEASES, LANE)
            assert await made.run_once(LANE) == 2
        await connection.execute("delete from scheduled_job where lane = $1", LANE)
        await pool.close()
        return steps.ran

    ran = deployment.run_on_connection(run)
    assert sorted(ran) == [("hang", False), ("hang", True), ("well", False), ("well", True)]
    assert metrics.series[JOBS_GIVEN_UP.name, ("probe",)] == [2.0]


def test_a_job_whose_time_is_up_before_it_begins_is_not_begun(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "JOB_SECONDS", 0.0)
    shop, metrics = open_shop(), Metrics()

    async def run(connection: Any) -> list[tuple[str, bool]]:
        vault, pool = await deployment.open_vault(connection), await open_operator_pool(deployment.dsn)
        steps = HangingSteps(vault, metrics)
        made = Worker(pool, steps, Directory(), DatabaseClock())  # type: ignore[arg-type]
        await connection.execute(INSERT, LANE, shop.mid, ["well"])
        await code_new_row(connection, vault, describe_table(Job), "lane = $1", LANE)
        assert await made.run_once(LANE) == 1
        await connection.execute("delete from scheduled_job where lane = $1", LANE)
        await pool.close()
        return steps.ran

    assert deployment.run_on_connection(run) == []
    assert metrics.series[JOBS_GIVEN_UP.name, ("probe",)] == [1.0]
