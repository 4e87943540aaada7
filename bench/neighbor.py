"""What the load of one merchant costs another: the median of the other's single transfers, one after another.

    alone         nothing else is sent
    transfers     64 single transfers of the first merchant at a time
    bulks         eight bulks of 900 orders of the first merchant at a time
    statements    four statements of a year, as CSV files, of the first merchant at a time

The four are measured in turn, in short rounds, on one server, so that a machine that drifts drifts for all: only their
ratios count. The loads are sent by processes of their own.

    python -m bench.neighbor [--python ../earlier/.venv/bin/python]    measures this row alone, of another version too
"""

import argparse
import http.client
import json
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter, sleep
from urllib.parse import urlsplit

from bench import list_rows, machine, paced, postgres, request_templates, server, wrk
from bench.lists import end_jobs
from bench.merchants import Merchant, make_merchant, send_expecting
from bench.results import MeasurementFailed, NeighborResult
from kasuwa.postgres.embedded import embedded

SINGLE_TRANSFERS = 64
BULKS, BULK_ORDERS = 8, 900
STATEMENTS, STATEMENT_POSTINGS = 4, 444_000
ROUNDS = 2
# How long a load runs before it is measured beside it.
LEAD_SECONDS = 1.0
REPLY_SECONDS = 120.0
READ_BYTES = 256 * 1024

FORK = multiprocessing.get_context("fork")


def measure_neighbor(port: int, dsn: str, directory: Path, seconds: int, rounds: int = ROUNDS) -> NeighborResult:
    """Measures the second of two merchants beside the loads of the first."""
    busy, other = make_merchant(port, dsn), make_merchant(port, dsn)
    list_rows.fill(dsn, busy.mid, STATEMENT_POSTINGS, "00")
    postgres.vacuum_and_checkpoint(dsn)
    link = make_statement_link(port, busy)
    loads: dict[str, Callable[[], AbstractContextManager[None]]] = {
        "alone": nullcontext,
        "transfers": lambda: sending_transfers(port, busy, directory, seconds),
        "statements": lambda: sending(*[(download, (port, link))] * STATEMENTS),
        "bulks": lambda: sending(*((send_bulks, (port, busy, f"{number}")) for number in range(BULKS))),
    }
    found: dict[str, list[float]] = {name: [] for name in loads}
    refused = 0
    for _ in range(rounds):
        for name, load in loads.items():
            with load():
                sleep(LEAD_SECONDS)
                latencies, not_made = single_transfers(port, other, seconds)
            found[name] += latencies
            refused += not_made
        end_jobs(dsn)
    [[bulk_orders]] = postgres.query(dsn, "select count(*) from transaction where batch_ref is not null")
    return NeighborResult(
        {name: median(latencies) * 1000 for name, latencies in found.items()},
        {name: len(latencies) for name, latencies in found.items()},
        int(bulk_orders) / (rounds * (seconds + LEAD_SECONDS)),
        refused,
    )


def single_transfers(port: int, merchant: Merchant, seconds: float) -> tuple[list[float], int]:
    """Returns the seconds that each transfer took, at least one, and how many were refused, or not decided in time."""
    with paced.without_gc():
        client = paced.PacedClient(port, request_templates.transfers([merchant]), 1)
        end = perf_counter() + seconds
        while perf_counter() < end or not client.latencies:
            if not client.due_times:
                client.send(perf_counter())
            client.receive_replies(perf_counter() + REPLY_SECONDS)
        refused = client.finish().refused
        return client.latencies, refused


def make_statement_link(port: int, merchant: Merchant) -> str:
    today = datetime.now(UTC)
    year = {"from": f"{today - timedelta(days=365):%Y-%m-%d}", "to": f"{today:%Y-%m-%d}"}
    body = {"inquire": "statement", "account": "wallet", "format": "csv", **year}
    return str(send_expecting(port, "/resources", merchant, body)["link"])


