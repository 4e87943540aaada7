"""Several API processes compared with one: two servers run side by side and are measured in turn, in short rounds.

A shared machine drifts, and both servers of a round drift alike. So the ratio of each round counts, and the result is
their median. The CPU time per transfer hardly depends on what else runs.
"""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from bench import cpu, postgres, request_templates, server, wrk
from bench.merchants import SPREAD_WALLET_FUNDINGS, make_merchant
from bench.results import ComparedLoad, CpuCost, LoadResult
from kasuwa.postgres.embedded import embedded

ROUNDS = 4
WARM_UP_SECONDS = 2
# The row `cores` is measured from this many cores on. Below, the load generator and PostgreSQL leave too few.
MIN_CORES = 8


@dataclass(frozen=True)
class ComparedServer:
    running: server.Server
    dsn: str
    # Requests by the name of the load.
    requests: dict[str, list[request_templates.RequestTemplate]]


@dataclass(frozen=True)
class LoadShape:
    """A load: one merchant or many, and the connections."""

    name: str
    merchants: int
    connections: int


TWO_PROCESSES = (LoadShape("hot", 1, 64), LoadShape("spread", 100, 256))
ALL_CORES = (LoadShape("hot", 1, 256), LoadShape("spread", 200, 512))


def count_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def compare(
    cluster: embedded.Cluster, directory: Path, workers: str, shapes: Sequence[LoadShape], seconds: int
) -> dict[str, ComparedLoad]:
    """Measures a server with `workers` API processes against one with a single process."""
    with ExitStack() as stack:
        one = start(stack, cluster, directory, "1", shapes)
        several = start(stack, cluster, directory, workers, shapes)
        return {shape.name: compare_load(one, several, shape, seconds, directory) for shape in shapes}


def start(
    stack: ExitStack, cluster: embedded.Cluster, directory: Path, workers: str, shapes: Sequence[LoadShape]
) -> ComparedServer:
    name = f"workers-{workers}-of-{len(list(directory.iterdir()))}"
    dsn = postgres.create_database(cluster, name)
    running = stack.enter_context(server.running(directory / name, dsn, workers))
    requests = {}
    for shape in shapes:
        fundings = {} if shape.merchants == 1 else {"fundings": SPREAD_WALLET_FUNDINGS}
        made = [make_merchant(running.port, dsn, **fundings) for _ in range(shape.merchants)]
        requests[shape.name] = request_templates.transfers(made)
    return ComparedServer(running, dsn, requests)


def compare_load(
    one: ComparedServer, several: ComparedServer, shape: LoadShape, seconds: int, directory: Path
) -> ComparedLoad:
    found: dict[str, list[tuple[LoadResult, CpuCost]]] = {"one": [], "several": []}
    for compared in (one, several):
        run_load(compared, shape, WARM_UP_SECONDS, directory)
    for number in range(ROUNDS):
        order = (("one", one), ("several", several))
        # In every other round the other is first, so that neither always follows the other's checkpoint.
        for name, compared in order if number % 2 == 0 else order[::-1]:
            postgres.vacuum_and_checkpoint(compared.dsn)
            meter = cpu.CpuMeter(compared.running, compared.dsn)
            before = meter.read()
            load = run_load(compared, shape, seconds, directory)
            found[name].append((load, meter.cost_since(before, load.requests)))
    ratios = [
        several_load.rate / one_load.rate
        for (one_load, _), (several_load, _) in zip(found["one"], found["several"], strict=True)
        if one_load.rate
    ]
    return ComparedLoad(
        one_rate=mean(load.rate for load, _ in found["one"]),
        rate=mean(load.rate for load, _ in found["several"]),
        ratio=median(ratios) if ratios else 0.0,
        ratios=ratios,
        one_cpu=mean_cost([cost for _, cost in found["one"]]),
        cpu=mean_cost([cost for _, cost in found["several"]]),
        is_valid=all(load.is_valid for name in found for load, _ in found[name]),
    )


def run_load(compared: ComparedServer, shape: LoadShape, seconds: int, directory: Path) -> LoadResult:
    requests = compared.requests[shape.name]
    return wrk.finish(wrk.start(requests, compared.running.port, shape.connections, seconds, directory))


def mean_cost(costs: Sequence[CpuCost]) -> CpuCost:
    return CpuCost(
        mean(cost.api_us for cost in costs),
        mean(cost.postgres_us for cost in costs),
        mean(cost.other_us for cost in costs),
    )
