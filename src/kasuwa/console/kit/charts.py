"""Charts as inline SVG. They can be read without color: each series has a pattern of its own.

Every bar has its values as a label, which pointing at it or moving to it by keyboard shows below the chart
(static/charts.js; without scripts, as a tooltip). The page shows the same numbers in a table.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal

import msgspec
from markupsafe import Markup

from kasuwa.core.money import MINOR_PER_MAJOR

WIDTH, HEIGHT = 640, 160
# Of a chart with few bars.
WIDEST_BAR = 96
TICKS = 4


# The patterns of the series, once on a page with charts.
CHART_PATTERNS = Markup(
    '<svg class="visually-hidden" aria-hidden="true"><defs>'
    '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern>'
    '<pattern id="dots" width="5" height="5" patternUnits="userSpaceOnUse">'
    '<circle class="dot" cx="2.5" cy="2.5" r="1.1"/></pattern></defs></svg>'
)


class Series(msgspec.Struct, frozen=True):
    """One of the parts of every bar. `style` is its CSS class: solid, hatched, dotted or open."""

    name: str
    style: str
    values: Sequence[int]


class BarChart(msgspec.Struct, frozen=True):
    """A chart of bars. Their parts are stacked, the first at the bottom, or side by side."""

    title: str
    bar_names: Sequence[str]  # such as "12 Nov"
    series: Sequence[Series]
    format_value: Callable[[int], str] = "{:,}".format  # in labels of bars
    format_tick: Callable[[int], str] = "{:,}".format  # of the axis
    is_side_by_side: bool = False  # for parts that are no parts of one whole
    names_all_bars: bool = False  # below the axis; for few bars that are no days


def axis_maximum(highest: int) -> int:
    """Returns the top of the axis: at least the highest value, and divisible into round steps."""
    if highest <= TICKS:
        return TICKS
    power = 1
    while power * 10 * TICKS <= highest:
        power *= 10
    steps = (step * power for step in (1, 2, 5, 10, 20, 50))
    return next(step * TICKS for step in steps if step * TICKS >= highest)


def bar_label(chart: BarChart, index: int) -> str:
    values = [f"{chart.format_value(series.values[index])} {series.name}".rstrip() for series in chart.series]
    return f"{chart.bar_names[index]}: {', '.join(values)}"


def draw_bar_chart(chart: BarChart) -> Markup:
    """Draws the chart with its axes. The SVG is stretched to its container, so its texts are outside of it."""
    add_up = max if chart.is_side_by_side else sum
    heights = [add_up(series.values[n] for series in chart.series) for n in range(len(chart.bar_names))]
    top = axis_maximum(max(heights, default=0))
    ticks = [top * n // TICKS for n in range(TICKS, -1, -1)]
    step = WIDTH / max(len(heights), 1)
    bars = Markup("").join(draw_bar(chart, n, step, top) for n in range(len(heights)))
    lines = Markup("").join(
        Markup('<line class="grid-line" x1="0" x2="{}" y1="{y:.1f}" y2="{y:.1f}"/>').format(WIDTH, y=HEIGHT * n / TICKS)
        for n in range(TICKS)
    )
    return Markup(
        '<div class="bar-chart"><div class="axis-y" aria-hidden="true">{ticks}</div>'
        '<svg class="chart bars" viewBox="0 0 {w} {h}" preserveAspectRatio="none" role="group" aria-label="{title}">'
        "{lines}{bars}</svg>"
        '<div class="axis-x{all}" aria-hidden="true">{names}</div></div>'
        '<p class="chart-values" aria-hidden="true">Point at a bar, or move with the arrow keys, to see its values.</p>'
    ).format(
        ticks=Markup("").join(Markup("<span>{}</span>").format(chart.format_tick(tick)) for tick in ticks),
        w=WIDTH,
        h=HEIGHT,
        title=chart.title,
        lines=lines,
        bars=bars,
        all=" all" if chart.names_all_bars else "",
        names=Markup("").join(Markup("<span>{}</span>").format(name) for name in shown_names(chart)),
    )


def shown_names(chart: BarChart) -> Sequence[str]:
    return chart.bar_names if chart.names_all_bars else axis_names(chart.bar_names)


def axis_names(names: Sequence[str]) -> list[str]:
    """Returns the names below the axis: the first, the middle and the last bar."""
    if len(names) < 3:
        return list(names)
    return [names[0], names[len(names) // 2], names[-1]]


def draw_bar(chart: BarChart, index: int, step: float, top: int) -> Markup:
    """Draws one bar as a group that can be pointed at over the whole height. The first can be reached by Tab."""
    x, width = index * step, step
    gap = max(min(width * 0.15, 3), (width - WIDEST_BAR) / 2)
    rectangle = Markup('<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>')
    parts, left, bottom = [], x + gap, float(HEIGHT)
    part_width = (width - 2 * gap) / (len(chart.series) if chart.is_side_by_side else 1)
    for series in chart.series:
        height = series.values[index] * HEIGHT / top
        if series.values[index]:
            parts.append(rectangle.format(series.style, left, bottom - height, part_width, height))
        if chart.is_side_by_side:
            left += part_width
        else:
            bottom -= height
    return Markup(
        '<g class="bar" tabindex="{}" role="img" aria-label="{label}"><title>{label}</title>'
        '<rect class="target" x="{:.1f}" y="0" width="{:.1f}" height="{}"/>{}</g>'
    ).format(-1 if index else 0, x, width, HEIGHT, Markup("").join(parts), label=bar_label(chart, index))


def short_amount(minor: int) -> str:
    """Formats an amount for an axis: 1,500,000.00 becomes "1.5M". The currency is in the chart's title."""
    major = Decimal(minor) / MINOR_PER_MAJOR
    for size, letter in ((1_000_000_000, "B"), (1_000_000, "M"), (1_000, "K")):
        if major >= size:
            return f"{round(major / size, 2).normalize():f}{letter}"
    return f"{major.normalize():f}"
