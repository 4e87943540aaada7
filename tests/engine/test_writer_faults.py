"""The writer on a database that is slow, silent, locked or shared: every submission gets a right answer in time.

Timeouts are short here, so that a test takes seconds. Every wait of a test has a generous limit that only stops a
broken writer from hanging the tests.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs
from kasuwa.engine.batch import BatchState, Submission
from kasuwa.engine.blocked_merchants import MAX_SESSIONS
from kasuwa.engine.journal import CommitMarkRow
from kasuwa.engine.writer import Writer
from kasuwa.postgres import connections
from kasuwa.transactions.transactions import Transaction
from tests.engine.probes import (
    SHORT,
    WALLET,
    WAYS,
    Ground,
    fund,
    make_ready,
    moved,
    new_merchant,
    outcome_of,
    prepared,
    reserve,
    rows_of,
    run,
    spend,
    transfer_key,
    writing,
)
from tests.simulate.faulty_proxy import FaultyProxy

pytestmark = pytest.mark.xdist_group("writer faults")


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with prepared(tmp_path_factory.mktemp("faults")) as made:
        yield made


# --- lost answers -----------------------------------------------------------------------------------------------------


def lose_answers_of_commits(writer: Writer, line: FaultyProxy, way: str) -> None:
    """Swallows what the database answers from the next commit on. A batch decided on memory is one statement, which
    commits by itself; a locked one sends COMMIT after its statements were answered."""
    if way == "on memory":
        line.state = "deaf"
        return
    commit = writer._session._commit_transaction

    async def commit_and_lose(connection: Any, mark: CommitMarkRow, state: BatchState) -> None:
        line.state = "deaf"
        await commit(connection, mark, state)

    writer._session._commit_transaction = commit_and_lose  # type: ignore[method-assign]


@pytest.mark.parametrize("way", WAYS)
def test_a_commit_whose_answer_is_swallowed_is_found_by_its_mark(ground: Ground, way: str) -> None:
    """The connection stays open and silent: without a deadline the write would hang forever."""
    line, merchants_made = FaultyProxy(ground.cluster), []

    async def work() -> None:
        merchant = await new_merchant(ground)
        merchants_made.append(merchant)
        async with line.open(), writing(ground, line.dsn) as writer:
            await make_ready(writer, merchant, way)
            lose_answers_of_commits(writer, line, way)
            waiting = writer.submit(fund(merchant))
            while line.state != "deaf":
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            line.state = "passing"
            assert await outcome_of(waiting) == "fund"

    run(work)
    assert moved(ground, merchants_made[0]) == [100]


@pytest.mark.parametrize("way", WAYS)
def test_a_statement_that_never_arrives_is_sent_again_and_done_once(ground: Ground, way: str) -> None:
    line, merchants_made = FaultyProxy(ground.cluster), []

    async def work() -> None:
        merchant = await new_merchant(ground)
        merchants_made.append(merchant)
        async with line.open(), writing(ground, line.dsn) as writer:
            await make_ready(writer, merchant, "on memory")
            if way == "locked":
                writer._cache.forget_all()
            line.state = "mute"
            waiting = writer.submit(fund(merchant))
            await asyncio.sleep(0.2)
            line.state = "passing"
            assert await outcome_of(waiting) == "fund"

    run(work)
    assert moved(ground, merchants_made[0]) == [100]


def test_a_connection_lost_between_lock_and_write_is_not_replaced(ground: Ground) -> None:
    """The batch is decided again. On another connection, outside the transaction, each statement would commit by
    itself."""
    made, times = [], []

    async def work() -> None:
        merchant = await new_merchant(ground)
        made.append(merchant)
        async with writing(ground, ground.cluster.dsn) as writer:
            submission = fund(merchant)
            decide = submission.decide

            def lose_connection(context: Context, rows: LoadedRows) -> Any:
                times.append(1)
                if len(times) == 1:
                    assert writer._session._write_connection is not None
                    writer._session._write_connection.terminate()
                return decide(context, rows)

            submission.decide = lose_connection
            assert await outcome_of(writer.submit(submission)) == "fund"

    run(work)
    assert (len(times), moved(ground, made[0])) == (2, [100])


def test_commits_wait_for_the_disk_even_if_the_database_has_another_default(ground: Ground) -> None:
    async def work() -> None:
        owner = await asyncpg.connect(ground.cluster.dsn)
        try:
            await owner.execute("alter role current_user set synchronous_commit = off")
            merchant = await new_merchant(ground)
            async with writing(ground, ground.cluster.dsn) as writer:
                assert await outcome_of(writer.submit(fund(merchant))) == "fund"
                connection = await writer._session.write_connection()
                assert await connection.fetchval("show synchronous_commit") == "on"
        finally:
            await owner.execute("alter role current_user reset synchronous_commit")
            await owner.close()

    run(work)


@pytest.mark.parametrize("way", WAYS)
def test_a_commit_lost_in_an_outage_beyond_the_timeout_has_an_unknown_outcome(ground: Ground, way: str) -> None:
    """The outcome is reported as unknown, whether or not the commit happened."""
    line = FaultyProxy(ground.cluster)

    async def work() -> None:
        merchant = await new_merchant(ground)
        async with line.open(), writing(ground, line.dsn, timeout_seconds=1.5) as writer:
            await make_ready(writer, merchant, way)
            lose_answers_of_commits(writer, line, way)
            assert await outcome_of(writer.submit(fund(merchant))) == "not known"

    run(work)


def test_a_silent_database_is_reported_within_the_timeout_and_used_again_later(ground: Ground) -> None:
    line, made = FaultyProxy(ground.cluster), []

    async def work() -> None:
        merchant = await new_merchant(ground)
        made.append(merchant)
        async with line.open(), writing(ground, line.dsn, timeout_seconds=1.5) as writer:
            await make_ready(writer, merchant, "on memory")
            assert writer.find_problem() is None
            line.state = "frozen"
            writer._cache.forget_all()
            answers = await asyncio.gather(*(outcome_of(writer.submit(fund(merchant))) for _ in range(5)))
            assert set(answers) == {"nothing happened"}
            assert writer.find_problem() is not None
            line.state = "passing"
            while writer.find_problem() is not None:
                await asyncio.sleep(0.05)
            assert await outcome_of(writer.submit(fund(merchant, 7, "after"))) == "after"

    run(work)
    assert (moved(ground, made[0]), moved(ground, made[0], "after")) == ([], [7])


def test_a_submission_behind_a_stuck_batch_is_answered_at_its_timeout(ground: Ground) -> None:
    """A statement without a timeout of its own blocks the writer. Other submissions do not wait for its end."""
    line = FaultyProxy(ground.cluster)

    async def work() -> None:
        merchant, other = await new_merchant(ground), await new_merchant(ground)
        limits = {"timeout_seconds": 1.0, "statement_seconds": 5.0}
        async with line.open(), writing(ground, line.dsn, **limits) as writer:
            await make_ready(writer, merchant, "on memory")
            line.state = "frozen"
            first = asyncio.create_task(outcome_of(writer.submit(fund(merchant))))
            await asyncio.sleep(0.1)
            second = asyncio.create_task(outcome_of(writer.submit(fund(other))))
            assert await second == "nothing happened"
            assert await first == "not known"
            line.state = "passing"

    run(work)


# --- locks ------------------------------------------------------------------------------------------------------------

LOCK_MERCHANT = "select 1 from merchant_state where merchant_id = $1 for update"


@asynccontextmanager
async def holding(ground: Ground, merchant: Merchant) -> AsyncIterator[None]:
    """Locks a merchant's state row in another session."""
    connection = await asyncpg.connect(ground.cluster.dsn)
    try:
        await connection.execute("begin")
        await connection.fetch(LOCK_MERCHANT, merchant.merchant_id)
        yield
    finally:
        await connection.close()


