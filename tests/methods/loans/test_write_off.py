"""The rules of a write-off: all of a loan, parts of what is due, recovery, and write-offs that wait for another party.

Contract: loans#write-off
"""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.callers import Caller
from kasuwa.core.decision import Refusal
from kasuwa.methods.loans.model import UNKNOWN_LOAN, LoanWriteOff, loan_account, refuse_in_state
from kasuwa.methods.loans.rules.write_off import (
    NO_WRITE_OFF_WAITS,
    NOTHING_DUE,
    OWN_WRITE_OFF,
    PROPOSER_ENDED,
    WAITS_MESSAGE,
    WRITE_OFF_CHANGED,
    WRITE_OFF_WAITS,
)
from kasuwa.terms.payouts import PayoutPolicy
from kasuwa.transactions.second_party import COOLING_OFF
from tests.hypothesis_settings import without_deadline
from tests.methods.loans.in_memory_lender import Lender
from tests.methods.loans.test_repay import terms, text
from tests.methods.loans.test_reverse import facts
from tests.walk.bounds import PARTS_DUE_DAY, WRITE_OFF_GROWN, WRITE_OFF_PARTS, WRITE_OFF_WAITING_SECONDS

OFFICER = Caller("officer", 1, ("lend",), 1, "officer@shop.example")
MANAGER = Caller("manager", 2, ("approve",), 2, "manager@shop.example")
LIMIT = "500.00"
INTEREST_FREE = {"interestRate": "0", "interestFrequency": "every_month"}


@pytest.fixture
def lender() -> Lender:
    return Lender(penalty_rate="1")


@pytest.fixture
def careful() -> Lender:
    """A lender whose write-offs above 500.00 wait."""
    return Lender(policy=PayoutPolicy(approve_write_off_above=LIMIT))


def late_loan(lender: Lender) -> str:
    """Returns a loan of 1,000.00 that is two days late: 100.00 interest, 215.47 principal and 4.31 penalty are due."""
    loan_id = lender.lend()
    lender.pass_days(30)
    return loan_id


def written_off(reply: Any) -> dict[str, str]:
    parts = msgspec.to_builtins(reply.data.written_off)
    return {part: amount for part, amount in parts.items() if amount != "0.00"}


def steps(lender: Lender) -> list[str]:
    payloads = (msgspec.json.decode(event.payload) for event in lender.database.events)
    return [payload["step"] for payload in payloads if payload["kind"] == "loan"]


# --- all of it --------------------------------------------------------------------------------------------------------


def test_a_merchant_writes_a_loan_off_with_a_reason(lender: Lender) -> None:
    loan_id = late_loan(lender)
    reply = lender.write_off_parts(loan_id)
    assert (reply.data.state, reply.data.outstanding.total) == ("closed_written_off", "0.00")
    parts = {"penalty": "4.31", "interest": "261.88", "principal": "1000.00", "total": "1266.19"}
    assert written_off(reply) == parts
    payload = msgspec.json.decode(lender.database.events[-1].payload)
    assert (payload["step"], payload["chargedAmount"], payload["reason"]) == ("written_off", "1266.19", "gone")
    assert (lender.client().open_accounts, lender.waiting()) == (0, [])


def test_what_is_recovered_is_written_off_no_more(lender: Lender) -> None:
    loan_id = late_loan(lender)
    lender.write_off_parts(loan_id)
    reply = lender.repay(loan_id, "1000.00")
    assert written_off(reply) == {"principal": "266.19", "total": "266.19"}
    assert isinstance(lender.repay(loan_id, "266.19").data.written_off, msgspec.UnsetType)


# --- parts ------------------------------------------------------------------------------------------------------------


def test_a_written_off_loan_has_no_check_of_its_arrears_after_a_recovery() -> None:
    for rates in ([], ["1", "5", "25", "50", "75", "100"]):
        lender = Lender(penalty_rate="1", provision_rates=rates)
        loan_id = lender.lend()
        lender.pass_days(40)
        lender.write_off(loan_id)
        lender.repay(loan_id, "100.00")
        assert lender.waiting() == []


def test_parts_are_written_off_as_far_as_they_are_due_and_the_loan_goes_on(lender: Lender) -> None:
    loan_id = late_loan(lender)
    reply = lender.write_off_parts(loan_id, "penalty", "interest")
    assert (reply.data.state, reply.message) == ("active_in_arrears", "Parts of the Loan Written Off")
    assert written_off(reply) == {"penalty": "4.31", "interest": "100.00", "total": "104.31"}
    assert lender.owed(loan_id) == {"principal": 100_000, "interest": 16_188, "tax": 0, "penalty": 0}
    assert reply.data.outstanding.total == "1161.88"
    assert steps(lender)[-1] == "partly_written_off"


