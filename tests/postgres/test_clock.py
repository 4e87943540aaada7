"""Rows are written by the database's clock, whatever the clock of this process does."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kasuwa.boot import composition
from kasuwa.boot.prepare import prepare
from kasuwa.boot.readiness import watch_clock
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs
from kasuwa.core.references import row_key
from kasuwa.engine.batch import Submission
from kasuwa.engine.idempotency import IdempotencyClaim, idempotency_record_key
from kasuwa.engine.writer import Writer
from kasuwa.jobs.leases import DELETE_EXPIRED
from kasuwa.observe.metrics import CLOCK_JUMPS, CLOCK_SKEW_SECONDS, Metrics, SharedCounters
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.settings.settings import Settings
from tests.simulate.processes import query, running_database

DAY = 86_400.0
START = datetime(2026, 1, 5, 9, 30, tzinfo=UTC).timestamp()


class Clocks:
    """The three clocks, set by hand: the wall clock and the monotonic clock of the process, and the database's."""

    def __init__(self) -> None:
        self.monotonic = 1_000.0
        self.wall = START
        self.database = START

    def pass_seconds(self, seconds: float) -> None:
        self.monotonic += seconds
        self.wall += seconds
        self.database += seconds

    async def fetchval(self, query: str, *args: Any) -> float:
        return self.database


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


def clock_on(clocks: Clocks) -> DatabaseClock:
    clock = DatabaseClock(lambda: clocks.wall, lambda: clocks.monotonic)
    measure(clock, clocks)
    return clock


def measure(clock: DatabaseClock, clocks: Clocks) -> None:
    asyncio.run(clock.measure(clocks))  # type: ignore[arg-type]


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def test_clocks_that_agree_are_the_process_s_own(clocks: Clocks) -> None:
    clocks.database += 0.2
    clock = clock_on(clocks)
    clocks.pass_seconds(10)
    assert clock.now() == at(START + 10)


def test_a_jump_of_the_process_s_clock_changes_nothing(clocks: Clocks) -> None:
    clock = clock_on(clocks)
    clocks.wall += 25 * 3600
    clocks.pass_seconds(1)
    assert (clock.now(), clock.earliest_now()) == (at(START + 1), at(START + 1))
    measure(clock, clocks)
    assert (clock.now(), clock.earliest_now()) == (at(START + 1), at(START + 1))
    assert (clock.jumps, round(clock.skew_seconds)) == ({"process": 1}, 25 * 3600)
    clocks.wall -= 25 * 3600
    measure(clock, clocks)
    assert (clock.now(), clock.jumps, clock.skew_seconds) == (at(START + 1), {"process": 2}, 0)


def test_a_clock_that_was_wrong_from_the_start_is_put_right_by_the_first_measurement(clocks: Clocks) -> None:
    clocks.wall += DAY
    assert clock_on(clocks).now() == at(START)


def test_a_jump_of_the_database_clock_is_followed_and_counted(clocks: Clocks) -> None:
    clock = clock_on(clocks)
    clocks.database += DAY
    measure(clock, clocks)
    assert (clock.now(), clock.jumps) == (at(START + DAY), {"database": 1})


def test_nothing_is_surely_over_that_any_clock_says_is_not(clocks: Clocks) -> None:
    """The whole machine was set ahead: the database agrees, but the monotonic clock shows how long the process has
    run."""
    clock = clock_on(clocks)
    clocks.wall += DAY
    clocks.database += DAY
    measure(clock, clocks)
    assert (clock.now(), clock.earliest_now()) == (at(START + DAY), at(START))
    clocks.wall -= 2 * DAY
    assert clock.earliest_now() == at(START - DAY)


def test_a_correction_is_no_jump(clocks: Clocks) -> None:
    clock = clock_on(clocks)
    for _ in range(5):
        clocks.pass_seconds(10)
        clocks.wall += 1
        measure(clock, clocks)
    assert not clock.jumps


