"""The service, started as users start it: a PostgreSQL, and `python -m kasuwa serve` as a process of its own.

A cluster and a deployment are made once per xdist worker and PostgreSQL version, and shared by its tests: each
test makes its own merchant, and worlds never meet. Whatever is started here ends with the process that started
it, also when that is killed.
"""

import asyncio
import atexit
import contextlib
import functools
import http.client
import os
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import asyncpg
from asyncpg.prepared_stmt import PreparedStatement

from kasuwa.audit.chain_audit import find_chain_violations
from kasuwa.audit.invariants.invariant import PREPARE_AUDIT
from kasuwa.audit.invariants.ledger import INVARIANTS, KEEP_PLAN, VIOLATIONS_OF_MERCHANTS
from kasuwa.console.operator.settings import apply_changes
from kasuwa.core.row_codes import is_intact
from kasuwa.core.vault import Vault
from kasuwa.methods.coded_tables import CODED_TABLES
from kasuwa.postgres import logins, migrate
from kasuwa.postgres.embedded import embedded
from kasuwa.postgres.embedded.shared_cluster import ensure_logins
from kasuwa.postgres.row_codes import store_codes
from kasuwa.privacy import vault_keys
from kasuwa.privacy.key_moves import LOCK_MERCHANT
from kasuwa.privacy.row_code_moves import find_changed_rows, read_window
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import read_settings
from tests.command_processes import COMMAND_SECONDS, KasuwaProcess, run_kasuwa
from tests.merchant_client import HttpConnection, MerchantClient
from tests.packages import need_package

# The oldest version of PostgreSQL that is promised, from Debian's package, and the newest to test with: that of the
# wheel, or the oldest too (`make test-pg15`).
OLDEST = 15
EMBEDDED = 18  # the version that the service brings along
NEWEST = int(os.environ.get("NEWEST_POSTGRES", EMBEDDED))
DEBIAN_BIN = Path("/usr/lib/postgresql/15/bin")
DEBIAN_PACKAGE = "postgresql-15"

# Nothing here must survive a power cut, and tests write little: a start should cost little too.
MEMORY, MEMORY_WANTED = Path("/dev/shm"), 4_000_000_000
CLUSTER_OPTIONS = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "64MB", "max_wal_size": "1GB"}

DEMO_MID, DEMO_KEY = "GP0000001", "123456789"
READY_SECONDS = 180.0
STOP_SECONDS = 60.0
POLL_SECONDS = 0.02

# Below the ports that the system gives to outgoing connections, so that no client takes it first.
FIRST_PORT, PORTS = 20_000, 12_000
given_ports: set[int] = set()


T = TypeVar("T")


class StartFailed(Exception):
    """A process did not start. Holds its last output."""


def free_port() -> int:
    """Each process begins to look at another place, so that two never want the same port at once; and none is
    given out twice, since who asked for it may not listen yet."""
    for step in range(PORTS):
        port = FIRST_PORT + (os.getpid() * 97 + step + int(time.monotonic() * 1000)) % PORTS
        if port in given_ports:
            continue
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            given_ports.add(port)
            return port
    raise StartFailed("no port is free")


@contextlib.contextmanager
def terminated_with_us(pid: int, number: signal.Signals, directory: Path | None = None) -> Iterator[None]:
    """A process that gets this signal should we die, and its directory that goes then: the watcher's pipe closes
    with us, however we end."""
    clear = f"; sleep 2; rm -rf {shlex.quote(str(directory))}" if directory is not None else ""
    watch = ["/bin/sh", "-c", f"read said || {{ kill -{number.value} {pid}{clear}; }}"]
    with subprocess.Popen(watch, stdin=subprocess.PIPE, start_new_session=True) as watcher:
        try:
            yield
        finally:
            watcher.communicate(b"done\n")


# --- PostgreSQL -------------------------------------------------------------------------------------------


def debian_bin() -> Path:
    need_package(DEBIAN_PACKAGE, DEBIAN_BIN / "postgres")
    return DEBIAN_BIN


def memory_directory() -> str | None:
    """Memory, where there is plenty: making a cluster is then a matter of a second."""
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > MEMORY_WANTED:
        return str(MEMORY)
    return None


def programs_of(version: int = NEWEST) -> Path | None:
    """Returns the directory of PostgreSQL's programs in a version, or None for those of the wheel."""
    return debian_bin() if version == OLDEST else None


def start_database(
    directory: Path, options: Mapping[str, str] = MappingProxyType({}), version: int = NEWEST
) -> embedded.Cluster:
    """Starts PostgreSQL, in the newest version to test with, in a directory of a test. A new database has the schema
    already."""
    copy_cluster(directory, version)
    if version == OLDEST:
        open_to_others(directory)
    return embedded.start(directory, options=options, bin_directory=programs_of(version))


