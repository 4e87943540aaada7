"""Two versions of the service side by side: latency at half load, and the CPU time of a transfer.

    python -m bench.versions ../earlier/.venv/bin/python

Both servers run at once on one PostgreSQL. They are measured in turn, in short rounds, so that a machine that drifts
drifts for both: only the ratios count. Requests are sent at half of the highest rate of the earlier version.

A client on another machine would not compete with the server for a processor. So this one has priority, if the system
allows it.
"""

import argparse
import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median

from bench import cpu, paced, postgres, request_templates, server, wrk
from bench.machine import bench_directory
from bench.merchants import make_merchant
from bench.results import CpuCost, MeasurementFailed
from kasuwa.postgres.embedded import embedded

WARM_UP_SECONDS = 3
# The highest rate is measured again after so many rounds: a shared machine changes its speed within minutes.
ROUNDS_PER_RATE = 10
RATE_SECONDS = 2
CONNECTIONS = 64
PRIORITY = -15


@dataclass
class Version:
    """A server that runs one version, and what was measured."""

    name: str
    port: int
    requests: list[request_templates.RequestTemplate]
    meter: cpu.CpuMeter
    latencies: list[list[float]] = field(default_factory=list)  # by round
    costs: list[CpuCost] = field(default_factory=list)

    def percentile(self, share: float) -> float:
        return paced.percentile([latency for one in self.latencies for latency in one], share)

    def p99_of_rounds(self) -> list[float]:
        return [paced.percentile(one, 0.99) for one in self.latencies]


def start(stack: ExitStack, cluster: embedded.Cluster, directory: Path, name: str, python: str) -> Version:
    dsn = postgres.create_database(cluster, name)
    running = stack.enter_context(server.running(directory / name, dsn, python=python))
    requests = request_templates.transfers([make_merchant(running.port, dsn)])
    return Version(name, running.port, requests, cpu.CpuMeter(running, dsn))


def measure_rate(version: Version, seconds: int, directory: Path) -> float:
    """Returns the transfers a second under full load, and keeps the CPU time of one."""
    before = version.meter.read()
    done = wrk.finish(wrk.start(version.requests, version.port, CONNECTIONS, seconds, directory))
    version.costs.append(version.meter.cost_since(before, done.requests))
    return done.rate


def measure_latency(version: Version, seconds: float, rate: float) -> None:
    with paced.without_gc():
        client = paced.PacedClient(version.port, version.requests, paced.CONNECTIONS)
        client.send_evenly(seconds, rate)
        if not client.finish().is_valid:
            raise MeasurementFailed(f"{version.name}: some replies are not successful")
        version.latencies.append(client.latencies)


def compare(earlier: Version, now: Version, rounds: int, seconds: float, directory: Path) -> None:
    for version in (earlier, now):
        measure_rate(version, WARM_UP_SECONDS, directory)
        version.costs.clear()
    for number in range(rounds):
        order = (earlier, now) if number % 2 == 0 else (now, earlier)
        if number % ROUNDS_PER_RATE == 0:
            rates = {version.name: measure_rate(version, RATE_SECONDS, directory) for version in order}
        for version in order:
            measure_latency(version, seconds, rates[earlier.name] / 2)


def format_row(name: str, was: float, is_now: float, unit: str) -> str:
    return f"| {name} | {was:.1f} {unit} | {is_now:.1f} {unit} | {is_now / was:.2f} |"


def report(earlier: Version, now: Version) -> str:
    requests = sum(len(one) for one in now.latencies)
    lines = [f"| {requests:,} transfers each, at half load | earlier | now | ratio |", "|---|---|---|---|"]
    for name, share in (("median", 0.5), ("p90", 0.9), ("p99", 0.99)):
        lines.append(format_row(name, earlier.percentile(share) * 1000, now.percentile(share) * 1000, "ms"))
    before, after = earlier.p99_of_rounds(), now.p99_of_rounds()
    lines.append(format_row("p99 of a round, median", median(before) * 1000, median(after) * 1000, "ms"))
    ratios = [is_now / was for was, is_now in zip(before, after, strict=True)]
    lines.append(f"| its ratio in a round, median | | | {median(ratios):.2f} |")
    for name, part in (("CPU time, API", "api_us"), ("CPU time, PostgreSQL", "postgres_us")):
        was, is_now = (mean(getattr(cost, part) for cost in version.costs) for version in (earlier, now))
        lines.append(format_row(f"{name}, under full load", was, is_now, "us"))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.versions", description=__doc__.partition("\n")[0])
    parser.add_argument("python", help="interpreter of the earlier version: .venv/bin/python of its directory")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each round and version (default 2)")
    chosen = parser.parse_args()
    wrk.require_wrk()
    with ExitStack() as stack:
        directory = stack.enter_context(bench_directory())
        cluster = stack.enter_context(postgres.running(directory / "cluster"))
        earlier = start(stack, cluster, directory, "earlier", chosen.python)
        now = start(stack, cluster, directory, "now", sys.executable)
        try:
            os.nice(PRIORITY)
        except PermissionError:
            print("the client has no priority: what it waits for a processor counts as latency")
        compare(earlier, now, chosen.rounds, chosen.seconds, directory)
        print(report(earlier, now))


if __name__ == "__main__":
    main()
