"""Scenarios on charges of Apache Fineract's own end-to-end tests (LoanCharge.feature).

The expected numbers are theirs. Their due dates are 30 days after the payout where ours are a month after it, and their
disbursement charge stands before the first installment: sums and states are compared there.

    theirs                                          here
    ------------------------------------------------------------------------------------------------------------------
    a charge of a day                               equal, with the installment and the repayments that cover it
    a charge of a day that has passed (UC1 to UC8)  not expressible: a charge is never of an earlier day. Theirs counts
                                                    all repayments since anew, so it is compared with a charge that was
                                                    made on its day: equal sums, and equal parts of each repayment
    repayments ahead                                equal sums. Theirs covers the next installments. Here the schedule
                                                    is made anew: the rest is spread over them (loans#repay)
    a charge after the last due date                equal sums. Theirs has an installment for it, here the last one has
    a charge of a loan that is paid off, overpaid   different: it is refused here
    a charge after it was paid ahead                equal sum. Theirs has it paid from what was paid ahead
    an undone waiver, an adjusted charge            not expressible: such a charge is made again
"""

from collections.abc import Callable
from datetime import date
from typing import Any, NamedTuple

import pytest

from kasuwa.methods.loans.rules.loan_record import make_loan_record
from tests.methods.loans.fineract_loans import (
    INTEREST_FREE,
    LOAN_750,
    LOAN_3000,
    OPEN,
    PAID,
    Act,
    Played,
    Player,
    at,
    every_15_days,
    in_30_days,
    monthly,
    play,
)
from tests.methods.loans.in_memory_lender import Lender
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
        "FEE04 - Verify the loan creation with charge: overdue fee on principal (as an amount)",
        LOAN_3000,
        [{"name": "Fee", "amount": "15.00", "when": "late"}],
        [],
        date(2023, 5, 1),
        [("2023-02-01", "1045.00"), ("2023-03-01", "1045.00"), ("2023-04-01", "1045.00")],
        "45.00",
        "3135.00",
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


JANUARY = in_30_days(date(2023, 1, 1))
OCTOBER = in_30_days(date(2023, 10, 1))
DOWN_PAYMENT = every_15_days("1000.00", date(2023, 10, 1))
DOWN = Act("10-01", "repay", "250.00")
SECOND, THIRD = Act("10-16", "repay", "250.00"), Act("10-31", "repay", "250.00")
AHEAD = Act("10-10", "repay", "300.00")


def charge(day: str, amount: str = "20.00") -> Act:
    return Act(day, "charge", amount)


def owes(day: str, amount: str) -> Act:
    return Act(day, "owes", amount)


