"""Every call of a connection has an end, also those of commands, whose statements may take long, and of migrations."""

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import asyncpg
import pytest

import kasuwa
from kasuwa.postgres import backend_connection, connections, migrate
from kasuwa.postgres.backend_connection import BackendConnection
from kasuwa.postgres.embedded import embedded
from kasuwa.postgres.primary import connect_to_primary
from tests.engine.probes import run
from tests.simulate.answer_proxy import AnswerProxy
from tests.simulate.processes import running_database

pytestmark = pytest.mark.xdist_group("connection deadlines")

SOURCES = {path: path.read_text() for path in Path(kasuwa.__file__).parent.rglob("*.py")}
# Opens connections for BackendConnection, and probes of poolers, with timeouts of their own.
OPENS_CONNECTIONS = {"backend_connection.py", "pgbouncer.py"}
# Use other calls of the connection, which are bounded.
MADE_OF_OTHERS = {"reset", "add_listener", "remove_listener", "reload_schema_state"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[embedded.Cluster]:
    with running_database(tmp_path_factory.mktemp("deadlines") / "pg") as made:
        yield made


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands wait as briefly as a test can."""
    monkeypatch.setattr(backend_connection, "PATIENT_SECONDS", 0.4)


# --- no call is forgotten -------------------------------------------------------------------------------------


def test_every_call_of_the_driver_is_bounded_or_not_used() -> None:
    calls = {
        name
        for name, member in inspect.getmembers(asyncpg.Connection)
        if inspect.iscoroutinefunction(member) and not name.startswith("_")
    }
    bounded = {name for name in calls if name in vars(BackendConnection)}
    assert {"fetch", "fetchrow", "fetchval", "execute", "executemany", "copy_records_to_table", "close"} <= bounded
    others = "|".join(sorted(calls - bounded - MADE_OF_OTHERS))
    used = re.compile(rf"connection\w*\.({others})\(")
    assert [path.name for path, text in SOURCES.items() if used.search(text)] == []


def test_connections_are_opened_in_one_place() -> None:
    opened = {path.name for path, text in SOURCES.items() if re.search(r"asyncpg\.(connect|create_pool)\(", text)}
    assert opened == {*OPENS_CONNECTIONS, "connections.py"}


# --- one answer is lost ---------------------------------------------------------------------------------------


async def read_by_cursor(connection: BackendConnection) -> None:
    async with connection.transaction():
        for n in range(3):
            async for _ in connection.cursor(f"select n, {n} from generate_series(1, $1) n", 100, prefetch=40):
                pass


async def copy_rows(connection: BackendConnection) -> None:
    await connection.execute("create temp table copied (n bigint)")
    await connection.copy_records_to_table("copied", records=[(n,) for n in range(10)])


async def write_many(connection: BackendConnection) -> None:
    await connection.execute("create temp table written (n bigint)")
    await connection.executemany("insert into written values ($1)", [(1,), (2,)])


Work = Callable[[BackendConnection], Awaitable[None]]
LOST = [
    *((read_by_cursor, kind) for kind in ("Query", "Parse", "Bind", "Execute", "Sync", "Close")),
    *((copy_rows, kind) for kind in ("CopyData", "CopyDone")),
    *((write_many, kind) for kind in ("Parse", "Bind", "Execute", "Sync")),
]


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("work", "kind"), LOST)
def test_a_command_whose_answer_is_lost_ends_with_an_error(cluster: embedded.Cluster, work: Work, kind: str) -> None:
    async def use() -> None:
        async with AnswerProxy(cluster).open() as line:
            connection = await connect_to_primary(line.dsn, statement_cache_size=1)
            line.lose_answer("", kind)
            with pytest.raises((TimeoutError, *connections.CONNECTION_ERRORS)):
                await work(connection)
            assert line.lost.is_set()
            assert connection.is_closed()
            await connection.close()

    run(use)


async def sleep_again_and_again(connection: BackendConnection) -> None:
    for _ in range(600):
        await connection.execute("select pg_sleep(0.1)")


def test_an_operation_of_several_calls_has_one_deadline(cluster: embedded.Cluster) -> None:
    async def use() -> None:
        connection = await connections.connect_as_owner(cluster.dsn, {}, statement_seconds=60)
        # Which of the two depends on whether it ends during a call or between two.
        ended = (asyncpg.ConnectionDoesNotExistError, asyncpg.InterfaceError)
        with pytest.raises(ended), connection.operation(0.5):
            await sleep_again_and_again(connection)
        assert connection.is_closed()

    run(use)


def test_an_operation_that_ends_in_time_leaves_the_connection_alone(cluster: embedded.Cluster) -> None:
    async def use() -> None:
        connection = await connections.connect_as_owner(cluster.dsn, {}, statement_seconds=60)
        with connection.operation(0.2):
            await connection.execute("select 1")
        assert await connection.fetchval("select pg_sleep(0.8) is null, 7", column=1) == 7
        await connection.close()

    run(use)


def test_the_server_ends_a_statement_that_its_client_has_given_up(cluster: embedded.Cluster) -> None:
    running = "select count(*) from pg_stat_activity where query = 'select pg_sleep(600)' and state = 'active'"

    async def use() -> None:
        settings = {"application_name": "probe"}
        pool = await connections.open_pool("probe", cluster.dsn, settings, max_size=1, statement_seconds=1.0)
        with pytest.raises(TimeoutError):
            await pool.execute("select pg_sleep(600)")
        while await pool.fetchval(running):
            await asyncio.sleep(0.05)
        await pool.close()

    run(use)


def test_a_process_that_waits_for_a_migration_gives_up_after_a_while(cluster: embedded.Cluster) -> None:
    async def use() -> None:
        first, second = await connect_to_primary(cluster.dsn), await connect_to_primary(cluster.dsn)
        await migrate.lock_migrations(first)
        with pytest.raises(migrate.MigrationError, match="another process"):
            await migrate.lock_migrations(second, wait_seconds=0.3)
        waiting = asyncio.create_task(migrate.lock_migrations(second))
        await first.close()
        await waiting
        await second.close()

    run(use)
