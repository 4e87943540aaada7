"""The overview page of a merchant: balances, figures of a period and of the one before, charts, failure reasons.

The figures come from the daily totals (projections/daily_totals.py), so that their cost does not grow with the volume.
While there are no transactions, the page is a guide to the first one.
"""

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from typing import Any

import msgspec
from starlette.responses import Response

from kasuwa.console.kit.charts import CHART_PATTERNS, BarChart, Series, draw_bar_chart, short_amount
from kasuwa.console.kit.csv_text import csv_line
from kasuwa.console.kit.exports import csv_response
from kasuwa.console.kit.figures import Change, CurrencyFigures, DayFigures, group_by_bar, rank_reasons, sum_by_currency
from kasuwa.console.kit.merchant_health import FirstSteps, read_first_steps
from kasuwa.console.kit.people import Counterparty, read_counterparties
from kasuwa.console.kit.periods import PRESETS, Period, bar_starts, read_period
from kasuwa.console.kit.values import format_minor_units
from kasuwa.console.kit.visit import Visit
from kasuwa.console.merchant import store, waiting_reads
from kasuwa.console.merchant.attention import list_matters
from kasuwa.console.merchant.attention_reads import WaitingMatters, read_matters
from kasuwa.console.merchant.waiting_reads import WaitingSums
from kasuwa.console.money.arrivals import ArrivingMoney, read_arriving_money
from kasuwa.core.calendar import lagos_day
from kasuwa.core.money import format_minor
from kasuwa.methods.resources.store import show_wallet
from kasuwa.methods.resources.wire import WalletRequest
from kasuwa.projections.daily_totals import DailyTotal, TotalsOfDays, list_open_totals, read_totals
from kasuwa.terms.conversion import HOME
from kasuwa.webhooks.health import FailingEndpoint, list_failing_endpoints

LATEST_COUNT = 6
REASONS_SHOWN = 8
CSV_HEADER = ("from", "currency", "in", "out", "refunded", "successful", "failed", "expired", "open")
FLOW_TITLES = {"in": "Money in", "out": "Money out", "refunded": "Refunded"}


class Overview(msgspec.Struct):
    """The data of the page, read in one snapshot."""

    now: datetime
    period: Period
    totals: TotalsOfDays  # of the period and the one before
    open_totals: list[DailyTotal]  # of all days
    wallets: list[Any]
    latest: list[Any]
    sides: dict[str, Counterparty]  # of the latest transactions, by txnRef
    waiting: WaitingSums
    arriving: ArrivingMoney
    matters: WaitingMatters
    failing_endpoints: list[FailingEndpoint]
    first_steps: FirstSteps


async def show_overview(visit: Visit) -> Response:
    overview = await read_overview(visit)
    shared: dict[str, Any] = {
        "now": overview.now,
        "wallets": overview.wallets,
        "matters": list_matters(overview.waiting, overview.matters, overview.failing_endpoints, overview.now),
        "latest": overview.latest,
        "sides": overview.sides,
        "arriving": overview.arriving,
        "period": overview.period,
        "presets": PRESETS,
        "api_url": visit.services.api_url,
    }
    if not overview.latest:
        return visit.render("first_steps.html", steps=overview.first_steps, is_live=visit.services.is_live, **shared)
    return visit.render("overview.html", **shared, **make_figures(overview))


async def read_overview(visit: Visit) -> Overview:
    merchant = visit.merchant
    async with visit.snapshot() as reader:
        clock = await store.read_clock(reader, merchant, datetime.now(UTC))
        period = read_period(visit.query, lagos_day(clock.now))
        wallets = await show_wallet(WalletRequest(), merchant, reader)
        latest = await store.list_newest_transactions(reader, merchant, LATEST_COUNT)
        return Overview(
            now=clock.now,
            period=period,
            totals=await read_totals(reader, merchant.merchant_id, period.before.first, period.last),
            open_totals=await list_open_totals(reader, merchant.merchant_id),
            wallets=wallets.data,
            latest=latest,
            sides=await read_counterparties(
                visit, reader, [{"txnRef": one.txn_ref, "kind": one.kind} for one in latest]
            ),
            arriving=await read_arriving_money(reader, merchant.merchant_id, lagos_day(clock.now)),
            waiting=await waiting_reads.read_sums(reader, merchant),
            matters=await read_matters(reader, merchant, datetime.now(UTC)),
            failing_endpoints=await list_failing_endpoints(reader, merchant.merchant_id),
            first_steps=await read_first_steps(reader, merchant.merchant_id),
        )


