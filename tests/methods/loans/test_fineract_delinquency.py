"""Scenarios on delinquency of Apache Fineract's own end-to-end tests (LoanDelinquency.feature), against our days late.

Their loan of 1,000 has a down payment and three installments every 15 days, and ours are monthly: the due dates of our
four installments are set to theirs before they are looked at. Their ranges 1 and 3 (1 to 3 and 4 to 30 days) are our
bucket 1-30, their ranges 30 and 60 ours 31-60 and 61-90.

    theirs                                         ours
    ------------------------------------------------------------------------------------------------------------------
    installments by range, also after repayments   equal, installment by installment
    installments by range, with charges of a day   equal: a charge stands on the next installment
    the range of a loan, with a grace of 3 days    equal in its first days, with `tolerance_days` of three. Later theirs
                                                   counts from the end of the grace, ours from the due date: a loan is
                                                   up to three days sooner in the next bucket
    the amount of a loan's range                   equal to what is overdue here; the portfolio counts the whole
                                                   principal of such a loan, as PAR has it
    the days past due, also in a pause             equal, day by day
    the next due date, `earliest-unpaid-date`      equal
    the next due date, `next-unpaid-due-date`      different: `next_due` is always the oldest that is not paid
    loans that were not paid out                   equal: never late
    goodwill credits                               equal: a repayment from the wallet does the same
    the range of a loan or installment in a pause  not expressible: days late are what the dates say. A borrower who
                                                   gets time gets other dates
"""

from datetime import date, timedelta
from typing import Any, NamedTuple

import msgspec
import pytest

from kasuwa.methods.loans.model import LoanInstallment
from kasuwa.methods.loans.rules.loan_position import LoanPosition, compute_position, is_late
from kasuwa.methods.loans.rules.loan_record import InstallmentSummary, make_loan_summary
from kasuwa.methods.loans.rules.provision import count_days_late
from kasuwa.terms.loan_schedule import BUCKETS, find_bucket
from tests.methods.loans.fineract_loans import INTEREST_FREE, at
from tests.methods.loans.in_memory_lender import Lender

BEGINS = date(2023, 10, 1)
DUE = (date(2023, 10, 1), date(2023, 10, 16), date(2023, 10, 31), date(2023, 11, 15))
LOAN: dict[str, Any] = {"amount": "1000.00", "period": 4, "interestSettings": INTEREST_FREE}


class Scenario(NamedTuple):
    """A loan with charges and repayments, and their ranges on a day as our buckets, with the amount of each."""

    name: str
    charged_after: list[int]  # charges of 20, each by the installment after whose due date it is due
    repaid: list[tuple[int, str]]  # after how many due dates, and how much
    day: date
    expected: dict[str, int]


SCENARIOS = (
    Scenario(
        "Installment level loan delinquency - loan goes into delinquency bucket",
        [],
        [],
        date(2023, 12, 16),
        {"31-60": 50_000, "61-90": 50_000},
    ),
    Scenario(
        "Installment level loan delinquency - loan goes from one delinquency bucket to an other",
        [],
        [],
        date(2023, 11, 16),
        {"1-30": 50_000, "31-60": 50_000},
    ),
    Scenario(
        "Installment level loan delinquency - loan goes out from delinquency by late repayment",
        [],
        [(4, "1000.00")],
        date(2023, 12, 17),
        {},
    ),
    Scenario(
        "Installment level loan delinquency - some of the installments go out from delinquency (before)",
        [],
        [],
        date(2023, 10, 25),
        {"1-30": 50_000},
    ),
    Scenario(
        "Installment level loan delinquency - some of the installments go out from delinquency by late repayment",
        [],
        [(2, "250.00")],
        date(2023, 10, 26),
        {"1-30": 25_000},
    ),
    Scenario(
        "Installment level loan delinquency - loan with charges goes into delinquency bucket",
        [0, 1],
        [],
        date(2023, 12, 16),
        {"31-60": 52_000, "61-90": 52_000},
    ),
)


def lend(tolerance_days: int = 0) -> tuple[Lender, str]:
    lender = Lender(start=at(BEGINS), tolerance_days=tolerance_days)
    return lender, lender.lend(**LOAN)


def their_lines(lender: Lender, loan_id: str) -> tuple[LoanInstallment, ...]:
    """Returns the installments as they are now, due on their dates."""
    pairs = zip(lender.lines(loan_id), DUE, strict=True)
    return tuple(msgspec.structs.replace(line, due=due) for line, due in pairs)


def position_on(lender: Lender, loan_id: str, day: date) -> LoanPosition:
    return compute_position(lender.loan(loan_id), their_lines(lender, loan_id), day)


def installments_by_bucket(position: LoanPosition, day: date) -> dict[str, int]:
    """Returns what is owed of the installments that are late on a day, by their own days late."""
    found: dict[str, int] = {}
    for line in position.lines:
        bucket = BUCKETS[find_bucket((day - line.due).days)]
        if bucket != "0" and line.owed.total:
            found[bucket] = found.get(bucket, 0) + line.owed.total
    return found


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_installments_are_as_late_as_fineract_expects_them(scenario: Scenario) -> None:
    lender, loan_id = lend()
    for place in scenario.charged_after:
        due = lender.lines(loan_id)[place].due + timedelta(days=4)
        assert lender.charge(loan_id, "20.00", due=due.isoformat()).status == 200
    for due_dates, amount in scenario.repaid:
        lender.now = at(lender.lines(loan_id)[due_dates - 1].due)
        assert lender.repay(loan_id, amount).txn_status == "successful"
    assert installments_by_bucket(position_on(lender, loan_id, scenario.day), scenario.day) == scenario.expected


