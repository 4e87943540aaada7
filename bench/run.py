"""One run, from the first pgbench to the last, in an order in which no measurement spoils the next."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import cpu, deliver, machine, orders, paced, postgres, processes, server, wrk
from bench.figures import Figures, Load, Unmeasurable
from bench.interest import measure_interest
from bench.merchants import PIECES_SPREAD, Merchant, make_merchant, make_payments, save_card
from bench.preload import preload
from kasuwa.db import embedded

NAMES = (
    *("hot64", "hot256", "spread64", "token", "verify", "pull", "deliver", "latency", "preload", "interest", "memory"),
    *("cpu", "start"),
)

# What must be measured before a row has its denominator.
NEEDS = {
    "verify": {"hot64"},
    "pull": {"hot64"},
    "deliver": {"hot64", "spread64"},
    "latency": {"hot64", "hot256"},
    "preload": {"hot64"},
    "memory": {"hot64"},
    "cpu": {"hot64", "spread64", "verify"},
}
RATIO_TO_TPCB = {"hot64", "hot256", "spread64", "token", "interest", "cpu"}
SCALES = (20, 1)
SPREAD = 100
SAVINGS_ACCOUNTS = 100_000

# Enough different rows that a verify is a look-up.
VERIFIED_PAYMENTS = 50

# How the whole catalogue begins, as it is and packed. Refusals are never packed.
PULLED = '{"status":200,"data":{"categories":[{'
PULLED_PACKED = b"\x1f\x8b".decode(errors="surrogateescape")

# Plans, connections and caches are made in the first moments, whatever comes after.
WARM_UP_SECONDS = 2


@dataclass(frozen=True)
class Plan:
    """What was asked for on the command line."""

    names: frozenset[str]
    seconds: int
    preload_rows: int

    def wants(self, name: str) -> bool:
        """Asked for, or needed by what was asked for."""
        return name in self.names or any(name in NEEDS.get(other, ()) for other in self.names)

    def needs_tpcb(self) -> bool:
        return bool(self.names & RATIO_TO_TPCB)


@dataclass(frozen=True)
class Stage:
    """A server that is ready, its hot merchant, and where results go."""

    running: server.Server
    dsn: str
    hot: Merchant
    directory: Path
    seconds: int
    figures: Figures

    def load(
        self, name: str, requests: Sequence[orders.Order], connections: int, success: str = wrk.SUCCESSFUL
    ) -> None:
        """Measured after a checkpoint, with the memory it leaves the API process with."""
        postgres.settle(self.dsn)
        meter = cpu.CpuMeter(self.running, self.dsn)
        before = meter.read()
        load = self.make_load(requests, connections, self.seconds, success)
        cost = self.figures.cpu[name] = meter.cost_since(before, load.requests)
        self.figures.loads[name] = load
        self.figures.memory_mb.append(processes.resident_mb(processes.api_process(self.running.process)))
        say(
            f"{name}: {load.rate:,.0f}/s, refused {load.refused}, wrk {load.maker_cpu:.0%} of a core; per request: "
            f"API {cost.api_us:,.0f} us, PostgreSQL {cost.postgres_us:,.0f} us, other processes {cost.other_us:,.0f} us"
        )

    def make_load(
        self, requests: Sequence[orders.Order], connections: int, seconds: int, success: str = wrk.SUCCESSFUL
    ) -> Load:
        return wrk.finish(wrk.start(requests, self.running.port, connections, seconds, self.directory, success))


def measure(plan: Plan) -> Figures:
    """Everything the plan wants. pgbench comes before and after, because a shared machine drifts."""
    figures = Figures()
    with workplace() as directory, postgres.running(directory / "cluster") as cluster:
        figures.machine = machine.facts(cluster.dsn, directory)
        say(", ".join(f"{name} {value}" for name, value in figures.machine.items()))
        if plan.wants("start"):
            attempt(figures, "start", lambda: measure_starts(figures, directory))
        scales = SCALES if plan.needs_tpcb() else ()
        addresses = {scale: postgres.create_tpcb(cluster, scale) for scale in scales}
        measure_tpcb(figures, addresses, plan.seconds)
        if plan.wants("hot64") or plan.needs_tpcb():
            measure_server(plan, figures, cluster, directory)
        measure_tpcb(figures, addresses, plan.seconds)
    return figures


@contextmanager
def workplace() -> Iterator[Path]:
    """On a disk, where a commit costs what it costs: /tmp is often memory.

    Open to others, because PostgreSQL does not run as root and must be able to come in.
    """
    parent = "/var/tmp" if os.path.isdir("/var/tmp") else None
    with tempfile.TemporaryDirectory(prefix="kasuwa-bench-", dir=parent, ignore_cleanup_errors=True) as made:
        os.chmod(made, 0o755)
        yield Path(made)


def measure_starts(figures: Figures, directory: Path) -> None:
    """With the database that the server brings itself."""
    place = directory / "start"
    with server.running(place, None) as first:
        figures.first_start_seconds = first.start_seconds
    with server.running(place, None) as later:
        figures.later_start_seconds = later.start_seconds
    say(f"start: {figures.first_start_seconds:.2f} s first, {figures.later_start_seconds:.2f} s later")


def measure_tpcb(figures: Figures, addresses: dict[int, str], seconds: int) -> None:
    for scale, dsn in addresses.items():
        postmaster = postgres.postmaster(dsn)
        before = processes.seconds_used_below(postmaster)
        rate = postgres.measure_tpcb(dsn, seconds)
        used_us = cpu.postgres_us(postmaster, before, rate * seconds)
        figures.tpcb.setdefault(scale, []).append(rate)
        figures.tpcb_cpu_us.setdefault(scale, []).append(used_us)
        say(f"TPC-B scale {scale}: {rate:,.0f}/s, PostgreSQL {used_us:,.0f} us per transaction")


def measure_server(plan: Plan, figures: Figures, cluster: embedded.Cluster, directory: Path) -> None:
    """The full tables come last on their server, since nothing empties them; then a new one, empty again."""
    with stage(plan, figures, cluster, directory, "measured") as first:
        spread = measure_loads(plan, first)
        if plan.wants("deliver"):
            attempt(figures, "deliver", lambda: measure_deliveries(first, spread))
        if plan.wants("interest"):
            attempt(figures, "interest", lambda: measure_savings(first))
        if plan.wants("latency"):
            attempt(figures, "latency", lambda: measure_latency(first))
        if plan.wants("preload"):
            attempt(figures, "preload", lambda: measure_full(plan, first))
    if "full64" in figures.loads:
        with stage(plan, figures, cluster, directory, "fresh") as second:
            second.load("fresh64", orders.transfers([second.hot]), 64)
            figures.memory_mb.pop()  # Of another process: not part of how the first one grew.


@contextmanager
def stage(plan: Plan, figures: Figures, cluster: embedded.Cluster, directory: Path, name: str) -> Iterator[Stage]:
    """A server on a database of its own, warm."""
    dsn = postgres.create_database(cluster, name)
    with server.running(directory / name, dsn) as running:
        hot = make_merchant(running.port, dsn)
        made = Stage(running, dsn, hot, directory, plan.seconds, figures)
        made.make_load(orders.transfers([hot]), 64, WARM_UP_SECONDS)
        yield made


def measure_loads(plan: Plan, on: Stage) -> list[Merchant]:
    """Transfers first, on tables that are as good as empty. Answers the merchants that the load was spread over."""
    hot = orders.transfers([on.hot])
    spread: list[Merchant] = []
    measurements: dict[str, Callable[[], None]] = {
        "hot64": lambda: on.load("hot64", hot, 64),
        "hot256": lambda: on.load("hot256", hot, 256),
        "spread64": lambda: on.load("spread64", orders.transfers(make_spread(on, spread)), 64),
        "token": lambda: on.load("token", make_token_charges(on), 64),
        "verify": lambda: on.load("verify", make_verifications(on), 64),
        "pull": lambda: measure_pulls(on),
    }
    for name, measurement in measurements.items():
        if plan.wants(name):
            attempt(on.figures, name, measurement)
    return spread


def measure_pulls(on: Stage) -> None:
    on.load("pull_plain", orders.plain_pulls(on.hot), 64, PULLED)
    on.load("pull", orders.pulls(on.hot), 64, PULLED_PACKED)


def make_spread(on: Stage, spread: list[Merchant]) -> list[Merchant]:
    spread += [make_merchant(on.running.port, on.dsn, PIECES_SPREAD) for _ in range(SPREAD)]
    return spread


def measure_deliveries(on: Stage, spread: list[Merchant]) -> None:
    """After the loads, whose events they are, and before anything else that would wait for the same worker."""
    for name, merchants in (("one", [on.hot]), ("many", spread)):
        found = deliver.measure(on.running.port, on.dsn, merchants, on.seconds)
        on.figures.deliveries[name] = found
        say(f"deliver to {name}: {found.rate:,.0f}/s, failed {found.failed}")


def make_token_charges(on: Stage) -> list[orders.Order]:
    return orders.token_charges(on.hot, save_card(on.running.port, on.hot))


def make_verifications(on: Stage) -> list[orders.Order]:
    token = save_card(on.running.port, on.hot)
    return orders.verifications(on.hot, make_payments(on.running.port, on.hot, token, VERIFIED_PAYMENTS))


def measure_savings(on: Stage) -> None:
    """By a merchant of its own: its accounts are no part of the others' loads."""
    merchant = make_merchant(on.running.port, on.dsn)
    on.figures.interest = measure_interest(on.dsn, merchant, SAVINGS_ACCOUNTS)
    say(f"interest: {on.figures.interest.rate:,.0f} accounts/s")


