"""The schedule of a loan as a picture: a bar for each installment, with its state readable without color."""

from typing import Any

from markupsafe import Markup

from kasuwa.console.kit.values import date_html
from kasuwa.core.money import parse_minor

WIDTH, HEIGHT, TOP = 640, 120, 4
# Bars of more installments would be too thin to see.
MAX_BARS = 90
RECTANGLE = Markup('<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>')


def draw_schedule(lines: list[dict[str, Any]]) -> Markup:
    """Draws what is due with each installment, from the first on, and how much of it was paid.

    Paid parts are solid, what is due is an outline, and late installments are hatched in red. Returns nothing for an
    empty schedule."""
    shown = lines[:MAX_BARS]
    if not shown:
        return Markup("")
    totals = [parse_minor(line["total"]) or 0 for line in shown]
    highest, step = max(*totals, 1), WIDTH / len(shown)
    bars = [draw_installment(line, n * step, step, (HEIGHT - TOP) / highest) for n, line in enumerate(shown)]
    paid, late = (sum(line["state"] == state for line in lines) for state in ("paid", "late"))
    title = f"Schedule: {len(lines)} installments, {paid} paid, {late} late"
    return Markup(
        '<svg class="chart schedule" viewBox="0 0 {w} {h}" preserveAspectRatio="none" role="img" aria-label="{title}">'
        '<defs><pattern id="late" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<line class="late-line" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>{bars}</svg>'
        '<div class="ends"><span>{first}</span><span>{last}</span></div>'
    ).format(
        w=WIDTH,
        h=HEIGHT,
        title=title,
        bars=Markup("").join(bars),
        first=date_html(shown[0]["due"]),
        last=date_html(shown[-1]["due"]),
    )


def draw_installment(line: dict[str, Any], x: float, step: float, scale: float) -> Markup:
    total, paid = (parse_minor(line[name]) or 0 for name in ("total", "paid"))
    width, height = max(step - 3, 1), total * scale
    state = "late" if line["state"] == "late" else "written-off" if line["state"] == "written_off" else "due"
    title = Markup("<title>{}: {} due, {} paid</title>").format(line["due"], line["total"], line["paid"])
    bars = RECTANGLE.format(state, x + 1, HEIGHT - height, width, height)
    if paid:
        bars += RECTANGLE.format("good", x + 1, HEIGHT - paid * scale, width, paid * scale)
    return Markup("<g>{}{}</g>").format(title, bars)
