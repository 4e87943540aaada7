"""The operator's page of calls of rails: their number, how many were answered and how long they took, by operation."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import msgspec
from starlette.responses import Response

from kasuwa.console.kit.charts import CHART_PATTERNS, BarChart, Series, draw_bar_chart
from kasuwa.console.kit.csv_text import csv_line
from kasuwa.console.kit.figures import percentage
from kasuwa.console.kit.visit import Visit
from kasuwa.core.calendar import LAGOS
from kasuwa.rails.watch.call_timings import CallCount, CallFigures, list_timings, sum_calls

Group = TypeVar("Group", bound=Hashable)

# Parameter, label, number of bars, and whether a bar is a day.
SPANS = (("24h", "24 hours", 24, False), ("7d", "7 days", 7, True), ("30d", "30 days", 30, True))
CSV_HEADER = ("from", "rail", "operation", "calls", "answered", "p50_ms", "p95_ms")
# Fewer calls say little about a rail.
ENOUGH_CALLS = 20


class Span(msgspec.Struct, frozen=True):
    """The time that the page shows, as bars: the hours or days in Lagos that have begun, the present one included."""

    name: str
    label: str
    starts: tuple[datetime, ...]
    is_daily: bool
    until: datetime

    def bar_name(self, start: datetime) -> str:
        return f"{start.day} {start:%b}" if self.is_daily else f"{start:%H}:00"

    def find_bar(self, moment: datetime) -> datetime:
        """Returns the bar that a time is in. The first one if it is earlier."""
        return max((start for start in self.starts if start <= moment), default=self.starts[0])


def read_span(name: str, now: datetime) -> Span:
    """Returns the span that a query names, or the last 24 hours."""
    key, label, number, is_daily = next((span for span in SPANS if span[0] == name), SPANS[0])
    local = now.astimezone(LAGOS)
    last = local.replace(minute=0, second=0, microsecond=0, hour=0 if is_daily else local.hour)
    step = timedelta(days=1) if is_daily else timedelta(hours=1)
    starts = tuple(last - step * n for n in range(number - 1, -1, -1))
    return Span(key, label, starts, is_daily, last + step)


class RailCalls(msgspec.Struct, frozen=True):
    """The calls of a rail, or of one operation of it."""

    rail: str
    operation: str  # empty for the whole rail
    figures: CallFigures

    @property
    def success(self) -> str:
        return percentage(self.figures.answered, self.figures.calls)


def group_calls(counts: Iterable[CallCount], key_of: Callable[[CallCount], Group]) -> dict[Group, CallFigures]:
    groups = defaultdict[Group, list[CallCount]](list)
    for count in counts:
        groups[key_of(count)].append(count)
    return {key: sum_calls(members) for key, members in groups.items()}


def sort_slowest(lines: Iterable[RailCalls]) -> list[RailCalls]:
    return sorted(lines, key=lambda line: (-(line.figures.p95 or 0), line.rail, line.operation))


def find_slowest(rails: list[RailCalls]) -> RailCalls | None:
    """Returns the rail that is slower than all others, of those that were called often enough."""
    often = [rail for rail in rails if rail.figures.p95 is not None and rail.figures.calls >= ENOUGH_CALLS]
    if not often or (len(often) > 1 and often[0].figures.p95 == often[1].figures.p95):
        return None
    return often[0]


def make_chart(span: Span, rail: str, bars: dict[datetime, CallFigures]) -> BarChart:
    """Returns the chart of a rail's durations: half of the calls took at most the first, 95 of 100 the second."""
    return BarChart(
        f"Duration of calls of {rail} in milliseconds, {span.label}",
        [span.bar_name(start) for start in span.starts],
        tuple(
            Series(name, style, [getattr(bars.get(start), name, None) or 0 for start in span.starts])
            for name, style in (("p50", "good"), ("p95", "rest"))
        ),
        is_side_by_side=True,
    )


async def show_calls(visit: Visit) -> Response:
    span = read_span(visit.query.get("span", ""), datetime.now(UTC))
    async with visit.snapshot() as reader:
        counts = await list_timings(reader, span.starts[0], span.until)
    by_rail = group_calls(counts, lambda count: count.rail)
    by_operation = group_calls(counts, lambda count: (count.rail, count.operation))
    by_bar = group_calls(counts, lambda count: (count.rail, span.find_bar(count.hour)))
    rails = sort_slowest(RailCalls(rail, "", figures) for rail, figures in by_rail.items())
    bars = {rail.rail: {at: sums for (name, at), sums in by_bar.items() if name == rail.rail} for rail in rails}
    return visit.render(
        "operator_rail_calls.html",
        span=span,
        spans=SPANS,
        rails=rails,
        slowest=find_slowest(rails),
        operations=sort_slowest(RailCalls(*key, figures) for key, figures in by_operation.items()),
        charts=[(rail, draw_bar_chart(make_chart(span, rail, sums)), sums) for rail, sums in bars.items()],
        patterns=CHART_PATTERNS,
    )


async def export_calls(visit: Visit) -> Response:
    """Sends the figures of each operation by hour or day as CSV."""
    span = read_span(visit.query.get("span", ""), datetime.now(UTC))
    async with visit.snapshot() as reader:
        counts = await list_timings(reader, span.starts[0], span.until)
    groups = group_calls(counts, lambda count: (span.find_bar(count.hour), count.rail, count.operation))
    lines = [csv_line(CSV_HEADER)]
    for (start, rail, operation), sums in sorted(groups.items()):
        durations = ("" if duration is None else str(duration) for duration in (sums.p50, sums.p95))
        cells = (start.isoformat(), rail, operation, str(sums.calls), str(sums.answered), *durations)
        lines.append(csv_line(cells))
    headers = {"content-disposition": f'attachment; filename="rail-calls-{span.name}.csv"'}
    return Response("".join(lines), media_type="text/csv; charset=utf-8", headers=headers)