def copy_cluster(directory: Path, version: int = NEWEST) -> None:
    """Gives a directory a cluster whose database has the schema, unless it has one. Creating it and migrating take
    seconds of processor time, a copy hardly any."""
    if not (directory / "cluster").exists():
        directory.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", str(cluster_to_copy(version)), str(directory)], check=True)


@functools.cache
def cluster_to_copy(version: int) -> Path:
    """Returns the directory of a cluster that does not run. Its database belongs to no deployment yet."""
    place = Path(tempfile.mkdtemp(prefix="kasuwa-copied-", dir=memory_directory()))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    with running_server(version) as cluster:
        run_apart(apply_schema(cluster.dsn))
        cluster.stop()
        subprocess.run(["cp", "-a", str(cluster.directory / "cluster"), str(place)], check=True)
    return place / "cluster"


async def apply_schema(dsn: str) -> None:
    connection = await asyncpg.connect(dsn)
    await migrate.apply_pending(connection)
    await connection.close()


def open_to_others(directory: Path) -> None:
    """Lets all accounts enter a directory: as root, PostgreSQL 15 needs that (see `embedded.start`)."""
    directory.mkdir(parents=True, exist_ok=True)
    for place in (directory, *directory.parents):
        if place.stat().st_uid == os.geteuid() and not place.stat().st_mode & stat.S_IXOTH:
            place.chmod(place.stat().st_mode | stat.S_IXOTH)


@contextlib.contextmanager
def running_cluster(version: int = NEWEST) -> Iterator[embedded.Cluster]:
    """Runs a new cluster with the three logins."""
    with running_server(version) as cluster:
        run_apart(ensure_logins(cluster.dsn))
        yield cluster


@contextlib.contextmanager
def running_server(version: int) -> Iterator[embedded.Cluster]:
    """Runs a new cluster in a temporary directory. Others may enter it: if root starts it, PostgreSQL runs as another
    user."""
    prefix = f"kasuwa-pg{version}-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=memory_directory(), ignore_cleanup_errors=True) as place:
        directory = Path(place)
        directory.chmod(0o711)
        cluster = embedded.start(directory, options=CLUSTER_OPTIONS, bin_directory=programs_of(version))
        pid = int((directory / "cluster" / "data" / "postmaster.pid").read_text().split()[0])
        try:
            with terminated_with_us(pid, signal.SIGQUIT, directory):
                yield cluster
        finally:
            cluster.stop(immediate=True)


