"""A primary and its standby: created with pg_basebackup, killed, promoted, and rebuilt from each other."""

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import psutil

from kasuwa.postgres.embedded import embedded
from kasuwa.postgres.embedded.directory import PORT, socket_directory
from kasuwa.postgres.embedded.programs import find_tool
from tests.command_processes import COMMAND_SECONDS
from tests.running import memory_directory, programs_of, start_database
from tests.simulate.processes import end_database, kill, postmaster_of, query, wait_until

# Small, since there are two servers. A server that is killed for good leaves its shared memory behind; with `mmap` that
# is a file in its own directory, which the test removes.
OPTIONS = {"shared_buffers": "64MB", "dynamic_shared_memory_type": "mmap"}
STANDBY_IS_STREAMING = "select 1 from pg_stat_replication where application_name = 'kasuwa' and state = 'streaming'"
# A changed setting reaches the server's processes one by one. This shows that it has reached the one that commits.
COMMIT_IS_WAITING = "select 1 from pg_stat_activity where wait_event = 'SyncRep'"


@contextlib.contextmanager
def shared_directory() -> Iterator[Path]:
    """A temporary directory that other accounts can enter: started by root, PostgreSQL runs as another account, and a
    standby must reach its primary's socket."""
    near = {"prefix": "kasuwa-open-", "dir": memory_directory()}
    with tempfile.TemporaryDirectory(**near, ignore_cleanup_errors=True) as place:
        Path(place).chmod(0o755)
        yield Path(place)


def run_basebackup(dsn: str, target: Path, *how: str) -> None:
    """Runs pg_basebackup with a fast checkpoint."""
    programs = programs_of() or find_tool("pg_basebackup").parent
    words = [
        str(programs / "pg_basebackup"),
        "-d",
        dsn,
        "-D",
        str(target),
        "--checkpoint=fast",
        "--no-sync",
        *how,
    ]
    done = subprocess.run(words, capture_output=True, text=True, timeout=COMMAND_SECONDS)
    assert done.returncode == 0, done.stderr


class ReplicaPair:
    """Two servers: the primary, and its standby or what is left of one."""

    def __init__(self, place: Path) -> None:
        self.primary, self.standby = (embedded.Cluster((place / name).resolve()) for name in ("first", "second"))
        self._both = (self.standby, self.primary)

    def start(self) -> None:
        start_database(self.primary.directory, options=OPTIONS)
        self.standby.directory.mkdir()  # or pg_basebackup makes it, for its own account alone
        self.attach_standby()

    @property
    def dsn(self) -> str:
        """Returns a URL that names both servers, the standby first. The order must not matter."""
        hosts = ",".join(quote(str(socket_directory(cluster.directory))) for cluster in self._both)
        return urlsplit(self.primary.dsn)._replace(query=f"host={hosts}&port={PORT}").geturl()

    def attach_standby(self) -> None:
        """Makes the other server a copy of the primary that follows it."""
        data = self.standby.directory / "cluster" / "data"
        shutil.rmtree(data, ignore_errors=True)
        run_basebackup(self.primary.dsn, data, "--write-recovery-conf")
        start_database(self.standby.directory, options=OPTIONS)
        wait_until("the standby follows", lambda: query(self.primary.dsn, STANDBY_IS_STREAMING))

    def make_synchronous(self) -> None:
        """Makes commits wait for the standby, and waits until they do."""
        self.set(self.primary, "synchronous_standby_names", "kasuwa")
        wait_until("a commit waits for the standby", lambda: query(self.primary.dsn, COMMIT_IS_WAITING), every=0.001)

    def detach_standby(self) -> None:
        """Cuts the standby off. It keeps the data that it has."""
        self.set(self.standby, "primary_conninfo", "")
        wait_until("the standby is cut off", lambda: not query(self.primary.dsn, STANDBY_IS_STREAMING))

    def set(self, cluster: embedded.Cluster, name: str, value: str) -> None:
        query(cluster.dsn, f"alter system set {name} = '{value}'")
        query(cluster.dsn, "select pg_reload_conf()")

    def fail_over(self, *, all_at_once: bool) -> None:
        """Kills the primary with SIGKILL, only its main process or all of them, and then promotes the standby."""
        first = wait_until("PostgreSQL runs", lambda: postmaster_of(self.primary.directory))
        victims = [first, *first.children(recursive=True)] if all_at_once else [first]
        for victim in victims:
            with contextlib.suppress(psutil.Error, ProcessLookupError):
                kill([victim])
        wait_until("the primary is gone", lambda: not self.primary.is_running())
        assert query(self.standby.dsn, "select pg_promote(true, 60)")[0][0]
        self.primary, self.standby = self.standby, self.primary

    def end(self) -> None:
        for cluster in self._both:
            end_database(cluster.directory)


@contextlib.contextmanager
def running_pair() -> Iterator[ReplicaPair]:
    with shared_directory() as place:
        pair = ReplicaPair(place)
        try:
            pair.start()
            yield pair
        finally:
            pair.end()