def test_a_loan_without_anything_due_any_more_is_in_arrears_no_more(lender: Lender) -> None:
    loan_id = late_loan(lender)
    reply = lender.write_off_parts(loan_id, "penalty", "interest", "principal")
    assert (reply.data.state, reply.data.schedule[0].state) == ("active", "written_off")
    lender.pass_days(10)
    assert lender.owed(loan_id)["penalty"] == 0
    assert lender.lending("written_off") == 21_547


def test_a_loan_of_which_nothing_is_left_is_closed(lender: Lender) -> None:
    loan_id = lender.lend(period=1, interestSettings=INTEREST_FREE)
    lender.pass_days(28)
    reply = lender.write_off_parts(loan_id, "principal")
    assert (reply.data.state, lender.client().open_accounts) == ("closed_written_off", 0)
    assert lender.repay(loan_id, "1000.00").data.state == "closed_written_off"
    assert lender.lending("recovered") == 100_000


@PARTS_DUE_DAY.tries
def test_parts_are_written_off_from_the_day_on_which_they_are_due(lender: Lender, value: int, is_within: bool) -> None:
    loan_id = lender.lend()
    lender.pass_days(value)
    outcome = lender.write_off_parts(loan_id, "interest")
    assert (outcome != NOTHING_DUE) is is_within
    assert lender.write_off_parts(loan_id, "tax") == NOTHING_DUE


@WRITE_OFF_PARTS.tries
def test_a_write_off_names_one_part_to_five(lender: Lender, value: int, is_within: bool) -> None:
    loan_id = late_loan(lender)
    outcome = lender.write_off_parts(
        loan_id, parts=["penalty", "interest", "tax", "principal", "charge", "tax"][:value]
    )
    assert isinstance(outcome, Refusal) is not is_within


def test_what_is_paid_above_the_rest_recovers_the_parts_and_then_is_credit(lender: Lender) -> None:
    loan_id = late_loan(lender)
    lender.write_off_parts(loan_id, "penalty", "interest")
    payoff = lender.repay(loan_id, dry_run=True).explained[2].amount
    refusal = lender.repay(loan_id, "99999.00")
    assert refusal.field_errors[0].reason.startswith("at most ")
    reply = lender.repay(loan_id, text(int(payoff.replace(".", "")) + 5_000))
    assert reply.data.state == "closed_written_off"
    assert (lender.lending("recovered"), lender.client().open_accounts) == (5_000, 0)
    assert written_off(reply) == {"interest": "54.31", "total": "54.31"}
    lender.repay(loan_id, "54.31")
    assert isinstance(lender.repay(loan_id, "1.00"), Refusal)
    assert lender.balance(loan_account("credit", loan_id)) == 0


def test_a_loan_whose_rest_is_paid_keeps_what_was_written_off(lender: Lender) -> None:
    loan_id = late_loan(lender)
    lender.write_off_parts(loan_id, "interest")
    payoff = lender.repay(loan_id, dry_run=True).explained[2].amount
    reply = lender.repay(loan_id, payoff)
    assert (reply.data.state, written_off(reply)["total"]) == ("closed_written_off", "100.00")


def test_a_dry_run_explains_a_write_off_and_changes_nothing(careful: Lender) -> None:
    loan_id = late_loan(careful)
    before = careful.balances()
    reply = careful.write_off_parts(loan_id, "interest", dry_run=True)
    assert [(figure.what, figure.amount) for figure in reply.explained] == [
        ("written off", "100.00"),
        ("outstanding", "1161.88"),
    ]
    reply = careful.write_off_parts(loan_id, dry_run=True)
    assert [figure.what for figure in reply.explained] == ["written off", "outstanding", "approval"]
    assert reply.explained[1].how == "nothing: the loan is closed"
    assert (reply.dry_run, careful.balances(), steps(careful)) == (True, before, ["late"])


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_only_a_loan_that_is_owed_is_written_off(lender: Lender) -> None:
    assert lender.write_off_parts("LN0") == UNKNOWN_LOAN
    loan_id = lender.request().data.loan_id
    assert lender.write_off_parts(loan_id) == refuse_in_state("pending_approval", "written off")
    assert lender.decide_write_off("LN0") == UNKNOWN_LOAN


@pytest.mark.parametrize("parts", [[], ["fees"], ["interest", "all"]])
def test_wrong_parts_are_named(lender: Lender, parts: list[str]) -> None:
    refusal = lender.ask("write_off", {"loan_id": "LN0", "parts": parts, "reason": "gone"})
    assert [fault.field.partition(".")[0] for fault in refusal.field_errors] == ["parts"]


# --- by two parties ---------------------------------------------------------------------------------------------------


