"""A real PgBouncer between the service and its database. In session mode everything works. In the modes that share
server connections between clients, the service says so in one line and does not start.
"""

import asyncio
import contextlib
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import psutil
import pytest

from kasuwa.postgres import connections
from kasuwa.postgres.backend_connection import connect_session
from kasuwa.postgres.pgbouncer import TransactionPooling, refuse_transaction_pooling
from kasuwa.postgres.primary import connect_to_primary
from tests.packages import need_package
from tests.running import NEWEST, Deployments, free_port, running_deployment
from tests.simulate.processes import run_command, wait_until

PGBOUNCER = Path("/usr/sbin/pgbouncer")
SHARING = ("transaction", "statement")
# Default settings: no startup parameter is ignored on purpose.
SETTINGS = """
[databases]
{name} = host={sockets} port=5432 user=kasuwa dbname={name}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = 100
"""


@contextlib.contextmanager
def pooled(deployments: Deployments, name: str, mode: str) -> Iterator[str]:
    """Yields the address of a database of the newest cluster through a PgBouncer of its own."""
    need_package("pgbouncer", PGBOUNCER)
    cluster, port = deployments.cluster(NEWEST).directory / "cluster", free_port()
    owner = cluster.stat()
    account: dict[str, Any] = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if owner.st_uid else {}
    # Temporary directories of tests are private, and as root PgBouncer must run as another account.
    with tempfile.TemporaryDirectory(prefix="kasuwa-pooler-") as place:
        Path(place).chmod(0o755)
        settings, log = Path(place, "pgbouncer.ini"), Path(place, "pgbouncer.log")
        settings.write_text(SETTINGS.format(name=name, sockets=cluster / "socket", port=port, mode=mode))
        with log.open("wb") as out, subprocess.Popen([PGBOUNCER, settings], stderr=out, **account) as process:
            try:
                wait_until("PgBouncer listens", lambda: "listening on" in log.read_text())
                yield f"postgresql://kasuwa@127.0.0.1:{port}/{name}"
            finally:
                process.terminate()


@pytest.mark.parametrize("mode", SHARING)
def test_a_pooler_that_shares_sessions_is_named_and_refused(
    deployments: Deployments, tmp_path: Path, mode: str
) -> None:
    with pooled(deployments, "kasuwa", mode) as url:
        environ = {"KASUWA_DATABASE_URL": url, "KASUWA_DATA": str(tmp_path)}
        for words in (["serve", "--port", str(free_port())], ["migrate"]):
            done = run_command(words, environ)
            assert done.returncode == 1
            assert re.fullmatch(r"kasuwa: .*transaction or statement mode.*pool_mode = session.*\n", done.stderr)
        reported = run_command(["doctor"], environ)
        assert reported.returncode == 1
        assert "wrong  a connection pooler shares sessions" in reported.stdout
        assert "pool_mode = session" in reported.stdout
        # The check leaves the pooler's connections unchanged: it gives the same result again.
        with pytest.raises(TransactionPooling):
            asyncio.run(refuse_transaction_pooling(url))


def test_a_service_behind_a_pooler_in_session_mode_works(deployments: Deployments, tmp_path: Path) -> None:
    deployments.new_database("served_through_a_pooler")
    with (
        pooled(deployments, "served_through_a_pooler", "session") as url,
        running_deployment(tmp_path / "serve", url, KASUWA_CONSOLE="off") as deployment,
    ):
        shop = deployment.open_shop()
        assert shop.transfer()["txnStatus"] == "successful"
        assert shop.status_of(shop.transfer(accountnumber="0000000900")["txnRef"]) in ("pending", "processing")
        shop.advance(minutes=1)
        shop.connection.close()
        assert deployment.new_stderr() == ""
        assert deployment.broken_invariants([shop.mid]) == []
        reported = run_command(["doctor"], {"KASUWA_DATABASE_URL": url, "KASUWA_DATA": str(tmp_path / "serve")})
        assert "wrong  a connection pooler" not in reported.stdout


def test_through_a_pooler_sessions_have_our_settings_and_know_their_backend(deployments: Deployments) -> None:
    """A pooler accepts few settings at the start of a connection, and gives the driver a process id of its own."""

    async def look(url: str) -> tuple[str, str, int, int]:
        connection = await connect_to_primary(url, server_settings=connections.WRITER_SETTINGS)
        seqscan = await connection.fetchval("show enable_seqscan")
        name = await connection.fetchval("show application_name")
        backend = await connection.fetchval("select pg_backend_pid()")
        reported = connection.get_server_pid()
        await connection.close()
        return seqscan, name, backend, reported

    with pooled(deployments, "kasuwa", "session") as url:
        seqscan, name, backend, reported = asyncio.run(look(url))
    assert (seqscan, name) == ("off", "kasuwa writer")
    assert reported == backend


def test_a_connection_through_a_pooler_that_cannot_be_set_up_is_closed(deployments: Deployments) -> None:
    async def fail(url: str) -> None:
        with pytest.raises(asyncpg.InvalidParameterValueError) as failed:
            await connect_session(url, {"lock_timeout": "nonsense"})
        # The traceback still refers to the connection, so it is closed only if our code closed it.
        assert failed.tb is not None
        await asyncio.sleep(0)
        port = urlsplit(url).port
        found = [line for line in psutil.Process().net_connections("tcp") if line.raddr and line.raddr.port == port]
        assert [line.status for line in found if line.status == psutil.CONN_ESTABLISHED] == []

    with pooled(deployments, "kasuwa", "session") as url:
        asyncio.run(fail(url))


def test_a_database_without_a_pooler_is_not_taken_for_one(deployments: Deployments) -> None:
    asyncio.run(refuse_transaction_pooling(deployments.cluster(NEWEST).dsn))
