"""`python -m bench.soak`: load at a steady rate for an hour, and what grows meanwhile (`make soak`).

One server and one PostgreSQL on the loopback interface, with temporary directories; everything ends with the run.
SOAK_MINUTES shortens it, SOAK_RATE sets the requests per second. Merchants send transfers, card charges, refunds, bulk
orders and reads, and get webhooks. Several times a minute the memory of every process, the latency, the size of every
table and late jobs are read. The report says what drifted (soak_report.py); the exit code is 1 if something did.
"""

import http.client
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from bench import postgres, receiver, server
from bench.machine import bench_directory
from bench.merchants import Merchant, make_merchant, save_card, send_expecting
from bench.postgres import query
from bench.processes import process_tree, resident_mb
from bench.results import MeasurementFailed
from bench.soak_report import Latency, Sample, find_drifts, write_report

MINUTES = 60.0
RATE = 40.0
MERCHANTS = 8
THREADS = 8
SAMPLES = 60  # in a run, if that is not more often than every 5 s
SHORTEST_INTERVAL = 5.0
TIMEOUT_SECONDS = 60
REPORT = Path("bench/soak.md")

TABLES = """
    select c.relname, pg_total_relation_size(c.oid), greatest(c.reltuples, 0)::bigint,
        coalesce(s.n_live_tup, 0), coalesce(s.n_dead_tup, 0)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace left join pg_stat_user_tables s on s.relid = c.oid
    where n.nspname = 'public' and c.relkind = 'r'
"""
# Jobs that should have run, by their lane. Deliveries that failed have a later due time, so they do not count.
LATE = """
    select lane, count(*), coalesce(extract(epoch from now() - min(run_at)), 0)::int from scheduled_job
    where run_at < now() - interval '10 seconds' and (leased_until is null or leased_until < now()) group by lane
"""


class Shop:
    """A merchant with a saved card, and the references of its payments that can be refunded."""

    def __init__(self, merchant: Merchant, token: str) -> None:
        self.merchant = merchant
        self.token = token
        self.refundable: list[str] = []
        self.lock = threading.Lock()

    def next_request(self, number: int, dice: random.Random) -> tuple[str, dict[str, Any]]:
        """Returns a path and a body. Half of all requests move money."""
        order = {"amount": "25.00", "bankcode": "058", "accountnumber": "0000000000", "orderRef": f"s{number}"}
        token = {"paymentType": "token", "token": self.token, "amount": "100.00"}
        with self.lock:
            paid = self.refundable.pop() if self.refundable and dice.random() < 0.1 else None
        if paid is not None:
            return "/payment", {"action": "refund", "txnRef": paid, "amount": "10.00"}
        choices: list[tuple[str, dict[str, Any]]] = [
            ("/disburse", {"action": "transfer", **order}),
            ("/payment", {"action": "charge", **token}),
            ("/disburse", {"action": "transfer", **order, "accountnumber": "0000000900"}),
            ("/disburse", {"action": "transfer", **order, "accountnumber": "0000005100"}),
            ("/resources", {"inquire": "wallet"}),
            ("/resources", {"inquire": "transactions", "limit": 20}),
            ("/resources", {"inquire": "events", "limit": 20}),
            ("/disburse", {"action": "verify", "orderRef": f"s{max(0, number - dice.randrange(200))}"}),
        ]
        weights = (30, 15, 3, 2, 15, 10, 5, 20)
        return dice.choices(choices, weights)[0]

    def keep(self, body: dict[str, Any], reply: dict[str, Any]) -> None:
        if body.get("action") == "charge" and reply.get("txnStatus") == "successful":
            with self.lock:
                self.refundable = [*self.refundable[-50:], reply["txnRef"]]


