"""Reversed repayments as another lender computes them: scenarios of Apache Fineract's own end-to-end tests, as data.

They are in `LoanChargeback.feature`. Their chargeback leaves the repayment as it is, and asks for its amount once more,
as principal of the installment of that day or of a new one after the last. Here a repayment that was not honored is
taken out of the loan, as their "undo" does (Contract: loans#reverse). So what is owed, what is overpaid and when the
loan closes are compared for all; the installments where both put the same amount into the same one.

    theirs                                          here
    ------------------------------------------------------------------------------------------------------------------
    a chargeback of a whole repayment               equal: it is reversed
    a chargeback of a part, overpaid loans          equal, in test_fineract_overpaid.py
    the days late of an amount charged back         different: it is as late as the installment that it had paid
"""

from datetime import date

import pytest

from kasuwa.methods.loans.rules.loan_position import compute_position
from kasuwa.methods.loans.rules.provision import oldest_unpaid
from tests.methods.loans.fineract_loans import (
    LOAN_3000,
    OPEN,
    PAID,
    Act,
    Played,
    Player,
    at,
    ends,
    every_15_days,
    monthly,
    play,
    repay,
)
from tests.methods.loans.in_memory_lender import Lender

IN_2022 = monthly("750.00", date(2022, 1, 1))
IN_2023 = monthly("750.00", date(2023, 1, 1))
LOAN_400 = every_15_days("400.00", date(2023, 9, 1))
LOAN_500 = every_15_days("500.00", date(2024, 1, 1))

PAID_OFF_2022 = [*repay("250.00", "02-01", "03-01", "04-01"), Act("04-01", "is closed", "")]
PAID_AHEAD = [*repay("250.00", "02-01", "03-01", "03-30"), Act("03-30", "is closed", "")]
PAID_OFF_2023 = repay("250.00", "02-01", "03-01", "04-01")
PAID_OFF_400 = [*repay("100.00", "09-01", "09-16", "10-01", "10-16"), Act("10-16", "is closed", "")]
PAID_OFF_500 = repay("125.00", "01-04", "01-16", "01-31", "02-15")
BACK_400 = [*PAID_OFF_400, Act("10-25", "reverse", "4"), Act("10-25", "owes", "100.00"), Act("10-25", "is open", "")]

