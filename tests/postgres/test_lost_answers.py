"""One answer of the database is lost, and its connection stays open and silent. Whatever message it was the answer to,
the next writes are done, and the books have what was acknowledged and nothing that was denied.

Deadlines are short here. Nothing is cut by hand: only the deadlines end the waits. The same with whole processes, every
role of connection and their own deadlines is in tests/simulate/test_lost_answers.py.
"""

import asyncio
import itertools
from collections.abc import Iterator
from typing import Any

import asyncpg
import pytest

from kasuwa.core.decision import Merchant
from kasuwa.core.vault import Vault
from kasuwa.engine import writer_session
from kasuwa.engine.writer import STUCK_SECONDS, Writer
from kasuwa.postgres import connections
from kasuwa.postgres.connection_pool import Pool
from kasuwa.privacy import vault_keys
from kasuwa.settings.secret_key import load_secret_key
from tests.engine.probes import Ground, fund, moved, new_merchant, outcome_of, prepared, reserve, run, writing
from tests.simulate.answer_proxy import AnswerProxy

pytestmark = pytest.mark.xdist_group("lost answers")

WRITER = "kasuwa writer"
# What begins a connection. Query is its `set role`; a locked batch sends begin and commit by it too.
OPENING = ("SSLRequest", "Startup", "Password", "Query")
# What a writer sends. Close drops a statement that its cache has no room for.
KINDS = ("Parse", "Describe", "Flush", "Bind", "Execute", "Sync", "Close")
PASSWORD = "a password of the test"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with prepared(tmp_path_factory.mktemp("lost")) as made:
        asyncio.run(require_password(made))
        yield made


@pytest.fixture
def ground(database: Ground) -> Ground:
    """The vault of a test is its own: one that nobody refreshes encrypts for a while only."""

    async def open_vault() -> Vault:
        connection = await asyncpg.connect(database.cluster.dsn)
        try:
            return await vault_keys.open_vault(connection, load_secret_key(database.settings))
        finally:
            await connection.close()

    return database._replace(vault=asyncio.run(open_vault()))


async def require_password(ground: Ground) -> None:
    """Adds a login that has to prove itself, so that all messages of a new connection are seen."""
    rules = ground.cluster.directory / "cluster" / "data" / "pg_hba.conf"
    rules.write_text("local all proven scram-sha-256\n" + rules.read_text())
    connection = await asyncpg.connect(ground.cluster.dsn)
    await connection.execute(f"create role proven login superuser in role kasuwa password '{PASSWORD}'")
    await connection.execute("select pg_reload_conf()")
    await connection.close()


async def write_until(writer: Writer, merchant: Merchant, is_over: Any, first: int) -> dict[str, Any]:
    """Submits writes of two kinds, one after the other, until `is_over`. Returns their outcomes by reference."""
    outcomes: dict[str, Any] = {}
    for n in itertools.count(first):
        if is_over(outcomes):
            return outcomes
        outcomes[f"fund {n}"] = await outcome_of(writer.submit(fund(merchant, 1, f"fund {n}")))
        outcomes[f"hold {n}"] = await outcome_of(writer.submit(reserve(merchant, 1, f"hold {n}")))
    raise AssertionError("it counts without end")


def is_done(item: tuple[str, Any]) -> bool:
    """Whether a write was acknowledged."""
    reference, outcome = item
    return reference == outcome


@pytest.mark.parametrize("way", ["on memory", "locked"])
@pytest.mark.parametrize("kind", [*OPENING, *KINDS])
def test_after_one_lost_answer_writes_go_on_and_the_books_are_right(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, kind: str, way: str
) -> None:
    monkeypatch.setattr(writer_session, "CACHED_STATEMENTS", 1)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    line, made, outcomes = AnswerProxy(ground.cluster, "proven"), [], {}
    line.sslmode = "prefer"

    async def work() -> None:
        merchant = await new_merchant(ground)
        made.append(merchant)
        async with line.open(), writing(ground, line.dsn) as writer:
            outcomes.update(await write_until(writer, merchant, lambda found: len(found) >= 4, 0))
            if way == "locked":
                writer._cache.can_decide = lambda merchants: False  # type: ignore[method-assign]
            line.lose_answer("any" if kind == "SSLRequest" else WRITER, kind)
            if kind in OPENING:
                writer._session.disconnect()
            outcomes.update(await write_until(writer, merchant, lambda _: line.lost.is_set(), 100))
            after = await write_until(writer, merchant, lambda found: any(map(is_done, found.items())), 10_000)
            outcomes.update(after)
            assert writer.find_problem() is None

    run(work)
    for reference, outcome in outcomes.items():
        if reference.startswith("fund"):
            count = len(moved(ground, made[0], reference))
            assert count == 1 if outcome == reference else count == 0 or outcome == "not known"
            assert count <= 1


