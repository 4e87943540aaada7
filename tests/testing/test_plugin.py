"""The pytest plugin in runs of its own: its imports, the report of a failing test, and one server for all workers."""

import os
import subprocess
import sys
from pathlib import Path

from kasuwa.testing import Server
from tests.methods.sandbox.test_http_audit import BREAK
from tests.running import Deployment
from tests.testing.test_serve import wait_until

NO_CONFIGURATION = ("-p", "no:cacheprovider", "-c", os.devnull)
# Other plugins take long to import.
NO_OTHERS = ("-p", "no:schemathesis", "-p", "no:hypothesispytest", "-p", "no:anyio")


def run_pytest(directory: Path, *options: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Runs the tests of a directory. The settings of these tests are not theirs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "KASUWA_"))}
    options = (*NO_CONFIGURATION, *NO_OTHERS, "--rootdir", str(directory), *options)
    command = [sys.executable, "-m", "pytest", *options, str(directory)]
    return subprocess.run(command, env={**kept, **environment}, cwd=directory, capture_output=True, text=True)


# --- tests that do not use it -----------------------------------------------------------------------------------------

UNUSED = """
import sys

def test_nothing_was_imported_for_kasuwa():
    rooms = {name.partition(".")[2] for name in sys.modules if name.partition(".")[0] == "kasuwa"}
    assert rooms == {"", "testing", "testing.plugin", "integration", "integration.pytest_plugin"}
    heavy = {"httpx", "kasuwa_client", "msgspec", "asyncpg", "granian", "typer", "http.server", "ssl"}
    assert heavy & set(sys.modules) == set()
"""


def test_a_run_without_kasuwa_imports_nothing_and_starts_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_unused.py").write_text(UNUSED)
    done = run_pytest(tmp_path, "-q", "-p", "no:xdist")
    assert done.returncode == 0, done.stdout


WITHOUT_CLIENT = """
import sys

import pytest


@pytest.fixture(scope="session", autouse=True)
def no_client():
    sys.path_importer_cache.clear()
    sys.path[:] = [path for path in sys.path if "clients" not in path]
    sys.meta_path[:] = [finder for finder in sys.meta_path if "kasuwa_client" not in repr(finder)]
    sys.modules.pop("kasuwa_client", None)


def test_that_wants_a_merchant(kasuwa):
    pass
"""


def test_without_the_client_the_fixtures_say_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "test_client.py").write_text(WITHOUT_CLIENT)
    done = run_pytest(tmp_path, "-p", "no:xdist")
    assert "1 error" in done.stdout, done.stdout
    assert "the fixtures of Kasuwa need its client: pip install 'kasuwa[testing]'" in done.stdout + done.stderr


# --- tests that fail --------------------------------------------------------------------------------------------------

FAILING = """
import os
import subprocess
import sys

import pytest


def test_a_failing_test(kasuwa):
    kasuwa.client.disburse.transfer(amount="1500.00", bankcode="058", accountnumber="0000000000", order_ref="mine")
    assert kasuwa.wallet() == 0


def test_books_that_are_broken(kasuwa):
    kasuwa.client.disburse.transfer(amount="1500.00", bankcode="058", accountnumber="0000000000", order_ref="books")
    other = kasuwa.shop()
    subprocess.run([sys.executable, os.environ["BREAK_BOOKS"], other.mid], check=True)


def test_a_golden_file_that_is_missing(kasuwa):
    with kasuwa.golden("missing"):
        pass


@pytest.mark.kasuwa(balance="-1")
def test_a_merchant_that_cannot_be_made(kasuwa):
    pass


def test_a_passing_test(kasuwa):
    kasuwa.client.disburse.transfer(amount="1500.00", bankcode="058", accountnumber="0000000000", order_ref="fine")
"""

# Breaks the books of a merchant, as no request could.
BREAK_BOOKS = """
import asyncio, sys
import asyncpg

async def main():
    connection = await asyncpg.connect({dsn!r})
    number = await connection.fetchval("select merchant_id from merchant where mid = $1", sys.argv[1])
    async with connection.transaction():
        await connection.execute("set local session_replication_role = replica")
        await connection.execute({statement!r}, number)
    await connection.close()

asyncio.run(main())
"""


def test_a_failing_test_shows_the_timelines_and_broken_books_fail_a_test(
    deployment: Deployment, kasuwa_server: Server, tmp_path: Path
) -> None:
    (tmp_path / "test_failing.py").write_text(FAILING)
    breaker = tmp_path / "break_books.py"
    breaker.write_text(BREAK_BOOKS.format(dsn=deployment.dsn, statement=BREAK))
    done = run_pytest(tmp_path, "-p", "no:xdist", "--kasuwa-url", kasuwa_server.url, BREAK_BOOKS=str(breaker))
    text = done.stdout
    assert "2 failed, 2 passed, 2 errors" in text, text
    assert text.count("- Kasuwa timelines -") == 2, text
    assert "mine = GP|FD|" in text
    assert "posting     transfer: 1500.00 from wallet:main:NGN to rail:bank:NGN" in text
    assert "fine = GP|FD|" not in text, "a passing test prints nothing"
    assert "the books violate their invariants:" in text
    assert ": an account's balance is the sum of its postings: wallet:main:NGN: 5000001 kept, 5000000 posted" in text
    assert "books = GP|FD|" in text, "a violation comes with the timelines too"
    assert f"there is no golden file {tmp_path / 'golden' / 'missing.json'}" in text
    assert "errors.InvalidRequest: " in text, [line for line in text.splitlines() if "InvalidRequest" in line]


# --- several workers --------------------------------------------------------------------------------------------------

SHARED = """
import os
import pathlib
import signal

import pytest


@pytest.mark.parametrize("n", range(6))
def test_a_merchant_of_its_own(kasuwa, kasuwa_server, n):
    assert kasuwa.wallet() == 50_000
    seen = pathlib.Path(os.environ["SEEN"])
    (seen / f"{os.environ['PYTEST_XDIST_WORKER']}-{n}").write_text(f"{kasuwa_server.url} {kasuwa_server.directory}")


def test_that_kills_its_worker(kasuwa):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_all_workers_share_one_server_that_ends_with_them(tmp_path: Path) -> None:
    tests, seen = tmp_path / "tests", tmp_path / "seen"
    for directory in (tests, seen):
        directory.mkdir()
    (tests / "test_shared.py").write_text(SHARED)
    done = run_pytest(tests, "-n", "2", "--basetemp", str(tmp_path / "base"), SEEN=str(seen))
    assert "1 failed, 6 passed" in done.stdout, done.stdout + done.stderr
    assert "crashed while running" in done.stdout
    output = {file.name.partition("-")[0]: file.read_text() for file in seen.iterdir()}
    assert len(output) >= 2, "both workers ran tests"
    [shared] = set(output.values())
    directory = Path(shared.split()[1])
    wait_until(lambda: not directory.exists(), "the server is still there")