SCENARIOS = (
    Played(
        "chargeback comes after the loan was fully repaid and closed",
        IN_2022,
        [*PAID_OFF_2022, Act("04-25", "reverse", "3"), *ends("04-25", "250.00")],
        [PAID, PAID, OPEN],
    ),
    Played(
        "repayment happens again after chargeback",
        IN_2022,
        [*PAID_OFF_2022, Act("04-25", "reverse", "3"), *repay("250.00", "04-25"), *ends("04-25", "0.00")],
    ),
    Played(
        "chargeback happens after NSF fee was added to the loan then was repaid",
        IN_2022,
        [
            *PAID_OFF_2022,
            Act("04-01", "reverse", "3"),
            *ends("04-01", "250.00"),
            Act("04-01", "charge", "10.00"),
            *ends("04-01", "260.00"),
            *repay("260.00", "04-05"),
            *ends("04-05", "0.00"),
            Act("04-25", "reverse", "2"),
            *ends("04-25", "250.00"),
        ],
    ),
    Played(
        "charge backs comes in after the loan is closed, before the maturity date",
        IN_2023,
        [*PAID_AHEAD, Act("03-30", "reverse", "2"), *ends("03-30", "250.00")],
        [PAID, PAID, OPEN],
    ),
    Played(
        "repayment happens again on the charge backs",
        IN_2023,
        [*PAID_AHEAD, Act("03-30", "reverse", "2"), *repay("250.00", "04-01"), *ends("04-01", "0.00")],
    ),
    Played(
        "repayment 1 is reversed",
        IN_2023,
        [
            *PAID_AHEAD,
            Act("03-30", "reverse", "2"),
            *repay("250.00", "04-01"),
            Act("04-01", "reverse", "1"),
            *ends("04-01", "250.00"),
        ],
        [PAID, PAID, OPEN],
    ),
    Played(
        "2 repayments are reversed (repayment 1 & 3)",
        IN_2023,
        [
            *PAID_AHEAD,
            Act("03-30", "reverse", "2"),
            *repay("250.00", "04-01"),
            Act("04-01", "reverse", "1"),
            Act("04-01", "reverse", "3"),
            *ends("04-01", "500.00"),
        ],
    ),
    Played(
        "chargeback happens after the charge addition on maturity date for repayment 01-03-2022 (skipped there)",
        IN_2023,
        [
            *PAID_AHEAD,
            Act("03-30", "reverse", "3"),
            Act("03-30", "charge", "20.00"),
            *ends("03-30", "270.00"),
            *repay("270.00", "04-01"),
            *ends("04-01", "0.00"),
            Act("04-01", "reverse", "2"),
            *ends("04-01", "250.00"),
        ],
        [PAID, PAID, ("270.00", "20.00")],
    ),
    Played(
        "charge backs comes in after the loan is closed for the repayment 01-03-2022 (after maturity)",
        IN_2023,
        [*PAID_OFF_2023, Act("04-25", "reverse", "2"), *ends("04-25", "250.00")],
    ),
    Played(
        "repayment happens again on the charge backs (after maturity)",
        IN_2023,
        [*PAID_OFF_2023, Act("04-25", "reverse", "2"), *repay("250.00", "04-25"), *ends("04-25", "0.00")],
    ),
    Played(
        "repayment 1 is reversed (after maturity)",
        IN_2023,
        [
            *PAID_OFF_2023,
            Act("04-25", "reverse", "2"),
            *repay("250.00", "04-25"),
            Act("04-25", "reverse", "1"),
            *ends("04-25", "250.00"),
        ],
    ),
    Played(
        "2 repayments are reversed (repayment 1 & 3) (after maturity)",
        IN_2023,
        [
            *PAID_OFF_2023,
            Act("04-25", "reverse", "2"),
            *repay("250.00", "04-25"),
            Act("04-25", "reverse", "1"),
            Act("04-25", "reverse", "3"),
            *ends("04-25", "500.00"),
        ],
    ),
    Played(
        "chargeback happens after the charge addition on maturity date for repayment 01-03-2022 (after maturity)",
        IN_2023,
        [
            *PAID_OFF_2023,
            Act("04-01", "reverse", "3"),
            Act("04-05", "charge", "20.00"),
            *ends("04-05", "270.00"),
            *repay("270.00", "04-05"),
            *ends("04-05", "0.00"),
            Act("04-05", "reverse", "2"),
            *ends("04-05", "250.00"),
        ],
    ),
    Played("advanced payment allocation on a closed loan", LOAN_400, BACK_400),
    Played(
        "advanced payment allocation when full repayment happens after chargeback, on the same business date",
        LOAN_400,
        [*BACK_400, *repay("100.00", "10-25"), *ends("10-25", "0.00")],
    ),
    Played(
        "advanced payment allocation when partial repayment happens after chargeback, on the same business date",
        LOAN_400,
        [*BACK_400, *repay("50.00", "10-25"), *ends("10-25", "50.00")],
    ),
    Played(
        "advanced payment allocation when full repayment happens after chargeback, on a future business date",
        LOAN_400,
        [*BACK_400, *repay("100.00", "10-30"), *ends("10-30", "0.00")],
    ),
    Played(
        "advanced payment allocation when partial repayment happens after chargeback, on a future business date",
        LOAN_400,
        [*BACK_400, *repay("50.00", "10-30"), *ends("10-30", "50.00")],
    ),
    Played(
        "advanced payment allocation when a second chargeback happens after the repayment",
        LOAN_400,
        [*BACK_400, *repay("100.00", "10-30"), Act("11-01", "reverse", "5"), *ends("11-01", "100.00")],
    ),
    Played(
        "advanced payment allocation - chargeback after the loan is closed, before the maturity date",
        LOAN_400,
        [
            *repay("100.00", "09-01", "09-16", "10-01", "10-10"),
            Act("10-10", "reverse", "3"),
            *ends("10-10", "100.00"),
        ],
        [*[("100.00", "100.00")] * 3, ("100.00", "0.00")],
    ),
    Played(
        "advanced payment allocation - repayment 1 is reversed",
        LOAN_400,
        [
            *PAID_OFF_400,
            Act("10-25", "reverse", "3"),
            *repay("100.00", "10-30"),
            *ends("10-30", "0.00"),
            Act("10-30", "reverse", "2"),
            *ends("10-30", "100.00"),
        ],
    ),
    Played(
        "advanced payment allocation - overpayment handling",
        every_15_days("1000.00", date(2023, 9, 1)),
        [
            *repay("500.00", "09-05"),
            *ends("09-05", "500.00"),
            Act("2024-01-11", "reverse", "1"),
            *ends("2024-01-11", "1000.00"),
            *repay("200.00", "2024-01-11"),
            *ends("2024-01-11", "800.00"),
            Act("2024-01-11", "reverse", "2"),
            *ends("2024-01-11", "1000.00"),
            *repay("300.00", "2024-01-11"),
            *ends("2024-01-11", "700.00"),
            Act("2024-01-11", "reverse", "3"),
            *repay("100.00", "2024-01-11"),
            *ends("2024-01-11", "900.00"),
            Act("2024-01-11", "reverse", "4"),
            *ends("2024-01-11", "1000.00"),
        ],
    ),
    Played(
        "advanced payment allocation - chargeback on downpayment",
        every_15_days("1000.00", date(2024, 1, 1)),
        [*repay("250.00", "01-01"), Act("01-01", "reverse", "1"), *ends("01-01", "1000.00")],
    ),
    Played(
        "credit allocation UC1: partial, prior chargeback",
        LOAN_500,
        [
            *PAID_OFF_500[:2],
            Act("01-20", "reverse", "2"),
            *repay("250.00", "01-31"),
            *repay("125.00", "02-15"),
            *ends("02-15", "0.00"),
        ],
    ),
    Played(
        "credit allocation UC2: partial, prior chargeback with penalty",
        LOAN_500,
        [
            Act("01-01", "charge", "3.00"),
            *PAID_OFF_500[:1],
            *repay("128.00", "01-16"),
            Act("01-20", "reverse", "2"),
            *repay("253.00", "01-31"),
            *repay("125.00", "02-15"),
            *ends("02-15", "0.00"),
        ],
    ),
    Played(
        "credit allocation UC5: full, prior chargeback",
        LOAN_500,
        [
            *PAID_OFF_500[:2],
            Act("01-20", "reverse", "1"),
            Act("01-20", "reverse", "2"),
            *repay("375.00", "01-31"),
            *repay("125.00", "02-15"),
            *ends("02-15", "0.00"),
        ],
    ),
    Played(
        "credit allocation UC6: full, after chargeback",
        LOAN_500,
        [
            *PAID_OFF_500,
            *[Act("02-20", "reverse", str(n)) for n in range(1, 5)],
            *ends("02-20", "500.00"),
            *repay("500.00", "02-28"),
            *ends("02-28", "0.00"),
        ],
    ),
    Played(
        "credit allocation UC7: partial, after chargeback",
        LOAN_500,
        [*PAID_OFF_500, Act("02-20", "reverse", "2"), *repay("125.00", "02-28"), *ends("02-28", "0.00")],
    ),
)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_loan_after_a_chargeback_is_as_fineract_expects_it(scenario: Played) -> None:
    play(scenario)


