"""What time does to a loan: late the day after, penalties by the day, a watch that comes late; write-off.

Contract: loans#request
"""

from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision, Refusal
from kasuwa.core.money import LARGEST_AMOUNT
from kasuwa.methods.loans.model import UNKNOWN_LOAN
from kasuwa.methods.loans.rules.write_off import decide_operator_write_off, need_operator_write_off
from kasuwa.rails.ports.orders import NO_CALL_MADE
from tests.methods.loans.in_memory_lender import Lender

ORACLES = msgspec.json.decode((Path(__file__).parents[2] / "data" / "loan_oracles.json").read_bytes())

# The first installment is due on 28 February: its last moment, and the first moment at which it is late.
LAST_MOMENT = datetime(2026, 2, 28, 22, 59, 59, tzinfo=UTC)


def pass_until(lender: Lender, moment: datetime) -> None:
    lender.pass_days(0)
    until = moment - lender.now
    lender.pass_days(until.days)
    lender.now = moment
    lender.pass_days(0)


# --- arrears ------------------------------------------------------------------------------------------------------


def test_a_loan_is_late_from_midnight_after_a_due_date() -> None:
    lender = Lender()
    loan_id = lender.lend()
    (job,) = lender.waiting()
    assert (job.due, job.reference) == (LAST_MOMENT + timedelta(seconds=1), loan_id)
    pass_until(lender, LAST_MOMENT)
    assert lender.loan(loan_id).state == "active"
    pass_until(lender, LAST_MOMENT + timedelta(seconds=1))
    assert lender.loan(loan_id).state == "active_in_arrears"


def test_tolerance_puts_lateness_off() -> None:
    lender = Lender(tolerance_days=3)
    loan_id = lender.lend()
    pass_until(lender, LAST_MOMENT + timedelta(days=3))
    assert lender.loan(loan_id).state == "active"
    pass_until(lender, LAST_MOMENT + timedelta(days=3, seconds=1))
    assert lender.loan(loan_id).state == "active_in_arrears"


def test_nothing_overdue_any_more_is_active_again() -> None:
    lender = Lender()
    loan_id = lender.lend()
    lender.pass_days(30)
    assert lender.repay(loan_id, "315.46").data.state == "active_in_arrears"
    reply = lender.repay(loan_id, "0.01")
    assert (reply.data.state, reply.data.schedule[0].state) == ("active", "paid")
    steps = [entry["step"] for entry in msgspec.json.decode(lender.loan(loan_id).trail)]
    assert steps[-2:] == ["active_in_arrears", "active"]


def test_an_installment_that_was_paid_is_passed_over_and_the_next_is_watched() -> None:
    lender = Lender()
    loan_id = lender.lend()
    lender.pass_days(28)
    lender.repay(loan_id)
    lender.pass_days(2)
    assert lender.loan(loan_id).state == "active"
    (job,) = lender.waiting()
    assert job.due == datetime(2026, 3, 31, 23, tzinfo=UTC)
    lender.pass_days(31)
    assert lender.loan(loan_id).state == "active_in_arrears"


def test_when_every_installment_is_late_and_costs_nothing_there_is_nothing_to_watch() -> None:
    lender = Lender()
    loan_id = lender.lend()
    lender.pass_days(200)
    assert lender.waiting() == []
    assert lender.repay(loan_id).data.state == "closed_repaid"


def test_a_loan_has_one_watch_and_it_ends_with_the_loan() -> None:
    lender = Lender(penalty_rate="0.1")
    loan_id = lender.lend()
    lender.pass_days(35)
    (job,) = lender.waiting()
    lender.repay(loan_id)
    assert len(lender.waiting()) == 1
    lender.repay(loan_id, payoff_of(lender, loan_id))
    assert lender.loan(loan_id).state == "closed_repaid"
    assert lender.waiting() == []
    assert lender.receive_answer(job, NO_CALL_MADE) == Decision()


def payoff_of(lender: Lender, loan_id: str) -> str:
    return str(lender.repay(loan_id, dry_run=True).explained[2].amount)


# --- penalties ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("oracle", ORACLES["penalties"], ids=lambda oracle: oracle["id"])
def test_penalties_are_overdue_principal_by_late_days_by_rate(oracle: Any) -> None:
    lender = Lender(penalty_rate=oracle["daily_rate_percent"], method="flat")
    loan_id = lender.lend(amount=f"{int(oracle['overdue_principal']) * 4}.00")
    lender.pass_days(28 + oracle["late_days"])
    assert lender.owed(loan_id)["penalty"] == int(oracle["penalty"].replace(".", ""))
    charged = [row for row in lender.database.postings if row.kind == "penalty for lateness"]
    assert len(charged) == oracle["late_days"]
    assert {row.reference for row in charged} == {loan_id}


