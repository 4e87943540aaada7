"""Interest accrual on savings: oracle values, a year worked out by hand, and equality with day-by-day accrual."""

import json
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.money import convert_to_minor, format_minor
from kasuwa.methods.investments.accrual import (
    UNITS_PER_MINOR,
    AccrualState,
    DepositLayers,
    SavingsTerms,
    accrue_to,
    annual_parts,
    drop_posted_layers,
    forfeit_interest,
    interest_units,
    posting_date,
    round_units,
    unpaid_interest,
    update_layers,
)

ORACLES = json.loads((Path(__file__).parents[2] / "data" / "loan_oracles.json").read_text())["deposits"]
OPENED = date(2026, 1, 31)


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle["id"])
def test_a_deposit_earns_what_its_oracle_says(oracle: dict[str, object]) -> None:
    annual = annual_parts(str(oracle["annual_rate"]), "annualized")
    units = interest_units(convert_to_minor(str(oracle["balance"])), annual, int(str(oracle["days"])))
    assert format_minor(round_units(units)) == oracle["interest"]


@pytest.mark.parametrize(
    ("frequency", "annual"),
    [
        ("annualized", 1_500_000),
        ("every_month", 18_000_000),
        ("every_four_weeks", 19_500_000),
        ("every_week", 78_000_000),
        ("every_day", 547_500_000),
    ],
)
def test_a_rate_is_worth_its_intervals_a_year(frequency: str, annual: int) -> None:
    assert annual_parts("1.5", frequency) == annual


def test_a_rate_with_too_many_decimals_is_refused() -> None:
    assert annual_parts("0.000001", "annualized") == 1
    with pytest.raises(ValueError, match="not a rate"):
        annual_parts("0.0000001", "annualized")


def start_accrual(terms: SavingsTerms) -> AccrualState:
    """Returns the accrual state on the day on which savings are opened."""
    return AccrualState(accrued_units=0, accrued_to=terms.opened_on, months_closed=0)


# 100,000.00 at 12 % a year from 31 January 2026, 10 % tax, interest left in: worked out with pencil and paper.
# Days of each month as it is counted, the balance it began with, interest = balance x 0.12 x days / 365 half up, tax.
BY_HAND = [
    # (posted on, days, balance, interest, tax)
    ("2026-02-28", 28, "100000.00", "920.55", "92.06"),
    ("2026-03-31", 31, "100828.49", "1027.62", "102.76"),
    ("2026-04-30", 30, "101753.35", "1003.59", "100.36"),
    ("2026-05-31", 31, "102656.58", "1046.25", "104.63"),
    ("2026-06-30", 30, "103598.20", "1021.79", "102.18"),
    ("2026-07-31", 31, "104517.81", "1065.22", "106.52"),
    ("2026-08-31", 31, "105476.51", "1074.99", "107.50"),
    ("2026-09-30", 30, "106444.00", "1049.86", "104.99"),
    ("2026-10-31", 31, "107388.87", "1094.48", "109.45"),
    ("2026-11-30", 30, "108373.90", "1068.89", "106.89"),
    ("2026-12-31", 31, "109335.90", "1114.33", "111.43"),
    ("2027-01-31", 31, "110338.80", "1124.55", "112.46"),
]


def test_a_year_at_twelve_percent_equals_the_calculation_by_hand() -> None:
    terms = SavingsTerms(annual_parts("12", "annualized"), "10", OPENED, 12)
    meter, balance = start_accrual(terms), convert_to_minor("100000.00")
    for number, (posted_on, days, had, interest, tax) in enumerate(BY_HAND, start=1):
        day = posting_date(OPENED, number)
        assert day.isoformat() == posted_on
        assert (day - posting_date(OPENED, number - 1)).days == days
        assert format_minor(balance) == had
        meter = accrue_to(meter, terms, balance, day)
        assert (format_minor(meter.due_interest), format_minor(meter.due_tax)) == (interest, tax)
        balance += meter.due_interest - meter.due_tax
        meter = AccrualState(meter.accrued_units, meter.accrued_to, meter.months_closed)
    assert format_minor(balance) == "111350.89"
    assert accrue_to(meter, terms, balance, date(2030, 1, 1)) == meter


def test_the_deposits_own_day_counts_and_the_day_of_posting_does_not() -> None:
    terms = SavingsTerms(annual_parts("36.5", "annualized"), None, date(2026, 1, 5), 12)
    meter = accrue_to(start_accrual(terms), terms, 0, date(2026, 2, 4))
    assert meter.accrued_units == 0
    meter = accrue_to(meter, terms, 100_000, date(2026, 2, 5))
    assert (meter.due_interest, meter.accrued_units) == (100, 0)


def test_nothing_is_earned_after_maturity_and_earlier_interest_is_kept() -> None:
    terms = SavingsTerms(annual_parts("36.5", "annualized"), "10", date(2026, 1, 5), 1)
    at_maturity = accrue_to(start_accrual(terms), terms, 100_000, terms.matures_on)
    assert (at_maturity.due_interest, at_maturity.due_tax) == (3_100, 310)
    assert accrue_to(start_accrual(terms), terms, 100_000, date(2028, 1, 1)) == at_maturity
    assert unpaid_interest(at_maturity) == 3_100


