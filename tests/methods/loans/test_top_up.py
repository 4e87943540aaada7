"""Top-ups: a new loan pays the old one off and disburses the rest, in one commit. (Contract: loans#top-up)"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.decision import Job, Refusal
from kasuwa.methods.disburse.rules.transfer import WALLET_INSUFFICIENT
from kasuwa.methods.loans.guarantee_model import LoanCollateral
from kasuwa.methods.loans.model import UNKNOWN_LOAN
from kasuwa.methods.loans.rules.reverse import UNKNOWN_REPAYMENT
from kasuwa.transactions.transactions import Transaction
from tests.hypothesis_settings import without_deadline
from tests.methods.guarantees.guaranteed_lender import PLAIN, GuaranteedLender
from tests.methods.loans.in_memory_lender import BAD, GOOD, SLOW, Lender
from tests.methods.loans.test_charges import reasons
from tests.methods.loans.test_repay import kobo, text
from tests.methods.loans.test_reverse import lines_today


@pytest.fixture
def lender() -> Lender:
    """The loan is paid out on 2026-01-31: 1,000.00 at 10 % a month in four installments of 315.47."""
    return Lender()


def transfers(lender: Lender) -> list[Transaction]:
    rows: list[Transaction] = lender.database.all(Transaction, lender.merchant_id)
    return sorted((row for row in rows if row.kind == "transfer"), key=lambda row: row.created_at)


def slow_top_up(lender: Lender, loan_id: str, **more: Any) -> str:
    """Returns the new loan, of which the bank has not said yet whether it was paid out."""
    reply = lender.top_up(loan_id, bank=SLOW, **more)
    assert reply.data.state == "disbursing"
    return str(reply.data.loan_id)


def answer(lender: Lender, bank: Any) -> None:
    [job] = [job for job in lender.database.all(Job, lender.merchant_id) if job.kind.startswith("disburse.")]
    lender.receive_answer(job, bank)


# --- what it does -----------------------------------------------------------------------------------------------------


def test_a_new_loan_pays_the_old_one_off_and_out_what_is_left(lender: Lender) -> None:
    """After 14 of 28 days the old loan is paid off with 1,000.00 and 50.00 of interest."""
    old = lender.lend()
    lender.pass_days(14)
    wallet = lender.wallet()
    reply = lender.top_up(old)
    new = reply.data
    assert (new.state, new.amount, new.tops_up, reply.txn_status) == ("active", "2000.00", old, "successful")
    assert lender.loan(old).state == "closed_repaid"
    assert lender.loan(old).topped_up_by == new.loan_id
    assert transfers(lender)[-1].amount == 95_000
    assert wallet - lender.wallet() == 95_000 + transfers(lender)[-1].fee + transfers(lender)[-1].vat
    assert (lender.owed(old)["principal"], lender.owed(new.loan_id)["principal"]) == (0, 200_000)
    assert (lender.lending("principal"), lender.lending("interest_earned")) == (-200_000, 5_000)
    assert lender.client().open_accounts == 1


def test_the_terms_are_those_of_the_old_loan_unless_others_are_named() -> None:
    lender = Lender(penalty_rate="0.5", tolerance_days=3)
    old = lender.lend(tax_applied=True, tax_rate="7.5", officer="ADA", branch="IKEJA")
    new = lender.top_up(old, period=6).data
    assert (new.period, new.tax_rate, new.officer, new.branch) == (6, 7.5, "ADA", "IKEJA")
    assert (new.penalty_rate, new.tolerance_days, new.interest_settings.interest_rate) == ("0.5", 3, "10")
    newer = lender.top_up(
        new.loan_id,
        "5000.00",
        interestSettings={"interestRate": 5, "interestFrequency": "every_week"},
        method="flat",
        grace={"principal": 2},
        charges=[{"name": "Fee", "amount": "100.00", "when": "disbursement", "deduct": True}],
    ).data
    assert (newer.method, newer.interest_settings.interest_frequency, newer.grace.principal) == (
        "flat",
        "every_week",
        2,
    )
    assert newer.net_amount == "4900.00"
    assert transfers(lender)[-1].amount == 490_000 - 200_000


def test_a_late_loan_is_topped_up_with_its_penalties() -> None:
    lender = Lender(penalty_rate="1")
    old = lender.lend()
    lender.pass_days(40)
    owed = lender.owed(old)["penalty"]
    assert owed > 0
    lender.top_up(old)
    assert (lender.loan(old).state, lender.lending("penalty_earned")) == ("closed_repaid", owed)


def test_a_failed_transfer_leaves_the_old_loan_and_is_tried_again(lender: Lender) -> None:
    old = lender.lend()
    before = lender.balances()
    failed = lender.top_up(old, bank=BAD).data
    assert (failed.state, lender.loan(old).state, lender.balances()) == ("approved", "active", before)
    assert lender.top_up(old).error_code == "top_up_in_progress"
    lender.pass_days(14)
    assert lender.process(failed.loan_id).data.state == "active"
    assert transfers(lender)[-1].amount == 95_000
    assert lender.loan(old).state == "closed_repaid"


def test_a_dry_run_of_another_try_states_its_cost(lender: Lender) -> None:
    old = lender.lend()
    failed = lender.top_up(old, bank=BAD).data.loan_id
    lender.pass_days(14)
    reply = lender.ask("process", {"loan_id": failed, "status": "approve", "dry_run": True})
    wallet = lender.wallet()
    lender.process(failed)
    assert kobo(reply.explained[-1].amount) == wallet - lender.wallet()


def test_a_cancelled_top_up_makes_room_for_another(lender: Lender) -> None:
    old = lender.lend()
    failed = lender.top_up(old, bank=BAD).data.loan_id
    lender.process(failed, "cancel")
    assert lender.top_up(old, "3000.00").data.state == "active"
    assert lender.client().open_accounts == 1


# --- while the transfer takes -----------------------------------------------------------------------------------------


def test_the_quoted_payoff_closes_the_old_loan_days_later_too(lender: Lender) -> None:
    old = lender.lend()
    new = slow_top_up(lender, old)
    lender.pass_days(3)
    answer(lender, GOOD)
    assert (lender.loan(new).state, lender.loan(old).state) == ("active", "closed_repaid")
    assert lender.lending("interest_earned") == 0
    assert sum(lender.owed(old).values()) == 0


def test_penalties_of_the_days_that_the_transfer_takes_are_not_asked_for() -> None:
    lender = Lender(penalty_rate="1")
    old = lender.lend()
    lender.pass_days(40)
    payoff = lender.repay(old, dry_run=True).explained[2].amount
    slow_top_up(lender, old)
    lender.pass_days(3)
    answer(lender, GOOD)
    assert lender.loan(old).state == "closed_repaid"
    assert lender.act(old, 1).applied == kobo(payoff) == 200_000 - transfers(lender)[-1].amount


def test_charges_of_the_days_that_the_transfer_takes_are_not_asked_for(lender: Lender) -> None:
    late = {"name": "Late", "amount": "20.00", "vat": "7.5", "when": "late"}
    of_a_day = {"name": "Insurance", "amount": "10.00", "when": "named_day", "due": "2026-03-02"}
    old = lender.lend(charges=[late, of_a_day])
    lender.pass_days(28)
    payoff = lender.repay(old, dry_run=True, amount="1.00").explained[2].amount
    slow_top_up(lender, old)
    lender.pass_days(4)
    assert lender.owed(old)["charge"] == 3_000
    answer(lender, GOOD)
    assert lender.loan(old).state == "closed_repaid"
    assert lender.act(old, 1).applied == kobo(payoff) == 200_000 - transfers(lender)[-1].amount
    assert sum(lender.owed(old).values()) == 0


@pytest.mark.parametrize("days", [1, 4])
def test_interest_that_becomes_principal_while_the_transfer_takes_is_not_asked_for(lender: Lender, days: int) -> None:
    old = lender.lend(grace={"interest": 2, "capitalize": True}, tax_applied=True, tax_rate="7.5")
    lender.pass_days(27)
    payoff = lender.repay(old, dry_run=True, amount="1.00").explained[2].amount
    slow_top_up(lender, old)
    lender.pass_days(days)
    answer(lender, GOOD)
    assert lender.loan(old).state == "closed_repaid"
    assert lender.act(old, 1).applied == kobo(payoff) == 200_000 - transfers(lender)[-1].amount
    assert sum(lender.owed(old).values()) == 0


@pytest.mark.parametrize(("days", "rest"), [(14, 9), (3, 30), (15, 0), (30, 5)])
@pytest.mark.parametrize("paid", ["5.00", "30.00"])
def test_a_part_of_growing_interest_that_is_paid_meanwhile_leaves_no_rest(
    lender: Lender, days: int, rest: int, paid: str
) -> None:
    old = lender.lend(grace={"interest": 3, "capitalize": True}, tax_applied=True, tax_rate="7.5")
    lender.pass_days(29)
    new = slow_top_up(lender, old)
    lender.pass_days(days)
    lender.repay(old, paid)
    lender.pass_days(rest)
    answer(lender, GOOD)
    assert (lender.loan(old).state, sum(lender.owed(old).values())) == ("closed_repaid", 0)
    assert (lender.loan(new).state, lender.client().credit) == ("active", 0)


def test_a_charge_that_was_made_while_the_transfer_took_stays_owed(lender: Lender) -> None:
    old = lender.lend()
    slow_top_up(lender, old)
    lender.pass_days(1)
    lender.charge(old, "20.00")
    answer(lender, GOOD)
    assert (lender.loan(old).state, sum(lender.owed(old).values()) > 0) == ("active", True)


def test_interest_that_came_back_meanwhile_stays_owed(lender: Lender) -> None:
    """More is owed than has grown since the payoff was quoted, so the quote does not count."""
    old = lender.lend()
    lender.pass_days(14)
    txn_ref = lender.repay(old, "50.00").txn_ref
    slow_top_up(lender, old)
    lender.reverse(txn_ref)
    answer(lender, GOOD)
    assert (lender.loan(old).state, lender.owed(old)["principal"]) == ("active", 5_000)


def test_what_was_repaid_meanwhile_repays_the_new_loan(lender: Lender) -> None:
    old = lender.lend()
    new = slow_top_up(lender, old)
    lender.repay(old, "400.00")
    answer(lender, GOOD)
    assert lender.loan(old).state == "closed_repaid"
    assert lender.owed(new)["principal"] == 160_000
    assert lender.lines(new)[0].paid_principal == 40_000
    assert lender.client().credit == 0


def test_guarantees_of_the_new_loan_hold_no_more_than_is_left() -> None:
    lender = GuaranteedLender()
    lender.member("CL2")
    old = lender.lend(**PLAIN)
    lender.pledge(old, "CL2", "200.00")
    new = slow_top_up(lender, old)
    lender.pledge(new, "CL2", "500.00")
    lender.repay(old, "400.00")
    answer(lender, GOOD)
    assert (lender.guarantee(old).held, lender.guarantee(new).held) == (0, 40_000)
    assert lender.available("CL2") == 60_000


def test_guarantors_of_both_loans_are_released_by_what_is_left() -> None:
    lender = GuaranteedLender()
    lender.member("CL2")
    lender.member("CL3")
    old = lender.lend(**PLAIN)
    lender.pledge(old, "CL2", "200.00")
    new = slow_top_up(lender, old)
    lender.pledge(new, "CL3", "500.00")
    lender.repay(old, "400.00")
    answer(lender, GOOD)
    assert (lender.loan(old).state, lender.loan(new).state) == ("closed_repaid", "active")
    assert (lender.guarantee(old).held, lender.guarantee(new).held) == (0, 40_000)
    assert (lender.available("CL2"), lender.available("CL3")) == (100_000, 60_000)


def test_a_loan_that_was_repaid_whole_meanwhile_takes_nothing(lender: Lender) -> None:
    old = lender.lend()
    new = slow_top_up(lender, old)
    lender.repay(old, "1000.00")
    answer(lender, GOOD)
    assert lender.owed(new)["principal"] == 100_000
    assert lender.loan(old).acts == 1


def test_a_penalty_of_the_days_of_waiting_that_was_rounded_up_is_not_asked_for() -> None:
    """One late day of 192.15 at 0.7 % is 134.505 kobo."""
    lender = Lender(penalty_rate="0.7")
    old = lender.lend()
    lender.repay(old, "40.00")
    lender.pass_days(9)
    lender.repay(old, "99.08")
    new = slow_top_up(lender, old)
    lender.pass_days(20)
    answer(lender, GOOD)
    assert (lender.loan(old).state, lender.loan(new).state) == ("closed_repaid", "active")


def test_principal_that_came_back_meanwhile_stays_owed(lender: Lender) -> None:
    old = lender.lend()
    txn_ref = lender.repay(old, "300.00").txn_ref
    new = slow_top_up(lender, old)
    lender.reverse(txn_ref)
    answer(lender, GOOD)
    assert (lender.loan(old).state, lender.owed(old)["principal"]) == ("active", 30_000)
    assert lender.owed(new)["principal"] == 200_000
    assert lender.client().open_accounts == 2


def test_a_top_up_whose_old_loan_was_repaid_before_a_second_try_is_refused(lender: Lender) -> None:
    old = lender.lend()
    failed = lender.top_up(old, bank=BAD).data.loan_id
    lender.repay(old, "1000.00")
    assert lender.process(failed).error_code == "nothing_to_top_up"
    assert lender.process(failed, "cancel").data.state == "closed_withdrawn"


# --- crossed ----------------------------------------------------------------------------------------------------------


def test_a_repayment_from_before_is_reversed_and_the_old_loan_owes_it_again(lender: Lender) -> None:
    old = lender.lend()
    txn_ref = lender.repay(old, "300.00").txn_ref
    new = lender.top_up(old).data.loan_id
    assert lender.reverse(txn_ref).data.state == "active"
    assert (lender.owed(old)["principal"], lender.owed(new)["principal"]) == (30_000, 200_000)


def test_what_a_new_loan_paid_is_not_reversed(lender: Lender) -> None:
    old = lender.lend()
    reply = lender.top_up(old)
    assert lender.reverse(reply.txn_ref) == UNKNOWN_REPAYMENT


def test_collateral_goes_over_to_the_new_loan_and_guarantees_end() -> None:
    lender = GuaranteedLender()
    lender.member("CL2")
    old = lender.lend(**PLAIN)
    lender.pledge(old, "CL2", "500.00")
    secured = {"loan_id": old, "description": "Tricycle", "value": "850000.00"}
    lender.ask("collateral", secured)
    returned = lender.ask("collateral", {**secured, "description": "Radio"}).data.collateral_id
    lender.ask("return_collateral", {"collateral_id": returned})
    new = lender.top_up(old).data.loan_id
    rows: list[LoanCollateral] = lender.database.all(LoanCollateral, lender.merchant_id)
    held = [row for row in rows if row.returned_at is None]
    assert [(row.loan_id, row.description, row.n) for row in held] == [(new, "Tricycle", 1)]
    assert lender.loan(new).collaterals == 1
    assert (lender.guarantee(old).held, lender.loan(new).guarantees) == (0, 0)


def test_a_rescheduled_loan_with_capitalized_arrears_is_topped_up(lender: Lender) -> None:
    old = lender.lend()
    lender.pass_days(29)
    lender.reschedule(old, capitalize_arrears=True, extra_installments=2)
    lender.pass_days(5)
    new = lender.top_up(old, "3000.00").data
    assert (lender.loan(old).state, new.period) == ("closed_repaid", 4)
    assert sum(lender.owed(old).values()) == 0


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_only_a_loan_that_owes_something_is_topped_up(lender: Lender) -> None:
    assert lender.top_up("LN0000000000000000") == UNKNOWN_LOAN
    asked = lender.request().data.loan_id
    assert lender.top_up(asked).message == "The loan is pending_approval and cannot be topped up"


def test_the_amount_leaves_what_a_loan_is_at_least_to_pay_out(lender: Lender) -> None:
    old = lender.lend()
    fee = [{"name": "Fee", "amount": "100.00", "when": "disbursement", "deduct": True}]
    faults = reasons(lender.top_up(old, "1100.99", charges=fee))
    assert faults == {"amount": "at least 1101.00: the payoff, the deducted charges and 1.00 to pay out"}
    assert lender.top_up(old, "1101.00", charges=fee).data.state == "active"


def test_all_faults_are_named_at_once(lender: Lender) -> None:
    old = lender.lend()
    faults = reasons(lender.top_up(old, "0.50", period=367, grace={"principal": 1, "interest": 2}))
    assert set(faults) == {"amount", "period", "grace"}
    assert list(reasons(lender.top_up(old, grace={"principal": 4}))) == ["grace.principal"]


def test_a_wallet_that_does_not_cover_it_is_status_301(lender: Lender) -> None:
    poor = Lender(opening=110_000)
    old = poor.lend()
    assert poor.top_up(old, "3000.00") == WALLET_INSUFFICIENT
    assert poor.top_up(old, "3000.00", dry_run=True) == WALLET_INSUFFICIENT
    assert poor.loan(old).topped_up_by == ""


def test_a_dry_run_explains_what_is_paid_off_and_out_and_changes_nothing(lender: Lender) -> None:
    old = lender.lend()
    lender.pass_days(14)
    before = lender.balances()
    reply = lender.top_up(old, dry_run=True)
    figures = {figure.what: (figure.amount, figure.how) for figure in reply.explained}
    assert figures["paid off"] == ("1050.00", f"of {old}: interest 50.00, principal 1000.00")
    assert figures["paid out"][0] == "950.00"
    assert (reply.dry_run, reply.data.loan_id, reply.data.outstanding.total) == (True, None, "2523.77")
    assert (lender.balances(), lender.loan(old).topped_up_by) == (before, "")
    wallet = lender.wallet()
    done = lender.top_up(old).data
    assert done.schedule == reply.data.schedule
    assert kobo(figures["disbursement"][0]) == wallet - lender.wallet()


# --- any run ----------------------------------------------------------------------------------------------------------


@without_deadline(40)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 99)), max_size=3),
    st.integers(0, 20),
    st.integers(0, 5) | st.integers(0, 60),
    st.sampled_from(["0", "0.7"]),
    st.booleans(),
    st.sampled_from([None, {"principal": 2}, {"interest": 2}, {"interest": 2, "capitalize": True}]),
    st.integers(0, 35),
)
def test_any_top_up_keeps_the_books_and_reversals_reopen_the_old_loan(
    run: list[tuple[int, int]],
    wait: int,
    part: int,
    penalty: str,
    is_slow: bool,
    grace: dict[str, Any] | None,
    rest: int,
) -> None:
    """The books are checked after every act. Without its repayments the old loan owes them again."""
    lender = Lender(penalty_rate=penalty)
    terms = {"tax_applied": True, "tax_rate": "7.5"} if grace is None else {"grace": grace}
    old, paid = lender.lend(**terms), []
    for days, hundredths in run:
        lender.pass_days(days)
        payoff = kobo(lender.repay(old, dry_run=True).explained[2].amount)
        paid.append(lender.repay(old, text(max(1, payoff * hundredths // 200))).txn_ref)
    if is_slow:
        new = slow_top_up(lender, old, amount="9000.00")
        lender.pass_days(wait)
        if part:
            payoff = kobo(lender.repay(old, dry_run=True).explained[2].amount)
            paid.append(lender.repay(old, text(max(1, payoff * part // 100))).txn_ref)
        lender.pass_days(rest)
        answer(lender, GOOD)
    else:
        new = lender.top_up(old, "9000.00").data.loan_id
    assert lender.loan(old).state == "closed_repaid"
    before = lines_today(lender, new)
    for txn_ref in paid:
        assert not isinstance(lender.reverse(txn_ref), Refusal)
    assert bool(paid) is (lender.loan(old).state != "closed_repaid")
    assert lines_today(lender, new) == before