PLAYED = (
    Played(
        "charge can be added to loan on disbursement date",
        JANUARY,
        [charge("01-01", "10.00"), owes("01-01", "1010.00")],
        [("1010.00", "0.00")],
    ),
    Played(
        "charge can be added to loan after disbursement date",
        JANUARY,
        [charge("01-10", "10.00"), owes("01-10", "1010.00")],
        [("1010.00", "0.00")],
    ),
    Played(
        "charge can be added to loan after partial repayment",
        JANUARY,
        [Act("01-10", "repay", "500.00"), charge("01-10", "10.00"), owes("01-10", "510.00")],
    ),
    *(
        Played(f"charge can be added to loan which is reopened by {name}", JANUARY, acts)
        for name, acts in (
            (
                "chargeback after got overpaid by repayment",
                [
                    Act("01-10", "pay", "1200.00"),
                    Act("01-10", "take", "300.00 of 1"),
                    charge("01-10", "10.00"),
                    owes("01-10", "110.00"),
                ],
            ),
            (
                "payment undo after got overpaid by repayment",
                [
                    Act("01-05", "repay", "700.00"),
                    Act("01-10", "pay", "500.00"),
                    Act("01-10", "reverse", "1"),
                    charge("01-10", "10.00"),
                    owes("01-10", "510.00"),
                ],
            ),
            *(
                (
                    f"undo {undone} after got overpaid by goodwill credit",
                    [
                        Act("01-10", "repay", "900.00"),
                        Act("01-10", "pay", "300.00"),
                        Act("01-10", "has", "200.00"),
                        undo,
                        charge("01-10", "10.00"),
                        owes("01-10", owed),
                    ],
                )
                for undone, undo, owed in (
                    ("goodwill credit", Act("01-10", "take", "300.00 of 2"), "110.00"),
                    ("repayment", Act("01-10", "reverse", "1"), "710.00"),
                )
            ),
        )
    ),
    Played(
        "loanChargePaidByList section has the correct data",
        JANUARY,
        [charge("01-03", "10.00"), charge("01-04"), Act("01-05", "repay", "200.00"), owes("01-05", "830.00")],
        [("1030.00", "200.00")],
        [("170.00", "30.00")],
    ),
    Played(
        "charge on a active loan / partial repayment after maturity date - LP1 product",
        OCTOBER,
        [Act("10-31", "repay", "800.00"), owes("10-31", "200.00"), charge("11-01"), owes("11-01", "220.00")],
        [("1020.00", "800.00")],
    ),
    Played(
        "charge on a active loan / partial repayment after maturity date - LP2 (three scenarios)",
        DOWN_PAYMENT,
        [
            DOWN,
            SECOND,
            THIRD,
            Act("11-15", "repay", "100.00"),
            owes("11-15", "150.00"),
            charge("11-16"),
            owes("11-16", "170.00"),
        ],
        [PAID, PAID, PAID, ("270.00", "100.00")],
    ),
    Played(
        "charge on a active loan / no repayment made, after maturity date - LP1 product",
        OCTOBER,
        [charge("11-01"), owes("11-01", "1020.00")],
        [("1020.00", "0.00")],
    ),
    Played(
        "charge on a active loan / no repayment made, after maturity date - LP2 auto payment enabled, and with advanced"
        " payment allocation",
        DOWN_PAYMENT,
        [DOWN, owes("10-01", "750.00"), charge("11-16"), owes("11-16", "770.00")],
        [PAID, OPEN, OPEN, ("270.00", "0.00")],
    ),
    Played(
        "charge on a active loan / no repayment made, after maturity date - LP2 auto payment disabled",
        DOWN_PAYMENT,
        [owes("10-01", "1000.00"), charge("11-16"), owes("11-16", "1020.00")],
        [OPEN, OPEN, OPEN, ("270.00", "0.00")],
    ),
    Played(
        "reverse-replaying logic - UC1",
        DOWN_PAYMENT,
        [DOWN, charge("10-09"), AHEAD, Act("10-20", "repay", "250.00"), owes("11-10", "220.00")],
        split=[("250.00", "0.00"), ("280.00", "20.00"), ("250.00", "0.00")],
    ),
    *(
        Played(
            f"reverse-replaying logic - {name}",
            DOWN_PAYMENT,
            [DOWN, AHEAD, charge(day), Act("10-20", "repay", "250.00"), owes("11-10", "220.00")],
            split=[("250.00", "0.00"), ("300.00", "0.00"), ("230.00", "20.00")],
        )
        for name, day in (("UC2", "10-10"), ("UC3", "10-11"), ("UC4", "10-16"), ("UC5", "10-17"))
    ),
    Played(
        "reverse-replaying logic - UC6",
        DOWN_PAYMENT,
        [DOWN, charge("10-10"), Act("10-16", "repay", "300.00"), owes("11-10", "470.00")],
        split=[("250.00", "0.00"), ("280.00", "20.00")],
    ),
    Played(
        "reverse-replaying logic - UC7 and UC9",
        DOWN_PAYMENT,
        [DOWN, Act("10-16", "repay", "300.00"), charge("10-16"), owes("10-16", "470.00")],
        split=[("250.00", "0.00"), ("300.00", "0.00")],
    ),
    Played(
        "reverse-replaying logic - UC8",
        DOWN_PAYMENT,
        [DOWN, Act("10-16", "repay", "300.00"), charge("10-17"), owes("11-10", "470.00")],
        split=[("250.00", "0.00"), ("300.00", "0.00")],
    ),
    Played(
        "reverse-replaying logic - UC10",
        DOWN_PAYMENT,
        [DOWN, charge("10-16"), Act("10-16", "repay", "300.00"), owes("10-16", "470.00")],
        split=[("250.00", "0.00"), ("280.00", "20.00")],
    ),
    Played(
        "reverse-replaying logic - UC11",
        DOWN_PAYMENT,
        [DOWN, charge("10-15"), Act("10-16", "repay", "300.00"), owes("10-16", "470.00")],
        split=[("250.00", "0.00"), ("280.00", "20.00")],
    ),
    Played(
        "Waive charge on LP2 progressive loan",
        every_15_days("750.00", date(2023, 1, 1)),
        [
            *[Act(day, "repay", "250.00") for day in ("02-01", "03-01", "04-01")],
            Act("04-01", "reverse", "3"),
            charge("04-05", "10.00"),
            Act("04-07", "waive", "1"),
            owes("04-07", "250.00"),
        ],
        [("187.50", "187.50"), ("187.50", "187.50"), ("187.50", "125.00"), ("187.50", "0.00")],
    ),
    Played(
        "when a charge added after maturity had been waived the added N+1 installment will be paid",
        every_15_days("1000.00", date(2023, 1, 1)),
        [charge("02-22", "100.00"), Act("03-31", "waive", "1"), owes("03-31", "1000.00")],
        [OPEN] * 4,
    ),
    Played(
        "Due date charge added on the loan account which already has a N+1 scenario (by chargeback)",
        monthly("750.00", date(2022, 1, 1)),
        [
            *[Act(day, "repay", "250.00") for day in ("02-01", "03-01", "04-01")],
            Act("05-01", "reverse", "3"),
            Act("05-01", "repay", "250.00"),
            Act("05-01", "reverse", "4"),
            charge("05-05", "10.00"),
            Act("05-10", "repay", "260.00"),
            Act("05-10", "is closed", ""),
            owes("05-10", "0.00"),
        ],
    ),
)


