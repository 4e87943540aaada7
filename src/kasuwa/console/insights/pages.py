"""Success of payments by method and of payouts by bank, and card spend by category: charts, tables and CSV."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from starlette.responses import Response

from kasuwa.console.insights import store
from kasuwa.console.insights.breakdowns import Outcomes, Spend, draw_amounts, draw_outcomes, group_outcomes, group_spend
from kasuwa.console.kit.charts import CHART_PATTERNS, short_amount
from kasuwa.console.kit.csv_text import csv_line
from kasuwa.console.kit.exports import csv_response
from kasuwa.console.kit.periods import PRESETS, Period, read_period
from kasuwa.console.kit.visit import Visit
from kasuwa.console.kit.vocabulary import humanize, method_text
from kasuwa.console.merchant.store import read_clock
from kasuwa.core.banks import bank_names
from kasuwa.core.calendar import lagos_day, lagos_moment
from kasuwa.core.money import format_minor
from kasuwa.core.reading import Reader

PATH = "/insights"
CSV_HEADER = ("group", "name", "currency", "successful", "failed", "expired", "open", "success_rate", "amount")


class Insights(msgspec.Struct, frozen=True):
    """The breakdowns of a period."""

    period: Period
    methods: list[Outcomes]
    banks: list[Outcomes]
    spend: list[tuple[str, list[Spend], str]]  # by currency, with its sum
    is_limited: bool  # older transactions of the period are not counted


async def read_insights(visit: Visit, reader: Reader) -> Insights:
    clock = await read_clock(reader, visit.merchant, datetime.now(UTC))
    period = read_period(visit.query, lagos_day(clock.now))
    span = lagos_moment(period.first, 0), lagos_moment(period.last + timedelta(days=1), 0)
    payments = await store.count_payments(reader, visit.merchant, span)
    payouts = await store.count_payouts(reader, visit.merchant, span)
    spend = await store.sum_card_spend(reader, visit.merchant, span)
    return Insights(
        period=period,
        methods=group_outcomes(payments, lambda method: humanize(method_text(method))),
        banks=group_outcomes(payouts, lambda code: bank_names().get(code, code)),
        spend=group_spend(spend),
        is_limited=max(sum(one.count for one in counts) for counts in (payments, payouts)) >= store.MAX_COUNTED,
    )


async def show_insights(visit: Visit) -> Response:
    async with visit.snapshot() as reader:
        insights = await read_insights(visit, reader)
    values: dict[str, Any] = {
        "insights": insights,
        "period": insights.period,
        "presets": PRESETS,
        "patterns": CHART_PATTERNS,
        "method_chart": draw_outcomes("Payments by method", insights.methods),
        "bank_chart": draw_outcomes("Payouts by bank", insights.banks),
        "spend": [(currency, lines, total, draw_spend(currency, lines)) for currency, lines, total in insights.spend],
        "max_counted": store.MAX_COUNTED,
    }
    return visit.render("insights.html", **values)


def draw_spend(currency: str, lines: list[Spend]) -> Any:
    names, amounts = [line.name for line in lines], [line.amount for line in lines]
    return draw_amounts(f"Card spend by category in {currency}", names, amounts, currency, short_amount)


async def export_insights(visit: Visit) -> Response:
    async with visit.snapshot() as reader:
        insights = await read_insights(visit, reader)
    return csv_response(visit, "insights", stream_csv(insights))


async def stream_csv(insights: Insights) -> AsyncIterator[str]:
    yield csv_line(CSV_HEADER)
    for cells in list_cells(insights):
        yield csv_line(cells)


def list_cells(insights: Insights) -> Iterator[tuple[str, ...]]:
    for group, outcomes in (("payments by method", insights.methods), ("payouts by bank", insights.banks)):
        for one in outcomes:
            counts = (str(count) for count in (one.successful, one.failed, one.expired, one.open))
            yield (group, one.name, "", *counts, one.success_rate, "")
    for currency, lines, _ in insights.spend:
        for line in lines:
            yield (
                "card spend by category",
                line.name,
                currency,
                str(line.count),
                "",
                "",
                "",
                "",
                format_minor(line.amount),
            )
