"""Reversing a repayment: the loan is what it would be without it. (Contract: loans#reverse)"""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Refusal
from kasuwa.methods.clients.model import client_key
from kasuwa.methods.loans.model import LoanInstallment, act_key, loan_key
from kasuwa.methods.loans.rules.loan_position import compute_position
from kasuwa.methods.loans.rules.reverse import ALREADY_REVERSED, UNKNOWN_HISTORY, UNKNOWN_REPAYMENT
from tests.hypothesis_settings import without_deadline
from tests.methods.loans.in_memory_lender import Lender
from tests.methods.loans.test_repay import kobo, terms, text


@pytest.fixture
def lender() -> Lender:
    """The loan is paid out on 2026-01-31: 1,000.00 at 10 % a month in four installments of 315.47."""
    return Lender()


def lines_today(lender: Lender, loan_id: str) -> tuple[LoanInstallment, ...]:
    """Returns the installments with the penalties of today."""
    loan = lender.loan(loan_id)
    position = compute_position(loan, tuple(lender.lines(loan_id)), lagos_day(lender.now))
    # Also a change that was taken back is kept as a version.
    return tuple(msgspec.structs.replace(line, versions=0) for line in position.lines)


# --- one repayment ----------------------------------------------------------------------------------------------------


def test_the_only_repayment_reversed_is_owed_again(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(28)
    before, owed = lines_today(lender, loan_id), lender.owed(loan_id)
    paid = lender.repay(loan_id, "315.47")
    reply = lender.reverse(paid.txn_ref)
    assert (reply.status, reply.message, reply.loan_id, reply.amount) == (200, "Repayment Reversed", loan_id, "315.47")
    assert (reply.allocation.interest, reply.allocation.principal) == ("100.00", "215.47")
    assert (reply.reallocated, reply.refunded_amount) == ([], "0.00")
    assert lines_today(lender, loan_id) == before
    assert lender.owed(loan_id) == owed
    assert (lender.lending("interest_earned"), lender.lending("principal")) == (0, -100_000)
    assert reply.data.outstanding.total == "1261.88"


def test_a_later_repayment_covers_what_the_reversed_one_had_covered(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(28)
    first = lender.repay(loan_id, "315.47").txn_ref
    lender.pass_days(31)
    second = lender.repay(loan_id, "315.47").txn_ref
    reply = lender.reverse(first)
    [anew] = reply.reallocated
    assert (anew.txn_ref, anew.amount, anew.credit) == (second, "315.47", "0.00")
    assert (anew.allocation.interest, anew.allocation.principal) == ("100.00", "215.47")
    assert [line.state for line in reply.data.schedule] == ["paid", "pending", "pending", "pending"]


def test_a_loan_that_the_repayment_had_closed_opens_again(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(28)
    closing = lender.repay(loan_id, "1100.00")
    assert (closing.data.state, lender.client().open_accounts, lender.waiting()) == ("closed_repaid", 0, [])
    lender.pass_days(3)
    reply = lender.reverse(closing.txn_ref)
    assert (reply.data.state, reply.data.closed_at) == ("active_in_arrears", None)
    assert lender.client().open_accounts == 1
    assert [line.interest for line in reply.data.schedule] == ["100.00", "78.45", "54.75", "28.68"]
    lender.pass_days(200)
    assert lender.loan(loan_id).state == "active_in_arrears"


def test_penalties_are_those_of_a_loan_that_was_never_paid() -> None:
    """0.1 % a day of 215.47 late principal: 0.22 after one day and 0.65 after three."""
    lender = Lender(penalty_rate="0.1")
    loan_id = lender.lend()
    lender.pass_days(28)
    txn_ref = lender.repay(loan_id, "315.47").txn_ref
    lender.pass_days(3)
    assert lender.owed(loan_id)["penalty"] == 0
    reply = lender.reverse(txn_ref)
    assert (reply.data.outstanding.penalty, reply.data.state) == ("0.65", "active_in_arrears")
    [job] = lender.waiting()
    assert lagos_day(job.due).isoformat() == "2026-03-04"


def test_a_written_off_loan_is_written_off_with_what_it_would_have_owed(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(28)
    first = lender.repay(loan_id, "315.47").txn_ref
    lender.write_off(loan_id)
    recovered = lender.repay(loan_id, "10.00").txn_ref
    assert (lender.lending("written_off"), lender.lending("recovered")) == (78_453, 1_000)
    reply = lender.reverse(first)
    assert reply.data.state == "closed_written_off"
    assert (lender.lending("written_off"), lender.lending("recovered")) == (100_000, 1_000)
    assert lender.reverse(recovered).status == 200
    assert lender.lending("recovered") == 0
    assert lender.lending("written_off") == 100_000


def test_a_reversal_gives_nothing_to_charges_and_waivers(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.charge(loan_id, "100.00")
    lender.waive(loan_id, charge_id="A1", amount="40.00")
    txn_ref = lender.repay(loan_id, "50.00").txn_ref
    reply = lender.reverse(txn_ref)
    assert (reply.data.outstanding.charges, reply.data.credit) == ("60.00", "0.00")
    assert [lender.act(loan_id, n).applied for n in (1, 2, 3)] == [0, 0, 0]


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_a_second_reverse_is_refused(lender: Lender) -> None:
    loan_id = lender.lend()
    txn_ref = lender.repay(loan_id, "100.00").txn_ref
    assert lender.reverse(txn_ref).status == 200
    before = lender.balances()
    assert lender.reverse(txn_ref) == ALREADY_REVERSED
    assert lender.balances() == before


def test_an_unknown_reference_is_refused(lender: Lender) -> None:
    lender.lend()
    assert lender.reverse("GP|LR|000000000|20260131X") == UNKNOWN_REPAYMENT


def test_a_loan_whose_acts_do_not_say_what_it_is_is_left_alone(lender: Lender) -> None:
    """Such a loan was repaid before acts were recorded."""
    loan_id = lender.lend()
    first, second = (lender.repay(loan_id, "100.00").txn_ref for _ in range(2))
    kept = lender.database.rows[act_key(lender.merchant_id, loan_id, 2)]
    lender.database.rows[act_key(lender.merchant_id, loan_id, 1)] = msgspec.structs.replace(
        kept, key=act_key(lender.merchant_id, loan_id, 1), n=1
    )
    lender.database.rows[loan_key(lender.merchant_id, loan_id)] = msgspec.structs.replace(lender.loan(loan_id), acts=1)
    lender.loans_of_before.add(loan_id)
    assert lender.reverse(first) == UNKNOWN_HISTORY
    assert lender.reverse(second) == UNKNOWN_HISTORY


def test_a_closed_loan_of_a_client_who_left_stays_closed(lender: Lender) -> None:
    loan_id = lender.lend()
    txn_ref = lender.repay(loan_id, "1000.00").txn_ref
    assert lender.loan(loan_id).state == "closed_repaid"
    key = client_key(lender.merchant_id, "CL1")
    lender.database.rows[key] = msgspec.structs.replace(lender.client(), status="exited")
    refusal = lender.reverse(txn_ref)
    assert isinstance(refusal, Refusal)
    assert refusal.message == "The loan would be owed again, but the client is exited"
    assert lender.loan(loan_id).state == "closed_repaid"


def test_a_dry_run_explains_the_reversal_and_changes_nothing(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(28)
    first = lender.repay(loan_id, "315.47").txn_ref
    lender.pass_days(31)
    second = lender.repay(loan_id, "315.47").txn_ref
    before = lender.balances()
    shown = lender.reverse(first, dry_run=True)
    assert (shown.dry_run, lender.balances()) == (True, before)
    figures = {figure.what: (figure.amount, figure.how) for figure in shown.explained}
    assert figures["reversed"] == ("315.47", "posted back: interest 100.00, principal 215.47")
    what = "interest 100.00, principal 215.47, instead of interest 78.45, principal 237.02"
    assert figures[f"repayment {second}"] == ("315.47", what)
    assert figures["outstanding"][0] == shown.data.outstanding.total
    done = lender.reverse(first)
    assert (done.data, done.reallocated) == (shown.data, shown.reallocated)


# --- any run ----------------------------------------------------------------------------------------------------------

# Days that pass, and the part of the payoff (in hundredths) that is repaid then; above 100: the loan is written off.
runs = st.lists(st.tuples(st.integers(0, 45), st.integers(1, 104)), min_size=1, max_size=6)
penalties = st.sampled_from(["0", "0.1", "2.345678"])


def play(lender: Lender, loan_id: str, run: list[tuple[int, int]]) -> list[tuple[int, str, str]]:
    """Returns the steps that were done: days, amount ("" for a write-off) and txnRef."""
    done = []
    for days, hundredths in run:
        lender.pass_days(days)
        if hundredths > 100:
            is_done = not isinstance(lender.write_off(loan_id), Refusal)
            done.append((days, "" if is_done else "0", ""))
            continue
        payoff = lender.repay(loan_id, dry_run=True)
        if isinstance(payoff, Refusal):
            done.append((days, "0", ""))
            continue
        amount = text(max(1, kobo(payoff.explained[2].amount) * hundredths // 100))
        reply = lender.repay(loan_id, amount)
        done.append((days, amount, reply.txn_ref) if not isinstance(reply, Refusal) else (days, "0", ""))
    return done


def facts(lender: Lender, loan_id: str) -> Any:
    """Returns all that a loan is, without what counts its acts and tells its story."""
    loan, client = lender.loan(loan_id), lender.client()
    return (
        loan.state,
        loan.closed_at,
        [msgspec.structs.astuple(line) for line in lines_today(lender, loan_id)],
        lender.balances(),
        (client.open_accounts, client.credit),
    )


@without_deadline(60)
@given(terms, runs, penalties, st.integers(0, 5), st.integers(0, 5), st.integers(0, 40))
def test_a_run_with_a_reversed_repayment_ends_as_the_run_without_it(
    fields: dict[str, Any], run: list[tuple[int, int]], penalty: str, tolerance: int, which: int, wait: int
) -> None:
    one, other = (Lender(penalty_rate=penalty, tolerance_days=tolerance) for _ in range(2))
    loan_id = one.lend(**fields)
    assert other.lend(**fields) == loan_id
    done = play(one, loan_id, run)
    repayments = [txn_ref for _, _, txn_ref in done if txn_ref]
    if not repayments:
        return
    wrong = repayments[which % len(repayments)]
    one.pass_days(wait)
    assert one.reverse(wrong).status == 200
    for days, amount, txn_ref in done:
        other.pass_days(days)
        if not amount:
            other.write_off(loan_id)
        elif txn_ref and txn_ref != wrong:
            assert other.repay(loan_id, amount).status == 200
    other.pass_days(wait)
    for lender in (one, other):  # a day later the penalties of both are posted
        lender.pass_days(1)
    assert facts(one, loan_id) == facts(other, loan_id)


@without_deadline(60)
@given(terms, runs, penalties)
def test_reversing_the_last_repayment_gives_the_loan_of_before(
    fields: dict[str, Any], run: list[tuple[int, int]], penalty: str
) -> None:
    lender = Lender(penalty_rate=penalty)
    loan_id = lender.lend(**fields)
    play(lender, loan_id, run)
    payoff = lender.repay(loan_id, dry_run=True)
    if isinstance(payoff, Refusal):
        return
    before = lender.loan(loan_id).state, lines_today(lender, loan_id), lender.client()
    txn_ref = lender.repay(loan_id, payoff.explained[2].amount).txn_ref
    assert lender.reverse(txn_ref).status == 200
    after = lender.loan(loan_id).state, lines_today(lender, loan_id), lender.client()
    # A loan that became late today is stored as such only by the reversal.
    assert (after[0].startswith("active"), *after[1:]) == (before[0].startswith("active"), *before[1:])
