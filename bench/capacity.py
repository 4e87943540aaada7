"""What a deployment needs for a rate of requests, from the CPU time of each kind. docs/scaling.md explains it.

CPU time adds up, whatever the mix: a core gives a second of it each second. Half of it stays free, because the tails of
latency grow fast beyond, and because a batch of jobs, a statement or an audit comes on top.
"""

from collections.abc import Iterator, Mapping

from bench.results import CpuCost, Results

PLANNED_SHARE = 0.5
RATE = 1_000
# Name of the figure, and what one of it is.
KINDS = (
    ("hot64", "transfers, one wallet"),
    ("spread64", "transfers, many merchants"),
    ("token", "card charges with a token"),
    ("card", "card payments with OTP, all three requests"),
    ("verify", "verifications"),
)


def cores_for(rate: float, cpu_us: float) -> float:
    """Returns the cores that do so many requests a second at half load."""
    return rate * cpu_us / 1e6 / PLANNED_SHARE


def costs_of_kinds(figures: Results) -> dict[str, CpuCost]:
    costs = dict(figures.cpu)
    if figures.card_payments:
        costs["card"] = sum(figures.card_payments.values(), start=CpuCost(0.0, 0.0))
    return costs


def capacity(costs: Mapping[str, CpuCost]) -> Iterator[str]:
    """Yields the lines that are printed below the table. Nothing, if no CPU time was measured."""
    known = [(costs[name], what) for name, what in KINDS if name in costs]
    if known:
        yield f"Capacity: for {RATE:,} a second at half load on cores like these you need"
    for cost, what in known:
        ours, database = cores_for(RATE, cost.api_us + cost.other_us), cores_for(RATE, cost.postgres_us)
        yield f"  {what}: {ours:.1f} cores for the service and {database:.1f} for PostgreSQL"