class Load:
    """Sends requests at a steady rate from several threads. The time of a request begins when it was due."""

    def __init__(self, port: int, shops: list[Shop], rate: float) -> None:
        self._port, self._shops, self._gap = port, shops, THREADS / rate
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._seconds: list[float] = []
        self.outcomes: Counter[str] = Counter()
        self._threads = [threading.Thread(target=self._run, args=(n,), daemon=True) for n in range(THREADS)]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join(2 * TIMEOUT_SECONDS)

    def take_latency(self) -> Latency:
        with self._lock:
            taken, self._seconds = sorted(self._seconds), []
        return Latency.of(taken)

    def _run(self, thread: int) -> None:
        dice = random.Random(thread)
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=TIMEOUT_SECONDS)
        due, number = time.monotonic() + dice.random() * self._gap, thread * 10_000_000
        while not self._ending.wait(max(0.0, due - time.monotonic())):
            number += 1
            shop = self._shops[number % len(self._shops)]
            path, body = shop.next_request(number, dice)
            outcome = self._send(connection, shop, path, body)
            with self._lock:
                self._seconds.append(time.monotonic() - due)
                self.outcomes[outcome] += 1
            due += self._gap
        connection.close()

    def _send(self, connection: http.client.HTTPConnection, shop: Shop, path: str, body: dict[str, Any]) -> str:
        headers = {"mid": shop.merchant.mid, "key": shop.merchant.key, "Content-Type": "application/json"}
        try:
            connection.request("PUT", path, json.dumps(body), headers)
            reply = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError) as fault:
            connection.close()
            return f"no reply: {type(fault).__name__}"
        shop.keep(body, reply)
        return f"status {reply.get('status')}"


def memory_of(serve: psutil.Process, database: psutil.Process) -> dict[str, float]:
    """Returns the resident memory of the service's processes by name, and of PostgreSQL without what is shared."""
    found: defaultdict[str, float] = defaultdict(float)
    for process in process_tree(serve):
        try:
            found[process.name()] += round(resident_mb(process), 1)
        except psutil.Error:
            continue
    for process in process_tree(database):
        try:
            memory = process.memory_info()
        except psutil.Error:
            continue
        found["postgres, unshared"] += round((memory.rss - memory.shared) / 1e6, 1)
    return dict(found)


def read_sample(minutes: float, load: Load, dsn: str, serve: psutil.Process, database: psutil.Process) -> Sample:
    return Sample(
        minutes=round(minutes, 2),
        memory_mb=memory_of(serve, database),
        latency=load.take_latency(),
        tables={name: (int(size), int(live), int(dead)) for name, size, _, live, dead in query(dsn, TABLES)},
        late_jobs={lane: (int(count), int(seconds)) for lane, count, seconds in query(dsn, LATE)},
    )


@contextmanager
def soaked_server(directory: Path) -> Iterator[tuple[server.Server, str]]:
    with (
        postgres.running(directory / "postgres") as cluster,
        server.running(directory / "serve", cluster.dsn) as serving,
    ):
        yield serving, cluster.dsn


def open_shops(port: int, dsn: str, webhook_url: str) -> list[Shop]:
    shops = []
    for _ in range(MERCHANTS):
        merchant = make_merchant(port, dsn)
        send_expecting(port, "/sandbox", merchant, {"action": "webhook", "url": webhook_url})
        shops.append(Shop(merchant, save_card(port, merchant)))
    return shops


def soak(minutes: float, rate: float, report: Path) -> int:
    """Runs the load and writes the report. Returns the number of drifts."""
    samples: list[Sample] = []
    interval = max(SHORTEST_INTERVAL, minutes * 60 / SAMPLES)
    with (
        bench_directory() as made,
        soaked_server(made) as (serving, dsn),
        receiver.running() as webhook_url,
    ):
        shops, database = open_shops(serving.port, dsn, webhook_url), postgres.postmaster(dsn)
        began = time.monotonic()
        with Load(serving.port, shops, rate) as load:
            while (passed := time.monotonic() - began) < minutes * 60:
                time.sleep(min(interval, minutes * 60 - passed))
                samples.append(read_sample((time.monotonic() - began) / 60, load, dsn, serving.process, database))
                print(samples[-1].line(), flush=True)
        audited = audit(dsn, made / "serve")
        errors = (made / "serve" / "serve.log").read_text(errors="replace").count('"level":"error"')
    drifts = find_drifts(samples, load.outcomes, audited, errors)
    write_report(report, samples, load.outcomes, drifts, rate)
    print("\n".join(drifts) or "nothing drifted")
    print(f"the report is in {report}")
    return len(drifts)


def audit(dsn: str, data: Path) -> str:
    """Returns what `kasuwa audit` says of the books after the load."""
    command = [sys.executable, "-m", "kasuwa", "audit", "--data", str(data)]
    done = subprocess.run(command, env=server.environment(dsn), capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip()


def main() -> int:
    minutes = float(os.environ.get("SOAK_MINUTES", MINUTES))
    rate = float(os.environ.get("SOAK_RATE", RATE))
    try:
        return 1 if soak(minutes, rate, Path(os.environ.get("SOAK_REPORT", REPORT))) else 0
    except MeasurementFailed as fault:
        print(f"the load could not run: {fault}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
