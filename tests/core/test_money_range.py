"""No figure that is computed from amounts leaves the range of money, whatever the largest allowed values are.

Figures that are rows of their own (interest, penalties, prices) stay below what a bigint column keeps. Figures that are
postings are refused by the ledger where they are larger (tests/ledger/test_apply.py).
"""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.money import LARGEST_AMOUNT, LARGEST_BALANCE, parse_minor
from kasuwa.methods.investments.accrual import (
    MAX_ANNUAL_PERCENT,
    UNITS_PER_MINOR,
    AccrualState,
    SavingsTerms,
    accrue_days,
    accrue_to,
    annual_parts,
    forfeit_interest,
    unpaid_interest,
)
from kasuwa.methods.investments.rules.savings import LONGEST_PERIOD, rate_fits
from kasuwa.methods.investments.rules.thrift_plan import check_member_count, pot_fits
from kasuwa.methods.investments.wire import MAX_MEMBERS
from kasuwa.terms.loan_schedule import INTERVALS_A_YEAR
from kasuwa.terms.tariff import FeeClass, read_tariff
from kasuwa.transactions.pricing import price_collection
from tests.rule_context import MERCHANT
from tests.walk.bounds import POT

LARGEST_BIGINT = 2**63 - 1
OPENED = date(2026, 1, 31)
# Rates of savings that were opened before there was a bound are kept.
RATES = st.sampled_from(["0", "0.000001", "1000", "999.999999"])
FREQUENCIES = st.sampled_from(sorted(INTERVALS_A_YEAR))
BALANCES = st.sampled_from([0, 1, LARGEST_AMOUNT, LARGEST_BALANCE])


def test_the_largest_amount_is_the_largest_that_can_be_read() -> None:
    assert parse_minor("9" * 15) == LARGEST_AMOUNT
    assert parse_minor("1" + "0" * 15) is None
    assert parse_minor("9" * 14 + ".99") is None
    assert LARGEST_AMOUNT * 50 < LARGEST_BALANCE < LARGEST_BIGINT


@given(RATES, FREQUENCIES, BALANCES, st.sampled_from([1, LONGEST_PERIOD]), st.lists(st.integers(0, 4000), max_size=8))
def test_interest_stops_at_the_largest_amount(
    rate: str, frequency: str, balance: int, period: int, days: list[int]
) -> None:
    terms = SavingsTerms(annual_parts(rate, frequency), "100", OPENED, period)
    meter, day = AccrualState(0, OPENED, 0), OPENED
    for step in days:
        day += timedelta(days=step)
        before, meter = meter, accrue_to(meter, terms, balance, day)
        assert unpaid_interest(before) <= unpaid_interest(meter) <= LARGEST_AMOUNT
        assert 0 <= meter.accrued_units // UNITS_PER_MINOR <= LARGEST_AMOUNT
        assert meter.due_tax <= meter.due_interest
        left, lost = forfeit_interest(meter, terms, (), balance, day)
        assert 0 <= left.accrued_units == meter.accrued_units - lost
    at_once = accrue_to(AccrualState(0, OPENED, 0), terms, balance, day)
    assert unpaid_interest(at_once) == unpaid_interest(meter)


def test_interest_beyond_the_largest_amount_neither_grows_nor_turns_negative() -> None:
    terms = SavingsTerms(annual_parts("1000", "every_day"), None, OPENED, 12)
    beyond = AccrualState(0, OPENED, 0, due_interest=LARGEST_BIGINT)
    assert accrue_days(beyond, terms, LARGEST_BALANCE, OPENED + timedelta(days=9)).accrued_units == 0


@given(RATES, FREQUENCIES)
def test_new_savings_earn_at_most_the_largest_annual_rate(rate: str, frequency: str) -> None:
    is_allowed = float(rate) * INTERVALS_A_YEAR[frequency] <= MAX_ANNUAL_PERCENT
    assert (rate_fits(MERCHANT, frequency, rate) is None) == is_allowed


@POT.tries
def test_a_pot_of_two_is_at_most_the_largest_amount(value: int, is_within: bool) -> None:
    assert (pot_fits(MERCHANT, 2, value) is None) == is_within


@given(st.integers(1, LARGEST_AMOUNT), st.integers(2, MAX_MEMBERS))
def test_a_pot_is_at_most_the_largest_amount(amount: int, members: int) -> None:
    fits = pot_fits(MERCHANT, members, amount) is None
    assert fits == (amount * members <= LARGEST_AMOUNT)


def test_a_wrong_number_of_members_is_named_once() -> None:
    assert check_member_count(MERCHANT, 10**9) is not None
    assert pot_fits(MERCHANT, 10**9, LARGEST_AMOUNT) is None


CLASSES: list[FeeClass] = ["card_local", "card_international", "mobile_money_gh"]


@given(st.integers(1, LARGEST_AMOUNT), st.sampled_from(CLASSES), st.sampled_from(["NGN", "KES"]), st.booleans())
def test_a_price_is_less_than_what_the_books_keep(amount: int, fee_class: FeeClass, currency: str, own: bool) -> None:
    price = price_collection(read_tariff({}), fee_class, currency, amount, "merchant" if own else "customer")
    assert 0 <= price.settled <= price.charged <= 2 * LARGEST_AMOUNT < LARGEST_BALANCE
    assert price.settled + price.fee + price.vat == price.charged
