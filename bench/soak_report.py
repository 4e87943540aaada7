"""The measurements of a soak, what of them drifted, and the report."""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

# The first quarter warms up. The second is compared with the last.
MEMORY_GROWTH = 1.2
MEMORY_SLACK_MB = 20.0
LATENCY_GROWTH = 2.0
LATENCY_SLACK_SECONDS = 0.25
LATE_SECONDS = 60
# Tables whose rows come and go: more of them at the end means that something is not deleted. The others grow by design.
PASSING = frozenset({"scheduled_job", "commit_mark", "rail_inbox", "advance_lease", "console_session"})
PASSING_GROWTH = 3.0
PASSING_SLACK_ROWS = 2_000
# commit marks stay for a day.
KEPT_A_DAY = frozenset({"commit_mark"})
RIGHT_BOOKS = "the books are right"
LEAST_SAMPLES = 4


@dataclass(frozen=True)
class Latency:
    """The times of the requests of an interval, in seconds."""

    requests: int
    p50: float
    p99: float
    longest: float

    @classmethod
    def of(cls, ordered: list[float]) -> "Latency":
        if not ordered:
            return cls(0, 0.0, 0.0, 0.0)
        return cls(len(ordered), ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100], ordered[-1])


@dataclass(frozen=True)
class Sample:
    """The readings of one moment."""

    minutes: float
    latency: Latency
    memory_mb: Mapping[str, float] = field(default_factory=dict)  # by process
    tables: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)  # bytes, live and dead rows
    late_jobs: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # number and the longest delay in seconds

    @property
    def service_mb(self) -> float:
        return sum(value for name, value in self.memory_mb.items() if not name.startswith("postgres"))

    @property
    def latest_seconds(self) -> int:
        return max((seconds for _, seconds in self.late_jobs.values()), default=0)

    def line(self) -> str:
        return (
            f"{self.minutes:6.1f} min  {self.latency.requests:6} requests  p50 {self.latency.p50 * 1000:6.1f} ms  "
            f"p99 {self.latency.p99 * 1000:7.1f} ms  {self.service_mb:7.1f} MB  late {self.latest_seconds} s"
        )


def compare_quarters(samples: list[Sample], value: Callable[[Sample], float]) -> tuple[float, float]:
    """Returns the medians of the second and the last quarter."""
    quarter = max(1, len(samples) // 4)
    return (
        statistics.median(map(value, samples[quarter : 2 * quarter])),
        statistics.median(map(value, samples[-quarter:])),
    )


def find_drifts(samples: list[Sample], outcomes: Mapping[str, int], audited: str, errors: int) -> list[str]:
    """Returns a sentence for each thing that grew or went wrong."""
    if len(samples) < LEAST_SAMPLES:
        return ["too few samples to compare"]
    drifts = []
    for process in sorted({name for sample in samples for name in sample.memory_mb}):
        before, after = compare_quarters(samples, lambda sample, name=process: sample.memory_mb.get(name, 0.0))  # type: ignore[misc]
        if after > before * MEMORY_GROWTH + MEMORY_SLACK_MB:
            drifts.append(f"the memory of {process} grew from {before:.0f} to {after:.0f} MB")
    before, after = compare_quarters(samples, lambda sample: sample.latency.p99)
    if after > before * LATENCY_GROWTH + LATENCY_SLACK_SECONDS:
        drifts.append(f"the p99 grew from {before * 1000:.0f} to {after * 1000:.0f} ms")
    for table in sorted(PASSING - KEPT_A_DAY):
        before, after = compare_quarters(samples, lambda sample, name=table: sample.tables.get(name, (0, 0, 0))[1])  # type: ignore[misc]
        if after > before * PASSING_GROWTH + PASSING_SLACK_ROWS:
            drifts.append(f"{table} grew from {before:.0f} to {after:.0f} rows")
    latest = max(sample.latest_seconds for sample in samples)
    if latest > LATE_SECONDS:
        drifts.append(f"a job was {latest} s late")
    unexpected = {name: count for name, count in outcomes.items() if name not in ("status 200", "status 104")}
    if unexpected:
        drifts.append(f"replies that were not expected: {unexpected}")
    if errors:
        drifts.append(f"the log has {errors} errors")
    if audited != RIGHT_BOOKS:
        drifts.append(f"kasuwa audit says: {audited[:500]}")
    return drifts


def write_report(
    path: Path, samples: list[Sample], outcomes: Mapping[str, int], drifts: list[str], rate: float
) -> None:
    last = samples[-1] if samples else Sample(0.0, Latency.of([]))
    first = samples[0] if samples else last
    grown = sorted(last.tables.items(), key=lambda item: -item[1][0])[:20]
    lines = [
        "# Soak",
        "",
        f"{last.minutes:.0f} minutes at {rate:.0f} requests per second: {sum(outcomes.values())} requests, "
        + ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items())),
        "",
        "## Drifts",
        "",
        *([f"- {drift}" for drift in drifts] or ["None."]),
        "",
        "## Over time",
        "",
        "| minutes | requests | p50 ms | p99 ms | longest ms | service MB | PostgreSQL MB, unshared | late jobs, s |",
        "|---|---|---|---|---|---|---|---|",
        *(
            f"| {s.minutes:.1f} | {s.latency.requests} | {s.latency.p50 * 1000:.1f} | {s.latency.p99 * 1000:.1f} | "
            f"{s.latency.longest * 1000:.0f} | {s.service_mb:.1f} | {s.memory_mb.get('postgres, unshared', 0):.1f} | "
            f"{s.latest_seconds} |"
            for s in samples
        ),
        "",
        "## Memory by process, MB",
        "",
        "| process | first | last |",
        "|---|---|---|",
        *(f"| {name} | {first.memory_mb.get(name, 0):.1f} | {value:.1f} |" for name, value in last.memory_mb.items()),
        "",
        "## Tables",
        "",
        "| table | first kB | last kB | live rows | dead rows |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {first.tables.get(name, (0, 0, 0))[0] // 1024} | {size // 1024} | {live} | {dead} |"
            for name, (size, live, dead) in grown
        ),
        "",
    ]
    path.write_text("\n".join(lines))
