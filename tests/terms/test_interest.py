"""Interest on loans against the oracles, numpy-financial and the properties that no terms may break.

Contract: loans#request
"""

from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import numpy_financial
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kasuwa.core.money import convert_to_minor, format_minor
from kasuwa.terms.loan_schedule import (
    EQUAL_INSTALLMENTS,
    EQUAL_PRINCIPAL,
    FLAT,
    INTERVALS_A_YEAR,
    PENALTY_UNITS_PER_MINOR,
    LoanAmounts,
    LoanTerms,
    ScheduledInstallment,
    accrued_interest,
    allocate,
    charge_penalty,
    convert_rate,
    due_date,
    late_on,
    level_payment,
    make_schedule,
    parse_rate,
    round_half_up,
    sum_amounts,
)

ORACLES = msgspec.json.decode((Path(__file__).parents[1] / "data" / "loan_oracles.json").read_bytes())
METHODS = (EQUAL_INSTALLMENTS, EQUAL_PRINCIPAL, FLAT)
BEGINS = date(2026, 1, 31)


def title(oracle: Any) -> str:
    return str(oracle["id"])


# --- the oracles ------------------------------------------------------------------------------------------------


def shown(line: ScheduledInstallment) -> dict[str, Any]:
    return {
        "n": line.n,
        "due": line.due.isoformat(),
        "principal": format_minor(line.principal),
        "interest": format_minor(line.interest),
        "tax": format_minor(line.tax),
        "total": format_minor(line.total),
        "balance": format_minor(line.balance),
    }


@pytest.mark.parametrize("oracle", ORACLES["computed_schedules"], ids=title)
def test_every_computed_schedule_is_reproduced_to_the_kobo(oracle: Any) -> None:
    terms = LoanTerms(
        convert_to_minor(oracle["principal"]),
        oracle["interestRate"],
        oracle["interestFrequency"],
        oracle["period"],
        oracle["method"],
        oracle["tax_rate"] if oracle["tax_applied"] else "0",
    )
    lines = make_schedule(terms, date.fromisoformat(oracle["disbursed_on"]))
    assert [shown(line) for line in lines] == oracle["rows"]
    for name in ("principal", "interest", "tax", "total"):
        assert format_minor(sum(getattr(line, name) for line in lines)) == oracle["totals"][name]


def test_the_oracles_include_every_method() -> None:
    assert {oracle["method"] for oracle in ORACLES["computed_schedules"]} == set(METHODS)


@pytest.mark.parametrize("example", ORACLES["conventions"]["examples"], ids=lambda example: example["frm"])
def test_rates_are_converted_by_intervals_a_year(example: Any) -> None:
    frequency, _, percent = example["frm"].partition(" ")
    converted = convert_rate(Fraction(Decimal(percent.rstrip("%"))), frequency, example["to"])
    assert abs(converted - Fraction(Decimal(example["value"]))) < Fraction(1, 10**6)


@pytest.mark.parametrize("oracle", ORACLES["allocation"], ids=title)
def test_payments_are_allocated_as_the_oracle_says(oracle: Any) -> None:
    names = {"penalties": "penalty", "fees": "charge", "interest": "interest", "tax": "tax", "principal": "principal"}

    def read(value: Any, prefix: str = "") -> LoanAmounts:
        return LoanAmounts(**{part: convert_to_minor(value.get(prefix + name, "0")) for name, part in names.items()})

    owed = [read(line) for line in oracle["due"]]
    for payment in oracle["payments"]:
        paid = allocate(convert_to_minor(payment["amount"]), owed)
        expected = [LoanAmounts()] * len(owed)
        expected[payment["n"] - 1] = read(payment)
        if "then_n" in payment:
            expected[payment["then_n"] - 1] = read(payment, "then_")
        assert paid == expected
        owed = [before - taken for before, taken in zip(owed, paid, strict=True)]


@pytest.mark.parametrize("oracle", ORACLES["penalties"], ids=title)
def test_a_penalty_is_overdue_principal_by_late_days_by_the_daily_rate(oracle: Any) -> None:
    carry = charged = 0
    for _ in range(oracle["late_days"]):
        today, carry = charge_penalty(
            carry, convert_to_minor(oracle["overdue_principal"]), oracle["daily_rate_percent"]
        )
        charged += today
    assert format_minor(charged) == oracle["penalty"]


# --- an independent implementation --------------------------------------------------------------------------------

principals = st.integers(min_value=1, max_value=10**13)
# A rate up to 100 % an interval, with as many decimals as the wire takes.
percents = st.integers(min_value=0, max_value=100 * 10**4).map(lambda tenths: format_percent(tenths, 4))
frequencies = st.sampled_from(sorted(INTERVALS_A_YEAR))


def format_percent(units: int, places: int) -> str:
    return str(Decimal(units).scaleb(-places))


