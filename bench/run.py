"""One run, from the first pgbench to the last, in an order in which no measurement disturbs the next."""

import compileall
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import kasuwa
from bench import (
    console_pages,
    cpu,
    deliver,
    lists,
    loans,
    machine,
    owners,
    paced,
    postgres,
    processes,
    request_templates,
    server,
    wrk,
)
from bench.batched_sql import measure_batched_sql
from bench.card_payments import measure_card_payments
from bench.interest import measure_interest
from bench.kit import measure_kit
from bench.merchants import SPREAD_WALLET_FUNDINGS, Merchant, make_merchant, make_payments, save_card
from bench.neighbor import measure_version
from bench.preload import preload
from bench.reconcile import measure_reconciliation
from bench.recovery import measure_recovery
from bench.results import ComparedLoad, LoadResult, MeasurementFailed, Results
from bench.worlds import measure_worlds
from kasuwa.postgres.embedded import embedded

MEASUREMENTS = (
    "hot64",
    "hot256",
    "spread64",
    "token",
    "card",
    "verify",
    "pull",
    "deliver",
    "latency",
    "preload",
    "interest",
    "memory",
    "cpu",
    "start",
    "kit",
    "batched",
    "workers2",
    "cores",
    "lists",
    "reconcile",
    "console",
    "neighbor",
    "recovery",
    "worlds",
    "loans",
)

# The measurements that a row is compared with.
PREREQUISITES = {
    "verify": {"hot64"},
    "pull": {"hot64"},
    "deliver": {"hot64", "spread64"},
    "latency": {"hot64", "hot256"},
    "preload": {"hot64"},
    "lists": {"hot64"},
    "console": {"hot64"},
    "memory": {"hot64"},
    "cpu": {"hot64", "spread64", "token", "card", "verify"},
}
RATIO_TO_TPCB = {"hot64", "hot256", "spread64", "token", "interest", "cpu"}
SCALES = (20, 1)
SPREAD = 100
SAVINGS_ACCOUNTS = 100_000
STATEMENT_LINES = 1_000_000
# Fewer than `python -m bench.loans` measures, which takes half an hour.
LOANS, LOAN_DAYS = 100, 90

# Enough different references that a verification is a real look-up.
VERIFIED_PAYMENTS = 50

# The first bytes of the catalogue, plain and compressed. Refusals are never compressed.
PULL_REPLY_START = '{"status":200,"data":{"categories":[{'
GZIP_REPLY_START = b"\x1f\x8b".decode(errors="surrogateescape")

# Warm-up: plans, connections and caches are made in the first moments.
WARM_UP_SECONDS = 2


@dataclass(frozen=True)
class Plan:
    """The options of the command line."""

    names: frozenset[str]
    seconds: int
    preload_rows: int
    list_rows: int

    def includes(self, name: str) -> bool:
        """Returns whether a measurement was requested or is needed for one that was."""
        return name in self.names or any(name in PREREQUISITES.get(other, ()) for other in self.names)

    def needs_tpcb(self) -> bool:
        return bool(self.names & RATIO_TO_TPCB)


@dataclass(frozen=True)
class SystemUnderTest:
    """A server that is ready, its busiest merchant, and where results go."""

    server: server.Server
    dsn: str
    hot_merchant: Merchant
    directory: Path
    seconds: int
    figures: Results
    data: Path  # its data directory

    def measure_load(
        self,
        name: str,
        requests: Sequence[request_templates.RequestTemplate],
        connections: int,
        success: str = wrk.SUCCESSFUL,
    ) -> None:
        """Measures a load after a checkpoint, and the memory of the API process after it."""
        postgres.vacuum_and_checkpoint(self.dsn)
        meter = cpu.CpuMeter(self.server, self.dsn)
        before = meter.read()
        load = self.run_load(requests, connections, self.seconds, success)
        cost = self.figures.cpu[name] = meter.cost_since(before, load.requests)
        self.figures.loads[name] = load
        self.figures.memory_mb.append(processes.resident_mb(processes.api_process(self.server.process)))
        say(
            f"{name}: {load.rate:,.0f}/s, refused {load.refused}, wrk {load.client_cpu_share:.0%} of a core; "
            "per request: "
            f"API {cost.api_us:,.0f} us, PostgreSQL {cost.postgres_us:,.0f} us, other processes {cost.other_us:,.0f} us"
        )

    def run_load(
        self,
        requests: Sequence[request_templates.RequestTemplate],
        connections: int,
        seconds: int,
        success: str = wrk.SUCCESSFUL,
    ) -> LoadResult:
        return wrk.finish(wrk.start(requests, self.server.port, connections, seconds, self.directory, success))