def test_above_the_limit_another_party_approves(careful: Lender) -> None:
    loan_id = late_loan(careful)
    before = careful.balances()
    reply = careful.write_off_parts(loan_id, caller=OFFICER)
    assert (reply.message, reply.data.state) == (WAITS_MESSAGE, "active_in_arrears")
    waiting = reply.data.waiting_write_off
    assert (waiting.amount, waiting.reason, waiting.proposed_by) == ("1261.88", "gone", "key 1 (officer)")
    assert careful.balances() == before
    assert careful.write_off_parts(loan_id) == WRITE_OFF_WAITS
    assert careful.decide_write_off(loan_id) == OWN_WRITE_OFF
    shown = careful.decide_write_off(loan_id, caller=MANAGER, dry_run=True)
    assert (shown.dry_run, careful.balances()) == (True, before)
    done = careful.decide_write_off(loan_id)
    assert (done.data.state, done.message) == ("closed_written_off", "Loan Written Off")
    assert steps(careful) == ["late", "write_off_waiting", "written_off"]
    (row,) = careful.database.all(LoanWriteOff, careful.merchant_id)
    assert (row.state, row.decided_by, row.decided_at) == ("approved", "key 2 (manager)", careful.now)
    assert careful.decide_write_off(loan_id) == NO_WRITE_OFF_WAITS


def test_at_the_limit_nobody_else_is_needed(careful: Lender) -> None:
    loan_id = careful.lend(amount="500.00", interestSettings=INTEREST_FREE)
    assert careful.write_off_parts(loan_id).data.state == "closed_written_off"
    loan_id = careful.lend(amount="500.01", interestSettings=INTEREST_FREE)
    assert careful.write_off_parts(loan_id).message == WAITS_MESSAGE


def test_parts_written_off_one_by_one_count_together(careful: Lender) -> None:
    loan_id = careful.lend()
    messages = []
    for _ in range(3):
        careful.pass_days(31)
        messages.append(careful.write_off_parts(loan_id, "principal").message)
    assert messages == ["Parts of the Loan Written Off", "Parts of the Loan Written Off", WAITS_MESSAGE]


def test_a_rejected_write_off_leaves_the_loan_and_its_maker_may_reject(careful: Lender) -> None:
    loan_id = late_loan(careful)
    careful.write_off_parts(loan_id, caller=OFFICER)
    before = careful.balances()
    assert careful.decide_write_off(loan_id, "reject", dry_run=True).dry_run is True
    assert careful.decide_write_off(loan_id, "reject").message == "Write-off Rejected"
    assert (careful.balances(), steps(careful)[-1]) == (before, "write_off_rejected")
    assert careful.decide_write_off(loan_id, "reject") == NO_WRITE_OFF_WAITS
    assert careful.write_off_parts(loan_id).message == WAITS_MESSAGE


def test_whoever_is_new_or_was_ended_takes_no_part(careful: Lender) -> None:
    loan_id = late_loan(careful)
    careful.write_off_parts(loan_id, caller=OFFICER)
    new = msgspec.structs.replace(MANAGER, is_cooling_off=True)
    assert careful.decide_write_off(loan_id, caller=new) == COOLING_OFF
    careful.ended.add(OFFICER)
    assert careful.decide_write_off(loan_id, caller=MANAGER) == PROPOSER_ENDED
    assert careful.decide_write_off(loan_id, "reject").status == 200


@WRITE_OFF_WAITING_SECONDS.tries
def test_a_write_off_waits_for_72_hours(careful: Lender, value: int, is_within: bool) -> None:
    loan_id = late_loan(careful)
    careful.write_off_parts(loan_id, caller=OFFICER)
    careful.now += timedelta(seconds=value)
    outcome = careful.decide_write_off(loan_id, caller=MANAGER)
    if is_within:
        assert outcome.data.state == "closed_written_off"
    else:
        assert outcome == NO_WRITE_OFF_WAITS
        assert careful.write_off_parts(loan_id).message == WAITS_MESSAGE


def test_an_approval_writes_off_what_is_owed_by_then(careful: Lender) -> None:
    loan_id = late_loan(careful)
    careful.write_off_parts(loan_id, caller=OFFICER)
    careful.repay(loan_id, "315.47")
    reply = careful.decide_write_off(loan_id, caller=MANAGER)
    assert written_off(reply)["total"] == "946.41"


@WRITE_OFF_GROWN.tries
def test_a_changed_loan_is_written_off_up_to_the_proposed_amount(careful: Lender, value: str, is_within: bool) -> None:
    loan_id = late_loan(careful)
    careful.write_off_parts(loan_id, caller=OFFICER)
    careful.repay(loan_id, "100.00")
    careful.charge(loan_id, value)
    outcome = careful.decide_write_off(loan_id, caller=MANAGER)
    assert (outcome == WRITE_OFF_CHANGED) != is_within
    assert (careful.loan(loan_id).state == "closed_written_off") == is_within