def test_a_withdrawn_amount_forfeits_interest_of_the_running_month_alone() -> None:
    terms = SavingsTerms(annual_parts("36.5", "annualized"), None, date(2026, 1, 5), 12)
    today = date(2026, 2, 15)
    meter = accrue_to(start_accrual(terms), terms, 100_000, today)
    assert (meter.due_interest, meter.accrued_units) == (3_100, 1_000 * UNITS_PER_MINOR)
    left, lost = forfeit_interest(meter, terms, (), 25_000, today)
    assert lost == 250 * UNITS_PER_MINOR
    assert (left.due_interest, left.accrued_units) == (3_100, 750 * UNITS_PER_MINOR)
    assert forfeit_interest(left, terms, (), 75_000, today)[0].accrued_units == 0


def test_the_newest_deposits_are_withdrawn_first() -> None:
    """1,000.00 since the month began, 500.00 for five days, 200.00 since today."""
    terms = SavingsTerms(annual_parts("36.5", "annualized"), None, date(2026, 1, 5), 12)
    today = date(2026, 1, 25)
    meter = AccrualState(accrued_units=(2_000 + 250) * UNITS_PER_MINOR, accrued_to=today, months_closed=0)
    layers = ((date(2026, 1, 20), 50_000), (today, 20_000))
    for taken, lost in ((20_000, 0), (30_000, 50), (70_000, 250), (170_000, 2_250)):
        assert forfeit_interest(meter, terms, layers, taken, today)[1] == lost * UNITS_PER_MINOR


def test_layers_are_merged_by_day_popped_from_the_end_and_gone_with_the_month() -> None:
    first, second = date(2026, 1, 10), date(2026, 1, 12)
    layers = update_layers((), 0, 100, first)
    layers = update_layers(layers, 100, 150, first)
    layers = update_layers(layers, 150, 400, second)
    assert layers == ((first, 150), (second, 250))
    assert update_layers(layers, 400, 120, second) == ((first, 120),)
    assert update_layers(layers, 1_000, 0, second) == ()
    terms = SavingsTerms(1, None, date(2026, 1, 11), 12)
    assert drop_posted_layers(layers, terms, start_accrual(terms)) == ((second, 250),)


@pytest.mark.parametrize(("units", "kobo"), [(0, 0), (1, 0), (UNITS_PER_MINOR // 2, 1), (UNITS_PER_MINOR // 2 - 1, 0)])
def test_half_a_kobo_is_rounded_up(units: int, kobo: int) -> None:
    assert round_units(units) == kobo


# --- equal to the definition -----------------------------------------------------------------------------------

histories = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from(["in", "out", "look", "pay"]), st.integers(1, 10_000_000)),
    max_size=30,
)


EMPTY: DepositLayers = ()


class Daily:
    """The definition, day by day, with fractions: at each end of day every piece of the balance earns a day's interest.
    A posting makes all pieces one; what is taken goes from the newest piece, with what that earned."""

    def __init__(self, terms: SavingsTerms) -> None:
        self.terms, self.today = terms, terms.opened_on
        self.pieces: list[tuple[int, Fraction]] = []
        self.interest, self.tax, self.months = 0, 0, 0

    @property
    def balance(self) -> int:
        return sum(amount for amount, _ in self.pieces)

    @property
    def accrued(self) -> Fraction:
        return sum((earned for _, earned in self.pieces), Fraction(0))

    def go_to(self, day: date) -> None:
        while self.today < day:
            if self.today < self.terms.matures_on:
                a_day = Fraction(self.terms.annual_rate_parts, 36_500_000_000)
                self.pieces = [(amount, earned + amount * a_day) for amount, earned in self.pieces]
            self.today += timedelta(days=1)
            if self.months < self.terms.period and self.today == posting_date(self.terms.opened_on, self.months + 1):
                self.months += 1
                interest = int(self.accrued + Fraction(1, 2))
                self.interest += interest
                self.tax += int(Fraction(interest * 10, 100) + Fraction(1, 2))
                self.pieces = [(self.balance, Fraction(0))]

    def put(self, amount: int) -> None:
        self.pieces.append((amount, Fraction(0)))

    def take(self, amount: int) -> None:
        while amount:
            piece, earned = self.pieces.pop()
            part = min(piece, amount)
            if part < piece:
                self.pieces.append((piece - part, earned * (piece - part) / piece))
            amount -= part


@given(
    st.integers(0, 500_000_000),
    st.dates(date(2023, 1, 1), date(2028, 12, 31)),
    st.integers(1, 14),
    histories,
)
def test_accrual_on_demand_equals_daily_accrual(
    annual: int, opened: date, period: int, history: list[tuple[int, str, int]]
) -> None:
    terms = SavingsTerms(annual, "10", opened, period)
    daily, meter, day, layers = Daily(terms), start_accrual(terms), opened, EMPTY
    for gap, what, amount in history:
        day += timedelta(days=gap)
        daily.go_to(day)
        before = daily.balance
        meter = accrue_to(meter, terms, before, day)
        layers = drop_posted_layers(layers, terms, meter)
        if what == "in":
            daily.put(amount)
        elif what == "out" and before:
            taken = min(amount, before)
            meter, _ = forfeit_interest(meter, terms, layers, taken, day)
            daily.take(taken)
        elif what == "pay":
            daily.put(meter.due_interest - meter.due_tax)
            assert (meter.due_interest, meter.due_tax) == (daily.interest, daily.tax)
            daily.interest = daily.tax = 0
            meter = AccrualState(meter.accrued_units, meter.accrued_to, meter.months_closed)
        layers = update_layers(layers, before, daily.balance, day)
        assert Fraction(meter.accrued_units, UNITS_PER_MINOR) == daily.accrued
        assert (meter.due_interest, meter.due_tax) == (daily.interest, daily.tax)
        assert meter.months_closed == daily.months
        assert min(meter.accrued_units, meter.due_interest - meter.due_tax) >= 0