def measure(plan: Plan) -> Results:
    """Makes all measurements of the plan. pgbench runs before and after, because a shared machine drifts."""
    figures = Results()
    with machine.bench_directory() as directory, postgres.running(directory / "cluster") as cluster:
        figures.machine = machine.facts(cluster.dsn, directory)
        say(", ".join(f"{name} {value}" for name, value in figures.machine.items()))
        if plan.includes("start"):
            try_measurement(figures, "start", lambda: measure_starts(figures, directory))
        if plan.includes("kit"):
            try_measurement(figures, "kit", lambda: measure_tests(figures))
        scales = SCALES if plan.needs_tpcb() else ()
        addresses = {scale: postgres.create_tpcb(cluster, scale) for scale in scales}
        measure_tpcb(figures, addresses, plan.seconds)
        if plan.includes("batched"):
            try_measurement(figures, "batched", lambda: measure_batches(figures, cluster, directory, plan.seconds))
        if plan.includes("hot64") or plan.needs_tpcb():
            measure_server(plan, figures, cluster, directory)
        if plan.includes("neighbor"):
            try_measurement(figures, "neighbor", lambda: measure_neighbors(figures, cluster, directory, plan.seconds))
        if plan.includes("recovery"):
            try_measurement(figures, "recovery", lambda: measure_lost_answers(figures, cluster, directory))
        if plan.includes("worlds"):
            try_measurement(figures, "worlds", lambda: measure_snapshots(figures, cluster, directory))
        if plan.includes("loans"):
            try_measurement(figures, "loans", lambda: measure_nights(figures, cluster, directory))
        if plan.includes("reconcile"):
            try_measurement(figures, "reconcile", lambda: measure_statement(figures, cluster, directory))
        if plan.includes("workers2"):
            try_measurement(figures, "workers2", lambda: compare_two(figures, cluster, directory, plan.seconds))
        if plan.includes("cores"):
            try_measurement(figures, "cores", lambda: compare_cores(figures, cluster, directory, plan.seconds))
        measure_tpcb(figures, addresses, plan.seconds)
    return figures


def measure_batches(figures: Results, cluster: embedded.Cluster, directory: Path, seconds: int) -> None:
    figures.batched_sql = found = measure_batched_sql(cluster, directory, seconds)
    say(f"batched SQL: {found.rate:,.0f}/s, PostgreSQL {found.postgres_us:,.0f} us per transfer")


def measure_neighbors(figures: Results, cluster: embedded.Cluster, directory: Path, seconds: int) -> None:
    """Measures one merchant's transfers while another sends bulks or gets statements."""
    figures.neighbor = found = measure_version(cluster, directory, "neighbor", sys.executable, seconds)
    say("neighbor: " + ", ".join(f"{load} {ms:.1f} ms" for load, ms in found.median_ms.items()))


def measure_lost_answers(figures: Results, cluster: embedded.Cluster, directory: Path) -> None:
    figures.recovery_seconds = found = measure_recovery(cluster, directory)
    say("recovery: " + ", ".join(f"{kind} {seconds:.1f} s" for kind, seconds in found.items()))


def measure_snapshots(figures: Results, cluster: embedded.Cluster, directory: Path) -> None:
    for found in measure_worlds(cluster, directory):
        figures.worlds.append(found)
        say(f"worlds: {found.describe()}")


