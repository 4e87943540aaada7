"""Charges of loans: agreed ones, those made later, waivers, and what they cross. (Contract: loans#charges)"""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.decision import Refusal
from kasuwa.methods.loans.model import UNKNOWN_LOAN
from kasuwa.methods.loans.rules.charges import NOTHING_TO_WAIVE, TOO_MANY_CHARGES, UNKNOWN_CHARGE
from kasuwa.methods.loans.rules.origination import NOTHING_PAID_OUT, TOO_LARGE
from kasuwa.terms.payouts import PayoutPolicy
from kasuwa.transactions.transactions import Transaction
from tests.hypothesis_settings import without_deadline
from tests.methods.loans.in_memory_lender import Lender
from tests.methods.loans.test_repay import allocation, kobo, text
from tests.methods.loans.test_reverse import lines_today, penalties
from tests.walk.bounds import CHARGES_OF_INSTALLMENT, CHARGES_OF_LOAN, WAIVED

PROCESSING = {"name": "Processing fee", "percent": "1.5", "when": "disbursement", "deduct": True, "vat": "7.5"}
MANAGEMENT = {"name": "Management fee", "amount": "10.00", "when": "installment"}
LATE = {"name": "Late fee", "percent": "10", "when": "late"}


@pytest.fixture
def lender() -> Lender:
    """The loan is paid out on 2026-01-31: 1,000.00 at 10 % a month in four installments of 315.47."""
    return Lender()


def reasons(refusal: Any) -> dict[str, str]:
    assert isinstance(refusal, Refusal), refusal
    return {fault.field: fault.reason for fault in refusal.field_errors}


# --- agreed -----------------------------------------------------------------------------------------------------------


def test_a_deducted_charge_lowers_the_transfer_and_all_of_the_principal_is_owed(lender: Lender) -> None:
    asked = lender.request(charges=[PROCESSING])
    assert asked.data.net_amount == "983.87"
    wallet = lender.wallet()
    paid_out = lender.process(asked.data.loan_id).data
    [transfer] = [row for row in lender.database.all(Transaction, lender.merchant_id) if row.kind == "transfer"]
    assert transfer.amount == 98_387
    assert wallet - lender.wallet() == transfer.amount + transfer.fee + transfer.vat + transfer.duty
    assert lender.owed(asked.data.loan_id) == {
        "principal": 100_000,
        "interest": 26_188,
        "tax": 0,
        "penalty": 0,
    }
    assert (lender.lending("charge_earned"), lender.lending("vat_earned")) == (1_500, 113)
    assert (paid_out.outstanding.total, paid_out.outstanding.charges) == ("1261.88", "0.00")
    assert [line.charges for line in paid_out.schedule] == ["16.13", msgspec.UNSET, msgspec.UNSET, msgspec.UNSET]
    assert (paid_out.schedule[0].paid, paid_out.schedule[0].state) == ("16.13", "pending")
    [charge] = paid_out.charges
    assert (charge.charge_id, charge.amount, charge.vat, charge.paid, charge.outstanding) == (
        "C1",
        "15.00",
        "1.13",
        "16.13",
        "0.00",
    )


def test_a_charge_with_every_installment_is_paid_before_interest(lender: Lender) -> None:
    loan_id = lender.lend(charges=[MANAGEMENT | {"vat": "7.5"}])
    lender.pass_days(28)
    reply = lender.repay(loan_id, "20.00")
    assert allocation(reply) == {"charges": "10.75", "interest": "9.25"}
    assert [line.charges for line in reply.data.schedule] == ["10.75"] * 4
    assert reply.data.schedule[0].total == "326.22"
    assert (lender.lending("charge_earned"), lender.lending("vat_earned")) == (1_000, 75)
    assert lender.repay(loan_id).charged_amount == "306.22"


def test_a_charge_is_paid_in_part_with_its_part_of_the_vat(lender: Lender) -> None:
    loan_id = lender.lend(charges=[MANAGEMENT | {"vat": "10"}])
    lender.pass_days(28)
    lender.repay(loan_id, "5.50")
    owed = lender.owed(loan_id)
    assert (owed["charge"], owed["vat"]) == (3_500, 350)


