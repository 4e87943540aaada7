"""`GET /metrics` on a port of its own: the counters of all processes, and the backlog in the database."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from kasuwa.api.backlog import Backlog
from kasuwa.http.exchange import Exchange, Request
from kasuwa.observe.metrics import ALL_METRICS, MetricSpec, Series, SharedCounters, sum_counters

PATH = "/metrics"
TEXT = [("content-type", "text/plain; charset=utf-8")]


class ScrapeCollector(Collector):
    """Presents the counters and the backlog of one scrape to prometheus_client."""

    def __init__(self, series: Series, waiting: Backlog | None) -> None:
        self._series = series
        self._waiting = waiting

    def collect(self) -> Iterator[Metric]:
        for measure in ALL_METRICS:
            rows = [(labels, values) for (name, labels), values in self._series.items() if name == measure.name]
            yield family(measure, rows)
        yield GaugeMetricFamily("kasuwa_database_up", "Whether the database answers.", self._waiting is not None)
        if self._waiting is not None:
            yield from waiting_families(self._waiting)


def family(measure: MetricSpec, rows: Iterable[tuple[Sequence[str], list[float]]]) -> Metric:
    if measure.bounds:
        spread = HistogramMetricFamily(measure.name, measure.help_text, labels=measure.labels)
        for labels, (*counts, total) in rows:
            spread.add_metric(labels, buckets(measure.bounds, counts), total)
        return spread
    kind = GaugeMetricFamily if measure.is_gauge else CounterMetricFamily
    plain = kind(measure.name, measure.help_text, labels=measure.labels)
    for labels, (value,) in rows:
        plain.add_metric(labels, value)
    return plain


def buckets(bounds: Sequence[float], counts: Sequence[float]) -> list[tuple[str, float]]:
    """Returns cumulative bucket counts, as the exposition format requires."""
    cumulative, below = [], 0.0
    for bound, count in zip((*map(str, bounds), "+Inf"), counts, strict=True):
        below += count
        cumulative.append((bound, below))
    return cumulative


def waiting_families(waiting: Backlog) -> Iterator[Metric]:
    due = GaugeMetricFamily("kasuwa_jobs_due", "Jobs that should have run by now.", labels=("lane",))
    late = GaugeMetricFamily("kasuwa_jobs_late_seconds", "How late the oldest of them is.", labels=("lane",))
    for lane, (jobs, seconds) in waiting.lanes.items():
        due.add_metric((lane,), jobs)
        late.add_metric((lane,), seconds)
    yield due
    yield late
    yield GaugeMetricFamily("kasuwa_endpoints_failing", "Merchants' endpoints that fail.", waiting.failing_endpoints)
    yield GaugeMetricFamily("kasuwa_endpoints_off", "Endpoints switched off for failing.", waiting.disabled_endpoints)
    yield GaugeMetricFamily("kasuwa_notices", "Notices ever written for a person to look at.", waiting.notice_count)


class MetricsEndpoint:
    def __init__(self, all_counters: Iterable[SharedCounters], look: Callable[[], Awaitable[Backlog | None]]) -> None:
        self._counters = all_counters
        self._look = look

    async def answer(self, request: Request, exchange: Exchange) -> None:
        if request.path != PATH or request.method not in ("GET", "HEAD"):
            exchange.reply(404, TEXT, f"GET {PATH} is all there is here\n".encode())
            return
        encode, content_type = choose_encoder(request.headers.get("accept") or "")
        backlog = await self._look()
        # In a thread: a process that has served every action has thousands of lines, which take 50 ms to encode.
        body = await asyncio.to_thread(lambda: encode(ScrapeCollector(sum_counters(self._counters), backlog)))
        exchange.reply(200, [("content-type", content_type)], body)
