"""Charts as inline SVG. They can be read without color: successful transactions are solid, others hatched.

Each has a title for screen readers, and the page shows the same numbers in a table.
"""

from datetime import date

import msgspec
from markupsafe import Markup

from kasuwa.console.formatting import short_date as day_text

WIDTH, HEIGHT, TOP = 640, 160, 2


class Bar(msgspec.Struct, frozen=True):
    day: date
    successful: int
    other: int


def draw_bar_chart(title: str, data: list[Bar]) -> Markup:
    """Draws one stacked bar per day, scaled to the highest day.

    The SVG is stretched to its container, so its texts are outside of it.
    """
    highest = max((bar.successful + bar.other for bar in data), default=0)
    step = WIDTH / max(len(data), 1)
    drawn = [draw_bar(bar, n, step, highest) for n, bar in enumerate(data)]
    return Markup(
        '<svg class="chart" viewBox="0 0 {w} {h}" preserveAspectRatio="none" role="img" aria-label="{title}">'
        '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>{bars}</svg>'
        '<div class="ends"><span>{first}</span><span>highest day: {highest}</span><span>{last}</span></div>'
    ).format(
        w=WIDTH,
        h=HEIGHT,
        title=title,
        bars=Markup("").join(drawn),
        first=day_text(data[0].day),
        last=day_text(data[-1].day),
        highest=f"{highest:,}",
    )


def draw_bar(bar: Bar, index: int, step: float, highest: int) -> Markup:
    scale = (HEIGHT - TOP) / highest if highest else 0
    good, rest = bar.successful * scale, bar.other * scale
    x, width = index * step + 1, max(step - 3, 2)
    rectangle = Markup('<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>')
    parts = [rectangle.format("good", x, HEIGHT - good, width, good)] if bar.successful else []
    if bar.other:
        parts.append(rectangle.format("rest", x, HEIGHT - good - rest, width, rest))
    return Markup("").join(parts)