def test_charges_of_later_days_are_not_asked_for_when_the_loan_is_paid_off(lender: Lender) -> None:
    loan_id = lender.lend(charges=[MANAGEMENT])
    lender.pass_days(28)
    payoff = lender.repay(loan_id, dry_run=True).data.outstanding
    assert payoff.charges == "30.00"
    reply = lender.repay(loan_id, "1110.00")
    assert (reply.data.state, allocation(reply)["charges"]) == ("closed_repaid", "10.00")
    assert [charge.waived for charge in reply.data.charges] == ["0.00", "10.00", "10.00", "10.00"]
    assert lender.lending("charge_agreed") == -lender.lending("charge_earned")


def test_a_late_charge_is_made_once_on_the_first_late_day(lender: Lender) -> None:
    loan_id = lender.lend(charges=[LATE])
    lender.pass_days(28)
    assert "charge" not in lender.owed(loan_id)
    lender.pass_days(1)
    assert lender.owed(loan_id)["charge"] == 3_155
    lender.pass_days(20)
    assert lender.owed(loan_id)["charge"] == 3_155
    lender.repay(loan_id, "100.00")
    lender.pass_days(12)
    line = lender.lines(loan_id)[1]
    [charge] = line.its_charges
    assert (charge.charge_id, charge.amount, charge.day.isoformat()) == ("C1.2", 3_155, "2026-04-01")


def test_an_installment_that_is_paid_in_time_has_no_late_charge(lender: Lender) -> None:
    loan_id = lender.lend(charges=[LATE])
    lender.pass_days(28)
    lender.repay(loan_id)
    lender.pass_days(10)
    assert lender.lines(loan_id)[0].charges == ""


def test_a_named_day_is_charged_with_the_installment_of_its_interval(lender: Lender) -> None:
    loan_id = lender.lend(charges=[MANAGEMENT | {"when": "named_day", "due": "2026-03-10"}])
    assert [line.charge for line in lender.lines(loan_id)] == [0, 1_000, 0, 0]
    lender.pass_days(28)
    assert lender.repay(loan_id, dry_run=True).data.outstanding.payoff != ""
    lender.repay(loan_id)
    before = kobo(lender.charge(loan_id, "1.00", dry_run=True).data.outstanding.payoff)
    assert before == 78_453 + 100
    lender.pass_days(10)
    assert kobo(lender.charge(loan_id, "1.00", dry_run=True).data.outstanding.payoff) > before + 1_000


def test_every_fault_of_charges_is_named_with_its_place(lender: Lender) -> None:
    charges = [
        {"name": "a", "when": "late"},
        {"name": "b", "when": "installment", "amount": "1", "percent": "1"},
        {"name": "c", "when": "installment", "percent": "101", "vat": "101", "of": "overdue"},
        {"name": "d", "when": "late", "amount": "1", "deduct": True, "of": "overdue"},
        {"name": "e", "when": "named_day", "amount": "1"},
    ]
    assert reasons(lender.request(charges=charges)) == {
        "charges": "[0].amount: either it or percent; [1].amount: either it or percent; [2].percent: from 0 to 100; "
        "[2].vat: from 0 to 100; [2].of: one of installment, principal for a charge of installment; "
        "[3].of: only with percent; [3].deduct: only of a charge of disbursement; "
        "[4].due: required of a charge of named_day, and of no other"
    }


def test_a_named_day_before_today_is_refused(lender: Lender) -> None:
    past = MANAGEMENT | {"when": "named_day", "due": "2026-01-30"}
    assert reasons(lender.request(charges=[MANAGEMENT, past])) == {"charges[1].due": "not before today"}
    assert lender.request(charges=[past | {"due": "2026-01-31"}]).status == 200


@pytest.mark.parametrize(("amount", "is_possible"), [("999.00", True), ("999.01", False), ("1000.00", False)])
def test_charges_that_leave_less_than_the_least_loan_to_pay_out_are_refused(
    lender: Lender, amount: str, is_possible: bool
) -> None:
    charge = {"name": "Fee", "amount": amount, "when": "disbursement", "deduct": True}
    reply = lender.request(charges=[charge])
    assert (reply != NOTHING_PAID_OUT) is is_possible


