"""CPU time per request of the server and of PostgreSQL under load.

Throughput depends on what else the machine does. CPU time per request hardly does, so two versions of the code are
compared by it.
"""

from dataclasses import dataclass

import psutil

from bench import postgres, processes, server
from bench.results import CpuCost


@dataclass(frozen=True)
class CpuReading:
    """Seconds of CPU time used so far."""

    api: float
    postgres: float
    other: float


class CpuMeter:
    """Reads the CPU time of one server and of its PostgreSQL."""

    def __init__(self, running: server.Server, dsn: str) -> None:
        self._serve = running.process
        self._postmaster = postgres.postmaster(dsn)

    def read(self) -> CpuReading:
        api = processes.api_seconds_used(self._serve)
        below = processes.seconds_used_below(self._serve)
        return CpuReading(api, processes.seconds_used_below(self._postmaster), below - api)

    def cost_since(self, before: CpuReading, requests: int) -> CpuCost:
        """Returns the CPU time used since `before`, divided by the requests answered meanwhile."""
        after, share = self.read(), 1e6 / max(1, requests)
        return CpuCost(
            api_us=(after.api - before.api) * share,
            postgres_us=(after.postgres - before.postgres) * share,
            other_us=(after.other - before.other) * share,
        )


def postgres_us(postmaster: psutil.Process, before: float, transactions: float) -> float:
    """Returns the microseconds of PostgreSQL per transaction, since it had used `before` seconds."""
    return (processes.seconds_used_below(postmaster) - before) * 1e6 / max(1.0, transactions)