def terms_of(
    periods: st.SearchStrategy[int], methods: st.SearchStrategy[str], taxes: st.SearchStrategy[str] | None = None
) -> st.SearchStrategy[LoanTerms]:
    tax = taxes if taxes is not None else st.sampled_from(["0", "7.5", "10", "33.3333", "100"])
    return st.builds(LoanTerms, principals, percents, frequencies, periods, methods, tax)


every_terms = terms_of(st.integers(1, 60), st.sampled_from(METHODS))


@given(
    st.integers(10_000, 10**11),
    st.integers(1, 300).map(lambda tenths: format_percent(tenths, 1)),
    st.integers(1, 120),
)
def test_equal_installments_agree_with_numpy_financial(principal: int, percent: str, period: int) -> None:
    """A float has 15 digits, so its figure may differ from the exact one by the last of them."""
    terms = LoanTerms(principal, percent, "every_month", period)
    rate = float(parse_rate(percent))
    level = -numpy_financial.pmt(rate, period, principal)
    assert abs(level_payment(terms) - level) <= 0.5 + level * 1e-9
    first = make_schedule(terms, BEGINS)[0]
    if period > 1:
        assert abs(first.interest - -numpy_financial.ipmt(rate, 1, period, principal)) <= 0.5 + level * 1e-9
        assert abs(first.principal - -numpy_financial.ppmt(rate, 1, period, principal)) <= 1 + level * 1e-9


def test_a_whole_schedule_agrees_with_numpy_financial_to_the_rounding() -> None:
    lines = make_schedule(LoanTerms(12_000_000, "24", "annualized", 12), BEGINS)
    for line in lines:
        assert abs(line.interest + numpy_financial.ipmt(0.02, line.n, 12, 12_000_000)) <= 2
        assert abs(line.principal + numpy_financial.ppmt(0.02, line.n, 12, 12_000_000)) <= 4


# --- what no terms may break --------------------------------------------------------------------------------------


@given(every_terms)
def test_principal_sums_exactly_no_part_is_negative_and_the_balance_ends_at_zero(terms: LoanTerms) -> None:
    lines = make_schedule(terms, BEGINS)
    assert len(lines) == terms.period
    assert sum(line.principal for line in lines) == terms.principal
    assert all(min(line.principal, line.interest, line.tax, line.balance) >= 0 for line in lines)
    balances = [terms.principal, *(line.balance for line in lines)]
    assert balances == sorted(balances, reverse=True)
    assert balances[-1] == 0
    assert [line.due for line in lines] == sorted({line.due for line in lines})


@given(every_terms)
def test_tax_is_its_rate_on_the_interest_of_each_line(terms: LoanTerms) -> None:
    for line in make_schedule(terms, BEGINS):
        assert abs(line.tax - line.interest * parse_rate(terms.tax)) <= Fraction(1, 2)


@given(every_terms)
def test_all_installments_but_the_last_are_equal_where_the_method_says_so(terms: LoanTerms) -> None:
    lines = make_schedule(terms, BEGINS)[:-1]
    figures = {
        EQUAL_INSTALLMENTS: [line.principal + line.interest for line in lines if line.balance],
        EQUAL_PRINCIPAL: [line.principal for line in lines if line.balance],
        FLAT: [line.interest for line in lines],
    }
    assert len(set(figures[terms.method])) <= 1


def all_interest(terms: LoanTerms) -> int:
    return sum(line.interest for line in make_schedule(terms, BEGINS))


def rounding_of(terms: LoanTerms) -> Fraction:
    """The most that rounding may move a schedule's total: at most one kobo an interval, and interest on that."""
    rate = terms.interval_rate
    return terms.period + (((1 + rate) ** terms.period - 1) / rate if rate else Fraction(terms.period))


@given(every_terms, percents)
def test_the_total_never_falls_when_the_rate_rises(terms: LoanTerms, other: str) -> None:
    """Exact for methods that round each line on its own. Equal installments are rounded as a whole: a higher rate whose
    installment is rounded up repays principal sooner, so the total may fall by up to that rounding."""
    low, high = sorted([terms.rate, other], key=parse_rate)
    cheap, dear = msgspec.structs.replace(terms, rate=low), msgspec.structs.replace(terms, rate=high)
    leeway = 0 if terms.method != EQUAL_INSTALLMENTS else rounding_of(cheap) + rounding_of(dear)
    assert all_interest(dear) >= all_interest(cheap) - leeway
    assert level_payment(dear) >= level_payment(cheap)


@given(every_terms)
def test_a_rate_of_zero_has_no_interest(terms: LoanTerms) -> None:
    lines = make_schedule(msgspec.structs.replace(terms, rate="0"), BEGINS)
    assert all(line.interest == line.tax == 0 for line in lines)


