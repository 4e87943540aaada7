"""What a process counts while it works, and how it reaches who serves `/metrics`.

Counting is an addition in memory. Once a second a process posts its numbers on its board, memory that it shares with
the part that adds the boards up (web/scrape.py). A part that died is started again on the same board and counts on
from there: a counter never falls.

Labels are words of ours, such as paths, actions, codes and kinds of jobs: never anything that was sent.
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
# The checksum and the length of what a half holds.
HEAD = Struct("<II")

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)


class MetricSpec(msgspec.Struct, frozen=True):
    """Something that is counted or, with bounds, spread over them; a gauge is what it is now."""

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
STEPS = MetricSpec("kasuwa_steps", "Jobs run, by what the outside said of them.", ("kind", "answer"))
STEP_SECONDS = MetricSpec("kasuwa_step_seconds", "How long the outside took.", ("kind",), SECONDS)
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
POOL_TIMEOUTS = MetricSpec("kasuwa_pool_timeouts", "Waits for a connection of a pool that ended in vain.", ("pool",))

CLOCK_SKEW_SECONDS = MetricSpec(
    "kasuwa_clock_skew_seconds", "How far a part's clock is ahead of the database's.", ("part",), is_gauge=True
)
LOOP_LAG = MetricSpec("kasuwa_loop_lag_seconds", "How late the event loop's timers are.", ("part",), SECONDS)
CLOCK_JUMPS = MetricSpec("kasuwa_clock_jumps", "Clocks that were set: a process's or the database's.", ("clock",))

ALL_METRICS = (
    *(REQUESTS, REQUEST_SECONDS, BATCH_SIZE, COMMIT_SECONDS, STEPS, STEP_SECONDS, DELIVERIES),
    *(DELIVERY_SECONDS, ERRORS, STARTS, CPU_SECONDS, MEMORY_BYTES, POOL_SIZE, POOL_USED, POOL_TIMEOUTS),
    *(CLOCK_SKEW_SECONDS, CLOCK_JUMPS, LOOP_LAG),
)


# One number for what is counted; for what is spread one a bound, one beyond the last, and the sum of all values.
Series = dict[tuple[str, tuple[str, ...]], list[float]]
SERIES = msgspec.msgpack.Decoder(list[tuple[str, tuple[str, ...], list[float]]])


class SharedCounters:
    """Shared memory for the numbers of one part. It has two halves, and the one that is not read is written."""

    def __init__(self, part: str) -> None:
        self.process_name = part
        self._memory = mmap.mmap(-1, 1 + 2 * HALF_BYTES)

    def publish(self, series: Series) -> None:
        said = msgspec.msgpack.encode([(name, labels, values) for (name, labels), values in series.items()])
        if HEAD.size + len(said) > HALF_BYTES:
            raise OverflowError("more is counted than a board has room for")
        half = 1 - self._memory[0]
        start = 1 + half * HALF_BYTES
        self._memory[start : start + HEAD.size + len(said)] = HEAD.pack(zlib.crc32(said), len(said)) + said
        self._memory[0] = half

    def read(self) -> Series:
        """What was posted last. Written over while it is read, it does not match its sum and is read again."""
        while True:
            start = 1 + self._memory[0] * HALF_BYTES
            checksum, length = HEAD.unpack(self._memory[start : start + HEAD.size])
            said = self._memory[start + HEAD.size : start + HEAD.size + length]
            if not length:
                return {}
            if zlib.crc32(said) == checksum:
                return {(name, labels): values for name, labels, values in SERIES.decode(said)}


class Metrics:
    """The numbers of this process, and of those before it on the same board."""

    def __init__(self, board: SharedCounters | None = None) -> None:
        self._board = board
        self.series: Series = board.read() if board is not None else {}
        self._cpu_seconds = 0.0
        self._watched: list[Callable[[], None]] = []

    @property
    def process_name(self) -> str:
        """The part of the deployment that these are the numbers of; empty where nobody reads them."""
        return "" if self._board is None else self._board.process_name

    def add_collector(self, look: Callable[[], None]) -> None:
        """Have `look` called before each post, to count or gauge what no event tells."""
        self._watched.append(look)

    def gauge(self, measure: MetricSpec, value: float, *labels: str) -> None:
        self.series[measure.name, labels] = [value]

    def count(self, measure: MetricSpec, *labels: str, by: float = 1.0) -> None:
        key = (measure.name, labels)
        found = self.series.get(key)
        if found is None:
            self.series[key] = [by]
        else:
            found[0] += by

    def observe(self, measure: MetricSpec, value: float, *labels: str) -> None:
        key = (measure.name, labels)
        found = self.series.get(key)
        if found is None:
            found = self.series[key] = [0.0] * (len(measure.bounds) + 2)
        found[bisect_left(measure.bounds, value)] += 1
        found[-1] += value

    def publish(self) -> None:
        if self._board is not None:
            self._measure_process(self._board.process_name)
            for look in self._watched:
                look()
            self._board.publish(self.series)

    async def publish_periodically(self) -> None:
        if self._board is not None:
            self.count(STARTS, self._board.process_name)
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
    """Now, where the system says so; else the most it ever was."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    except OSError:
        return highest if sys.platform == "darwin" else highest * 1024


def sum_counters(boards: Iterable[SharedCounters]) -> Series:
    total: Series = {}
    for board in boards:
        for key, values in board.read().items():
            before = total.get(key)
            total[key] = values if before is None else [a + b for a, b in zip(before, values, strict=True)]
    return total
