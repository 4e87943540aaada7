"""The PostgreSQL of a run, and access to it through psql and pgbench.

All SQL goes through psql, so that the benchmark does not depend on the project's database driver.
"""

import csv
import io
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from bench.results import MeasurementFailed
from kasuwa.postgres.embedded import embedded
from kasuwa.postgres.embedded.programs import find_tool

# The targets are defined for these numbers.
CLIENTS = 32
JOBS = 2


@contextmanager
def running(directory: Path) -> Iterator[embedded.Cluster]:
    """Runs a temporary server with the project's own settings: fsync stays on."""
    cluster = embedded.start(directory)
    try:
        yield cluster
    finally:
        cluster.stop()


def query(dsn: str, text: str) -> list[list[str]]:
    """Returns the rows as text. Several statements may be sent; each commits by itself."""
    command = [str(find_tool("psql")), "-X", "-q", "--csv", "--tuples-only", "-v", "ON_ERROR_STOP=1", dsn]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MeasurementFailed(f"psql: {done.stderr.strip()[-400:]}")
    return list(csv.reader(io.StringIO(done.stdout)))


def create_database(cluster: embedded.Cluster, name: str) -> str:
    """Creates a database and returns its address."""
    query(cluster.dsn, f'create database "{name}"')
    return cluster.dsn_for(name)


def copy_database(cluster: embedded.Cluster, source: str, name: str) -> str:
    """Creates a database with the contents of another and returns its address."""
    query(cluster.dsn, f'create database "{name}" template "{source}"')
    return cluster.dsn_for(name)


def vacuum_and_checkpoint(dsn: str) -> None:
    """Vacuums and checkpoints, so that the work left by one measurement does not run during the next."""
    query(dsn, "vacuum (analyze)")
    query(dsn, "checkpoint")


def create_tpcb(cluster: embedded.Cluster, scale: int) -> str:
    """Creates pgbench's own tables in a database of their own."""
    dsn = create_database(cluster, f"tpcb{scale}")
    run_pgbench(["-i", "-q", "-s", str(scale), dsn])
    return dsn


def measure_tpcb(dsn: str, seconds: int) -> float:
    """Returns the transactions per second of the built-in TPC-B script."""
    vacuum_and_checkpoint(dsn)
    output = run_pgbench(["-n", "-c", str(CLIENTS), "-j", str(JOBS), "-T", str(seconds), dsn])
    found = re.search(r"^tps = ([0-9.]+)", output, re.MULTILINE)
    if not found:
        raise MeasurementFailed(f"pgbench printed no tps: {output[-300:]}")
    return float(found[1])


def run_pgbench(arguments: list[str]) -> str:
    done = subprocess.run([str(find_tool("pgbench")), *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MeasurementFailed(f"pgbench: {done.stderr.strip()[-400:]}")
    return done.stdout


def postmaster(dsn: str) -> psutil.Process:
    """Returns the main process of the server: the parent of a background process that always runs."""
    [[checkpointer]] = query(dsn, "select pid from pg_stat_activity where backend_type = 'checkpointer'")
    parent = psutil.Process(int(checkpointer)).parent()
    if parent is None:
        raise MeasurementFailed("PostgreSQL runs where its processes cannot be seen")
    return parent