async def export_figures(visit: Visit) -> Response:
    """Sends the figures of the charts, of each currency."""
    async with visit.snapshot() as reader:
        clock = await store.read_clock(reader, visit.merchant, datetime.now(UTC))
        period = read_period(visit.query, lagos_day(clock.now))
        figures = await read_totals(reader, visit.merchant.merchant_id, period.first, period.last)
        open_totals = await list_open_totals(reader, visit.merchant.merchant_id)
    open_now = [total for total in open_totals if period.contains(total.day)]
    return csv_response(visit, "overview", stream_figures(period, figures.totals, open_now))


async def stream_figures(period: Period, totals: list[DailyTotal], open_now: list[DailyTotal]) -> AsyncIterator[str]:
    yield csv_line(CSV_HEADER)
    for currency in sum_by_currency(totals, open_now):
        own, own_open = ([one for one in some if one.currency == currency] for some in (totals, open_now))
        for bar in filter(has_transactions, group_by_bar(bar_starts(period), currency, own, own_open)):
            amounts = map(format_minor, (bar.amount_in, bar.amount_out, bar.amount_refunded))
            counts = map(str, (bar.successful, bar.failed, bar.expired, bar.open))
            yield csv_line((bar.day.isoformat(), currency, *amounts, *counts))


def has_transactions(bar: DayFigures) -> bool:
    return bool(bar.successful or bar.failed or bar.expired or bar.open)


def make_figures(overview: Overview) -> dict[str, Any]:
    """Returns the figures, charts and reasons of the period."""
    period = overview.period
    totals = [total for total in overview.totals.totals if period.contains(total.day)]
    earlier = [total for total in overview.totals.totals if not period.contains(total.day)]
    open_now = [total for total in overview.open_totals if period.contains(total.day)]
    figures, before = sum_by_currency(totals, open_now), sum_by_currency(earlier)
    main = next(iter(figures), HOME)
    bars = group_by_bar(bar_starts(period), main, totals, open_now)
    return {
        "figures": [(figure, compare(figure, before.get(figure.currency))) for figure in figures.values()],
        "flow_titles": FLOW_TITLES,
        "main_currency": main,
        "bars": list(filter(has_transactions, bars)),
        "bar_names": {bar.day: bar_name(bar.day, period) for bar in bars},
        "patterns": CHART_PATTERNS,
        "money_chart": draw_bar_chart(make_money_chart(bars, period, main)),
        "outcome_chart": draw_bar_chart(make_outcome_chart(bars, period)),
        "reasons": rank_reasons(totals, REASONS_SHOWN),
        "open_earlier": sum(total.count for total in overview.open_totals if total.day < period.first),
        "is_behind": overview.totals.is_behind,
    }


def compare(now: CurrencyFigures, before: CurrencyFigures | None) -> dict[str, Change]:
    """Returns how the amounts of a currency compare with those of the period before."""
    earlier = before or CurrencyFigures(now.currency)
    changes = {name: Change(earlier.flows[name].amount, flow.amount) for name, flow in now.flows.items()}
    return {**changes, "successful": Change(earlier.successful, now.successful)}


def bar_name(day: date, period: Period) -> str:
    text = f"{day.day} {day:%b}"
    return text if len(bar_starts(period)) == period.days else f"Week of {text}"


def make_money_chart(bars: list[DayFigures], period: Period, currency: str) -> BarChart:
    return BarChart(
        f"{currency} in, out and refunded, {period.label} to {period.last:%d %B %Y}",
        [bar_name(bar.day, period) for bar in bars],
        (
            Series("in", "good", [bar.amount_in for bar in bars]),
            Series("out", "rest", [bar.amount_out for bar in bars]),
            Series("refunded", "dotted", [bar.amount_refunded for bar in bars]),
        ),
        format_value=lambda minor: f"{currency} {format_minor_units(minor)}",
        format_tick=short_amount,
        is_side_by_side=True,
    )


def make_outcome_chart(bars: list[DayFigures], period: Period) -> BarChart:
    return BarChart(
        f"Transactions by outcome, {period.label} to {period.last:%d %B %Y}",
        [bar_name(bar.day, period) for bar in bars],
        (
            Series("successful", "good", [bar.successful for bar in bars]),
            Series("failed", "rest", [bar.failed for bar in bars]),
            Series("expired", "dotted", [bar.expired for bar in bars]),
            Series("open", "hollow", [bar.open for bar in bars]),
        ),
    )
