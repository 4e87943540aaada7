"""Sums of settlements: of many postings, in steps, ended in a step, and beside another process."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import date, timedelta
from typing import Any

import asyncpg
import pytest

from kasuwa.audit.invariants.totals import TOTAL_INVARIANTS
from kasuwa.core.decision import Refusal
from kasuwa.methods.statements.settlements.model import TOO_MANY_POSTINGS
from kasuwa.methods.statements.settlements.store import read_days
from kasuwa.postgres import migrate
from kasuwa.postgres.advisory_locks import AdvisoryLock
from kasuwa.projections import settlement_sums
from kasuwa.projections.settlement_sums import SettlementSums
from tests.running import Deployments
from tests.walk.bounds import POSTINGS_SUMMED

KEY = bytes(32)
DEADLINE_SECONDS = 120.0
FIRST, LAST = date(2026, 1, 5), date(2026, 1, 6)
# The postings of the merchants. The first has enough for several steps, the second too few to be summed.
POSTINGS = {1: 50_000, 2: 3_000, 3: 5_000}
# Every line in turn; every tenth is of none. Times are out of order by up to four seconds, also at midnight.
LINES = (
    ("payment", "GP1", "rail:card:NGN", "wallet:main:NGN"),
    ("collection fee", "GP1", "wallet:main:NGN", "income:collection:NGN"),
    ("collection VAT", "GP1", "wallet:main:NGN", "tax:vat:NGN"),
    ("split", "GP1", "wallet:main:NGN", "beneficiary:B1:NGN"),
    ("refund", "GP2", "wallet:main:NGN", "rail:card:NGN"),
    ("dispute", "GP|DS|1", "wallet:main:NGN", "rail:card:NGN"),
    ("reserve released", "R1", "reserve:main:NGN", "wallet:main:NGN"),
    ("settlement", "batch", "settling:main:NGN", "wallet:main:NGN"),
    ("payout", "GP|PO|1", "wallet:main:NGN", "rail:bank:NGN"),
    ("transfer", "GP|FD|1", "wallet:main:NGN", "rail:bank:NGN"),
    ("payment", "GP3", "rail:card:USD", "wallet:main:USD"),
)
STATES = """
    insert into merchant_state (key, merchant_id, last_posting_seq)
    select sha224(m::text::bytea), m, last from unnest($1::bigint[], $2::bigint[]) t (m, last)
"""
ADD = """
    insert into posting (merchant_id, seq, group_seq, reference, debit, credit, amount, debit_after, credit_after, kind,
        at)
    select $1, n, n, l.reference, l.debit, l.credit, n, 0, 0, l.kind,
        timestamptz '2026-01-05 12:00:00+01' + (2 * n + n * 7 % 5) * interval '1 second'
    from generate_series($2::bigint, $3::bigint) n join unnest($4::text[], $5::text[], $6::text[], $7::text[])
        with ordinality l (kind, reference, debit, credit, i) on l.i = 1 + n % 11