@CHARGES_OF_LOAN.tries
def test_a_loan_is_agreed_with_at_most_five_charges(lender: Lender, value: int, is_within: bool) -> None:
    assert isinstance(lender.request(charges=[MANAGEMENT] * value), Refusal) is not is_within


def test_a_loan_that_is_too_large_with_its_charges_is_refused(lender: Lender) -> None:
    late = {"name": "Fee", "percent": "100", "of": "principal", "when": "late"}
    assert lender.request(amount="9999999999999.00", charges=[late] * 5, period=200) == TOO_LARGE


# --- made later -------------------------------------------------------------------------------------------------------


def test_a_charge_is_asked_for_from_its_day_and_has_its_event(lender: Lender) -> None:
    loan_id = lender.lend()
    shown = lender.charge(loan_id, "100.00", vat="7.5", dry_run=True)
    assert (shown.dry_run, lender.loan(loan_id).acts) == (True, 0)
    reply = lender.charge(loan_id, "100.00", vat="7.5")
    assert reply.data == shown.data
    assert (reply.data.schedule[0].charges, reply.data.outstanding.charges) == ("107.50", "107.50")
    assert reply.data.outstanding.payoff == "1107.50"
    event = msgspec.json.decode(lender.database.events[-1].payload)
    assert (event["step"], event["chargedAmount"]) == ("charged", "107.50")
    [charge] = reply.data.charges
    assert charge.charge_id == "A1"


