"""Scenarios on charges of Apache Fineract's own end-to-end tests (LoanCharge.feature).

The expected numbers are theirs. Their due dates are 30 days after the payout where ours are a month after it, and their
disbursement charge stands before the first installment: sums and states are compared there.
"""

from collections.abc import Callable
from datetime import date
from typing import Any, NamedTuple

import pytest

from kasuwa.methods.loans.rules.loan_record import make_loan_record
from tests.methods.loans.in_memory_lender import Lender
from tests.methods.loans.test_fineract import INTEREST_FREE, LOAN_750, LOAN_3000, at
from tests.methods.loans.test_repay import kobo

LOAN_1000 = {"amount": "1000.00", "period": 1, "interestSettings": INTEREST_FREE}
FEE_3 = [("2023-02-01", "1045.45"), ("2023-03-01", "1045.45"), ("2023-04-01", "1045.45")]


class Scenario(NamedTuple):
    """A loan with charges agreed or made, and what their schedule says on a day."""

    name: str
    terms: dict[str, Any]
    charges: list[dict[str, Any]]
    made: list[tuple[date, str]]  # charges made later: their days and amounts
    day: date
    lines: list[tuple[str, str]]  # due, total; left out where their dates are others
    fees: str  # the sum of their column Fees
    outstanding: str


SCENARIOS = (
    Scenario(
        "FEE01 - Verify the loan creation with charge: disbursement percentage fee",
        LOAN_1000,
        [{"name": "Fee", "percent": "1.5", "when": "disbursement", "deduct": True}],
        [],
        date(2023, 1, 1),
        [],
        "15.00",
        "1000.00",
    ),
    Scenario(
        "FEE02 - Verify the loan creation with charge: flat fee",
        LOAN_1000,
        [],
        [(date(2023, 1, 10), "15.00")],
        date(2023, 1, 1),
        [],
        "15.00",
        "1015.00",
    ),
    Scenario(
        "FEE03 - Verify the loan creation with charge: installment percentage fee",
        LOAN_3000,
        [{"name": "Fee", "percent": "1.5", "when": "installment"}],
        [],
        date(2023, 1, 1),
        FEE_3,
        "46.35",
        "3136.35",
    ),
    Scenario(
        "FEE05 - Verify the loan creation with charge: overdue fee on principal+interest",
        LOAN_3000,
        [{"name": "Fee", "percent": "1.5", "when": "late"}],
        [],
        date(2023, 5, 1),
        FEE_3,
        "46.35",
        "3136.35",
    ),
)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_schedule_with_charges_is_as_fineract_expects_it(scenario: Scenario) -> None:
    lender = Lender(start=at(date(2023, 1, 1)))
    loan_id = lender.lend(**scenario.terms, charges=scenario.charges)
    for day, amount in scenario.made:
        lender.charge(loan_id, amount, due=day.isoformat())
    lender.pass_days((scenario.day - date(2023, 1, 1)).days)
    record = make_loan_record(lender.loan(loan_id), tuple(lender.lines(loan_id)), lender.now)
    assert isinstance(record.charges, list)
    assert sum(kobo(charge.amount) for charge in record.charges) == kobo(scenario.fees)
    assert record.outstanding.total == scenario.outstanding
    if scenario.lines:
        assert [(line.due, line.total) for line in record.schedule] == scenario.lines


def test_an_installment_fee_that_is_paid_in_part_and_then_waived() -> None:
    """Verify that partially waived installment fee applied correctly in reverse-replay logic."""
    lender = Lender(start=at(date(2023, 1, 1)))
    # Their fee is asked for before the due date; ours from the day that a charge names.
    loan_id = lender.lend(**LOAN_1000)
    lender.charge(loan_id, "100.00")
    lender.pass_days(14)
    first = lender.repay(loan_id, "5.00")
    assert (first.allocation.charges, first.allocation.principal) == ("5.00", "0.00")
    lender.pass_days(5)
    lender.waive(loan_id, charge_id="A1")
    reply = lender.repay(loan_id, "15.00")
    assert reply.allocation.principal == "15.00"
    [charge] = reply.data.charges
    assert (charge.amount, charge.paid, charge.waived, charge.outstanding) == ("100.00", "5.00", "95.00", "0.00")
    assert reply.data.outstanding.total == "985.00"


def nsf(lender: Lender) -> str:
    """Returns the loan of the two scenarios below on 5 April 2022: its last repayment bounced, and is charged for."""
    loan_id = lender.lend(**LOAN_750)
    repaid = ""
    for days in (31, 28, 31):
        lender.pass_days(days)
        repaid = lender.repay(loan_id, "250.00").txn_ref
    assert lender.reverse(repaid).data.outstanding.total == "250.00"
    lender.pass_days(4)
    assert lender.charge(loan_id, "10.00").data.outstanding.total == "260.00"
    return loan_id


def repay_all(lender: Lender, loan_id: str) -> tuple[str, str]:
    data = lender.repay(loan_id, "260.00").data
    return data.state, data.outstanding.total


def waive_after_two_days(lender: Lender, loan_id: str) -> tuple[str, str]:
    lender.pass_days(2)
    data = lender.waive(loan_id, charge_id="A4").data
    return data.state, data.outstanding.total


@pytest.mark.parametrize(
    ("act", "expected"),
    [(repay_all, ("closed_repaid", "0.00")), (waive_after_two_days, ("active_in_arrears", "250.00"))],
    ids=["repaid", "waived"],
)
def test_a_fee_for_a_bounced_repayment_after_the_maturity_date(
    act: Callable[[Lender, str], tuple[str, str]], expected: tuple[str, str]
) -> None:
    """Due date charge can be successfully applied (then waived) when it is added after the maturity date."""
    lender = Lender(start=at(date(2022, 1, 1)))
    assert act(lender, nsf(lender)) == expected