def measure_latency(on: Stage) -> None:
    """Half of the best that was measured."""
    figures, requests = on.figures, orders.transfers([on.hot])
    figures.half_rate = figures.highest_load() / 2
    postgres.settle(on.dsn)
    figures.single = paced.measure_single(on.running.port, requests, on.seconds)
    figures.half = paced.measure_paced(on.running.port, requests, on.seconds, figures.half_rate)
    single, half = figures.single.median_ms, figures.half.p99_ms
    say(f"latency: single median {single:.2f} ms, p99 at half load {half:.2f} ms")


def measure_full(plan: Plan, on: Stage) -> None:
    """The server is not started anew: plans made on small tables must hold on large ones."""
    on.figures.earlier_rows = preload(on.dsn, plan.preload_rows)
    say(f"preload: {on.figures.earlier_rows:,} transactions")
    on.load("full64", orders.transfers([on.hot]), 64)


def attempt(figures: Figures, name: str, measurement: Callable[[], None]) -> None:
    """One measurement that cannot be made must not cost the others."""
    try:
        measurement()
    except Unmeasurable as fault:
        figures.faults[name] = str(fault)
        say(f"{name}: not measured: {fault}")


def say(text: str) -> None:
    """Progress, apart from the table on standard output."""
    print(text, file=sys.stderr, flush=True)