@pytest.mark.parametrize("way", WAYS)
def test_a_locked_merchant_delays_no_other(ground: Ground, way: str) -> None:
    made: list[Merchant] = []

    async def work() -> None:
        held, *others = [await new_merchant(ground) for _ in range(4)]
        made[:] = [held, *others]
        async with writing(ground, ground.cluster.dsn, statement_seconds=5.0, timeout_seconds=20.0) as writer:
            if way == "on memory":
                for merchant in made:
                    await make_ready(writer, merchant, way)
            async with holding(ground, held):
                waiting = [writer.submit(fund(held, 100 + n)) for n in range(3)]
                for n in range(5):
                    more = [writer.submit(fund(merchant, n + 1)) for merchant in others]
                    waiting.append(writer.submit(fund(held, 200 + n)))
                    assert [await outcome_of(future) for future in more] == ["fund"] * 3
                assert not any(future.done() for future in waiting)
                assert writer.find_problem() is None
            assert [await outcome_of(future) for future in waiting] == ["fund"] * 8
            assert await outcome_of(writer.submit(fund(held, 300))) == "fund"

    run(work)
    assert moved(ground, made[0]) == [100, 101, 102, 200, 201, 202, 203, 204, 300]
    assert [moved(ground, merchant) for merchant in made[1:]] == [[1, 2, 3, 4, 5]] * 3