def run_apart(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine in a thread of its own: a test that drives a browser has a loop running."""
    with ThreadPoolExecutor(max_workers=1) as apart:
        return apart.submit(asyncio.run, work).result()


# --- the service ------------------------------------------------------------------------------------------


def logins_of(dsn: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the settings for three logins, as in production, on a database of a cluster of ours. `dsn` is its
    owner's."""
    owner = f"//{logins.OWNER_LOGIN}@"
    # A pooler or a proxy in between may know one login only.
    if owner not in dsn or "host=" not in dsn or "KASUWA_DATABASE_URL" in environment:
        return {"KASUWA_DATABASE_URL": dsn}
    return {
        "KASUWA_DATABASE_URL": dsn.replace(owner, f"//{logins.APPLICATION_LOGIN}@"),
        "KASUWA_DATABASE_OWNER_URL": dsn,
        "KASUWA_DATABASE_READER_URL": dsn.replace(owner, f"//{logins.READER_LOGIN}@"),
    }


class Deployment:
    """A running service: its address, its database, and its output so far."""

    def __init__(self, directory: Path, dsn: str, environment: Mapping[str, str]) -> None:
        self.directory = directory
        self.dsn = dsn
        self.port = free_port()
        self.console_port = free_port()
        self.metrics_port = free_port()
        self.out = directory / "serve.out"
        self.err = directory / "serve.err"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("KASUWA_")}
        ours = {"KASUWA_DATA": str(directory), "KASUWA_REQUEST_LOG": "stdout", **logins_of(dsn, environment)}
        # The same on every machine: the default depends on the number of cores.
        ours["KASUWA_WORKERS"] = "1"
        ours["KASUWA_METRICS_PORT"] = str(self.metrics_port)
        # A request that holds the event loop longer is a complaint, which fails the test that sent it.
        ours["KASUWA_LONGEST_STEP_MS"] = "50"
        self._environment = {**kept, **ours, **environment}
        # Its loop lives in a thread of its own: a test that drives a browser has one running already.
        self._runner = asyncio.Runner()
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._connection: asyncpg.Connection[Any] | None = None
        self._violations: PreparedStatement[Any] | None = None
        self._stderr_read = 0

    def start(self) -> "subprocess.Popen[bytes]":
        return KasuwaProcess(self._serve_words(), self._environment, out=self.out, err=self.err)

    def start_program(self, program: str) -> "subprocess.Popen[bytes]":
        """Starts the service by an installed `kasuwa`."""
        words = [program, *self._serve_words()]
        with self.out.open("wb") as out, self.err.open("wb") as err:
            return subprocess.Popen(words, env=self._environment, stdout=out, stderr=err)

    def _serve_words(self) -> list[str]:
        for path in (self.out, self.err):
            path.write_bytes(b"")
        ports = ["--port", str(self.port), "--console-port", str(self.console_port)]
        return ["serve", *ports, "--data", str(self.directory)]

    def wait_ready(self, process: "subprocess.Popen[bytes]") -> None:
        until = time.monotonic() + READY_SECONDS
        # Its record comes after its readiness: other commands find the service by it.
        record = Path(self._environment["KASUWA_DATA"], f"serve.{process.pid}.json")
        while not (self.is_ready() and record.exists()):
            if process.poll() is not None or time.monotonic() > until:
                raise StartFailed(f"kasuwa serve is not ready: {self.err.read_text(errors='replace')[-2000:]}")
            time.sleep(POLL_SECONDS)

    def is_ready(self) -> bool:
        try:
            with self.connect() as wire:
                return wire.send("GET", "/readyz").http == 200
        except (OSError, http.client.HTTPException):
            return False

    # --- as a client -------------------------------------------------------------------------------------

    def connect(self) -> HttpConnection:
        return HttpConnection("127.0.0.1", self.port)

    def open_shop(self, **fields: Any) -> MerchantClient:
        """A merchant of its own, made through the front door by the demo merchant."""
        with self.connect() as wire:
            demo = MerchantClient(wire, DEMO_MID, DEMO_KEY)
            http, made = demo.put("sandbox", action="new_merchant", **fields)
        assert (http, made["status"]) == (200, 200), made
        return MerchantClient(self.connect(), made["mid"], made["key"])

    # --- as an operator ----------------------------------------------------------------------------------

    def run_command(self, *words: str) -> str:
        """Returns the output of `kasuwa …`, run on this deployment's database."""
        done = self._run(words)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout

    def run_reading_command(self, content: bytes, *words: str) -> "subprocess.CompletedProcess[str]":
        """Returns what became of a `kasuwa …` command with this content on its standard input."""
        return run_kasuwa(words, self._environment, given=content)

    def run_refused_command(self, *words: str) -> str:
        """Returns the standard error of a `kasuwa …` command that must fail."""
        done = self._run(words)
        assert (done.returncode, done.stdout) == (1, ""), done
        return done.stderr

    def run_any_command(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Returns what became of a `kasuwa …` command."""
        return self._run(words)

    def _run(self, words: tuple[str, ...]) -> "subprocess.CompletedProcess[str]":
        return run_kasuwa(words, self._environment)

    def run_program(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Returns what became of a command of an installed `kasuwa`."""
        environment = self._environment
        return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=COMMAND_SECONDS)

    def run_on_connection(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Returns the result of `work`, called with a connection to this deployment's database."""

        async def run() -> T:
            return await work(await self._connected())

        return self._run_in_thread(run())

    def change_settings(self, mid: str, **changes: Any) -> None:
        """Changes settings of a merchant as approved proposals do: in live the command only proposes it."""

        async def change(connection: Any) -> None:
            await apply_changes(connection, await self.open_vault(connection), mid, changes)

        self.run_on_connection(change)

    def fetch(self, query: str, *values: Any) -> list[Any]:
        return self._run_in_thread(self._fetch(query, values))

    def fetch_as_service(self, query: str, *values: Any) -> list[Any]:
        """Like `fetch`, for a change that a test makes in place of the service: changed rows get their codes."""

        async def change() -> list[Any]:
            connection = await self._connected()
            vault = await self.open_vault(connection)
            # The service sees no row without its code.
            async with connection.transaction():
                rows = await connection.fetch(query, *values)
                await code_all_rows(connection, vault)
            return rows

        return self._run_in_thread(change())

    async def _fetch(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        connection = await self._connected()
        return await connection.fetch(query, *values)

    async def _connected(self) -> "asyncpg.Connection[Any]":
        if self._connection is None:
            self._connection = await asyncpg.connect(self.dsn)
        return self._connection

    async def open_vault(self, connection: Any) -> Vault:
        return await vault_keys.open_vault(
            connection, load_secret_key(read_settings(self._environment, data=self.directory))
        )

    def broken_invariants(self, mids: list[str] | None = None) -> list[str]:
        """Returns where the books of these merchants, or of all, violate an invariant. Invariants hold at every
        commit."""

        async def look() -> list[str]:
            connection = await self._connected()
            if self._violations is None:
                self._violations = await connection.prepare(VIOLATIONS_OF_MERCHANTS)
            query = "select merchant_id from merchant where $1::text[] is null or mid = any($1)"
            rows = await connection.fetch(query, mids)
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                await connection.execute(f"{PREPARE_AUDIT}; {KEEP_PLAN}")
                found = await self._violations.fetch([row[0] for row in rows])
                broken = await find_chain_violations(connection, [row[0] for row in rows])
                vault = await self.open_vault(connection)
                broken += await find_changed_rows(connection, vault, CODED_TABLES, [row[0] for row in rows])
            named = [(merchant_id, INVARIANTS[n].description, place) for n, merchant_id, place in found] + broken
            return [f"merchant {merchant_id}: {description}: {place}" for merchant_id, description, place in named]

        return self._run_in_thread(look())

    def new_stderr(self) -> str:
        """Returns what the processes wrote to standard error since the last call."""
        output = self.err.read_bytes()
        new, self._stderr_read = output[self._stderr_read :], len(output)
        return new.decode(errors="replace")

    def close(self) -> None:
        if self._connection is not None:
            self._run_in_thread(self._connection.close())
        self._thread.submit(self._runner.close).result()
        self._thread.shutdown()

    def _run_in_thread(self, work: Coroutine[Any, Any, T]) -> T:
        return self._thread.submit(self._runner.run, work).result()


async def code_all_rows(connection: Any, vault: Vault) -> None:
    """Gives all rows that a test has written in place of the service their codes."""
    for table in CODED_TABLES:
        rows, position = await read_window(connection, table, [])
        while rows:
            uncoded = [row for row in rows if not is_intact(vault, table.table, row.content, row.code)]
            async with connection.transaction():
                if table.is_cached:
                    for merchant_id in {row.content[0] for row in uncoded}:
                        await connection.execute(LOCK_MERCHANT, merchant_id)
                await store_codes(connection, vault, table, uncoded)
            if not position:
                break
            rows, position = await read_window(connection, table, position)


@contextlib.contextmanager
def running_deployment(directory: Path, dsn: str, **environment: str) -> Iterator[Deployment]:
    directory.mkdir(parents=True, exist_ok=True)
    deployment = Deployment(directory, dsn, environment)
    process = deployment.start()
    try:
        with terminated_with_us(process.pid, signal.SIGTERM):
            deployment.wait_ready(process)
            yield deployment
    finally:
        deployment.close()
        stop(process)


def stop(process: "subprocess.Popen[bytes]") -> None:
    """Asked first, then made to: its parts notice that their parent is gone and follow."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Deployments:
    """One deployment per PostgreSQL version, started when first asked for."""

    def __init__(self, directory: Path, stack: contextlib.ExitStack) -> None:
        self._directory = directory
        self._stack = stack
        self._running: dict[int, Deployment] = {}
        self._clusters: dict[int, embedded.Cluster] = {}

    def cluster(self, version: int) -> embedded.Cluster:
        if version not in self._clusters:
            self._clusters[version] = self._stack.enter_context(running_cluster(version))
        return self._clusters[version]

    def for_version(self, version: int) -> Deployment:
        if version not in self._running:
            started = running_deployment(self._directory / f"serve{version}", self.cluster(version).dsn)
            self._running[version] = self._stack.enter_context(started)
        return self._running[version]

    def new_database(self, name: str, template: str = "template1") -> str:
        """The address of a database of its own in the newest cluster, empty or a copy."""
        cluster = self.cluster(NEWEST)

        async def create() -> None:
            connection = await asyncpg.connect(cluster.dsn)
            await connection.execute(f'create database "{name}" template "{template}"')
            await connection.close()

        run_apart(create())
        return cluster.dsn_for(name)

    @functools.cached_property
    def _schema(self) -> str:
        """The name of a database with the schema, which belongs to no deployment."""
        run_apart(apply_schema(self.new_database("schema")))
        return "schema"

    def migrated_database(self, name: str) -> str:
        """The address of a new database that has the schema, and belongs to no deployment."""
        return self.new_database(name, self._schema)

    @contextlib.contextmanager
    def fresh(self, name: str, **environment: str) -> Iterator[Deployment]:
        """Another deployment, on a database of its own, which has the schema already."""
        dsn = self.migrated_database(name)
        with running_deployment(self._directory / name, dsn, **environment) as deployment:
            yield deployment
