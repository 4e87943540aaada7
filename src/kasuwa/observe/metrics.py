"""Metrics of a process, and the shared memory through which they reach the process that serves `/metrics`.

Counting is an addition in memory. Once a second a process publishes its values to its SharedCounters. The metrics
process adds up those of all processes (api/scrape.py). A process that died is restarted with the same SharedCounters
and continues from their values, so a counter never falls.

Labels come from our own fixed words, such as paths, actions, codes and kinds of jobs, never from a request.
"""

import asyncio
import mmap
import resource
import sys
import zlib
from bisect import bisect_left
from collections.abc import Callable, Iterable
from pathlib import Path
from struct import Struct

import msgspec

PUBLISH_SECONDS = 1.0
HALF_BYTES = 512 * 1024
# The checksum and the length of the content of a half.
HEAD = Struct("<II")

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)


class MetricSpec(msgspec.Struct, frozen=True):
    """A metric: a histogram if it has bounds, a gauge if `is_gauge`, otherwise a counter."""

    name: str
    help_text: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()
    is_gauge: bool = False


REQUESTS = MetricSpec("kasuwa_requests", "Requests answered, by the code of the reply.", ("path", "action", "status"))
REQUEST_SECONDS = MetricSpec(
    "kasuwa_request_seconds", "From a request's head to its reply.", ("path", "action"), SECONDS
)
BATCH_SIZE = MetricSpec("kasuwa_batch_size", "Writes that share a commit, on memory or locked.", ("way",), SIZES)
COMMIT_SECONDS = MetricSpec("kasuwa_commit_seconds", "From the first statement of a batch to its commit.", (), SECONDS)
STEPS = MetricSpec("kasuwa_steps", "Jobs run, by the answer of the rail.", ("kind", "answer"))
STEP_SECONDS = MetricSpec("kasuwa_step_seconds", "How long the outside took.", ("kind",), SECONDS)
JOBS_GIVEN_UP = MetricSpec("kasuwa_jobs_given_up", "Jobs that a worker gave up at their deadline.", ("kind",))
RAIL_CALLS = MetricSpec("kasuwa_rail_calls", "Calls of a vendor's API, by what came back.", ("rail", "outcome"))
RAIL_SECONDS = MetricSpec("kasuwa_rail_seconds", "How long a vendor's API took.", ("rail",), SECONDS)
RAIL_IN_FLIGHT = MetricSpec(
    "kasuwa_rail_in_flight", "Calls of a vendor's API in progress.", ("part", "rail"), is_gauge=True
)
RAIL_PAUSED = MetricSpec(
    "kasuwa_rail_paused", "1 while a part leaves a vendor alone after failures.", ("part", "rail"), is_gauge=True
)
RAIL_HELD_SECONDS = MetricSpec(
    "kasuwa_rail_held_seconds", "How long a part still holds its calls to a vendor.", ("part", "rail"), is_gauge=True
)
RAIL_BALANCE = MetricSpec(
    "kasuwa_rail_balance_minor", "Our balance with a vendor, in minor units.", ("rail", "currency"), is_gauge=True
)
DELIVERIES = MetricSpec("kasuwa_deliveries", "Tries to deliver an event: delivered, failed or untried.", ("outcome",))
DELIVERY_SECONDS = MetricSpec("kasuwa_delivery_seconds", "How long endpoints took.", (), SECONDS)
ERRORS = MetricSpec("kasuwa_errors", "Errors logged: each is a fault of ours to look at.", ("what",))
STARTS = MetricSpec("kasuwa_part_starts", "How often a part was started.", ("part",))
CPU_SECONDS = MetricSpec("kasuwa_part_cpu_seconds", "Processor time of a part.", ("part",))
MEMORY_BYTES = MetricSpec(
    "kasuwa_part_memory_bytes", "Resident memory of a part, shared pages too.", ("part",), is_gauge=True
)
POOL_SIZE = MetricSpec(
    "kasuwa_pool_size", "Database connections that a pool may have.", ("part", "pool"), is_gauge=True
)
POOL_USED = MetricSpec("kasuwa_pool_used", "Database connections of a pool in use.", ("part", "pool"), is_gauge=True)
POOL_TIMEOUTS = MetricSpec("kasuwa_pool_timeouts", "Waits for a connection of a pool that timed out.", ("pool",))

CLOCK_SKEW_SECONDS = MetricSpec(
    "kasuwa_clock_skew_seconds", "How far a part's clock is ahead of the database's.", ("part",), is_gauge=True
)
LOOP_LAG = MetricSpec("kasuwa_loop_lag_seconds", "How late the event loop's timers are.", ("part",), SECONDS)
CLOCK_JUMPS = MetricSpec("kasuwa_clock_jumps", "Clocks that were set: a process's or the database's.", ("clock",))
FORWARDED = MetricSpec(
    "kasuwa_forwarded", "Writes sent to the process that owns the merchant, by what came back.", ("kind", "outcome")
)
DECIDED_FOR_OTHERS = MetricSpec(
    "kasuwa_decided_for_others", "Writes decided by a process that does not own the merchant.", ("kind", "why")
)
OWNERS_LIVE = MetricSpec(
    "kasuwa_owners_live", "Other API processes that a part can send writes to.", ("part",), is_gauge=True
)
PEER_FORWARDED = MetricSpec(
    "kasuwa_peer_forwarded", "Writes sent to an API process of another host, by what came back.", ("peer", "outcome")
)
PEER_LIVE = MetricSpec(
    "kasuwa_peer_live",
    "1 while a part can send writes to an API process of another host.",
    ("part", "peer"),
    is_gauge=True,
)
PEER_REFUSED = MetricSpec(
    "kasuwa_peer_refused",
    "Connections between hosts that were refused, of a caller or by its address.",
    ("peer", "why"),
)