@pytest.mark.parametrize(
    ("charged", "paid", "expected"),
    [([], "250.00", ("250.00", None)), ([Act("03-01", "charge", "30.00")], "280.00", ("250.00", "30.00"))],
    ids=["UC1", "UC2 and UC3"],
)
def test_a_chargeback_is_posted_to_the_parts_that_were_paid(
    charged: list[Act], paid: str, expected: tuple[str, str | None]
) -> None:
    """Credit allocation accounting entries: on principal, on principal and fees, on principal and penalties."""
    player = Player(monthly("1000.00", date(2024, 1, 1), 4))
    for act in [*repay("250.00", "01-01", "02-01"), *charged, *repay(paid, "03-01"), *repay("250.00", "04-01")]:
        player.do(act)
    parts = player.lender.reverse(player.repaid[2]).allocation
    assert (parts.principal, parts.charges or None) == expected


@pytest.mark.parametrize(
    ("charged", "paid", "fees"),
    [([], "250.00", None), ([Act("03-01", "charge", "30.00")], "280.00", "30.00")],
    ids=["UC7", "UC8 and UC9"],
)
def test_a_chargeback_of_a_loan_that_was_given_up_is_written_off_too(
    charged: list[Act], paid: str, fees: str | None
) -> None:
    """Credit allocation accounting entries: 250.00 of principal are lost by the charge-off, and 250.00 after it."""
    player = Player(monthly("1000.00", date(2024, 1, 1), 4))
    for act in [*repay("250.00", "01-01", "02-01"), *charged, *repay(paid, "03-01"), Act("03-15", "is open", "")]:
        player.do(act)
    first = player.lender.write_off(player.loan_id).data.written_off
    assert (first.principal, first.total) == ("250.00", "250.00")
    player.lender.pass_days(17)
    lost = player.lender.reverse(player.repaid[2]).data.written_off
    assert (lost.principal, lost.charges or None) == ("500.00", fees)