def test_a_loan_that_was_repaid_meanwhile_has_no_write_off(careful: Lender) -> None:
    loan_id = late_loan(careful)
    careful.write_off_parts(loan_id, caller=OFFICER)
    payoff = careful.repay(loan_id, dry_run=True).explained[2].amount
    careful.repay(loan_id, payoff)
    assert careful.decide_write_off(loan_id, caller=MANAGER) == NO_WRITE_OFF_WAITS


def test_parts_of_which_nothing_is_due_any_more_are_not_approved(careful: Lender) -> None:
    loan_id = careful.lend()
    careful.pass_days(125)
    careful.write_off_parts(loan_id, "principal", caller=OFFICER)
    payoff = int(careful.repay(loan_id, dry_run=True).explained[2].amount.replace(".", ""))
    careful.repay(loan_id, text(payoff - 100))
    reply = careful.decide_write_off(loan_id, caller=MANAGER)
    assert written_off(reply) == {"principal": "1.00", "total": "1.00"}


# --- another lender's scenario ----------------------------------------------------------------------------------------


def test_a_write_off_takes_the_rest_as_apache_fineract_does() -> None:
    """LoanWriteOff.feature: 1,000 without interest, 350 repaid, 650 written off. There a repayment after a write-off is
    an error, and so is the end of one before it; here both are possible, as the money is the lender's all the same."""
    lender = Lender(datetime(2023, 1, 1, 9, tzinfo=UTC))
    loan_id = lender.lend(amount="1000.00", period=3, interestSettings=INTEREST_FREE)
    txn_ref = lender.repay(loan_id, "350.00").txn_ref
    lender.pass_days((date(2023, 1, 29) - date(2023, 1, 1)).days)
    reply = lender.write_off_parts(loan_id)
    assert (reply.data.state, written_off(reply)) == (
        "closed_written_off",
        {"principal": "650.00", "total": "650.00"},
    )
    assert lender.repay(loan_id, "50.00").data.written_off.total == "600.00"
    assert lender.reverse(txn_ref).data.written_off.total == "950.00"


# --- any run ----------------------------------------------------------------------------------------------------------

acts = st.one_of(
    st.tuples(st.just("repay"), st.integers(1, 120)),  # hundredths of the payoff
    st.tuples(st.just("write off"), st.sampled_from(["penalty", "interest", "tax principal", "interest tax"])),
    st.tuples(st.just("write off"), st.just("")),
)
runs = st.lists(st.tuples(st.integers(0, 45), acts), min_size=1, max_size=6)


def do(lender: Lender, loan_id: str, act: tuple[str, Any]) -> tuple[str, Any, str]:
    """Does one act and returns it as it can be done again: with the amount, and the txnRef of a repayment."""
    name, value = act
    if name == "write off":
        done = lender.write_off_parts(loan_id, *value.split())
        return name, None if isinstance(done, Refusal) else value, ""
    shown = lender.repay(loan_id, dry_run=True)
    if isinstance(shown, Refusal):
        return name, None, ""
    payoff = int(shown.explained[2].amount.replace(".", ""))
    amount = text(max(1, payoff * value // 100))
    done = lender.repay(loan_id, amount)
    return (name, None, "") if isinstance(done, Refusal) else (name, amount, done.txn_ref)


@without_deadline(60)
@given(terms, runs, st.sampled_from(["0", "0.1", "2.345678"]), st.integers(0, 5), st.integers(0, 40))
def test_a_run_with_write_offs_and_a_reversed_repayment_ends_as_the_run_without_it(
    fields: dict[str, Any], run: list[tuple[int, tuple[str, Any]]], penalty: str, which: int, wait: int
) -> None:
    one, other = (Lender(penalty_rate=penalty) for _ in range(2))
    loan_id = one.lend(**fields)
    assert other.lend(**fields) == loan_id
    done = []
    for days, act in run:
        one.pass_days(days)
        done.append((days, do(one, loan_id, act)))
    repayments = [txn_ref for _, (_, _, txn_ref) in done if txn_ref]
    if not repayments:
        return
    wrong = repayments[which % len(repayments)]
    one.pass_days(wait)
    assert one.reverse(wrong).status == 200
    for days, (name, value, txn_ref) in done:
        other.pass_days(days)
        if name == "write off" and value is not None:
            other.write_off_parts(loan_id, *value.split())
        elif txn_ref and txn_ref != wrong:
            assert other.repay(loan_id, value).status == 200
    other.pass_days(wait)
    for lender in (one, other):
        lender.pass_days(1)
    assert facts(one, loan_id) == facts(other, loan_id)
