"""A Citus cluster of three nodes for tests: a coordinator and two workers, which meet over Unix sockets."""

import asyncio
import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import asyncpg

from kasuwa.postgres.embedded import embedded
from kasuwa.postgres.embedded.directory import PORT, socket_directory
from kasuwa.postgres.embedded.shared_cluster import ensure_logins
from tests.running import CLUSTER_OPTIONS, memory_directory

WORKERS = ("first", "second")
OPTIONS = {
    **CLUSTER_OPTIONS,
    "shared_preload_libraries": "citus",
    "citus.shard_count": "8",
    # Statements that touch all shards open a connection for each.
    "max_connections": "300",
    # A commit in two phases needs one for each transaction that is being committed.
    "max_prepared_transactions": "300",
    # How often transactions are ended that a node left prepared when it died. Commits wait for their locks until then.
    "citus.recover_2pc_interval": "1s",
}


class CitusMissing(Exception):
    """CITUS does not name a PostgreSQL that has the extension."""


def citus_programs() -> Path:
    """Returns the directory of the programs of the PostgreSQL that CITUS names."""
    named = os.environ.get("CITUS", "")
    if not named or not (Path(named) / "bin" / "postgres").exists():
        raise CitusMissing("set CITUS to the directory of a PostgreSQL with the extension citus: bin, lib and share")
    return Path(named) / "bin"


@dataclass
class Nodes:
    """The clusters of a coordinator and its workers."""

    directory: Path
    options: Mapping[str, str]

    def start(self, name: str) -> embedded.Cluster:
        """Starts a node, or returns it if it runs."""
        directory = self.directory / name
        directory.mkdir(exist_ok=True)
        directory.chmod(0o711)
        own = {"citus.local_hostname": str(socket_directory(directory.resolve()))}
        return embedded.start(directory, options={**self.options, **own}, bin_directory=citus_programs())

    def node(self, name: str) -> embedded.Cluster:
        return embedded.Cluster((self.directory / name).resolve())

    @property
    def dsn(self) -> str:
        return self.node("coordinator").dsn


async def join_nodes(nodes: Nodes) -> None:
    """Creates the extension on every node and makes the first the coordinator of the others."""
    for name in ("coordinator", *WORKERS):
        connection = await asyncpg.connect(nodes.node(name).dsn)
        await connection.execute("create extension citus")
        await connection.close()
    connection = await asyncpg.connect(nodes.dsn)
    coordinator = str(socket_directory(nodes.node("coordinator").directory))
    await connection.execute("select citus_set_coordinator_host($1, $2)", coordinator, PORT)
    for name in WORKERS:
        address = str(socket_directory(nodes.node(name).directory))
        await connection.execute("select citus_add_node($1, $2)", address, PORT)
    await connection.close()
    await ensure_logins(nodes.dsn)


@contextlib.contextmanager
def stopped_with_us(directory: Path) -> Iterator[None]:
    """Has the nodes stop if this process is killed, which closes the pipe to the watcher. A node may be another process
    by then."""
    stop = (
        'for file in */cluster/data/postmaster.pid; do kill -QUIT "$(head -n 1 "$file")"; done; sleep 2; rm -rf "$PWD"'
    )
    watch = ["/bin/sh", "-c", f"read said || {{ {stop}; }}"]
    with subprocess.Popen(watch, stdin=subprocess.PIPE, cwd=directory, start_new_session=True) as watcher:
        try:
            yield
        finally:
            watcher.communicate(b"done\n")


@contextlib.contextmanager
def running_nodes(options: Mapping[str, str] = MappingProxyType({})) -> Iterator[Nodes]:
    """Runs three nodes in a temporary directory."""
    with tempfile.TemporaryDirectory(
        prefix="kasuwa-citus-", dir=memory_directory(), ignore_cleanup_errors=True
    ) as place:
        directory = Path(place)
        directory.chmod(0o711)
        nodes = Nodes(directory, {**OPTIONS, **options})
        names = ("coordinator", *WORKERS)
        try:
            with stopped_with_us(directory):
                for name in names:
                    nodes.start(name)
                asyncio.run(join_nodes(nodes))
                yield nodes
        finally:
            for name in names:
                nodes.node(name).stop(immediate=True)