def measure_nights(figures: Results, cluster: embedded.Cluster, directory: Path) -> None:
    """Measures a lender's nights with few loans and with ten times as many."""
    for found in loans.measure_loans(cluster, directory, LOANS, LOAN_DAYS):
        figures.loans.append(found)
        say(f"loans: {found.describe()}")


def measure_statement(figures: Results, cluster: embedded.Cluster, directory: Path) -> None:
    for form, found in measure_reconciliation(cluster, directory, STATEMENT_LINES):
        figures.reconciliations[form] = found
        say(
            f"reconcile {form}: {found.lines:,} lines in {found.seconds:.0f} s, again in {found.again_seconds:.1f} s, "
            f"{found.memory_mb:.0f} MB"
        )


def compare_two(figures: Results, cluster: embedded.Cluster, directory: Path, seconds: int) -> None:
    """Measures two API processes against one."""
    figures.two_processes = owners.compare(cluster, directory, "2", owners.TWO_PROCESSES, max(1, seconds // 2))
    say_compared("two processes", figures.two_processes)


def compare_cores(figures: Results, cluster: embedded.Cluster, directory: Path, seconds: int) -> None:
    """Measures the default number of API processes against one, if the machine has enough cores."""
    if owners.count_cores() < owners.MIN_CORES:
        figures.too_few_cores = owners.count_cores()
        return
    figures.all_cores = owners.compare(cluster, directory, "auto", owners.ALL_CORES, seconds)
    say_compared("all cores", figures.all_cores)


def say_compared(what: str, loads: dict[str, ComparedLoad]) -> None:
    for name, load in loads.items():
        say(f"{what}, {name}: {load.rate:,.0f}/s to {load.one_rate:,.0f}/s of one process: {load.ratio:.2f}")


def measure_starts(figures: Results, directory: Path) -> None:
    """Measures starts with the embedded database, and the commands that people and scripts call most."""
    place = directory / "start"
    compileall.compile_dir(os.path.dirname(kasuwa.__file__), quiet=1)  # as installing does
    with server.running(place, None) as first:
        figures.first_start_seconds = first.start_seconds
    with server.running(place, None) as later:
        figures.later_start_seconds = later.start_seconds
        figures.help_seconds = server.time_command("--help")
        figures.status_seconds = server.time_command("status", "--data", str(place))
    say(f"start: {figures.first_start_seconds:.2f} s first, {figures.later_start_seconds:.2f} s later")
    say(f"commands: --help {figures.help_seconds:.2f} s, status {figures.status_seconds:.2f} s")


def measure_tests(figures: Results) -> None:
    """Measures test runs of applications that use `kasuwa.testing`."""
    figures.kit = kit = measure_kit()
    say(f"kit: server {kit.serve_seconds:.2f} s, merchant {kit.merchant_ms:.1f} ms, tests {kit.suite_seconds:.1f} s")


def measure_tpcb(figures: Results, addresses: dict[int, str], seconds: int) -> None:
    for scale, dsn in addresses.items():
        postmaster = postgres.postmaster(dsn)
        before = processes.seconds_used_below(postmaster)
        rate = postgres.measure_tpcb(dsn, seconds)
        used_us = cpu.postgres_us(postmaster, before, rate * seconds)
        figures.tpcb.setdefault(scale, []).append(rate)
        figures.tpcb_cpu_us.setdefault(scale, []).append(used_us)
        say(f"TPC-B scale {scale}: {rate:,.0f}/s, PostgreSQL {used_us:,.0f} us per transaction")


def measure_server(plan: Plan, figures: Results, cluster: embedded.Cluster, directory: Path) -> None:
    """Measures one server. Full tables come last, since nothing empties them; then a new, empty server."""
    with running_system(plan, figures, cluster, directory, "measured") as first:
        spread = measure_loads(plan, first)
        if plan.includes("deliver"):
            try_measurement(figures, "deliver", lambda: measure_deliveries(first, spread))
        if plan.includes("interest"):
            try_measurement(figures, "interest", lambda: measure_savings(first))
        if plan.includes("latency"):
            try_measurement(figures, "latency", lambda: measure_latency(first))
        if plan.includes("preload"):
            try_measurement(figures, "preload", lambda: measure_preloaded(plan, first))
    if plan.includes("lists") or plan.includes("console"):
        with running_system(plan, figures, cluster, directory, "lists") as third:
            try_measurement(figures, "lists and console", lambda: measure_many_rows(plan, third))
    if "full64" in figures.loads:
        with running_system(plan, figures, cluster, directory, "fresh") as second:
            second.measure_load("fresh64", request_templates.transfers([second.hot_merchant]), 64)
            figures.memory_mb.pop()  # Of another process: not part of how the first one grew.


@contextmanager
def running_system(
    plan: Plan, figures: Results, cluster: embedded.Cluster, directory: Path, name: str
) -> Iterator[SystemUnderTest]:
    """Yields a warm server on a database of its own."""
    dsn = postgres.create_database(cluster, name)
    with server.running(directory / name, dsn) as running:
        hot = make_merchant(running.port, dsn)
        made = SystemUnderTest(running, dsn, hot, directory, plan.seconds, figures, directory / name)
        made.run_load(request_templates.transfers([hot]), 64, WARM_UP_SECONDS)
        yield made


def measure_loads(plan: Plan, sut: SystemUnderTest) -> list[Merchant]:
    """Measures the loads, transfers first, on nearly empty tables. Returns the merchants that shared the load."""
    hot = request_templates.transfers([sut.hot_merchant])
    spread: list[Merchant] = []
    measurements: dict[str, Callable[[], None]] = {
        "hot64": lambda: sut.measure_load("hot64", hot, 64),
        "hot256": lambda: sut.measure_load("hot256", hot, 256),
        "spread64": lambda: sut.measure_load(
            "spread64", request_templates.transfers(make_spread_merchants(sut, spread)), 64
        ),
        "token": lambda: sut.measure_load("token", make_token_charges(sut), 64),
        "card": lambda: measure_cards(sut),
        "verify": lambda: sut.measure_load("verify", make_verifications(sut), 64),
        "pull": lambda: measure_pulls(sut),
    }
    for name, measurement in measurements.items():
        if plan.includes(name):
            try_measurement(sut.figures, name, measurement)
    return spread


def measure_cards(sut: SystemUnderTest) -> None:
    meter = cpu.CpuMeter(sut.server, sut.dsn)
    steps = sut.figures.card_payments = measure_card_payments(sut.server.port, sut.hot_merchant, meter)
    say("card payments: " + ", ".join(f"{step} {cost.total_us:,.0f} us" for step, cost in steps.items()))


def measure_pulls(sut: SystemUnderTest) -> None:
    sut.measure_load("pull_plain", request_templates.plain_pulls(sut.hot_merchant), 64, PULL_REPLY_START)
    sut.measure_load("pull", request_templates.pulls(sut.hot_merchant), 64, GZIP_REPLY_START)


def make_spread_merchants(sut: SystemUnderTest, spread: list[Merchant]) -> list[Merchant]:
    spread += [make_merchant(sut.server.port, sut.dsn, SPREAD_WALLET_FUNDINGS) for _ in range(SPREAD)]
    return spread


def measure_deliveries(sut: SystemUnderTest, spread: list[Merchant]) -> None:
    """Measures deliveries of the loads' events, before anything else needs the same worker."""
    for name, merchants in (("one", [sut.hot_merchant]), ("many", spread)):
        found = deliver.measure_deliveries(sut.server.port, sut.dsn, merchants, sut.seconds)
        sut.figures.deliveries[name] = found
        say(f"deliver to {name}: {found.rate:,.0f}/s, failed {found.failed}")


def make_token_charges(sut: SystemUnderTest) -> list[request_templates.RequestTemplate]:
    return request_templates.token_charges(sut.hot_merchant, save_card(sut.server.port, sut.hot_merchant))


def make_verifications(sut: SystemUnderTest) -> list[request_templates.RequestTemplate]:
    token = save_card(sut.server.port, sut.hot_merchant)
    return request_templates.verifications(
        sut.hot_merchant, make_payments(sut.server.port, sut.hot_merchant, token, VERIFIED_PAYMENTS)
    )


def measure_savings(sut: SystemUnderTest) -> None:
    """Measures with its own merchant, so that its accounts are not part of other loads."""
    merchant = make_merchant(sut.server.port, sut.dsn)
    sut.figures.interest = measure_interest(sut.dsn, sut.data, merchant, SAVINGS_ACCOUNTS)
    say(f"interest: {sut.figures.interest.rate:,.0f} accounts/s")


def measure_latency(sut: SystemUnderTest) -> None:
    """Measures latency at half of the best rate measured."""
    figures, requests = sut.figures, request_templates.transfers([sut.hot_merchant])
    figures.half_rate = figures.highest_load() / 2
    postgres.vacuum_and_checkpoint(sut.dsn)
    figures.single_client = paced.measure_single(sut.server.port, requests, sut.seconds)
    figures.half_load = paced.measure_paced(sut.server.port, requests, sut.seconds, figures.half_rate)
    single, half = figures.single_client.median_ms, figures.half_load.p99_ms
    say(f"latency: single median {single:.2f} ms, p99 at half load {half:.2f} ms")


def measure_preloaded(plan: Plan, sut: SystemUnderTest) -> None:
    """Measures on full tables without a restart: plans made on small tables must work on large ones."""
    sut.figures.preloaded_rows = preload(sut.dsn, plan.preload_rows)
    say(f"preload: {sut.figures.preloaded_rows:,} transactions")
    sut.measure_load("full64", request_templates.transfers([sut.hot_merchant]), 64)


def measure_many_rows(plan: Plan, sut: SystemUnderTest) -> None:
    """Measures lists and pages of a merchant with many transactions."""
    verifications, merchant = make_verifications(sut), make_merchant(sut.server.port, sut.dsn)
    lists.fill(sut, merchant, plan.list_rows)
    sut.figures.list_rows = plan.list_rows
    if plan.includes("lists"):
        try_measurement(sut.figures, "lists", lambda: measure_lists(sut, merchant, verifications))
    if plan.includes("console"):
        sut.figures.console = console_pages.measure_console(sut.server.console_port, sut.dsn, sut.data, merchant.mid)
        for path, page in sut.figures.console.items():
            say(f"{path}: median {page.median_ms:.1f} ms, slowest {page.slowest_ms:.1f} ms, {page.size:,} bytes")


def measure_lists(
    sut: SystemUnderTest, merchant: Merchant, verifications: Sequence[request_templates.RequestTemplate]
) -> None:
    """Measures pages of long lists."""
    figures = sut.figures
    lists.measure_pages(sut, merchant, verifications)
    for cost in figures.page_verifications:
        say(f"verify: API {cost.api_us:,.0f} us, PostgreSQL {cost.postgres_us:,.0f} us")
    for name, (load, cost) in figures.pages.items():
        say(
            f"{name}: {lists.ratio_to_verify(figures, cost):.2f} verifications; {load.rate:,.0f}/s, "
            f"API {cost.api_us:,.0f} us, PostgreSQL {cost.postgres_us:,.0f} us"
        )


def try_measurement(figures: Results, name: str, measurement: Callable[[], None]) -> None:
    """Makes one measurement. If it fails, the others still run."""
    try:
        measurement()
    except MeasurementFailed as fault:
        figures.failures[name] = str(fault)
        say(f"{name}: not measured: {fault}")


def say(text: str) -> None:
    """Prints progress to standard error, apart from the table."""
    print(text, file=sys.stderr, flush=True)