# --- the loads, each in a process of its own ------------------------------------------------------------------------


@contextmanager
def sending_transfers(port: int, merchant: Merchant, directory: Path, seconds: int) -> Iterator[None]:
    orders = request_templates.transfers([merchant])
    load = wrk.start(orders, port, SINGLE_TRANSFERS, round(seconds + 2 * LEAD_SECONDS), directory)
    try:
        yield
    finally:
        wrk.finish(load)


@contextmanager
def sending(*senders: tuple[Callable[..., None], tuple[object, ...]]) -> Iterator[None]:
    """Runs processes until the end of the block. Each ends with the reply that it waits for."""
    stop = FORK.Event()
    processes = [FORK.Process(target=send, args=(*arguments, stop)) for send, arguments in senders]
    for process in processes:
        process.start()
    try:
        yield
        if not all(process.is_alive() for process in processes):
            raise MeasurementFailed("a load ended early")
    finally:
        stop.set()
        until = monotonic() + REPLY_SECONDS
        for process in processes:
            process.join(max(0.0, until - monotonic()))
            process.kill()


def send_bulks(port: int, merchant: Merchant, name: str, stop: Event) -> None:
    order = {"amount": "100.00", "bankcode": "058", "accountnumber": "0000000000", "sender_name": "Bench"}
    number, began = 0, f"{datetime.now(UTC):%H%M%S}"
    headers = {"mid": merchant.mid, "key": merchant.key, "x-sandbox-scenario": "webhook=late:86400"}
    while not stop.is_set():
        number += 1
        orders = [{**order, "orderRef": f"b{name}-{began}-{number}-{place}"} for place in range(BULK_ORDERS)]
        body = json.dumps({"action": "transfer", "type": "bulk", "data": orders})
        with connected(port) as connection:
            connection.request("PUT", "/disburse", body, headers)
            reply = json.loads(connection.getresponse().read())
        # Status 204 (error) if a bulk was not decided in time.
        if reply.get("status") not in (202, 204):
            sys.exit(f"a bulk answered {json.dumps(reply)[:200]}")


def download(port: int, link: str, stop: Event) -> None:
    path = urlsplit(link).path
    while not stop.is_set():
        with connected(port) as connection:
            connection.request("GET", path)
            reply = connection.getresponse()
            if reply.status in (429, 503):  # beyond the merchant's share
                sleep(float(reply.headers.get("retry-after", "1")))
                continue
            while reply.read(READ_BYTES) and not stop.is_set():
                pass


@contextmanager
def connected(port: int) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=REPLY_SECONDS)
    try:
        yield connection
    finally:
        connection.close()


# --- this row alone -------------------------------------------------------------------------------------------------


def measure_version(
    cluster: embedded.Cluster, directory: Path, name: str, python: str, seconds: int, rounds: int = ROUNDS
) -> NeighborResult:
    dsn = postgres.create_database(cluster, name)
    with server.running(directory / name, dsn, python=python) as running:
        return measure_neighbor(running.port, dsn, directory, seconds, rounds)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.neighbor", description=__doc__.partition("\n")[0])
    parser.add_argument("--python", help="interpreter of another version, measured first")
    parser.add_argument("--seconds", type=int, default=6, help="of each load in each round (default 6)")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    wrk.require_wrk()
    with machine.bench_directory() as directory, postgres.running(directory / "cluster") as cluster:
        versions = {"other": chosen.python, "this": sys.executable}
        for name, python in versions.items():
            if python is None:
                continue
            found = measure_version(cluster, directory, name, python, chosen.seconds, chosen.rounds)
            figures = ", ".join(f"{load} {ms:.1f} ms ({found.transfers[load]})" for load, ms in found.median_ms.items())
            print(f"{name}: {figures}; {found.bulk_orders:.0f} orders/s in bulks, {found.refused} refused", flush=True)
            print(f"{name}: bulks {found.bulk_ratio:.2f}, statements {found.statement_ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
