"""What is set aside for the loss of loans: by days late, the change alone, in the night after it.

Contract: loans#provisions
"""

from datetime import timedelta

import pytest

from kasuwa.ledger import chart
from kasuwa.methods.loans.rules.loan_position import LoanPosition
from kasuwa.methods.loans.rules.provision import compute_provision, count_days_late
from kasuwa.terms.loan_schedule import BUCKETS, LendingSettings, check_lending, find_bucket
from tests.methods.loans.in_memory_lender import Lender

RATES = ("1", "5", "25", "50", "75", "100")
INTEREST_FREE = {
    "method": "equal_principal",
    "interestSettings": {"interestRate": "0", "interestFrequency": "every_month"},
}


def provision(lender: Lender, loan_id: str) -> int:
    held = lender.balance(chart.loan_provision(loan_id))
    assert held == lender.loan(loan_id).provision == -lender.lending("provisions")
    return held


@pytest.fixture
def lender() -> Lender:
    """Its loans of 1,000.00 are paid out on 2026-01-31, in four installments of 250.00 without interest."""
    return Lender(provision_rates=RATES)


# --- by days late ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("days", "bucket"),
    [
        (0, "0"),
        (1, "1-30"),
        (30, "1-30"),
        (31, "31-60"),
        (60, "31-60"),
        (61, "61-90"),
        (90, "61-90"),
        (91, "91-180"),
        (180, "91-180"),
        (181, "181+"),
        (5000, "181+"),
    ],
)
def test_a_bucket_has_its_days(days: int, bucket: str) -> None:
    assert BUCKETS[find_bucket(days)] == bucket


def test_the_provision_follows_the_loan_from_bucket_to_bucket(lender: Lender) -> None:
    loan_id = lender.lend(**INTEREST_FREE)
    assert provision(lender, loan_id) == 0
    seen: list[tuple[str, int]] = []
    for _ in range(215):
        lender.pass_days(1)
        position = LoanPosition(lender.loan(loan_id), tuple(lender.lines(loan_id)), lender.now.date())
        assert provision(lender, loan_id) == compute_provision(position, LendingSettings(provision_rates=RATES))
        if not seen or seen[-1][1] != provision(lender, loan_id):
            seen.append((lender.today, provision(lender, loan_id)))
    # The first installment was due on 28 February.
    assert seen == [
        ("2026-02-01", 1_000),
        ("2026-03-01", 5_000),
        ("2026-03-31", 25_000),
        ("2026-04-30", 50_000),
        ("2026-05-30", 75_000),
        ("2026-08-28", 100_000),
    ]
    assert lender.waiting() == []


def test_only_the_change_is_posted_and_a_night_without_one_posts_nothing(lender: Lender) -> None:
    lender.lend(**INTEREST_FREE)
    lender.pass_days(1)
    (job,) = lender.waiting()
    before = len(lender.database.postings)
    lender.pass_days(27)
    assert len(lender.database.postings) == before
    assert lender.waiting() == [job]
    lender.pass_days(1)
    [posted] = lender.database.postings[before:]
    assert (posted.kind, posted.amount) == ("provision raised", 4_000)


def test_a_repayment_lowers_the_provision_in_the_night_after_it(lender: Lender) -> None:
    loan_id = lender.lend(**INTEREST_FREE)
    lender.pass_days(40)
    assert provision(lender, loan_id) == 5_000
    lender.repay(loan_id, "250.00")
    assert provision(lender, loan_id) == 5_000
    lender.pass_days(1)
    assert provision(lender, loan_id) == 750


def test_a_loan_that_is_watched_no_more_is_watched_again_after_a_repayment(lender: Lender) -> None:
    loan_id = lender.lend(**INTEREST_FREE)
    lender.pass_days(400)
    assert lender.waiting() == []
    lender.repay(loan_id, "500.00")
    lender.pass_days(1)
    assert provision(lender, loan_id) == 50_000


@pytest.mark.parametrize("closing", ["repaid", "written off"])
def test_a_loan_that_owes_nothing_has_no_provision(lender: Lender, closing: str) -> None:
    loan_id = lender.lend(**INTEREST_FREE)
    lender.pass_days(40)
    if closing == "written off":
        assert lender.write_off(loan_id).data.state == "closed_written_off"
    else:
        assert lender.repay(loan_id, "1000.00").data.state == "closed_repaid"
    assert provision(lender, loan_id) == 0
    assert lender.waiting() == []


def test_a_repayment_that_is_reversed_sets_aside_again(lender: Lender) -> None:
    loan_id = lender.lend(**INTEREST_FREE)
    lender.pass_days(40)
    closing = lender.repay(loan_id, "1000.00").txn_ref
    assert lender.reverse(closing).status == 200
    assert provision(lender, loan_id) == 0
    lender.pass_days(1)
    assert provision(lender, loan_id) == 5_000


def test_a_loan_is_late_after_its_tolerance_by_all_days_since_the_due_date() -> None:
    lender = Lender(tolerance_days=5, provision_rates=RATES)
    loan_id = lender.lend(**INTEREST_FREE)
    lender.pass_days(33)
    assert provision(lender, loan_id) == 1_000
    lender.pass_days(1)
    position = LoanPosition(lender.loan(loan_id), tuple(lender.lines(loan_id)), lender.now.date())
    assert (provision(lender, loan_id), count_days_late(position)) == (5_000, 6)


def test_a_night_that_comes_late_posts_what_the_day_asks_for(lender: Lender) -> None:
    loan_id = lender.lend(**INTEREST_FREE)
    lender.now += timedelta(days=100)
    lender.pass_days(0)
    assert provision(lender, loan_id) == 50_000


def test_without_rates_nothing_is_set_aside_and_nothing_more_is_watched() -> None:
    lender = Lender()
    loan_id = lender.lend(**INTEREST_FREE)
    lender.pass_days(200)
    assert provision(lender, loan_id) == 0
    assert lender.waiting() == []


# --- settings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rates", [("1",), RATES[:5], (*RATES, "1"), (*RATES[:5], "101"), (*RATES[:5], "-1")])
def test_rates_are_six_percentages(rates: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="provision_rates must be 6 percentages"):
        check_lending(LendingSettings(provision_rates=rates))


def test_six_rates_and_none_are_taken() -> None:
    check_lending(LendingSettings(provision_rates=RATES))
    check_lending(LendingSettings())