@given(terms_of(st.just(1), st.sampled_from(METHODS)))
def test_one_installment_pays_all_with_one_interval_of_interest(terms: LoanTerms) -> None:
    (line,) = make_schedule(terms, BEGINS)
    assert (line.principal, line.interest) == (terms.principal, round_half_up(terms.principal * terms.interval_rate))


def test_principal_sums_if_there_are_fewer_kobo_than_installments() -> None:
    lines = make_schedule(LoanTerms(5, "0", "every_day", 10), BEGINS)
    assert [line.principal for line in lines] == [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]


# --- dates ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frequency", "days"),
    [
        ("annualized", ["2026-02-28", "2026-03-31", "2026-04-30"]),
        ("every_month", ["2026-02-28", "2026-03-31", "2026-04-30"]),
        ("every_four_weeks", ["2026-02-28", "2026-03-28", "2026-04-25"]),
        ("every_week", ["2026-02-07", "2026-02-14", "2026-02-21"]),
        ("every_day", ["2026-02-01", "2026-02-02", "2026-02-03"]),
    ],
)
def test_each_frequency_has_its_dates_and_a_month_end_keeps_its_anchor(frequency: str, days: list[str]) -> None:
    assert [due_date(BEGINS, frequency, n).isoformat() for n in (1, 2, 3)] == days


# --- days used, late days ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("day", "used"),
    [
        ("2026-01-30", 0),
        ("2026-01-31", 0),
        ("2026-02-01", 107),  # 3000 × 1 ÷ 28 = 107.14
        ("2026-02-14", 1500),
        ("2026-02-27", 2893),
        ("2026-02-28", 3000),
        ("2026-03-05", 3000),
    ],
)
def test_interest_accrues_by_the_day(day: str, used: int) -> None:
    assert accrued_interest(3000, BEGINS, date(2026, 2, 28), date.fromisoformat(day)) == used


@given(st.integers(0, 10**13), st.integers(1, 366), st.data())
def test_accrued_interest_grows_to_the_full_interest(interest: int, days: int, drawn: st.DataObject) -> None:
    due = BEGINS + timedelta(days=days)
    offsets = sorted(drawn.draw(st.lists(st.integers(0, days), min_size=2, max_size=4)))
    figures = [accrued_interest(interest, BEGINS, due, BEGINS + timedelta(days=offset)) for offset in offsets]
    assert figures == sorted(figures)
    assert 0 <= figures[0] <= figures[-1] <= interest


def test_an_installment_is_late_the_day_after_its_due_date_and_tolerance() -> None:
    assert late_on(date(2026, 2, 28), 0) == date(2026, 3, 1)
    assert late_on(date(2026, 2, 28), 3) == date(2026, 3, 4)


@given(st.integers(1, 10**13), st.integers(0, 5 * 10**6), st.integers(1, 60))
def test_daily_penalties_sum_to_the_exact_penalty_rounded_once(principal: int, units: int, days: int) -> None:
    percent = format_percent(units, 6)
    carry = charged = 0
    for _ in range(days):
        today, carry = charge_penalty(carry, principal, percent)
        assert today >= 0
        charged += today
    assert charged == round_half_up(principal * days * parse_rate(percent))
    assert charge_penalty(0, principal, percent, days) == (charged, carry)
    assert abs(carry) <= PENALTY_UNITS_PER_MINOR // 2


# --- where a repayment goes -------------------------------------------------------------------------------------------

figures = st.integers(0, 10**9)
owed_parts = st.builds(LoanAmounts, figures, figures, figures, figures, figures)


@given(st.lists(owed_parts, max_size=6), st.integers(0, 10**11))
def test_a_repayment_is_allocated_in_order_and_never_overpays(owed: list[LoanAmounts], amount: int) -> None:
    everything = sum_amounts(owed)
    assume(amount <= everything.total)
    paid = allocate(amount, owed)
    assert sum_amounts(paid).total == amount
    open_before = False
    for parts, taken in zip(owed, paid, strict=True):
        assert all(0 <= getattr(taken, name) <= getattr(parts, name) for name in LoanAmounts.__struct_fields__)
        assert not (open_before and taken.total)
        assert not (taken.charge and taken.penalty < parts.penalty)
        assert not (taken.interest + taken.tax and taken.charge + taken.vat < parts.charge + parts.vat)
        assert not (taken.principal and taken.interest + taken.tax < parts.interest + parts.tax)
        open_before = taken != parts


@given(st.integers(1, 10**9), st.integers(0, 10**9), st.data())
def test_interest_paid_in_parts_is_paid_with_its_tax_to_the_kobo(interest: int, tax: int, drawn: st.DataObject) -> None:
    owed = LoanAmounts(interest=interest, tax=tax)
    piece = drawn.draw(st.integers(1, interest + tax))
    (first,) = allocate(piece, [owed])
    assert abs(first.tax - Fraction(piece * tax, interest + tax)) <= Fraction(1, 2)
    assert allocate(interest + tax, [owed - first]) == [owed - first]
