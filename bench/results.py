"""What a run measures, as plain values; report.py turns them into the table."""

from dataclasses import dataclass, field
from statistics import mean


class MeasurementFailed(Exception):
    """A measurement that could not be made; its text says why and stands in the table."""


@dataclass(frozen=True)
class CpuCost:
    """Processor time per request (or per transaction of pgbench), in microseconds."""

    api_us: float  # the API process, all its threads
    postgres_us: float  # every process of PostgreSQL, background writers and autovacuum too
    other_us: float = 0.0  # the server's other processes: supervisor, job worker, console

    @property
    def total_us(self) -> float:
        """Returns the processor time of the service, without the load generator."""
        return self.api_us + self.postgres_us + self.other_us


@dataclass(frozen=True)
class LoadResult:
    """The result of sending as many requests as the server answers for a while."""

    rate: float
    requests: int
    refused: int
    connection_errors: int
    median_ms: float
    p99_ms: float
    client_cpu_share: float
    refusal_sample: str

    @property
    def is_valid(self) -> bool:
        """A figure that counts replies other than successful ones would be no figure."""
        return self.requests > 0 and self.refused == 0 and self.connection_errors == 0


@dataclass(frozen=True)
class LatencyResult:
    """Times from when a request was due until its reply was there."""

    requests: int
    refused: int
    median_ms: float
    p99_ms: float
    worst_ms: float
    client_lag_ms: float

    @property
    def is_valid(self) -> bool:
        return self.requests > 0 and self.refused == 0


@dataclass(frozen=True)
class InterestRunResult:
    """Something done once for each of many accounts."""

    accounts: int
    postings: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.accounts / self.seconds

    @property
    def is_valid(self) -> bool:
        """Once for each, and for none twice."""
        return self.postings == self.accounts


@dataclass(frozen=True)
class KitResult:
    """Figures of the kit: the start of a server for tests, a merchant, and a whole test run with its server's start."""

    serve_seconds: float
    merchant_ms: float
    suite_seconds: float


@dataclass(frozen=True)
class DeliveryResult:
    """Events that one worker brought to their receiver."""

    rate: float
    delivered: int
    failed: int

    @property
    def is_valid(self) -> bool:
        return self.delivered > 0 and self.failed == 0


@dataclass
class Results:
    """Everything of one run. A name in `faults` was asked for and could not be measured."""

    machine: dict[str, str] = field(default_factory=dict)
    tpcb: dict[int, list[float]] = field(default_factory=dict)
    tpcb_cpu_us: dict[int, list[float]] = field(default_factory=dict)
    loads: dict[str, LoadResult] = field(default_factory=dict)
    cpu: dict[str, CpuCost] = field(default_factory=dict)
    deliveries: dict[str, DeliveryResult] = field(default_factory=dict)
    preloaded_rows: int = 0
    interest: InterestRunResult | None = None
    single_client: LatencyResult | None = None
    half_load: LatencyResult | None = None
    half_rate: float = 0.0
    first_start_seconds: float | None = None
    later_start_seconds: float | None = None
    kit: KitResult | None = None
    memory_mb: list[float] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)

    def tpcb_rate(self, scale: int) -> float | None:
        """The mean over before and after, because the machine is shared and drifts."""
        runs = self.tpcb.get(scale)
        return mean(runs) if runs else None

    def highest_load(self) -> float:
        return max((self.loads[name].rate for name in ("hot64", "hot256") if name in self.loads), default=0.0)