def test_a_submission_that_waits_too_long_for_a_lock_changes_nothing(ground: Ground) -> None:
    made = []

    async def work() -> None:
        held = await new_merchant(ground)
        made.append(held)
        limits = {"statement_seconds": 5.0, "timeout_seconds": 1.0}
        async with writing(ground, ground.cluster.dsn, **limits) as writer, holding(ground, held):
            assert await outcome_of(writer.submit(fund(held))) == "nothing happened"

    run(work)
    assert moved(ground, made[0]) == []


def test_more_merchants_with_held_books_than_lanes_are_all_answered(ground: Ground) -> None:
    async def work() -> None:
        made = [await new_merchant(ground) for _ in range(10)]
        async with writing(ground, ground.cluster.dsn, statement_seconds=5.0, timeout_seconds=20.0) as writer:
            connection = await asyncpg.connect(ground.cluster.dsn)
            await connection.execute("begin")
            for merchant in made:
                await connection.fetch(LOCK_MERCHANT, merchant.merchant_id)
            waiting = [writer.submit(fund(merchant)) for merchant in made]
            other = await new_merchant(ground)
            assert await outcome_of(writer.submit(fund(other))) == "fund"
            await connection.close()
            assert [await outcome_of(future) for future in waiting] == ["fund"] * 10

    run(work)


def test_merchants_that_stay_locked_do_not_delay_one_that_is_free_again(ground: Ground) -> None:
    """MAX_SESSIONS merchants wait for locks that stay held, and one more waits for a lock that is soon released."""

    async def work() -> None:
        *stuck, brief = [await new_merchant(ground) for _ in range(MAX_SESSIONS + 1)]
        async with (
            writing(ground, ground.cluster.dsn, statement_seconds=5.0, timeout_seconds=20.0) as writer,
            contextlib.AsyncExitStack() as stay_held,
        ):
            for merchant in stuck:
                await stay_held.enter_async_context(holding(ground, merchant))
            async with holding(ground, brief):
                waiting = [writer.submit(fund(merchant)) for merchant in stuck]
                ours = writer.submit(fund(brief))
                while len(writer._blocked.running) < MAX_SESSIONS:
                    await asyncio.sleep(0.01)
            assert await outcome_of(ours) == "fund"
            assert not any(future.done() for future in waiting)
            await stay_held.aclose()
            assert [await outcome_of(future) for future in waiting] == ["fund"] * MAX_SESSIONS

    run(work)


def test_a_stopped_writers_session_is_ended_by_the_server(ground: Ground) -> None:
    """A process was stopped (SIGSTOP) while it held a state row: its connection and its transaction are open."""

    async def work() -> None:
        held = await new_merchant(ground)
        stopped = await connections.connect(ground.cluster.dsn, connections.WRITER_SETTINGS)
        await stopped.execute("begin")
        await stopped.fetch(LOCK_MERCHANT, held.merchant_id)
        limits = {"statement_seconds": 5.0, "timeout_seconds": 20.0}
        async with writing(ground, ground.cluster.dsn, **limits) as writer:
            assert await outcome_of(writer.submit(fund(held))) == "fund"
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError)) as ended:
            await stopped.fetch("select 1")
        assert connections.is_connection_error(ended.value)

    run(work)


# --- two writers ------------------------------------------------------------------------------------------------------

ACCOUNT = "select posted, held from account where merchant_id = $1 and name = $2"
# Longer than a writer uses locks for a merchant that another process wrote: it uses the cache again.
TURNS = 40