"""
MARKS = "select merchant_id, posting_seq from settlement_sum_mark order by merchant_id"


async def add_postings(connection: Any, merchant_id: int, first: int, last: int) -> None:
    await connection.execute(ADD, merchant_id, first, last, *(list(column) for column in zip(*LINES, strict=True)))


async def fill(dsn: str) -> None:
    """Gives a new database postings that are not summed."""
    connection = await asyncpg.connect(dsn)
    await migrate.migrate(connection, "test", KEY)
    await connection.execute(
        "insert into merchant (merchant_id, mid, name) select n, 'GP000000' || n, 'x' from generate_series(1, 3) n"
    )
    await connection.execute(STATES, list(POSTINGS), list(POSTINGS.values()))
    for merchant_id, last in POSTINGS.items():
        await add_postings(connection, merchant_id, 1, last)
    await connection.close()


async def read(connection: Any, merchant_id: int = 1) -> list[Any]:
    """Returns the settlements and payouts of both days together, and of each."""
    results: list[Any] = []
    for first, last in ((FIRST, LAST), (FIRST, FIRST), (LAST, LAST)):
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            found = await read_days(merchant_id, first, last, None, connection)
        assert not isinstance(found, Refusal)
        results += [found.settlements, found.payouts]
    return results


async def read_journal(connection: Any, merchant_id: int = 1) -> list[Any]:
    """Returns the same from the journal alone."""
    kept, marks = await connection.fetch("select * from settlement_sum"), await connection.fetch(MARKS)
    await connection.execute("truncate settlement_sum, settlement_sum_mark")
    results = await read(connection, merchant_id)
    await connection.copy_records_to_table("settlement_sum", records=kept)
    await connection.copy_records_to_table("settlement_sum_mark", records=marks)
    return results


async def find_violations(connection: Any) -> list[Any]:
    return list(await connection.fetch(TOTAL_INVARIANTS[-1].query, None))


@pytest.fixture(scope="module")
def filled(deployments: Deployments) -> str:
    """The name of a database with postings that are not summed, to be copied."""
    asyncio.run(fill(deployments.new_database("not summed")))
    return "not summed"


Run = Callable[[Callable[..., Awaitable[None]]], None]


@pytest.fixture
def run(deployments: Deployments, filled: str, request: pytest.FixtureRequest) -> Run:
    """Runs a function with the address of a copy of `filled` and a connection to it."""

    def run_work(work: Callable[..., Awaitable[None]]) -> None:
        dsn = deployments.new_database(request.node.name[:60], filled)

        async def main() -> None:
            connection = await asyncpg.connect(dsn)
            try:
                await work(dsn, connection)
            finally:
                await connection.close()

        asyncio.run(main())

    return run_work


def test_merchants_with_many_postings_are_summed(run: Run) -> None:
    async def work(dsn: str, connection: Any) -> None:
        before = [await read(connection, merchant_id) for merchant_id in POSTINGS]
        counts = [sum(one.lines["gross"].count for one in found[0].values()) for found in before]
        # The first and the last of eleven kinds are gross; the eighth, of a batch, counts once for each day.
        payments = [sum(n % 11 in (0, 10) for n in range(1, last + 1)) for last in POSTINGS.values()]
        assert counts == [payments[0] + 2, payments[1] + 1, payments[2] + 1]
        await SettlementSums(dsn).sum_all()
        assert [tuple(row) for row in await connection.fetch(MARKS)] == [(1, 50_000), (3, 5_000)]
        assert [await read(connection, merchant_id) for merchant_id in POSTINGS] == before
        assert await find_violations(connection) == []
        # A merchant is summed again only when it has as many new postings.
        more = settlement_sums.LEAST_BEHIND - 1
        await add_postings(connection, 3, 5_001, 5_000 + more)
        await connection.execute("update merchant_state set last_posting_seq = $1 where merchant_id = 3", 5_000 + more)
        assert await settlement_sums.list_lagging(connection) == []
        assert await read(connection, 3) == await read_journal(connection, 3) != before[2]

    run(work)


def test_the_kind_of_a_posting_and_nothing_else_says_its_line(run: Run) -> None:
    """Not the accounts that it moves, and not its reference."""
    others = (
        ("manual posting", "approval 7", "wallet:main:NGN", "tax:vat:NGN"),
        ("manual posting", "approval 8", "wallet:main:NGN", "income:collection:NGN"),
        ("reconciliation: the merchant's: its wallet", "approval 9", "rail:card:NGN", "wallet:main:NGN"),
        ("transfer fee", "GP|PO|1", "wallet:main:NGN", "rail:bank:NGN"),
        ("wallet funding", "GP|DS|1", "outside:funding:NGN", "wallet:main:NGN"),
    )

    async def work(dsn: str, connection: Any) -> None:
        before = await read(connection)
        columns = [list(column) for column in zip(*others, *(others[:1] * 6), strict=True)]
        await connection.execute(ADD, 1, 50_001, 50_022, *columns)
        await connection.execute("update merchant_state set last_posting_seq = 50022 where merchant_id = 1")
        assert await read(connection) == before

    run(work)


def test_the_worker_of_a_deployment_sums(deployments: Deployments) -> None:
    with deployments.fresh("summed", KASUWA_CONSOLE="off") as deployment:
        deployment.fetch("insert into merchant (merchant_id, mid, name) values (900, 'GP0000900', 'x')")
        deployment.fetch(ADD, 900, 1, 5_000, *(list(column) for column in zip(*LINES, strict=True)))
        deployment.fetch(STATES, [900], [5_000])
        until = time.monotonic() + DEADLINE_SECONDS
        while not (marks := deployment.fetch(MARKS)):
            assert time.monotonic() < until
            time.sleep(0.05)
        assert [tuple(row) for row in marks] == [(900, 5_000)]


def test_settlements_are_those_of_the_journal_between_steps(run: Run) -> None:
    async def work(dsn: str, connection: Any) -> None:
        expected = await read(connection)
        marks: list[int] = []
        while not marks or marks[-1] < POSTINGS[1]:
            assert await settlement_sums.sum_next(connection, 1, POSTINGS[1])
            marks.append(await connection.fetchval(settlement_sums.MARK, 1))
            assert await read(connection) == expected
            assert await find_violations(connection) == []
        step = settlement_sums.MAX_POSTINGS_PER_STEP
        assert marks == [step, 2 * step, POSTINGS[1]]
        assert await settlement_sums.sum_next(connection, 1, POSTINGS[1])
        assert await read(connection) == expected

    run(work)


def test_a_step_that_is_killed_leaves_no_trace_and_is_taken_again(run: Run) -> None:
    async def work(dsn: str, connection: Any) -> None:
        expected = await read(connection)
        await settlement_sums.sum_next(connection, 1, POSTINGS[1])
        summing = await asyncpg.connect(dsn)
        async with connection.transaction():
            # The step has added its sums when it waits for this lock.
            await connection.execute("select 1 from settlement_sum_mark where merchant_id = 1 for update")
            step = asyncio.create_task(settlement_sums.sum_next(summing, 1, POSTINGS[1]))
            await wait_until_it_waits(connection, summing.get_server_pid())
            await connection.execute("select pg_terminate_backend($1)", summing.get_server_pid())
            with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
                await step
        assert await connection.fetchval(settlement_sums.MARK, 1) == settlement_sums.MAX_POSTINGS_PER_STEP
        assert (await read(connection), await find_violations(connection)) == (expected, [])
        await SettlementSums(dsn).sum_all()
        assert await connection.fetchval(settlement_sums.MARK, 1) == POSTINGS[1]
        assert (await read(connection), await find_violations(connection)) == (expected, [])

    run(work)


async def wait_until_it_waits(connection: Any, pid: int) -> None:
    waits = "select wait_event_type = 'Lock' from pg_stat_activity where pid = $1"
    async with asyncio.timeout(60):
        while not await connection.fetchval(waits, pid):
            await connection.execute("select pg_stat_clear_snapshot()")
            await asyncio.sleep(0.01)


def test_a_process_leaves_the_sums_to_another_that_is_summing(run: Run) -> None:
    async def work(dsn: str, connection: Any) -> None:
        async with connection.transaction():
            assert await connection.fetchval(settlement_sums.TRY_LOCK, AdvisoryLock.SETTLEMENT_SUMS)
            await SettlementSums(dsn).sum_all()
        assert await connection.fetch(MARKS) == []
        await asyncio.gather(*(SettlementSums(dsn).sum_all() for _ in range(3)))
        await SettlementSums(dsn).sum_all()
        assert [tuple(row) for row in await connection.fetch(MARKS)] == [(1, 50_000), (3, 5_000)]
        assert await find_violations(connection) == []

    run(work)


def test_a_list_is_refused_only_for_a_million_postings_behind_the_mark(run: Run) -> None:
    """The numbers of the postings have a gap, in place of a million of them."""

    async def work(dsn: str, connection: Any) -> None:
        end = FIRST + timedelta(days=40)
        for last, is_within in POSTINGS_SUMMED.sides:
            await add_postings(connection, 1, last, last)
            await connection.execute("update merchant_state set last_posting_seq = $1 where merchant_id = 1", last)
            assert (await read_days(1, FIRST, end, None, connection) is not TOO_MANY_POSTINGS) == is_within, last
        await SettlementSums(dsn).sum_all()
        found = await read_days(1, FIRST, end, None, connection)
        assert not isinstance(found, Refusal)
        assert len(found.settlements) > 3

    run(work)
