"""The figures of a run as plain values. report.py makes the table."""

from dataclasses import dataclass, field
from statistics import mean


class MeasurementFailed(Exception):
    """A measurement was not possible. The text says why and is shown in the table."""


@dataclass(frozen=True)
class CpuCost:
    """CPU time per request (or per transaction of pgbench), in microseconds."""

    api_us: float  # the API processes, all their threads
    postgres_us: float  # every process of PostgreSQL, background writers and autovacuum too
    other_us: float = 0.0  # the server's other processes: supervisor, job worker, console

    @property
    def total_us(self) -> float:
        """Returns the CPU time of the service, without the load generator."""
        return self.api_us + self.postgres_us + self.other_us

    def __add__(self, other: "CpuCost") -> "CpuCost":
        return CpuCost(self.api_us + other.api_us, self.postgres_us + other.postgres_us, self.other_us + other.other_us)

    def divided(self, number: int) -> "CpuCost":
        share = 1 / max(1, number)
        return CpuCost(self.api_us * share, self.postgres_us * share, self.other_us * share)


@dataclass(frozen=True)
class LoadResult:
    """The result of a load that keeps the server busy for a while."""

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
        """Returns whether all replies were successful."""
        return self.requests > 0 and self.refused == 0 and self.connection_errors == 0


@dataclass(frozen=True)
class LatencyResult:
    """Times from when a request was due until its reply arrived."""

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
    """The result of posting interest for many accounts."""

    accounts: int
    postings: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.accounts / self.seconds

    @property
    def is_valid(self) -> bool:
        """Returns whether interest was posted exactly once for each account."""
        return self.postings == self.accounts


@dataclass(frozen=True)
class ReconciliationResult:
    """The import of a statement with many lines."""

    lines: int
    matched: int
    theirs_only: int
    seconds: float
    cpu_seconds: float  # of the command and of PostgreSQL
    again_seconds: float  # the same file a second time
    memory_mb: float  # the most that the command used
    is_valid: bool  # exactly those lines are matched that are in the books


@dataclass(frozen=True)
class WorldResult:
    """A snapshot, a restore or a copy of a world."""

    action: str
    rows: int
    size: int  # of the stored world, in bytes
    seconds: float
    api_seconds: float  # of CPU time
    postgres_seconds: float

    def describe(self) -> str:
        return (
            f"{self.action} of {self.rows:,} rows: {self.seconds * 1000:,.0f} ms; CPU time: API"
            f" {self.api_seconds * 1000:,.0f} ms, PostgreSQL {self.postgres_seconds * 1000:,.0f} ms"
        )


@dataclass(frozen=True)
class LoanResult:
    """The nights of a lender: how much CPU time they take for what is due, and if nothing is."""

    loans: int
    days: int
    repayments: int
    due_days: int  # on which something was done
    of_repayment: CpuCost  # of those days
    of_empty_day: CpuCost

    def describe(self) -> str:
        due, empty = self.of_repayment, self.of_empty_day
        return (
            f"{self.loans:,} loans, {self.days:,} days: {self.repayments:,} repayments on {self.due_days:,} of them,"
            f" each {due.total_us:,.0f} us (API {due.api_us:,.0f}, PostgreSQL {due.postgres_us:,.0f}, others"
            f" {due.other_us:,.0f}); an empty day {empty.total_us:,.0f} us (API {empty.api_us:,.0f}, PostgreSQL"
            f" {empty.postgres_us:,.0f}, others {empty.other_us:,.0f})"
        )


@dataclass(frozen=True)
class KitResult:
    """Figures of the kit: the start of a server for tests, a merchant, and a whole test run with its server's start."""

    serve_seconds: float
    merchant_ms: float
    suite_seconds: float


@dataclass(frozen=True)
class ComparedLoad:
    """A load on several API processes, compared with the same load on one."""

    one_rate: float
    rate: float
    ratio: float  # the median of all rounds
    ratios: list[float]  # of each round
    one_cpu: CpuCost
    cpu: CpuCost
    is_valid: bool  # all replies were successful


@dataclass(frozen=True)
class BatchedSqlResult:
    """Transfers in batches, in SQL alone."""

    rate: float
    postgres_us: float  # per transfer
    batch_size: int
    clients: int


@dataclass(frozen=True)
class DeliveryResult:
    """Events that one worker delivered."""

    rate: float
    delivered: int
    failed: int

    @property
    def is_valid(self) -> bool:
        return self.delivered > 0 and self.failed == 0


@dataclass(frozen=True)
class ConsoleResult:
    """Time and size of a page of the console."""

    median_ms: float
    slowest_ms: float
    size: int  # in bytes


@dataclass(frozen=True)
class NeighborResult:
    """The median of one merchant's single transfers beside each load of another."""

    median_ms: dict[str, float]  # by load
    transfers: dict[str, int]  # how many there were
    bulk_orders: float  # orders of bulks that were recorded in a second
    refused: int  # transfers that were refused, or not decided in time

    @property
    def bulk_ratio(self) -> float:
        """Beside bulks, to that beside single transfers."""
        return self.median_ms["bulks"] / self.median_ms["transfers"]

    @property
    def statement_ratio(self) -> float:
        """Beside statements, to that of a merchant alone."""
        return self.median_ms["statements"] / self.median_ms["alone"]


@dataclass
class Results:
    """All figures of one run. A name in `faults` was requested and could not be measured."""

    machine: dict[str, str] = field(default_factory=dict)
    tpcb: dict[int, list[float]] = field(default_factory=dict)
    tpcb_cpu_us: dict[int, list[float]] = field(default_factory=dict)
    loads: dict[str, LoadResult] = field(default_factory=dict)
    cpu: dict[str, CpuCost] = field(default_factory=dict)
    card_payments: dict[str, CpuCost] = field(default_factory=dict)  # by step
    deliveries: dict[str, DeliveryResult] = field(default_factory=dict)
    preloaded_rows: int = 0
    interest: InterestRunResult | None = None
    single_client: LatencyResult | None = None
    half_load: LatencyResult | None = None
    half_rate: float = 0.0
    first_start_seconds: float | None = None
    later_start_seconds: float | None = None
    help_seconds: float | None = None
    status_seconds: float | None = None
    kit: KitResult | None = None
    two_processes: dict[str, ComparedLoad] = field(default_factory=dict)
    all_cores: dict[str, ComparedLoad] = field(default_factory=dict)
    too_few_cores: int | None = None  # the cores of a machine that has too few to measure all cores
    batched_sql: BatchedSqlResult | None = None
    list_rows: int = 0
    pages: dict[str, tuple[LoadResult, CpuCost]] = field(default_factory=dict)
    page_verifications: list[CpuCost] = field(default_factory=list)  # before and after the pages, on the same server
    console: dict[str, ConsoleResult] = field(default_factory=dict)  # by path
    reconciliations: dict[str, ReconciliationResult] = field(default_factory=dict)  # by format
    neighbor: NeighborResult | None = None
    # After a lost answer of the database, by the kind of message that it was the answer to.
    recovery_seconds: dict[str, float] = field(default_factory=dict)
    worlds: list[WorldResult] = field(default_factory=list)
    loans: list[LoanResult] = field(default_factory=list)  # of few loans, and of ten times as many
    memory_mb: list[float] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)

    def tpcb_rate(self, scale: int) -> float | None:
        """Returns the mean of before and after, because a shared machine drifts."""
        runs = self.tpcb.get(scale)
        return mean(runs) if runs else None

    def highest_load(self) -> float:
        return max((self.loads[name].rate for name in ("hot64", "hot256") if name in self.loads), default=0.0)
