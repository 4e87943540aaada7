"""The entries that one line pays all together: whole days, or the only few that add up."""

from datetime import date

from kasuwa.reconciliation.lump_sums import MAX_CANDIDATES, Days, DayTotal, LumpSum, find_days, find_subset

MONDAY, TUESDAY, WEDNESDAY = date(2026, 11, 2), date(2026, 11, 3), date(2026, 11, 4)
TOTALS = {MONDAY: DayTotal(300, 3, -50, 1), TUESDAY: DayTotal(500, 2)}


def test_a_line_pays_the_payments_of_one_day() -> None:
    assert find_days(TOTALS, LumpSum(500, WEDNESDAY), 3) == Days(TUESDAY, TUESDAY, True)


def test_a_line_pays_payments_less_refunds_of_several_days() -> None:
    assert find_days(TOTALS, LumpSum(750, WEDNESDAY), 3) == Days(MONDAY, TUESDAY, False)
    assert find_days(TOTALS, LumpSum(800, WEDNESDAY), 3) == Days(MONDAY, TUESDAY, True)


def test_the_number_of_payments_must_be_that_of_the_settlement() -> None:
    assert find_days(TOTALS, LumpSum(500, WEDNESDAY, 2), 3) == Days(TUESDAY, TUESDAY, True)
    assert find_days(TOTALS, LumpSum(500, WEDNESDAY, 3), 3) is None


def test_days_outside_the_window_do_not_count() -> None:
    assert find_days(TOTALS, LumpSum(500, date(2026, 11, 9)), 3) is None
    assert find_days(TOTALS, LumpSum(500, MONDAY), 3) is None


def test_two_ways_to_add_up_are_none() -> None:
    alike = {MONDAY: DayTotal(500, 2), TUESDAY: DayTotal(500, 2)}
    assert find_days(alike, LumpSum(500, WEDNESDAY), 3) is None


def test_one_entry_alone_is_no_lump_sum() -> None:
    assert find_days({MONDAY: DayTotal(500, 1)}, LumpSum(500, TUESDAY), 3) is None


def test_money_that_went_out_is_summed_as_well() -> None:
    assert find_days({MONDAY: DayTotal(0, 0, -700, 2)}, LumpSum(-700, MONDAY), 3) == Days(MONDAY, MONDAY, True)


def test_the_only_subset_is_found() -> None:
    assert find_subset([100, 250, 400, 1_000], 650) == (1, 2)
    assert find_subset([-100, -250], -350) == (0, 1)


def test_several_subsets_or_none_or_a_single_entry_are_not_taken() -> None:
    assert find_subset([100, 200, 300, 400], 500) is None
    assert find_subset([100, 200], 999) is None
    assert find_subset([100, 200], 200) is None
    assert find_subset([1] * (MAX_CANDIDATES + 1), MAX_CANDIDATES + 1) is None
