"""The one PostgreSQL of a run, and what psql and pgbench say about it.

All SQL goes through psql, so that the bench does not hang on the driver the project happens to use.
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
from kasuwa.db import embedded
from kasuwa.db.postgres_programs import find_tool

# What engine.md's yardstick was measured with.
CLIENTS = 32
JOBS = 2


@contextmanager
def running(directory: Path) -> Iterator[embedded.Cluster]:
    """A throw-away server with the options the project itself starts it with: fsync stays on."""
    cluster = embedded.start(directory)
    try:
        yield cluster
    finally:
        cluster.stop()


def query(dsn: str, text: str) -> list[list[str]]:
    """The rows, as text. Several statements may be sent; each commits by itself."""
    command = [str(find_tool("psql")), "-X", "-q", "--csv", "--tuples-only", "-v", "ON_ERROR_STOP=1", dsn]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MeasurementFailed(f"psql: {done.stderr.strip()[-400:]}")
    return list(csv.reader(io.StringIO(done.stdout)))


def create_database(cluster: embedded.Cluster, name: str) -> str:
    """A fresh database's address."""
    query(cluster.dsn, f'create database "{name}"')
    return cluster.dsn_for(name)


def vacuum_and_checkpoint(dsn: str) -> None:
    """Vacuums and checkpoints, so that the work left by one measurement does not run during the next."""
    query(dsn, "vacuum (analyze)")
    query(dsn, "checkpoint")


def create_tpcb(cluster: embedded.Cluster, scale: int) -> str:
    """pgbench's own tables, in a database of their own."""
    dsn = create_database(cluster, f"tpcb{scale}")
    run_pgbench(["-i", "-q", "-s", str(scale), dsn])
    return dsn


def measure_tpcb(dsn: str, seconds: int) -> float:
    """Transactions a second of the built-in TPC-B script."""
    vacuum_and_checkpoint(dsn)
    said = run_pgbench(["-n", "-c", str(CLIENTS), "-j", str(JOBS), "-T", str(seconds), dsn])
    found = re.search(r"^tps = ([0-9.]+)", said, re.MULTILINE)
    if not found:
        raise MeasurementFailed(f"pgbench said no tps: {said[-300:]}")
    return float(found[1])


def run_pgbench(arguments: list[str]) -> str:
    done = subprocess.run([str(find_tool("pgbench")), *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MeasurementFailed(f"pgbench: {done.stderr.strip()[-400:]}")
    return done.stdout


def postmaster(dsn: str) -> psutil.Process:
    """The parent of a process that is always there, whoever runs it and wherever its directory is."""
    [[checkpointer]] = query(dsn, "select pid from pg_stat_activity where backend_type = 'checkpointer'")
    parent = psutil.Process(int(checkpointer)).parent()
    if parent is None:
        raise MeasurementFailed("PostgreSQL runs where its processes cannot be seen")
    return parent