def test_a_charge_after_the_last_due_date_is_late_with_the_last_installment(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(130)
    before = lender.loan(loan_id)
    lender.repay(loan_id, "1261.87")
    reply = lender.charge(loan_id, "10.00")
    assert (reply.data.state, reply.data.schedule[-1].charges) == ("active_in_arrears", "10.00")
    assert before.state == "active_in_arrears"
    assert lender.repay(loan_id).data.state == "closed_repaid"


@pytest.mark.parametrize(
    ("due", "is_within"), [("2026-01-30", False), ("2026-01-31", True), ("2026-05-31", True), ("2026-06-01", False)]
)
def test_a_charge_is_due_from_today_to_the_last_due_date(lender: Lender, due: str, is_within: bool) -> None:
    reply = lender.charge(lender.lend(), "10.00", due=due)
    assert isinstance(reply, Refusal) is not is_within
    if not is_within:
        assert reasons(reply) == {"due": "a day from today to 2026-05-31"}


def test_a_loan_that_owes_nothing_takes_no_charge_and_no_waiver(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.repay(loan_id, "1000.00")
    assert lender.charge(loan_id, "1.00").message == "The loan is closed_repaid and cannot be charged"
    assert lender.waive(loan_id, penalty=True).error_code == "loan_state"
    assert lender.charge("LN0000000000000000", "1.00") == UNKNOWN_LOAN


@CHARGES_OF_INSTALLMENT.tries
def test_an_installment_has_at_most_fifty_charges(lender: Lender, value: int, is_within: bool) -> None:
    loan_id = lender.lend()
    replies = [lender.charge(loan_id, "1.00") for _ in range(value)]
    assert (replies[-1] != TOO_MANY_CHARGES) is is_within


# --- waived -----------------------------------------------------------------------------------------------------------


def test_a_charge_is_waived_in_part_and_then_whole(lender: Lender) -> None:
    loan_id = lender.lend()
    before = lines_today(lender, loan_id)[1:], lender.owed(loan_id)
    lender.charge(loan_id, "100.00", vat="10")
    reply = lender.waive(loan_id, charge_id="A1", amount="11.00")
    assert (reply.data.charges[0].waived, reply.data.charges[0].outstanding) == ("11.00", "99.00")
    assert (lender.owed(loan_id)["charge"], lender.owed(loan_id)["vat"]) == (9_000, 900)
    assert lender.waive(loan_id, charge_id="A1").data.outstanding.charges == "0.00"
    assert (lines_today(lender, loan_id)[1:], lender.owed(loan_id)) == before
    assert lender.waive(loan_id, charge_id="A1") == NOTHING_TO_WAIVE
    assert lender.waive(loan_id, charge_id="A2") == UNKNOWN_CHARGE
    assert lender.lending("charge_agreed") == 0


@WAIVED.tries
def test_no_more_is_waived_than_is_owed(lender: Lender, value: int, is_within: bool) -> None:
    loan_id = lender.lend()
    lender.charge(loan_id, "100.00", vat="7.5")
    assert isinstance(lender.waive(loan_id, charge_id="A1", amount=text(value)), Refusal) is not is_within


def test_penalties_are_waived_the_oldest_first() -> None:
    lender = Lender(penalty_rate="1")
    loan_id = lender.lend()
    lender.pass_days(70)
    owed = [line.owed.penalty for line in lines_today(lender, loan_id)]
    reply = lender.waive(loan_id, penalty=True, amount=text(owed[0] + 1))
    assert [line.owed.penalty for line in lines_today(lender, loan_id)][:2] == [0, owed[1] - 1]
    assert reply.data.outstanding.penalty == text(owed[1] - 1)
    assert reasons(lender.waive(loan_id, penalty=True, amount=text(owed[1]))) == {
        "amount": f"at most {text(owed[1] - 1)}, which is owed"
    }


def test_only_interest_that_is_due_is_waived_with_its_tax(lender: Lender) -> None:
    loan_id = lender.lend(tax_applied=True, tax_rate=10)
    assert lender.waive(loan_id, interest=True) == NOTHING_TO_WAIVE
    lender.pass_days(28)
    reply = lender.waive(loan_id, interest=True)
    assert (reply.data.schedule[0].interest, reply.data.schedule[0].tax) == ("0.00", "0.00")
    assert lender.owed(loan_id)["interest"] == 16_188
    assert lender.lending("interest_agreed") == -16_188


def test_a_waiver_of_all_that_is_left_closes_the_loan(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(130)
    lender.charge(loan_id, "10.00")
    lender.write_off_parts(loan_id, "interest", "principal")
    assert lender.loan(loan_id).state == "active_in_arrears"
    reply = lender.waive(loan_id, charge_id="A1")
    assert (reply.data.state, reply.data.written_off.total) == ("closed_written_off", "1261.88")
    assert (lender.client().open_accounts, lender.waiting()) == (0, [])


@pytest.mark.parametrize("named", [{}, {"penalty": True, "interest": True}, {"penalty": False}])
def test_a_waiver_names_exactly_one_thing(lender: Lender, named: dict[str, Any]) -> None:
    assert reasons(lender.waive(lender.lend(), **named)) == {
        "charge_id": "exactly one of charge_id, penalty and interest"
    }


def test_waivers_do_not_get_around_the_approval_of_write_offs() -> None:
    lender = Lender(policy=PayoutPolicy(approve_write_off_above="100.00"))
    loan_id = lender.lend()
    lender.charge(loan_id, "200.00")
    assert lender.waive(loan_id, charge_id="A1", amount="60.00").status == 200
    refusal = lender.waive(loan_id, charge_id="A1", amount="40.01")
    assert refusal.error_code == "waiver_needs_approval"
    assert lender.waive(loan_id, charge_id="A1", amount="40.00").status == 200


# --- crossed ----------------------------------------------------------------------------------------------------------


def test_a_reversed_repayment_brings_the_late_charge_that_it_had_prevented(lender: Lender) -> None:
    loan_id = lender.lend(charges=[LATE])
    lender.pass_days(28)
    txn_ref = lender.repay(loan_id).txn_ref
    lender.pass_days(10)
    reply = lender.reverse(txn_ref)
    assert reply.data.schedule[0].charges == "31.55"
    assert lender.owed(loan_id)["charge"] == 3_155


def test_charges_are_written_off_and_recovered_with_their_vat(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.charge(loan_id, "100.00", vat="7.5")
    lender.pass_days(28)
    reply = lender.write_off_parts(loan_id, "charge")
    assert (reply.data.written_off.charges, reply.data.written_off.total) == ("107.50", "107.50")
    assert reply.data.outstanding.charges == "0.00"
    lender.repay(loan_id, "1100.00")
    assert lender.loan(loan_id).state == "closed_written_off"
    assert allocation(lender.repay(loan_id, "107.50")) == {"charges": "107.50"}
    assert lender.lending("recovered") == 10_750


def test_a_loan_with_charges_is_written_off_whole(lender: Lender) -> None:
    loan_id = lender.lend(charges=[PROCESSING, MANAGEMENT])
    reply = lender.write_off_parts(loan_id)
    assert reply.data.written_off.charges == "40.00"
    assert "charge" not in lender.owed(loan_id)


# --- any run ----------------------------------------------------------------------------------------------------------

agreed = st.lists(
    st.builds(
        lambda when, amount, percent, vat, deduct: {
            "name": "Fee",
            "when": when,
            **({"amount": text(amount)} if amount else {"percent": str(percent)}),
            "vat": vat,
            **({"deduct": deduct} if when == "disbursement" else {}),
            **({"due": "2026-03-05"} if when == "named_day" else {}),
        },
        st.sampled_from(["disbursement", "installment", "late", "named_day"]),
        st.integers(0, 5_000),
        st.integers(0, 9),
        st.sampled_from(["0", "7.5"]),
        st.booleans(),
    ),
    max_size=3,
)
steps = st.lists(
    st.tuples(st.sampled_from(["repay", "charge", "waive", "part"]), st.integers(0, 40), st.integers(1, 100)),
    min_size=1,
    max_size=7,
)


def take_step(lender: Lender, loan_id: str, what: str, size: int) -> str:
    """Returns the txnRef of a repayment, or "" of another act."""
    if what == "repay":
        shown = lender.repay(loan_id, dry_run=True)
        if isinstance(shown, Refusal):
            return ""
        amount = text(max(1, kobo(shown.explained[2].amount) * size // 100))
        return str(lender.repay(loan_id, amount).txn_ref)
    if what == "charge":
        lender.charge(loan_id, text(size * 37), vat="7.5")
    elif what == "waive":
        target: Any = [{"penalty": True}, {"interest": True}, *({"charge_id": f"A{n}"} for n in (1, 2, 3))][size % 5]
        lender.waive(loan_id, **target)
    else:
        lender.write_off_parts(loan_id, ["charge", "penalty", "interest"][size % 3])
    return ""


@without_deadline(60)
@given(agreed, steps, penalties)
def test_any_run_keeps_the_books_and_reversals_of_all_repayments_leave_none(
    charges: list[dict[str, Any]], run: list[tuple[str, int, int]], penalty: str
) -> None:
    """The books are checked after every act."""
    lender = Lender(penalty_rate=penalty)
    loan_id = lender.lend(charges=charges)
    deducted = sum(line.paid for line in lender.lines(loan_id))
    repayments = []
    for what, days, size in run:
        lender.pass_days(days)
        repayments.append(take_step(lender, loan_id, what, size))
    for txn_ref in filter(None, repayments):
        assert lender.reverse(txn_ref).status == 200
    assert sum(line.paid + line.paid_penalty for line in lender.lines(loan_id)) == deducted
    assert lender.client().credit == 0


@without_deadline(60)
@given(agreed, steps, penalties)
def test_a_repayment_reversed_at_once_leaves_the_loan_of_before(
    charges: list[dict[str, Any]], run: list[tuple[str, int, int]], penalty: str
) -> None:
    lender = Lender(penalty_rate=penalty)
    loan_id = lender.lend(charges=charges)
    for what, days, size in run:
        lender.pass_days(days)
        take_step(lender, loan_id, what, size)
    before = lines_today(lender, loan_id), lender.client(), lender.loan(loan_id).state.startswith("active")
    txn_ref = take_step(lender, loan_id, "repay", 100)
    if txn_ref:
        assert lender.reverse(txn_ref).status == 200
        after = lines_today(lender, loan_id), lender.client(), lender.loan(loan_id).state.startswith("active")
        assert after == before
