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
| extra terms with auto downpayment | equal: their periods of 15 days are our months |
| payment holidays of one and two periods, before and after a downpayment | equal, their periods are our months |
| payment holiday after a downpayment was reverted, fee added | equal |
| payment holiday with extra terms, or with a grace on principal | equal |
| payment holiday of a charged-off loan | equal: it is refused |
| keeps the N+1 installment | not expressible: no charge is of a day after the last due date |
| LoanScheduleWithCurrencyDetails_with_grace | equal up to their rounding to hundreds |
| interest recalculation with moratorium | different: no interest but principal, which is status 104 here |
| mid-term grace period on interest | not tried: skipped there, as it deletes interest |
| undo disbursement, multiple disbursement, extra terms after a second disbursement | not tried: one disbursement here |
"""

from datetime import date
from typing import Any, NamedTuple

import pytest

from kasuwa.core.calendar import add_months
from kasuwa.core.decision import Refusal
from tests.methods.loans.fineract_loans import INTEREST_FREE, Act, Player, at, every_15_days
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


JULY, FIFTH = date(2023, 7, 1), date(2023, 7, 5)
PLAIN = {"amount": "3000.00", "period": 3, "method": "flat", "interestSettings": INTEREST_FREE}
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


class Holiday(NamedTuple):
    """A reschedule of a loan with a down payment, whose second installment is due on 16 October."""

    name: str
    is_paid_down: bool
    day: str
    to: int  # periods by which the second installment and those after it move
    plan: dict[str, Any]
    expected: list[tuple[int, str]]  # of each installment its period and its principal


MOVED = [(0, "250.00"), (2, "250.00"), (3, "250.00"), (4, "250.00")]
HOLIDAYS = (
    Holiday(
        "add extra terms working properly with auto downpayment",
        True,
        "10-01",
        0,
        {"extra_installments": 2},
        [(0, "250.00"), *((n, "150.00") for n in range(1, 6))],
    ),
    Holiday("adjusted by 1 installment period after successful downpayment", True, "10-05", 1, {}, MOVED),
    Holiday(
        "adjusted by 2 installment period after successful downpayment",
        True,
        "10-05",
        2,
        {},
        [(0, "250.00"), (3, "250.00"), (4, "250.00"), (5, "250.00")],
    ),
    Holiday(
        "adjusted by 2 installment period while downpayment is still due",
        False,
        "10-05",
        2,
        {},
        [(0, "250.00"), (3, "250.00"), (4, "250.00"), (5, "250.00")],
    ),
    Holiday("in case of auto downpayment", True, "10-01", 1, {}, MOVED),
    Holiday(
        "adjusted by 1 installment period and 2 extra terms",
        True,
        "10-05",
        1,
        {"extra_installments": 2},
        [(0, "250.00"), *((n, "150.00") for n in range(2, 7))],
    ),
    Holiday(
        "adjusted by 1 installment period and 1 grace on principal",
        True,
        "10-05",
        1,
        {"grace": {"principal": 1}, "extra_installments": 1},
        [(0, "250.00"), (2, "0.00"), (3, "250.00"), (4, "250.00"), (5, "250.00")],
    ),
)


def take_holiday(player: Player, day: str, to: int, plan: dict[str, Any]) -> Any:
    player.do(Act(day, "is open", ""))
    since = player.day("10-16")
    moved = {"first_due": add_months(since, to).isoformat()} if to else {}
    return player.lender.reschedule(player.loan_id, since.isoformat(), **plan, **moved)


@pytest.mark.parametrize("scenario", HOLIDAYS, ids=lambda scenario: scenario.name)
def test_a_payment_holiday_is_as_fineract_expects_it(scenario: Holiday) -> None:
    player = Player(every_15_days("1000.00", date(2023, 10, 1)))
    if scenario.is_paid_down:
        player.do(Act("10-01", "repay", "250.00"))
    schedule = take_holiday(player, scenario.day, scenario.to, scenario.plan).data.schedule
    first = player.day("10-01")
    expected = [(add_months(first, period).isoformat(), principal) for period, principal in scenario.expected]
    assert [(line.due, line.principal) for line in schedule] == expected
    assert schedule[0].paid == ("250.00" if scenario.is_paid_down else "0.00")


def test_a_payment_holiday_after_a_reverted_downpayment_and_a_fee() -> None:
    """The fee of the due date stays with the installment that moves."""
    player = Player(every_15_days("1000.00", date(2023, 10, 1)))
    for act in (Act("10-01", "repay", "250.00"), Act("10-02", "reverse", "1")):
        player.do(act)
    due = player.day("10-16").isoformat()
    assert player.lender.charge(player.loan_id, "15.00", due=due).status == 200
    player.do(Act("10-03", "repay", "250.00"))
    data = take_holiday(player, "10-05", 1, {}).data
    rows = [(line.total, line.paid) for line in data.schedule]
    assert rows == [("250.00", "250.00"), ("265.00", "0.00"), ("250.00", "0.00"), ("250.00", "0.00")]
    assert data.outstanding.total == "765.00"


def test_a_loan_that_was_given_up_gets_no_payment_holiday() -> None:
    """Payment holiday gives error in case of charged-off loan."""
    player = Player(every_15_days("1000.00", date(2023, 10, 1)))
    player.do(Act("10-03", "is open", ""))
    player.lender.write_off(player.loan_id)
    before = player.lender.balances()
    since = player.day("10-16").isoformat()
    assert isinstance(player.lender.reschedule(player.loan_id, since, extra_installments=1), Refusal)
    assert player.lender.balances() == before


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