def test_the_metrics_follow_the_clocks(clocks: Clocks) -> None:
    clock, meter = clock_on(clocks), Metrics(SharedCounters("api 1"))
    watch_clock(clock, meter)
    meter.publish()
    assert meter.series[CLOCK_SKEW_SECONDS.name, ("api 1",)] == [0]
    for _ in range(2):
        clocks.wall += DAY
        measure(clock, clocks)
        meter.publish()
    assert meter.series[CLOCK_JUMPS.name, ("process",)] == [2]
    assert meter.series[CLOCK_SKEW_SECONDS.name, ("api 1",)] == [2 * DAY]


# --- in the database --------------------------------------------------------------------------------------------------


def numbering(merchant: Merchant) -> Submission:
    """Returns a submission with an Idempotency-Key and a job, whose postings show how often it was done."""
    key = row_key(merchant.merchant_id, "clock", "probe")

    def rule(context: Context, rows: LoadedRows) -> Decision:
        job = Job(key, merchant.merchant_id, "probe", "probe", "probe", key, context.now, context.now, None, 0, 0, None,
            "{}")  # fmt: skip
        jobs = () if rows.get(Job, key) is not None else (job,)
        return Decision(reply=context.number, numbers_used=1, jobs=jobs)

    claim = IdempotencyClaim(idempotency_record_key(merchant.merchant_id, "key"), b"digest", is_original_request=True)
    return Submission(merchant, Needs(((Job, key),)), rule, bytes(32), claim)


def with_writer(place: Path, work: Callable[[Writer, Merchant, composition.Services, list[float]], Any]) -> str:
    """Returns the address of a database that a writer used whose process clock is `ahead` by so many seconds."""
    ahead = [0.0]

    async def run(dsn: str) -> None:
        settings = Settings(data=place, database_url=dsn)
        await prepare(settings, dsn)
        services = await composition.Services.build(settings, dsn)
        clock = DatabaseClock(lambda: datetime.now(UTC).timestamp() + ahead[0])
        writer = Writer(dsn, services.deployment, clock=clock)
        writer.start()
        try:
            await work(writer, await services.merchant_directory.get_by_id(1), services, ahead)
        finally:
            await writer.close()
            await services.close()

    with running_database(place / "pg") as cluster:
        asyncio.run(run(cluster.dsn))
        found = query(cluster.dsn, "select last_number from merchant_state where merchant_id = 1")
        late = query(cluster.dsn, "select run_at - now() from scheduled_job where kind = 'probe'")
        assert abs(late[0][0]) < timedelta(hours=1), "the job does not wait for a day"
        return str(found[0][0])


def test_a_jump_of_a_day_voids_no_idempotency_key_and_lets_no_job_wait(tmp_path: Path) -> None:
    replies: list[Any] = []

    async def work(writer: Writer, merchant: Merchant, services: composition.Services, ahead: list[float]) -> None:
        replies.append((await writer.submit(numbering(merchant))).reply)  # type: ignore[union-attr]
        ahead[0] = 25 * 3600.0
        replies.append((await writer.submit(numbering(merchant))).reply)  # type: ignore[union-attr]
        writer._session.disconnect()  # so that the clocks are compared anew
        writer._cache.forget_all()
        replies.append((await writer.submit(numbering(merchant))).reply)  # type: ignore[union-attr]
        assert writer.clock.jumps == {"process": 1}
        connection = await writer._session.write_connection()
        await connection.execute(DELETE_EXPIRED, writer.clock.now() + timedelta(days=2))
        await connection.execute(DELETE_EXPIRED, writer.clock.earliest_now())
        replies.append((await writer.submit(numbering(merchant))).reply)  # type: ignore[union-attr]

    assert with_writer(tmp_path, work) == "1"
    assert [str(reply) for reply in replies[:1]] == ["1"]
    assert {bytes(reply) for reply in replies[1:]} == {b"1"}