@pytest.mark.parametrize("scenario", PLAYED, ids=lambda scenario: scenario.name)
def test_charges_of_a_day_are_covered_as_fineract_covers_them(scenario: Played) -> None:
    play(scenario)


def test_a_charge_of_a_share_of_the_loan_is_as_fineract_computes_it() -> None:
    """Charge creation functionality: 10 % of 6,000."""
    lender = Lender(start=at(date(2022, 7, 1)))
    terms = {"amount": "6000.00", "period": 24, "interestSettings": INTEREST_FREE}
    loan_id = lender.lend(**terms, charges=[{"name": "Processing", "percent": "10", "when": "disbursement"}])
    assert sum(line.charge for line in lender.lines(loan_id)) == 60_000


@pytest.mark.parametrize("overpaid", [[], [Act("10-31", "pay", "50.00")]], ids=["closed", "overpaid"])
def test_a_loan_that_is_paid_off_is_not_charged(overpaid: list[Act]) -> None:
    """Theirs opens again with an installment more, in four scenarios: adding charge on a closed loan after maturity. In
    another one, of a loan that is overpaid by a refund, it pays the charge from that."""
    player = Player(OCTOBER)
    for act in (Act("10-31", "repay", "1000.00"), *overpaid, Act("11-01", "is closed", "")):
        player.do(act)
    before = player.lender.balances()
    refusal = player.lender.charge(player.loan_id, "20.00")
    assert "closed" in refusal.message
    assert player.lender.balances() == before
