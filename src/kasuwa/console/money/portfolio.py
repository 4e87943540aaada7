"""The portfolio of loans: who is late, what is expected this week, and the same figures as CSV.

It is the portfolio of the API (`loans` action `portfolio`), with the newest late loans. Contract: loans#portfolio
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from kasuwa.console.insights.breakdowns import draw_amounts
from kasuwa.console.kit.charts import short_amount
from kasuwa.console.kit.csv_text import csv_line
from kasuwa.console.kit.exports import csv_response
from kasuwa.console.kit.people import read_names
from kasuwa.console.kit.visit import ActionReply, Visit
from kasuwa.core.money import parse_minor
from kasuwa.terms.conversion import HOME

PATH = "/portfolio"
# Late loans on the page. The list of loans has all of them.
SHOWN_LOANS = 20
# Of the file.
COLUMNS = ("as_of", "group", "figure", "loans", "amount")


async def read_portfolio(visit: Visit) -> ActionReply:
    day = visit.query.get("as_of", "")
    return await visit.call_action("loans", action="portfolio", **({"as_of": day} if day else {}))


async def show_portfolio(visit: Visit) -> Response:
    async with visit.snapshot() as reader:
        reply = await read_portfolio(visit)
        late = await visit.call_action("loans", action="list", state="active_in_arrears", limit=SHOWN_LOANS)
        names = await read_names(visit, reader, late.body)
    figures = reply.body["data"] if reply.is_success else None
    return visit.render(
        "portfolio.html",
        200 if reply.is_success else 422,
        portfolio=figures,
        late_chart=draw_days_late(figures["buckets"]) if figures is not None else "",
        as_of=visit.query.get("as_of", ""),
        faults=reply.faults,
        late=late.body,
        names=names,
    )


def draw_days_late(buckets: list[dict[str, Any]]) -> Markup:
    """Draws the principal of loans by days late."""
    names = ["not late" if line["days_late"] == "0" else line["days_late"] for line in buckets]
    amounts = [parse_minor(line["principal"]) or 0 for line in buckets]
    return draw_amounts("Principal by days late", names, amounts, HOME, short_amount)


async def export_portfolio(visit: Visit) -> Response:
    """Returns the figures as CSV. An invalid day shows the page, which says why."""
    reply = await read_portfolio(visit)
    if not reply.is_success:
        return visit.redirect(PATH)
    figures = reply.body["data"]
    return csv_response(visit, f"portfolio-{figures['as_of']}", stream_csv(figures))


async def stream_csv(figures: dict[str, Any]) -> AsyncIterator[str]:
    yield csv_line(COLUMNS)
    for cells in list_figures(figures):
        yield csv_line((figures["as_of"], *cells))


def list_figures(figures: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Returns the cells of each figure after the day. Only loans by days late have a number of loans."""
    for line in figures["buckets"]:
        yield "days_late", line["days_late"], str(line["loans"]), line["principal"]
    yield "days_late", "all", str(figures["loans"]), figures["principal"]
    for name in ("par1", "par30", "par90"):
        yield "at_risk", name, "", figures[name]["principal"]
    for name in ("amount_due", "paid_of_due", "collected", "written_off", "recovered"):
        yield "month", name, "", figures["period"][name]
    for name in ("overdue", "days_7", "days_30"):
        yield "expected", name, "", figures["expected"][name]
    yield "provision", "all", "", figures["provision"]