class PastDue(NamedTuple):
    """A loan with repayments, and on days after them what is overdue and since how many days."""

    name: str
    repaid: list[tuple[int, str]]  # after how many due dates, and how much
    expected: dict[date, tuple[int, int]]


def october(day: int) -> date:
    return date(2023, 10, day)


PAST_DUE = (
    PastDue(
        "full PAUSE period",
        [],
        {
            october(2): (25_000, 1),
            october(4): (25_000, 3),
            october(5): (25_000, 4),
            october(6): (25_000, 5),
            october(30): (50_000, 29),
            october(31): (50_000, 30),
        },
    ),
    PastDue("PAUSE period with RESUME", [], {october(15): (25_000, 14), october(26): (50_000, 25)}),
    PastDue(
        "PAUSE period with RESUME and second PAUSE",
        [],
        {
            date(2023, 11, 13): (75_000, 43),
            date(2023, 11, 14): (75_000, 44),
            date(2023, 11, 30): (100_000, 60),
            date(2023, 12, 1): (100_000, 61),
        },
    ),
    PastDue("full repayment (late/due date) during PAUSE period", [(2, "500.00")], {october(16): (0, 0)}),
    PastDue("partial repayment during PAUSE period", [(2, "150.00")], {october(16): (10_000, 15)}),
    PastDue(
        "full repayment (only late) during PAUSE period then RESUME",
        [(2, "250.00")],
        {october(16): (0, 0), october(26): (25_000, 10), date(2023, 11, 15): (50_000, 30)},
    ),
    PastDue("resume on end/start date of continous pause periods", [], {october(30): (50_000, 29)}),
    PastDue("Backdated Pause Delinquency", [], {october(25): (50_000, 24), october(27): (50_000, 26)}),
    PastDue(
        "for pause period calculations business date is being used instead of COB date",
        [(1, "250.00")],
        {october(26): (25_000, 10), october(27): (25_000, 11), october(28): (25_000, 12), october(29): (25_000, 13)},
    ),
    PastDue("delinquencyRange field is not null in case of delinquent Loan", [], {date(2023, 12, 1): (100_000, 61)}),
)


@pytest.mark.parametrize("scenario", PAST_DUE, ids=lambda scenario: scenario.name)
def test_as_much_is_overdue_since_as_many_days_as_fineract_expects(scenario: PastDue) -> None:
    lender, loan_id = lend()
    for due_dates, amount in scenario.repaid:
        lender.now = at(lender.lines(loan_id)[due_dates - 1].due)
        assert lender.repay(loan_id, amount).txn_status == "successful"
    found = {}
    for day in scenario.expected:
        # Here they are repaid later, on our due dates: a position is not computed for a day before its last act.
        position = LoanPosition(lender.loan(loan_id), their_lines(lender, loan_id), day)
        late = [line.owed.total for line in position.lines if is_late(line, position.loan, day)]
        found[day] = (sum(late), count_days_late(position))
    assert found == scenario.expected


@pytest.mark.parametrize(
    ("day", "bucket"),
    [
        (date(2023, 10, 2), "0"),
        (date(2023, 10, 4), "0"),
        (date(2023, 10, 5), "1-30"),
        (date(2023, 11, 17), "31-60"),
        # Theirs is 31-60: they count from the end of the grace period, here 58 days, and not from the due date.
        (date(2023, 12, 1), "61-90"),
    ],
)
def test_a_loan_is_late_after_three_days_of_grace_and_from_its_due_date(day: date, bucket: str) -> None:
    """Loan level loan delinquency - loan goes into delinquency pause then will be resumed (without its pause)."""
    lender, loan_id = lend(tolerance_days=3)
    position = position_on(lender, loan_id, day)
    assert BUCKETS[find_bucket(count_days_late(position))] == bucket


@pytest.mark.parametrize("day", [date(2023, 10, 11), date(2023, 10, 21)])
def test_the_next_due_date_is_that_of_the_first_unpaid_installment(day: date) -> None:
    """Global configuration next-payment-due-date is set to earliest-unpaid-date."""
    lender, loan_id = lend()
    counted = InstallmentSummary(4, 0, their_lines(lender, loan_id), None)
    shown = make_loan_summary(lender.loan(loan_id), counted, day, 0).next_due
    assert shown is not None
    assert shown.due == "2023-10-01"


def test_a_loan_that_was_not_paid_out_is_never_late() -> None:
    """Delinquency is NOT applied after loan submitted and approved."""
    lender = Lender(start=at(BEGINS))
    loan_id = lender.request(**LOAN).data.loan_id
    lender.pass_days(300)
    assert (lender.loan(loan_id).state, lender.lines(loan_id), lender.waiting()) == ("pending_approval", [], [])
