"""Figures of the overview: periods, sums, comparison, failure reasons, charts and daily totals. Pure functions."""

import re
from datetime import date, timedelta

import pytest

from kasuwa.console.kit.charts import BarChart, Series, axis_maximum, draw_bar_chart, short_amount
from kasuwa.console.kit.figures import Change, group_by_bar, percentage, rank_reasons, sum_by_currency
from kasuwa.console.kit.periods import bar_starts, read_period
from kasuwa.projections.daily_totals import (
    MAX_REASONS_PER_DAY,
    DailyTotal,
    Uncounted,
    choose_step,
    limit_reasons,
)

TODAY = date(2026, 3, 31)


def total(kind: str, status: str = "successful", count: int = 1, amount: int = 100, **fields: str) -> DailyTotal:
    code, reason = fields.get("code", ""), fields.get("reason", "")
    return DailyTotal(TODAY, kind, fields.get("currency", "NGN"), status, "", code, reason, count, amount)


def test_money_in_out_and_refunded_are_summed_apart() -> None:
    totals = [total("payment", amount=500), total("transfer", amount=70), total("bill", amount=5), total("refund")]
    [figures] = sum_by_currency([*totals, total("deposit", amount=9)]).values()
    assert {name: flow.amount for name, flow in figures.flows.items()} == {
        "in": 500,
        "out": 75,
        "refunded": 100,
        "internal": 9,
    }


def test_the_home_currency_is_first_and_the_others_by_number() -> None:
    totals = [total("payment", currency="GHS"), total("payment", currency="USD", count=9), total("bill")]
    assert list(sum_by_currency(totals)) == ["NGN", "USD", "GHS"]


def test_failed_expired_and_open_transactions_are_counted_apart() -> None:
    totals = [
        total("payment", count=6),
        total("payment", "failed", 2, reason="Declined", code="51"),
        total("payment", "failed", 1, code="expired", reason="Too late"),
        total("cashcode", "failed", 1, reason="The cashcode expired unused"),
        total("transfer", "failed", 1, reason="Not approved within 72 hours"),
    ]
    [figures] = sum_by_currency(totals, [total("payment", "pending", 4)]).values()
    assert (figures.successful, figures.failed, figures.expired, figures.open) == (6, 2, 3, 4)
    assert figures.success_rate == "66.7 %", "of payments alone"


def test_money_out_does_not_change_the_success_rate_of_payments() -> None:
    payments = [total("payment", count=1), total("payment", "failed", 1, reason="Declined")]
    payouts = [total("transfer", count=98), total("bill", "failed", 3), total("cashcode", count=5)]
    [alone], [together] = (sum_by_currency(found).values() for found in (payments, [*payments, *payouts]))
    assert alone.success_rate == together.success_rate == "50.0 %"
    [none] = sum_by_currency(payouts).values()
    assert none.success_rate == "–"


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(2, 3, "66.7 %"), (1, 3, "33.3 %"), (1, 2000, "0.1 %"), (1, 2001, "0.0 %"), (7, 7, "100.0 %"), (0, 0, "–")],
)
def test_a_percentage_is_rounded_half_up(part: int, whole: int, text: str) -> None:
    assert percentage(part, whole) == text


def test_parts_that_are_side_by_side_are_not_stacked() -> None:
    series = (Series("in", "good", [100]), Series("out", "rest", [40]))
    stacked, grouped = (
        str(draw_bar_chart(BarChart("Money", ["1 Nov"], series, is_side_by_side=is_grouped)))
        for is_grouped in (False, True)
    )
    found = [
        re.findall(r'<rect class="(?:good|rest)" x="([0-9.]+)" y="([0-9.]+)"', text) for text in (stacked, grouped)
    ]
    (first, second), (left, right) = found
    assert first[0] == second[0]
    assert float(left[0]) < float(right[0])
    assert float(left[1]) < float(right[1]), "both begin at the bottom, and the larger one is higher"


@pytest.mark.parametrize(
    ("before", "now", "text", "direction"),
    [
        (100, 150, "50 % more than", "up"),
        (100, 25, "75 % less than", "down"),
        (0, 5, "none in", "up"),
        (5, 5, "the same as", "same"),
        (100_000, 100_001, "less than 1 % more than", "up"),
    ],
)
def test_a_figure_is_compared_with_the_period_before(before: int, now: int, text: str, direction: str) -> None:
    assert (Change(before, now).text, Change(before, now).direction) == (text, direction)