def test_penalties_end_with_the_principal_that_is_late() -> None:
    lender = Lender(penalty_rate="0.1")
    loan_id = lender.lend()
    lender.pass_days(30)
    lender.repay(loan_id)
    owed = lender.owed(loan_id)
    assert owed["penalty"] == 0
    lender.pass_days(20)
    assert lender.owed(loan_id) == owed


def test_a_penalty_is_paid_before_anything_else() -> None:
    lender = Lender(penalty_rate="1")
    loan_id = lender.lend()
    lender.pass_days(30)  # two days late: 215.47 × 2 % = 4.31
    reply = lender.repay(loan_id, "10.00")
    assert (reply.allocation.penalty, reply.allocation.interest) == ("4.31", "5.69")
    assert reply.data.outstanding.penalty == "0.00"
    assert lender.lending("penalty_earned") == 431


@pytest.mark.parametrize("days", [29, 30, 45, 70])
def test_a_late_arrears_check_charges_the_same_as_a_punctual_one(days: int) -> None:
    punctual, late = Lender(penalty_rate="0.123456"), Lender(penalty_rate="0.123456")
    loans = [lender.lend() for lender in (punctual, late)]
    punctual.pass_days(days)
    late.now += timedelta(days=days)
    late.pass_days(0)
    assert punctual.owed(loans[0]) == late.owed(loans[1])
    assert punctual.loan(loans[0]).state == late.loan(loans[1]).state


def test_a_repayment_charges_penalties_that_no_arrears_check_has_charged_yet() -> None:
    lender = Lender(penalty_rate="1")
    loan_id = lender.lend()
    lender.now += timedelta(days=30)
    reply = lender.repay(loan_id, "10.00")
    assert reply.allocation.penalty == "4.31"
    assert reply.data.state == "active_in_arrears"
    lender.pass_days(0)
    assert lender.owed(loan_id)["penalty"] == 0


# --- write-off ----------------------------------------------------------------------------------------------------


def write_off(lender: Lender, loan_id: str) -> Any:
    return lender.submit(need_operator_write_off(loan_id, lender.merchant), partial(decide_operator_write_off, loan_id))


def test_a_write_off_closes_the_loan_and_shows_what_was_lost() -> None:
    lender = Lender(penalty_rate="1")
    loan_id = lender.lend(tax_applied=True, tax_rate=10)
    lender.pass_days(30)
    lender.repay(loan_id, "114.31")
    decision = write_off(lender, loan_id)
    data = decision.reply.data
    assert (data.state, data.outstanding.total, data.outstanding.payoff) == ("closed_written_off", "0.00", "0.00")
    assert [line.state for line in data.schedule] == ["written_off"] * 4
    assert lender.lending("written_off") == 100_000
    assert lender.lending("principal") == -100_000
    assert (lender.lending("interest_earned"), lender.lending("interest_agreed")) == (10_000, -10_000)
    assert lender.client().open_accounts == 0
    lender.pass_days(60)
    assert lender.waiting() == []


def test_only_a_loan_that_is_owed_can_be_written_off() -> None:
    lender = Lender()
    assert write_off(lender, "LN0") == UNKNOWN_LOAN
    loan_id = lender.request().data.loan_id
    assert write_off(lender, loan_id) == Refusal(
        104, "The loan is pending_approval and cannot be written off", error_code="loan_state"
    )
    lender.process(loan_id)
    assert isinstance(write_off(lender, loan_id), Decision)
    assert write_off(lender, loan_id) == Refusal(
        104, "The loan is closed_written_off and cannot be written off", error_code="loan_state"
    )


def test_penalties_of_a_loan_stop_at_the_largest_amount() -> None:
    """A hundred percent a day on a loan of nearly all the money there can be, for a month."""
    lender = Lender(opening=LARGEST_AMOUNT, penalty_rate="100")
    settings = {"interestRate": "0", "interestFrequency": "every_month"}
    loan_id = lender.lend(amount="900000000000000", period=2, interestSettings=settings)
    for days in (40, 40, 300):
        lender.pass_days(days)
        owed = sum(line.penalty for line in lender.lines(loan_id))
    assert owed == LARGEST_AMOUNT
    assert lender.loan(loan_id).state == "active_in_arrears"
