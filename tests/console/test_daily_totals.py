"""The cache of daily totals of the overview page."""

from datetime import UTC, date, datetime

from kasuwa.console import daily_totals
from kasuwa.console.daily_totals import TotalsSnapshot, extend_snapshot, store_snapshot
from kasuwa.console.store import DailyTotal

FIRST, SECOND = date(2026, 3, 1), date(2026, 3, 2)
NOON, EVENING = datetime(2026, 3, 2, 12, tzinfo=UTC), datetime(2026, 3, 2, 18, tzinfo=UTC)


def test_final_transactions_are_summed_by_day_currency_and_status() -> None:
    known = TotalsSnapshot(
        NOON, (DailyTotal(FIRST, "NGN", "successful", 2, 300), DailyTotal(FIRST, "NGN", "failed", 1, 50))
    )
    read = [DailyTotal(FIRST, "NGN", "successful", 1, 7), DailyTotal(FIRST, "USD", "successful", 1, 9)]
    assert extend_snapshot(known, EVENING, read, FIRST) == TotalsSnapshot(
        EVENING,
        (
            DailyTotal(FIRST, "NGN", "successful", 3, 307),
            DailyTotal(FIRST, "NGN", "failed", 1, 50),
            DailyTotal(FIRST, "USD", "successful", 1, 9),
        ),
    )
    assert known.final_totals[0].count == 2


def test_keys_of_open_transactions_are_kept_until_they_are_final() -> None:
    asked = extend_snapshot(
        TotalsSnapshot(NOON), NOON, [DailyTotal(SECOND, "NGN", "pending", 2, 30, [b"a", b"b"])], FIRST
    )
    assert (asked.final_totals, asked.open_keys) == ((), (b"a", b"b"))
    read = [DailyTotal(SECOND, "NGN", "failed", 1, 10), DailyTotal(SECOND, "NGN", "processing", 1, 20, [b"b"])]
    assert extend_snapshot(asked, EVENING, read, FIRST) == TotalsSnapshot(
        EVENING, (DailyTotal(SECOND, "NGN", "failed", 1, 10),), (b"b",)
    )


def test_days_before_the_first_are_dropped() -> None:
    known = TotalsSnapshot(NOON, (DailyTotal(FIRST, "NGN", "successful", 2, 300),), (b"a",))
    read = [DailyTotal(FIRST, "NGN", "pending", 1, 10, [b"a"]), DailyTotal(SECOND, "NGN", "failed", 1, 5)]
    assert extend_snapshot(known, EVENING, read, SECOND) == TotalsSnapshot(
        EVENING, (DailyTotal(SECOND, "NGN", "failed", 1, 5),)
    )


def test_the_cache_is_bounded() -> None:
    tallies = {1: TotalsSnapshot(NOON)}
    store_snapshot(tallies, 1, TotalsSnapshot(NOON, (), (b"k",) * (daily_totals.MAX_OPEN_KEYS + 1)))
    assert tallies == {}
    tallies = {number: TotalsSnapshot(NOON) for number in range(daily_totals.MAX_CACHED_MERCHANTS)}
    store_snapshot(tallies, 5, TotalsSnapshot(EVENING))
    assert tallies == {5: TotalsSnapshot(EVENING)}