def test_failure_reasons_are_ranked_and_the_rest_is_summed() -> None:
    totals = [total("payment", "failed", n, reason=f"Reason {n}") for n in range(1, 5)]
    ranked = rank_reasons([*totals, total("payment", count=100)], 2)
    assert [(reason.text, reason.count, reason.share) for reason in ranked] == [
        ("Reason 4", 4, "40.0 %"),
        ("Reason 3", 3, "30.0 %"),
        ("Other reasons", 3, "30.0 %"),
    ]


def test_a_day_keeps_the_most_frequent_reasons_and_all_that_expired() -> None:
    many = [total("payment", "failed", n, reason=f"R{n}") for n in range(1, MAX_REASONS_PER_DAY + 11)]
    expired = total("payment", "failed", 1, code="expired", reason="Too late")
    limited = limit_reasons([*many, expired], {(TODAY, "known")})
    kept = {one.reason for one in limited if one.reason}
    assert len(kept) == MAX_REASONS_PER_DAY  # with "known" one place less, and the expired one above the limit
    assert f"R{MAX_REASONS_PER_DAY + 10}" in kept
    assert "R1" not in kept
    assert "Too late" in kept
    assert sum(one.count for one in limited) == sum(one.count for one in [*many, expired])


def test_a_step_takes_the_events_of_several_merchants_up_to_its_limit() -> None:
    small, large, next_one = Uncounted(1, 4, 10), Uncounted(2, 0, 300), Uncounted(3, 0, 1)
    assert choose_step([small, next_one], 100) == [small, next_one]
    assert choose_step([small, large, next_one], 100) == [small, Uncounted(2, 0, 94)]
    assert choose_step([Uncounted(2, 5, 105), next_one], 100) == [Uncounted(2, 5, 105)]
    assert choose_step([], 100) == []


# --- periods --------------------------------------------------------------------------------------------------------


def test_a_period_has_one_of_the_same_length_before_it() -> None:
    period = read_period({"days": "7"}, TODAY)
    assert (period.first, period.last, period.label) == (date(2026, 3, 25), TODAY, "7 days")
    assert (period.before.first, period.before.last) == (date(2026, 3, 18), date(2026, 3, 24))
    own = read_period({"from": "2026-02-01", "to": "2026-02-28"}, TODAY)
    assert (own.days, own.preset, own.before.last) == (28, "", date(2026, 1, 31))


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ({"from": "yesterday"}, "YYYY-MM-DD"),
        ({"from": "2026-03-02", "to": "2026-03-01"}, "before the first"),
        ({"from": "2020-01-01", "to": "2026-03-01"}, "at most 366 days"),
        ({"from": "0001-01-01", "to": "0001-01-02"}, "this century"),
        ({"to": "2026-03-01"}, "YYYY-MM-DD"),
    ],
)
def test_a_wrong_period_shows_the_default_and_says_why(query: dict[str, str], fault: str) -> None:
    period = read_period(query, TODAY)
    assert fault in period.fault
    assert period.days == 30


def test_long_periods_are_drawn_in_weeks_and_every_day_has_a_bar() -> None:
    assert len(bar_starts(read_period({"days": "30"}, TODAY))) == 30
    year = read_period({"days": "365"}, TODAY)
    starts = bar_starts(year)
    assert len(starts) == 53
    bars = group_by_bar(starts, "NGN", [total("payment", amount=7), total("payment", currency="USD")], [])
    assert (bars[-1].successful, bars[-1].amount_in) == (2, 7)
    assert year.last - starts[-1] < timedelta(days=7)


# --- charts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("highest", "top"), [(0, 4), (3, 4), (5, 8), (9, 20), (100, 200), (14_450_000, 20_000_000)])
def test_the_axis_ends_at_a_round_number(highest: int, top: int) -> None:
    assert axis_maximum(highest) == top


def test_every_bar_has_its_values_as_a_label_and_one_can_be_reached_by_tab() -> None:
    chart = BarChart("Things", ["1 Mar", "2 Mar"], (Series("good", "good", [3, 0]), Series("<bad>", "rest", [1, 2])))
    drawn = str(draw_bar_chart(chart))
    assert 'aria-label="1 Mar: 3 good, 1 &lt;bad&gt;"' in drawn
    assert 'aria-label="2 Mar: 0 good, 2 &lt;bad&gt;"' in drawn
    assert drawn.count('tabindex="0"') == 1


@pytest.mark.parametrize(("minor", "text"), [(0, "0"), (150, "1.5"), (150_000_000, "1.5M"), (250_000, "2.5K")])
def test_amounts_of_an_axis_are_short(minor: int, text: str) -> None:
    assert short_amount(minor) == text
