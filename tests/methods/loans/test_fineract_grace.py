"""Grace periods and reschedules as another lender computes them: scenarios of Apache Fineract's own tests, as data.

They are in `LoanReschedule.feature` of its end-to-end tests, and in `ClientLoanIntegrationTest.java`.

| Scenario | Here |
|---|---|
| loan changed event was triggered when the loan got rescheduled | equal |
| single installment, changing installment date | equal |
| multiple installments, changing installment date | equal |
| multiple installments, adding extra terms | equal |
| multiple installments, mid-term grace period on principal | equal with one more installment: they add one |
| multiple installments, new interest rate | equal |
| extra terms with auto downpayment | not tried: installments every 15 days, which no frequency here is |
| payment holidays of one and two periods, before and after a downpayment | not tried: every 15 days |
| LoanScheduleWithCurrencyDetails_with_grace | equal up to their rounding to hundreds |
| interest recalculation with moratorium | different: no interest but principal, which is status 104 here |
| mid-term grace period on interest | not tried: skipped there, as it deletes interest |
| undo disbursement, multiple disbursement, extra terms after a second disbursement | not tried: one disbursement here |
"""

from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import pytest

from tests.methods.loans.in_memory_lender import Lender
from tests.methods.loans.test_charges import reasons
from tests.methods.loans.test_repay import kobo

Due = tuple[str, str, str]  # date, principal, interest


class Scenario(NamedTuple):
    """One scenario: a loan, when it is rescheduled and how, and the schedule that their test expects."""

    name: str
    begins: date
    terms: dict[str, Any]
    day: date
    plan: dict[str, Any]
    expected: list[Due]


def at(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 9, tzinfo=UTC)


JULY, FIFTH = date(2023, 7, 1), date(2023, 7, 5)
NO_INTEREST = {"interestRate": "0", "interestFrequency": "every_month"}
PLAIN = {"amount": "3000.00", "period": 3, "method": "flat", "interestSettings": NO_INTEREST}
SINGLE = {**PLAIN, "amount": "1000.00", "period": 1}
FLAT_12 = {**PLAIN, "interestSettings": {"interestRate": "12", "interestFrequency": "annualized"}}
FROM_SEPTEMBER = {"from": "2023-09-01"}

SCENARIOS = (
    Scenario(
        "loan changed event was triggered when the loan got rescheduled",
        date(2022, 7, 1),
        {**SINGLE, "amount": "5000.00"},
        date(2022, 7, 1),
        {"from": "2022-08-01", "first_due": "2022-08-31"},
        [("2022-08-31", "5000.00", "0.00")],
    ),
    Scenario(
        "single installment, changing installment date",
        JULY,
        SINGLE,
        FIFTH,
        {"from": "2023-07-31", "first_due": "2023-08-31"},
        [("2023-08-31", "1000.00", "0.00")],
    ),
    Scenario(
        "multiple installments, changing installment date",
        JULY,
        PLAIN,
        FIFTH,
        {**FROM_SEPTEMBER, "first_due": "2023-09-15"},
        [
            ("2023-08-01", "1000.00", "0.00"),
            ("2023-09-15", "1000.00", "0.00"),
            ("2023-10-15", "1000.00", "0.00"),
        ],
    ),
    Scenario(
        "multiple installments, adding extra terms",
        JULY,
        PLAIN,
        FIFTH,
        {**FROM_SEPTEMBER, "extra_installments": 2},
        [
            ("2023-08-01", "1000.00", "0.00"),
            ("2023-09-01", "500.00", "0.00"),
            ("2023-10-01", "500.00", "0.00"),
            ("2023-11-01", "500.00", "0.00"),
            ("2023-12-01", "500.00", "0.00"),
        ],
    ),
    Scenario(
        "multiple installments, mid-term grace period on principal",
        JULY,
        PLAIN,
        FIFTH,
        {**FROM_SEPTEMBER, "grace": {"principal": 1}, "extra_installments": 1},
        [
            ("2023-08-01", "1000.00", "0.00"),
            ("2023-09-01", "0.00", "0.00"),
            ("2023-10-01", "1000.00", "0.00"),
            ("2023-11-01", "1000.00", "0.00"),
        ],
    ),
    Scenario(
        "multiple installments, new interest rate",
        JULY,
        FLAT_12,
        FIFTH,
        {**FROM_SEPTEMBER, "interestRate": 6},
        [
            ("2023-08-01", "1000.00", "30.00"),
            ("2023-09-01", "1000.00", "15.00"),
            ("2023-10-01", "1000.00", "15.00"),
        ],
    ),
)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_rescheduled_loan_is_as_fineract_expects_it(scenario: Scenario) -> None:
    lender = Lender(start=at(scenario.begins))
    loan_id = lender.lend(**scenario.terms)
    lender.pass_days((at(scenario.day) - lender.now).days)
    plan = dict(scenario.plan)
    reply = lender.reschedule(loan_id, plan.pop("from"), **plan)
    assert [(line.due, line.principal, line.interest) for line in reply.data.schedule] == scenario.expected


def test_an_equal_principal_loan_with_a_grace_is_as_fineract_expects_it() -> None:
    """ClientLoanIntegrationTest: 10,000,000 at 2 % a month in 24 installments of equal principal, five of them without
    principal. They round to hundreds, and put what is left into the last installment."""
    lender = Lender(start=at(date(2014, 6, 2)))
    settings = {"interestRate": "2", "interestFrequency": "every_month"}
    terms = {"amount": "10000000.00", "period": 24, "method": "equal_principal", "interestSettings": settings}
    schedule = lender.request(**terms, grace={"principal": 5}).data.schedule
    expected = {
        1: ("2014-07-02", 0, 200_000),
        2: ("2014-08-02", 0, 200_000),
        3: ("2014-09-02", 0, 200_000),
        4: ("2014-10-02", 0, 200_000),
        5: ("2014-11-02", 0, 200_000),
        6: ("2014-12-02", 526_300, 200_000),
        7: ("2015-01-02", 526_300, 189_500),
        10: ("2015-04-02", 526_300, 157_900),
        20: ("2016-02-02", 526_300, 52_600),
        24: ("2016-06-02", 526_300, 10_500),
    }
    found = {n: schedule[n - 1] for n in expected}
    assert {n: (line.due, hundreds(line.principal), hundreds(line.interest)) for n, line in found.items()} == expected


def hundreds(amount: str) -> int:
    """Rounds an amount to hundreds of the major unit, as their product does."""
    return (kobo(amount) + 5_000) // 10_000 * 100


def test_interest_is_not_left_out_of_an_installment_with_principal() -> None:
    """Their moratorium leaves the interest out of the first installment and its principal in."""
    refusal = Lender().request(period=4, grace={"principal": 0, "interest": 1})
    assert "at most principal" in reasons(refusal)["grace"]
