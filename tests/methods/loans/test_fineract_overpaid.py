"""Chargebacks of parts of a repayment, and loans that are overpaid: scenarios of Apache Fineract's own tests, as data.

They are in `LoanChargeback.feature`. Their chargeback of a part is a dispute here that the merchant lost. Their
repayment above what is owed is a payment: from the wallet it is refused (Contract: loans#overpaid). What is overpaid is
the client's credit, and the loan is closed.
"""

from datetime import date

import pytest

from tests.methods.loans.fineract_loans import (
    OPEN,
    PAID,
    Act,
    Played,
    ends,
    every_15_days,
    in_30_days,
    monthly,
    play,
    repay,
)

IN_2022 = monthly("750.00", date(2022, 1, 1))
IN_2023 = monthly("750.00", date(2023, 1, 1))
LOAN_400 = every_15_days("400.00", date(2023, 9, 1))
LOAN_500 = every_15_days("500.00", date(2024, 1, 1))
PAID_OFF_2022 = [*repay("250.00", "02-01", "03-01", "04-01"), Act("04-01", "is closed", "")]
PAID_OFF_2023 = repay("250.00", "02-01", "03-01", "04-01")
IN_30_DAYS = in_30_days(date(2022, 1, 1))
UNEVEN = [*repay("150.00", "02-01"), *repay("350.00", "03-01")]
THREE_QUARTERS = repay("100.00", "09-01", "09-16", "10-01")
THREE_OF_1000 = repay("250.00", "01-01", "02-01", "03-01")
MONTHLY_1000 = monthly("1000.00", date(2024, 1, 1), 4)


def pay(day: str, amount: str) -> Act:
    return Act(day, "pay", amount)


def take(day: str, part: str) -> Act:
    return Act(day, "take", part)