@pytest.mark.parametrize(
    ("repaid", "since", "overdue"),
    [
        # Theirs is late since 18 March, three days after the chargeback of the 15th.
        (0, date(2022, 3, 1), "2000.00"),
        (1, date(2022, 4, 1), "1000.00"),
        (2, None, "0.00"),
    ],
    ids=["nothing more is paid", "all the chargeback transactions are fully paid", "all the installments are paid"],
)
def test_delinquency_and_overdue_treatment_of_a_chargeback(repaid: int, since: date | None, overdue: str) -> None:
    """Their three scenarios of that name, whose dates are three days of grace after ours."""
    player = Player(monthly("3000.00", date(2022, 1, 1)))
    acts = [*repay("1000.00", "02-01", "03-01"), Act("03-15", "reverse", "2")]
    for act in [*acts, *repay("1000.00", "03-20", "04-01")[:repaid]]:
        player.do(act)
    lender = player.lender
    position = compute_position(lender.loan(player.loan_id), tuple(lender.lines(player.loan_id)), player.day("04-07"))
    assert oldest_unpaid(position) == since
    assert f"{position.due.total / 100:.2f}" == overdue


def test_a_single_repayment_that_is_undone_is_owed_again() -> None:
    """LoanRepayment: repayment + reversal of the due-penalty-fee-interest-principal-in-advance-principal-penalty-fee-
    interest-strategy, without its fees."""
    lender = Lender(start=at(date(2023, 1, 1)))
    loan_id = lender.lend(**LOAN_3000)
    lender.pass_days(14)
    reply = lender.reverse(lender.repay(loan_id, "1030.00").txn_ref)
    lines = [(line.due, line.total, line.paid) for line in reply.data.schedule]
    assert lines == [(due, "1030.00", "0.00") for due in ("2023-02-01", "2023-03-01", "2023-04-01")]
    assert reply.data.outstanding.total == "3090.00"
