"""Figures of the portfolio: shares, buckets, and what at risk means.

Contract: loans#portfolio
"""

from datetime import date

import pytest

from kasuwa.methods.loans.portfolio.store import BucketSums, Flows, format_share, make_groups, make_portfolio

NOTHING_MOVED = Flows(collected=0, written_off=0, recovered=0, provided_since=0)


def sums_of(bucket: int, loans: int, principal: int, group: str | None = None) -> BucketSums:
    return BucketSums(group, bucket, loans, principal, due=10, paid=5, overdue=5, in_a_week=1, in_a_month=2)


@pytest.mark.parametrize(
    ("part", "whole", "share"),
    [(0, 0, "0.00"), (0, 5, "0.00"), (5, 5, "100.00"), (1, 3, "33.33"), (2, 3, "66.67"), (1, 20_000, "0.01")],
)
def test_a_share_has_two_decimals_rounded_half_up(part: int, whole: int, share: str) -> None:
    assert format_share(part, whole) == share


def test_at_risk_is_the_principal_from_a_bucket_on() -> None:
    sums = [sums_of(place, 1, 100 * 2**place) for place in range(6)]
    portfolio = make_portfolio(date(2026, 3, 1), sums, NOTHING_MOVED, 0)
    assert [line.principal for line in portfolio.buckets] == ["1.00", "2.00", "4.00", "8.00", "16.00", "32.00"]
    assert (portfolio.loans, portfolio.principal) == (6, "63.00")
    at_risk = (portfolio.par1, portfolio.par30, portfolio.par90)
    assert [one.principal for one in at_risk] == ["62.00", "60.00", "48.00"]
    assert [one.share for one in at_risk] == ["98.41", "95.24", "76.19"]


def test_loans_that_owe_nothing_count_for_what_was_due_and_for_nothing_else() -> None:
    portfolio = make_portfolio(date(2026, 3, 1), [sums_of(-1, 7, 0), sums_of(0, 1, 100)], NOTHING_MOVED, 0)
    assert (portfolio.loans, portfolio.principal) == (1, "1.00")
    assert (portfolio.period.amount_due, portfolio.period.paid_of_due) == ("0.20", "0.10")
    expected = portfolio.expected
    assert (expected.overdue, expected.days_7, expected.days_30) == ("0.05", "0.01", "0.02")


def test_a_portfolio_without_loans_has_all_buckets() -> None:
    portfolio = make_portfolio(date(2026, 3, 1), [], NOTHING_MOVED, 0)
    assert [line.days_late for line in portfolio.buckets] == ["0", "1-30", "31-60", "61-90", "91-180", "181+"]
    assert {(line.loans, line.principal, line.share) for line in portfolio.buckets} == {(0, "0.00", "0.00")}


def test_groups_are_ordered_by_principal_and_smaller_ones_count_in_the_whole_alone() -> None:
    sums = [
        sums_of(0, 1, 100, "ada"),
        sums_of(3, 2, 300, "ada"),
        sums_of(-1, 9, 0, "ada"),
        sums_of(0, 1, 900, ""),
        sums_of(1, 1, 50, None),
    ]
    groups = make_groups(sums)
    assert [(group.name, group.loans, group.principal) for group in groups] == [(None, 1, "9.00"), ("ada", 3, "4.00")]
    assert (groups[1].par30.share, groups[1].par90.principal, groups[0].par1.share) == ("75.00", "0.00", "0.00")
    assert make_portfolio(date(2026, 3, 1), sums, NOTHING_MOVED, 0).principal == "13.50"
