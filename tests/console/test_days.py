"""What the overview remembers of days: sums of what has ended, keys of what has not, and nothing too old."""

from datetime import UTC, date, datetime

from kasuwa.console import days
from kasuwa.console.days import Tally, grown, keep
from kasuwa.console.store import Day

FIRST, SECOND = date(2026, 3, 1), date(2026, 3, 2)
NOON, EVENING = datetime(2026, 3, 2, 12, tzinfo=UTC), datetime(2026, 3, 2, 18, tzinfo=UTC)


def test_what_has_ended_is_summed_by_day_currency_and_status() -> None:
    known = Tally(NOON, (Day(FIRST, "NGN", "successful", 2, 300), Day(FIRST, "NGN", "failed", 1, 50)))
    read = [Day(FIRST, "NGN", "successful", 1, 7), Day(FIRST, "USD", "successful", 1, 9)]
    assert grown(known, EVENING, read, FIRST) == Tally(
        EVENING,
        (
            Day(FIRST, "NGN", "successful", 3, 307),
            Day(FIRST, "NGN", "failed", 1, 50),
            Day(FIRST, "USD", "successful", 1, 9),
        ),
    )
    assert known.ended[0].count == 2


def test_what_is_open_is_kept_by_key_and_no_longer_when_it_has_ended() -> None:
    asked = grown(Tally(NOON), NOON, [Day(SECOND, "NGN", "pending", 2, 30, [b"a", b"b"])], FIRST)
    assert (asked.ended, asked.open) == ((), (b"a", b"b"))
    read = [Day(SECOND, "NGN", "failed", 1, 10), Day(SECOND, "NGN", "processing", 1, 20, [b"b"])]
    assert grown(asked, EVENING, read, FIRST) == Tally(EVENING, (Day(SECOND, "NGN", "failed", 1, 10),), (b"b",))


def test_days_before_the_first_are_let_go() -> None:
    known = Tally(NOON, (Day(FIRST, "NGN", "successful", 2, 300),), (b"a",))
    read = [Day(FIRST, "NGN", "pending", 1, 10, [b"a"]), Day(SECOND, "NGN", "failed", 1, 5)]
    assert grown(known, EVENING, read, SECOND) == Tally(EVENING, (Day(SECOND, "NGN", "failed", 1, 5),))


def test_too_much_is_not_remembered() -> None:
    tallies = {1: Tally(NOON)}
    keep(tallies, 1, Tally(NOON, (), (b"k",) * (days.MOST_OPEN + 1)))
    assert tallies == {}
    tallies = {number: Tally(NOON) for number in range(days.MOST_MERCHANTS)}
    keep(tallies, 5, Tally(EVENING))
    assert tallies == {5: Tally(EVENING)}