def test_two_writers_that_take_turns_on_one_merchant_never_overwrite_each_other(ground: Ground) -> None:
    """Every other batch of a writer finds rows that the other has changed. A hold leaves no posting: without the
    version check, one writer's hold would silently be lost."""

    async def work() -> None:
        merchant = await new_merchant(ground)
        async with writing(ground, ground.cluster.dsn) as one, writing(ground, ground.cluster.dsn) as other:
            assert await outcome_of(one.submit(fund(merchant, 1_000_000))) == "fund"
            for turn in range(TURNS):
                writer = (one, other)[turn % 2] if turn < 4 else (one, one, other)[turn % 3]
                assert await outcome_of(writer.submit(reserve(merchant, 10, f"hold {turn}"))) == f"hold {turn}"
                [[posted, held]] = await rows_of(ground, ACCOUNT, merchant.merchant_id, WALLET)
                assert (posted, held) == (1_000_000, 10 * (turn + 1))

    run(work)


def test_a_writer_alone_for_a_while_is_still_checked_when_another_comes(ground: Ground) -> None:
    async def work() -> None:
        merchant = await new_merchant(ground)
        async with writing(ground, ground.cluster.dsn) as one, writing(ground, ground.cluster.dsn) as other:
            amount = 0
            for turn in range(60):
                writer = other if turn % 20 == 19 else one
                amount += 1
                assert await outcome_of(writer.submit(fund(merchant, 1, f"turn {turn}"))) == f"turn {turn}"
            [[posted, _]] = await rows_of(ground, ACCOUNT, merchant.merchant_id, WALLET)
            assert posted == amount

    run(work)


def test_a_refusal_on_what_another_writer_has_changed_is_not_given(ground: Ground) -> None:
    """The first writer has cached an empty wallet. By the time of its refusal the other has funded it."""

    async def work() -> None:
        merchant = await new_merchant(ground)
        async with writing(ground, ground.cluster.dsn) as one, writing(ground, ground.cluster.dsn) as other:
            assert await outcome_of(one.submit(fund(merchant, 1))) == "fund"
            assert await outcome_of(one.submit(spend(merchant, 500))) == SHORT
            assert await outcome_of(other.submit(fund(merchant, 1_000))) == "fund"
            assert await outcome_of(one.submit(spend(merchant, 500))) == "spend"
            assert await outcome_of(one.submit(spend(merchant, 502))) == SHORT

    run(work)


def test_an_answer_on_what_another_writer_has_changed_is_not_given(ground: Ground) -> None:
    """A rule that only reads a row must return what the database has at that time."""

    async def work() -> None:
        merchant = await new_merchant(ground)
        key = transfer_key(merchant, "shared")

        def look(context: Context, rows: LoadedRows) -> Decision:
            found = rows.get(Transaction, key)
            return Decision(reply=None if found is None else found.amount)

        def looking() -> Submission:
            return Submission(merchant, Needs(((Transaction, key),), (WALLET,)), look, os.urandom(32))

        async with writing(ground, ground.cluster.dsn) as one, writing(ground, ground.cluster.dsn) as other:
            assert await outcome_of(one.submit(fund(merchant, 100))) == "fund"
            assert await outcome_of(one.submit(looking())) is None
            assert await outcome_of(other.submit(reserve(merchant, 10, "shared"))) == "shared"
            assert await outcome_of(one.submit(looking())) == 10

    run(work)


# --- marks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_each_commit_leaves_one_mark_however_many_submissions_it_has(ground: Ground, way: str) -> None:
    commits: list[int] = []

    async def work() -> None:
        merchants = [await new_merchant(ground) for _ in range(5)]
        [[before]] = await rows_of(ground, "select count(*) from commit_mark")
        options = {"on_commit": lambda locked, size, seconds: commits.append(size)}
        async with writing(ground, ground.cluster.dsn, **options) as writer:
            for merchant in merchants:
                await make_ready(writer, merchant, way)
            waiting = [writer.submit(fund(merchant)) for merchant in merchants for _ in range(40)]
            assert [await outcome_of(future) for future in waiting] == ["fund"] * len(waiting)
        [[after]] = await rows_of(ground, "select count(*) from commit_mark")
        assert after - before == len(commits)

    run(work)
    assert len(commits) < sum(commits) / 10, "submissions in flight share a commit"
