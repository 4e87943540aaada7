"""Reversed repayments as another lender computes them: scenarios of Apache Fineract's own end-to-end tests, as data.

Each has the loan, what is repaid and what is reversed, and the schedule that their test expects after it. Where their
model differs from ours the scenario says so, and what ours gives instead.
"""

from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import pytest

from tests.methods.loans.in_memory_lender import Lender
from tests.methods.loans.test_repay import text

Due = tuple[str, str, str]  # date, due, paid


class Scenario(NamedTuple):
    """One scenario, with the name that it has there."""

    name: str
    begins: date
    terms: dict[str, Any]
    repaid: list[tuple[date, int]]
    reversed_on: date
    wrong: list[int]  # places in `repaid`, in the order of their reversal
    expected: list[Due]
    outstanding: str


INTEREST_FREE = {"interestRate": "0", "interestFrequency": "every_month"}
FLAT_12 = {"interestRate": "12", "interestFrequency": "annualized"}
LOAN_750 = {"amount": "750.00", "period": 3, "interestSettings": INTEREST_FREE}
LOAN_3000 = {"amount": "3000.00", "period": 3, "interestSettings": FLAT_12, "method": "flat"}

# Their chargeback asks for money again in the period of its date, and raises the principal. Ours takes a repayment out
# of the loan, as their "undo" does: only what they undo is compared.
SCENARIOS = (
    Scenario(
        "LoanChargeback: When repayment 1 is reversed (without its chargeback)",
        date(2023, 1, 1),
        LOAN_750,
        [(date(2023, 2, 1), 25_000), (date(2023, 3, 1), 25_000), (date(2023, 3, 30), 25_000)],
        date(2023, 4, 1),
        [0],
        [("2023-02-01", "250.00", "250.00"), ("2023-03-01", "250.00", "250.00"), ("2023-04-01", "250.00", "0.00")],
        "250.00",
    ),
    Scenario(
        "LoanChargeback: When 2 repayments are reversed (repayment 1 & 3) (without its chargeback)",
        date(2023, 1, 1),
        LOAN_750,
        [(date(2023, 2, 1), 25_000), (date(2023, 3, 1), 25_000), (date(2023, 3, 30), 25_000)],
        date(2023, 4, 1),
        [0, 2],
        [("2023-02-01", "250.00", "250.00"), ("2023-03-01", "250.00", "0.00"), ("2023-04-01", "250.00", "0.00")],
        "500.00",
    ),
    Scenario(
        "LoanRepayment: due-penalty-fee-interest-principal-in-advance-principal-penalty-fee-interest-strategy payment"
        " strategy - repayment + reversal (without its fees)",
        date(2023, 1, 1),
        LOAN_3000,
        [(date(2023, 1, 15), 103_000)],
        date(2023, 1, 15),
        [0],
        [("2023-02-01", "1030.00", "0.00"), ("2023-03-01", "1030.00", "0.00"), ("2023-04-01", "1030.00", "0.00")],
        "3090.00",
    ),
)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_loan_after_a_reversal_is_as_fineract_expects_it(scenario: Scenario) -> None:
    lender = Lender(start=at(scenario.begins))
    loan_id = lender.lend(**scenario.terms)
    repayments = []
    for day, amount in scenario.repaid:
        lender.pass_days((at(day) - lender.now).days)
        repayments.append(lender.repay(loan_id, text(amount)).txn_ref)
    lender.pass_days((at(scenario.reversed_on) - lender.now).days)
    for place in scenario.wrong:
        reply = lender.reverse(repayments[place])
    lines = [(line.due, line.total, line.paid) for line in reply.data.schedule]
    assert lines == scenario.expected
    assert reply.data.outstanding.total == scenario.outstanding


def at(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 9, tzinfo=UTC)