SCENARIOS = (
    Played(
        "working properly on a closed loan (of both payment types)",
        IN_30_DAYS,
        [*repay("1000.00", "02-01"), *ends("02-01", "0.00"), take("02-25", "250.00 of 1"), *ends("02-25", "250.00")],
        [("1000.00", "750.00")],
    ),
    Played(
        "a second chargeback happens after the repayment",
        IN_2022,
        [
            *PAID_OFF_2022,
            Act("04-25", "reverse", "3"),
            *repay("250.00", "04-25"),
            *ends("04-25", "0.00"),
            take("05-01", "200.00 of 4"),
            *ends("05-01", "200.00"),
        ],
    ),
    *(
        Played(
            f"the loan is OVERPAID but the chargeback amount is {name} the overpaid amount",
            IN_30_DAYS,
            [pay("02-01", amount), *ends("02-01", "0.00", overpaid), take("02-25", "250.00 of 1"), *after],
        )
        for name, amount, overpaid, after in (
            ("HIGHER than", "1200.00", "200.00", ends("02-25", "50.00")),
            ("LOWER than", "1300.00", "300.00", ends("02-25", "0.00", "50.00")),
            ("EQUALS", "1250.00", "250.00", ends("02-25", "0.00")),
        )
    ),
    Played(
        "Goodwill credit, Payout refund, Merchant Issued refund works properly with chargeback",
        IN_30_DAYS,
        [
            *repay("1000.00", "02-01"),
            Act("02-25", "reverse", "1"),
            *ends("02-25", "1000.00"),
            pay("02-25", "1000.00"),
            *ends("02-25", "0.00"),
            pay("02-25", "100.00"),
            *ends("02-25", "0.00", "100.00"),
            pay("02-25", "100.00"),
            *ends("02-25", "0.00", "200.00"),
            pay("02-25", "100.00"),
            *ends("02-25", "0.00", "300.00"),
        ],
    ),
    *(
        Played(f"loan overpayment-{name}", IN_2023, [*acts, *after], [PAID, PAID, last])
        for paid_on, on in (("03-30", "04-01"), ("04-01", "04-25"))
        for name, acts, after, last in (
            (
                f"1, repaid on {paid_on}",
                [*repay("250.00", "02-01", "03-01"), pay(paid_on, "500.00"), Act(on, "reverse", "2")],
                ends(on, "0.00"),
                PAID,
            ),
            (
                f"2, repaid on {paid_on}",
                [*UNEVEN, pay(paid_on, "500.00"), Act(on, "reverse", "1")],
                ends(on, "0.00", "100.00"),
                PAID,
            ),
            (
                f"3, repaid on {paid_on}",
                [*UNEVEN, pay(paid_on, "500.00"), Act(on, "reverse", "2")],
                ends(on, "100.00"),
                ("250.00", "150.00"),
            ),
            (
                f"4 with reverse and replay, repaid on {paid_on}",
                [*UNEVEN, pay(paid_on, "500.00"), Act(on, "reverse", "2"), Act(on, "reverse", "1")],
                ends(on, "250.00"),
                OPEN,
            ),
        )
    ),
    Played(
        "second charge back happens for the repayment 01-04-2022 (after maturity)",
        IN_2023,
        [
            *PAID_OFF_2023,
            Act("04-25", "reverse", "2"),
            *repay("250.00", "04-25"),
            take("05-01", "200.00 of 3"),
            *ends("05-01", "200.00"),
        ],
    ),
    Played(
        "principal portion for partial chargeback for OVERPAID loan",
        in_30_days(date(2023, 1, 1)),
        [
            *repay("500.00", "02-01"),
            *repay("300.00", "03-01"),
            *ends("03-01", "200.00"),
            pay("04-01", "300.00"),
            *ends("04-01", "0.00", "100.00"),
            Act("04-04", "reverse", "2"),
            *ends("04-04", "200.00"),
            take("04-07", "300.00 of 1"),
            *ends("04-07", "500.00"),
        ],
    ),
    *(
        Played(
            f"advanced payment allocation - the chargeback amount is {name} the overpaid amount",
            LOAN_400,
            [
                *THREE_QUARTERS,
                pay("10-16", "150.00"),
                *ends("10-16", "0.00", "50.00"),
                take("10-25", f"{amount} of 4"),
                *after,
            ],
        )
        for name, amount, after in (
            ("HIGHER than", "100.00", ends("10-25", "50.00")),
            ("LOWER than", "25.00", ends("10-25", "0.00", "25.00")),
            ("EQUALS", "50.00", ends("10-25", "0.00")),
        )
    ),
    Played(
        "advanced payment allocation - partial chargeback on downpayment",
        every_15_days("1000.00", date(2024, 1, 1)),
        [*repay("250.00", "01-01"), take("01-01", "200.00 of 1"), *ends("01-01", "950.00")],
    ),
    *(
        Played(
            f"advanced payment allocation - {name} chargeback on overpaid loan",
            LOAN_500,
            [
                *repay("125.00", "01-01"),
                pay("01-10", "500.00"),
                *ends("01-10", "0.00", "125.00"),
                take("01-10", f"{amount} of 2"),
                *ends("01-10", "0.00", left),
            ],
        )
        for name, amount, left in (("full", "125.00", "0.00"), ("partial", "25.00", "100.00"))
    ),
    Played(
        "credit allocation UC3: partial, prior chargeback with penalty (2)",
        LOAN_500,
        [
            Act("01-01", "charge", "3.00"),
            *repay("125.00", "01-04"),
            *repay("128.00", "01-16"),
            take("01-20", "53.00 of 2"),
            *repay("175.00", "01-31"),
            *repay("128.00", "02-15"),
            *ends("02-15", "0.00"),
        ],
    ),
    Played(
        "credit allocation UC4: partial, prior chargeback with penalty and fee",
        LOAN_500,
        [
            Act("01-01", "charge", "3.00"),
            Act("01-02", "charge", "4.00"),
            *repay("125.00", "01-04", "01-16"),
            take("01-20", "50.00 of 2"),
            *repay("125.00", "01-31"),
            *repay("182.00", "02-15"),
            *ends("02-15", "0.00"),
        ],
    ),
    Played(
        "credit allocation UC8: multiple, prior chargebacks on same payment",
        LOAN_500,
        [
            *repay("125.00", "01-04", "01-16"),
            take("01-20", "75.00 of 1"),
            take("01-25", "50.00 of 1"),
            *repay("250.00", "01-31"),
            *repay("125.00", "02-15"),
            *ends("02-15", "0.00"),
        ],
    ),
    Played(
        "accounting entries UC4: when overpayment amount is smaller than chargeback",
        MONTHLY_1000,
        [
            *THREE_OF_1000,
            pay("04-01", "400.00"),
            *ends("04-01", "0.00", "150.00"),
            take("04-01", "250.00 of 3"),
            *ends("04-01", "100.00"),
        ],
    ),
    Played(
        "accounting entries UC5: with fees- when overpayment amount is bigger than chargeback",
        MONTHLY_1000,
        [
            *THREE_OF_1000[:2],
            Act("03-01", "charge", "30.00"),
            *repay("250.00", "03-01"),
            pay("04-01", "400.00"),
            *ends("04-01", "0.00", "120.00"),
            take("04-01", "100.00 of 3"),
            *ends("04-01", "0.00", "20.00"),
        ],
    ),
    Played(
        "accounting entries UC6: when overpayment amount is bigger than chargeback",
        MONTHLY_1000,
        [*THREE_OF_1000, pay("04-01", "400.00"), take("04-01", "100.00 of 3"), *ends("04-01", "0.00", "50.00")],
    ),
    Played(
        "accounting entries UC10: chargeback on overpaid loan",
        monthly("100.00", date(2024, 1, 1), 4),
        [
            Act("01-05", "charge", "5.00"),
            pay("02-01", "105.00"),
            *ends("02-01", "0.00"),
            pay("03-01", "10.00"),
            *ends("03-01", "0.00", "10.00"),
            take("04-15", "7.00 of 1"),
            *ends("04-15", "0.00", "3.00"),
            take("04-16", "7.00 of 1"),
            *ends("04-16", "4.00"),
        ],
    ),
)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_loan_of_which_a_part_is_charged_back_is_as_fineract_expects_it(scenario: Played) -> None:
    play(scenario)