def test_a_process_is_not_ready_while_its_writes_hang_also_if_they_were_answered(ground: Ground) -> None:
    """The commit never ends: its submission is answered at its deadline, and the process stays not ready."""
    made = []

    async def work() -> None:
        merchant = await new_merchant(ground)
        made.append(merchant)
        async with writing(ground, ground.cluster.dsn, timeout_seconds=0.5) as writer:
            assert await outcome_of(writer.submit(fund(merchant, 1, "first"))) == "first"
            commit, hung = writer._session.commit, asyncio.Event()

            async def hang(*_: Any, **__: Any) -> None:
                await hung.wait()
                raise ConnectionError

            writer._session.commit = hang  # type: ignore[method-assign]
            assert await outcome_of(writer.submit(fund(merchant))) == "not known"
            began = asyncio.get_running_loop().time()
            while asyncio.get_running_loop().time() < began + STUCK_SECONDS + 1:
                await asyncio.sleep(0.1)
            assert writer.find_problem() is not None
            writer._session.commit = commit  # type: ignore[method-assign]
            hung.set()
            while await outcome_of(writer.submit(fund(merchant, 1, "last"))) != "last":
                pass
            assert writer.find_problem() is None

    run(work)
    assert (moved(ground, made[0]), len(moved(ground, made[0], "last"))) == ([], 1)


async def read_different(pool: Pool) -> None:
    """Runs statements that differ, so that each is prepared and the one before it closed."""
    for n in range(3):
        await pool.fetchval(f"select {n} where $1", True)


@pytest.mark.parametrize("kind", ["Parse", "Execute", "Sync", "Close"])
def test_a_pool_whose_connection_lost_an_answer_answers_the_next_reads(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    line = AnswerProxy(ground.cluster)

    async def work() -> None:
        async with line.open():
            pool = await connections.open_pool(
                "probe", line.dsn, {"application_name": "probe"}, max_size=1, statement_seconds=1.0
            )
            async with pool.acquire() as connection:
                held: Any = connection
                held._con._stmt_cache.set_max_size(1)
                await connection.fetchval("select 1 where $1", True)
            line.lose_answer("probe", kind)
            with pytest.raises((TimeoutError, asyncpg.ConnectionDoesNotExistError)):
                await read_different(pool)
            assert line.lost.is_set()
            assert await pool.fetchval("select 7") == 7
            assert await pool.find_problem() is None
            await pool.close()

    run(work)


def test_closing_a_connection_or_a_pool_ends_although_nobody_answers(ground: Ground) -> None:
    line = AnswerProxy(ground.cluster)

    async def work() -> None:
        async with line.open():
            connection = await connections.connect(line.dsn, {"application_name": "one"})
            line.lose_answer("one", "Terminate")
            await connection.close()
            pool = await connections.open_pool("probe", line.dsn, {"application_name": "probe"}, max_size=1)
            line.lose_answer("probe", "Terminate")
            await pool.fetchval("select 1")
            await pool.close()

    run(work)


def test_a_submission_that_was_denied_is_not_committed_wherever_it_is_in_its_batch(ground: Ground) -> None:
    """Three submissions are decided together. The second has the first deadline, which passes while rows are read."""
    made, outcomes = [], []

    async def work() -> None:
        merchant = await new_merchant(ground)
        made.append(merchant)
        async with writing(ground, ground.cluster.dsn) as writer:
            assert await outcome_of(writer.submit(fund(merchant, 1, "first"))) == "first"
            read, may_read = writer._session.read_connection, asyncio.Event()

            async def read_late() -> Any:
                await may_read.wait()
                return await read()

            writer._session.read_connection = read_late  # type: ignore[method-assign]
            waiting = [writer.submit(fund(merchant, 1, "one"))]
            writer.timeout_seconds = 0.3
            waiting.append(writer.submit(fund(merchant, 1, "two")))
            writer.timeout_seconds = 4.0
            waiting.append(writer.submit(reserve(merchant, 1, "three")))
            outcomes.append(await outcome_of(waiting[1]))
            may_read.set()
            outcomes.extend([await outcome_of(waiting[0]), await outcome_of(waiting[2])])

    run(work)
    assert outcomes == ["nothing happened", "one", "three"]
    assert [len(moved(ground, made[0], reference)) for reference in ("one", "two")] == [1, 0]