ALL_METRICS = (
    REQUESTS,
    REQUEST_SECONDS,
    BATCH_SIZE,
    COMMIT_SECONDS,
    STEPS,
    STEP_SECONDS,
    JOBS_GIVEN_UP,
    DELIVERIES,
    RAIL_CALLS,
    RAIL_SECONDS,
    RAIL_IN_FLIGHT,
    RAIL_PAUSED,
    RAIL_HELD_SECONDS,
    RAIL_BALANCE,
    DELIVERY_SECONDS,
    ERRORS,
    STARTS,
    CPU_SECONDS,
    MEMORY_BYTES,
    POOL_SIZE,
    POOL_USED,
    POOL_TIMEOUTS,
    CLOCK_SKEW_SECONDS,
    CLOCK_JUMPS,
    LOOP_LAG,
    FORWARDED,
    DECIDED_FOR_OTHERS,
    OWNERS_LIVE,
    PEER_FORWARDED,
    PEER_LIVE,
    PEER_REFUSED,
)


# A counter or gauge has one number. A histogram has one per bound, one beyond the last bound, and the sum of values.
Series = dict[tuple[str, tuple[str, ...]], list[float]]
SERIES = msgspec.msgpack.Decoder(list[tuple[str, tuple[str, ...], list[float]]])


class SharedCounters:
    """Shared memory for the metrics of one process. It has two halves: one is read while the other is written."""

    def __init__(self, part: str) -> None:
        self.process_name = part
        self._memory = mmap.mmap(-1, 1 + 2 * HALF_BYTES)

    def publish(self, series: Series) -> None:
        encoded = msgspec.msgpack.encode([(name, labels, values) for (name, labels), values in series.items()])
        if HEAD.size + len(encoded) > HALF_BYTES:
            raise OverflowError("the metrics do not fit into the shared memory")
        half = 1 - self._memory[0]
        start = 1 + half * HALF_BYTES
        self._memory[start : start + HEAD.size + len(encoded)] = HEAD.pack(zlib.crc32(encoded), len(encoded)) + encoded
        self._memory[0] = half

    def read(self) -> Series:
        """Returns the values published last. Reads again if the checksum shows that they were overwritten meanwhile."""
        while True:
            start = 1 + self._memory[0] * HALF_BYTES
            checksum, length = HEAD.unpack(self._memory[start : start + HEAD.size])
            encoded = self._memory[start + HEAD.size : start + HEAD.size + length]
            if not length:
                return {}
            if zlib.crc32(encoded) == checksum:
                return {(name, labels): values for name, labels, values in SERIES.decode(encoded)}


class Metrics:
    """The metrics of this process. They continue those of earlier processes with the same SharedCounters."""

    def __init__(self, counters: SharedCounters | None = None) -> None:
        self._counters = counters
        self.series: Series = counters.read() if counters is not None else {}
        self._cpu_seconds = 0.0
        self._collectors: list[Callable[[], None]] = []

    @property
    def process_name(self) -> str:
        """The name of this process in the labels, or empty if its metrics are not published."""
        return "" if self._counters is None else self._counters.process_name

    def add_collector(self, collect: Callable[[], None]) -> None:
        """Registers a function that is called before each publication, to update metrics that no event updates."""
        self._collectors.append(collect)

    def gauge(self, measure: MetricSpec, value: float, *labels: str) -> None:
        self.series[measure.name, labels] = [value]

    def count(self, measure: MetricSpec, *labels: str, by: float = 1.0) -> None:
        key = (measure.name, labels)
        series = self.series.get(key)
        if series is None:
            self.series[key] = [by]
        else:
            series[0] += by

    def observe(self, measure: MetricSpec, value: float, *labels: str) -> None:
        key = (measure.name, labels)
        series = self.series.get(key)
        if series is None:
            series = self.series[key] = [0.0] * (len(measure.bounds) + 2)
        series[bisect_left(measure.bounds, value)] += 1
        series[-1] += value

    def publish(self) -> None:
        if self._counters is not None:
            self._measure_process(self._counters.process_name)
            for collect in self._collectors:
                collect()
            self._counters.publish(self.series)

    async def publish_periodically(self) -> None:
        if self._counters is not None:
            self.count(STARTS, self._counters.process_name)
            while True:
                self.publish()
                await asyncio.sleep(PUBLISH_SECONDS)

    def _measure_process(self, part: str) -> None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = used.ru_utime + used.ru_stime
        self.count(CPU_SECONDS, part, by=seconds - self._cpu_seconds)
        self._cpu_seconds = seconds
        self.gauge(MEMORY_BYTES, float(resident_bytes(used.ru_maxrss)), part)


def resident_bytes(highest: int) -> int:
    """Returns the resident memory now if the system tells it, otherwise the highest so far (`highest`)."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    except OSError:
        return highest if sys.platform == "darwin" else highest * 1024


def sum_counters(all_counters: Iterable[SharedCounters]) -> Series:
    total: Series = {}
    for counters in all_counters:
        for key, values in counters.read().items():
            before = total.get(key)
            total[key] = values if before is None else [a + b for a, b in zip(before, values, strict=True)]
    return total
