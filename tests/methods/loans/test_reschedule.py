"""Reschedules: what is not due is made anew, and arrears may become principal. (Contract: loans#reschedule)"""

from datetime import date, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.decision import Refusal
from kasuwa.methods.loans.model import UNKNOWN_LOAN, LoanInstallmentVersion, LoanSchedule
from kasuwa.methods.loans.rules.reschedule import (
    FIRST_DUE_IN_GRACE,
    NOTHING_TO_CHANGE,
    NOTHING_TO_RESCHEDULE,
    TOO_MANY_RESCHEDULES,
)
from tests.hypothesis_settings import without_deadline
from tests.methods.loans.in_memory_lender import Lender
from tests.methods.loans.test_charges import agreed, reasons, take_step
from tests.methods.loans.test_grace import graces, with_room
from tests.methods.loans.test_repay import kobo, terms, text
from tests.methods.loans.test_reverse import lines_today, penalties
from tests.walk.bounds import EXTRA_INSTALLMENTS, RESCHEDULES


@pytest.fixture
def lender() -> Lender:
    """The loan is paid out on 2026-01-31: 1,000.00 at 10 % a month in four installments of 315.47."""
    return Lender()


def shown(reply: Any) -> list[tuple[str, str, str]]:
    return [(line.due, line.principal, line.interest) for line in reply.data.schedule]


# --- what it does -----------------------------------------------------------------------------------------------------


def test_added_installments_share_the_principal_that_is_not_due(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(28)
    lender.repay(loan_id)
    reply = lender.reschedule(loan_id, extra_installments=2)
    assert shown(reply) == [
        ("2026-02-28", "215.47", "100.00"),
        ("2026-03-31", "128.51", "78.45"),
        ("2026-04-30", "141.36", "65.60"),
        ("2026-05-31", "155.49", "51.47"),
        ("2026-06-30", "171.04", "35.92"),
        ("2026-07-31", "188.13", "18.81"),
    ]
    assert (reply.data.period, reply.data.state) == (6, "active")
    assert [line.state for line in reply.data.schedule][:2] == ["paid", "pending"]


def test_a_new_rate_counts_from_its_day_and_what_was_earned_keeps_its_rate(lender: Lender) -> None:
    """The first 14 of 28 days have earned 50.00 at 10 %; the other 14 earn 25.00 at 5 %."""
    loan_id = lender.lend()
    lender.pass_days(14)
    reply = lender.reschedule(loan_id, interestRate=5)
    assert (reply.data.schedule[0].interest, reply.data.interest_settings.interest_rate) == ("75.00", "5")
    level = 28_201
    assert [kobo(line.principal) + kobo(line.interest) for line in reply.data.schedule[1:3]] == [level, level]
    assert lender.lending("interest_agreed") == -sum(kobo(line.interest) for line in reply.data.schedule)


def test_installments_before_the_day_stay(lender: Lender) -> None:
    loan_id = lender.lend()
    before = lender.reschedule(loan_id, "2026-04-01", interestRate=5, dry_run=True)
    after = lender.reschedule(loan_id, "2026-04-01", interestRate=5)
    assert shown(after)[:2] == [("2026-02-28", "215.47", "100.00"), ("2026-03-31", "237.02", "78.45")]
    assert shown(after)[2:] == [("2026-04-30", "267.07", "27.38"), ("2026-05-31", "280.44", "14.02")]
    assert after.data == before.data


def test_a_first_due_date_moves_the_others_and_earns_interest_for_its_days(lender: Lender) -> None:
    """There are 46 days from 2026-02-28 to 2026-04-15; an interval has 31."""
    loan_id = lender.lend()
    lender.pass_days(28)
    lender.repay(loan_id)
    reply = lender.reschedule(loan_id, first_due="2026-04-15")
    assert [line.due for line in reply.data.schedule] == ["2026-02-28", "2026-04-15", "2026-05-15", "2026-06-15"]
    assert [line.interest for line in reply.data.schedule[1:]] == ["116.41", "54.75", "28.68"]
    lender.pass_days(46)
    assert lender.loan(loan_id).state == "active"
    assert lender.repay(loan_id).allocation.interest == "116.41"


def test_a_grace_begins_with_the_first_installment_that_is_made_anew(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(28)
    lender.repay(loan_id)
    reply = lender.reschedule(loan_id, grace={"interest": 1, "capitalize": True})
    assert shown(reply)[1:] == [
        ("2026-03-31", "0.00", "0.00"),
        ("2026-04-30", "410.94", "86.30"),
        ("2026-05-31", "452.04", "45.20"),
    ]
    lender.pass_days(31)
    assert lender.owed(loan_id)["principal"] == 86_298


def test_capitalized_arrears_become_principal_of_the_new_installments(lender: Lender) -> None:
    """215.47 of the first installment is overdue with 100.00 of interest, 7.50 of tax on it and a charge of 10.75."""
    loan_id = lender.lend(tax_applied=True, tax_rate="7.5")
    lender.charge(loan_id, "10.00", vat="7.5")
    lender.pass_days(28)
    lender.pass_days(1)
    assert lender.loan(loan_id).state == "active_in_arrears"
    before = lender.owed(loan_id)
    reply = lender.reschedule(loan_id, capitalize_arrears=True, extra_installments=1)
    assert reply.data.state == "active"
    assert reply.data.schedule[0].total == "0.00"
    assert kobo(reply.data.outstanding.principal) == before["principal"] + 10_000 + 750 + 1_075
    assert (lender.lending("interest_earned"), lender.lending("tax_earned")) == (10_000, 750)
    assert (lender.lending("charge_earned"), lender.lending("vat_earned")) == (1_000, 75)
    assert lender.lending("principal") == -111_825
    assert "charge" not in lender.owed(loan_id)


def test_penalties_are_not_capitalized(lender: Lender) -> None:
    lender = Lender(penalty_rate="1")
    loan_id = lender.lend()
    lender.pass_days(30)
    owed = lender.owed(loan_id)["penalty"]
    assert owed > 0
    lender.reschedule(loan_id, capitalize_arrears=True)
    lender.pass_days(5)
    assert (lender.owed(loan_id)["penalty"], lender.loan(loan_id).state) == (owed, "active_in_arrears")
    lender.waive(loan_id, penalty=True)
    assert lender.loan(loan_id).state == "active"


@pytest.mark.parametrize(
    ("days", "dues", "interest"),
    [
        (130, ["2026-06-30", "2026-07-31", "2026-08-31"], "84.13"),  # 20 of 30 days from 2026-06-10
        (161, ["2026-08-11", "2026-09-11", "2026-10-11"], "126.19"),
    ],
)
def test_a_loan_that_is_due_already_goes_on_from_today(
    lender: Lender, days: int, dues: list[str], interest: str
) -> None:
    """The dates of its terms go on, unless the next of them has passed too."""
    loan_id = lender.lend()
    lender.pass_days(days)
    reply = lender.reschedule(loan_id, capitalize_arrears=True, extra_installments=3)
    assert [line.due for line in reply.data.schedule[4:]] == dues
    assert [line.total for line in reply.data.schedule[:4]] == ["0.00"] * 4
    assert (reply.data.outstanding.principal, reply.data.schedule[4].interest) == ("1261.88", interest)
    lender.pass_days(31)
    assert lender.repay(loan_id).data.schedule[4].state == "paid"


def test_what_was_paid_ahead_stays_paid(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(14)
    lender.repay(loan_id, "450.00")
    reply = lender.reschedule(loan_id, extra_installments=1)
    assert reply.data.schedule[0].paid == "450.00"
    assert sum(kobo(line.principal) for line in reply.data.schedule) == 100_000


def test_flat_interest_stays_that_of_the_whole_loan(lender: Lender) -> None:
    loan_id = lender.lend(method="flat")
    reply = lender.reschedule(loan_id, "2026-03-01", extra_installments=1, interestRate=5)
    assert [line.interest for line in reply.data.schedule] == ["100.00", "50.00", "50.00", "50.00", "50.00"]


def test_added_installments_have_the_charges_that_are_agreed_for_every_one(lender: Lender) -> None:
    loan_id = lender.lend(charges=[{"name": "Fee", "amount": "10.00", "when": "installment", "vat": "7.5"}])
    reply = lender.reschedule(loan_id, extra_installments=1, first_due="2026-03-10")
    assert [line.charges for line in reply.data.schedule] == ["10.75"] * 5
    assert [charge.due for charge in reply.data.charges] == [line.due for line in reply.data.schedule]


def test_earlier_schedules_are_kept_as_they_were_shown(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.reschedule(loan_id, extra_installments=1)
    lender.reschedule(loan_id, interestRate=5, reason="Agreed with the guarantor")
    first, second = sorted(lender.database.all(LoanSchedule, lender.merchant_id), key=lambda row: row.n)
    assert (first.rate, second.rate, second.reason) == ("10", "10", "Agreed with the guarantor")
    assert [len(msgspec.json.decode(row.lines)) for row in (first, second)] == [4, 5]
    assert msgspec.json.decode(first.lines)[0]["total"] == "315.47"


def test_past_days_know_of_no_installment_that_was_added_later(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(5)
    lender.reschedule(loan_id, extra_installments=1)
    versions = lender.database.all(LoanInstallmentVersion, lender.merchant_id)
    [added] = [row for row in versions if row.n == 5]
    assert (added.asked, added.paid, added.until) == (0, 0, lender.now)


def test_a_dry_run_explains_the_new_schedule_and_changes_nothing(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(29)
    before = lender.balances()
    reply = lender.reschedule(loan_id, capitalize_arrears=True, extra_installments=1, dry_run=True)
    assert (reply.dry_run, lender.balances()) == (True, before)
    figures = {figure.what: (figure.amount, figure.how) for figure in reply.explained}
    assert figures["capitalized"] == ("100.00", "becomes principal: interest 100.00")
    assert figures["overdue principal"][0] == "215.47"
    assert figures["installment 2"][1].startswith("due 2026-03-31, at 10 % every_month: interest ")
    assert figures["outstanding"][0] == reply.data.outstanding.total
    assert lender.reschedule(loan_id, capitalize_arrears=True, extra_installments=1).data == reply.data


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_only_a_loan_that_owes_something_is_rescheduled(lender: Lender) -> None:
    assert lender.reschedule("LN0000000000000000", extra_installments=1) == UNKNOWN_LOAN
    asked = lender.request().data.loan_id
    refusal = lender.reschedule(asked, extra_installments=1)
    assert (refusal.error_code, refusal.message) == (
        "loan_state",
        "The loan is pending_approval and cannot be rescheduled",
    )


def test_a_reschedule_without_a_change_is_refused(lender: Lender) -> None:
    assert lender.reschedule(lender.lend()) == NOTHING_TO_CHANGE


def test_all_faults_are_named_at_once(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(1)
    faults = reasons(
        lender.reschedule(
            loan_id, "2026-01-31", first_due="2026-02-01", grace={"principal": 4, "interest": 5}, interestRate=5
        )
    )
    assert faults == {
        "from": "a day from today to 2026-05-31",
        "first_due": "a day from 2026-02-02 to 2027-02-02",
        "grace.interest": "at most principal: an installment that asks for principal asks for its interest",
        "grace.principal": "less than the 4 installments: the last one asks for principal",
    }


def test_a_first_due_date_is_not_in_the_grace_of_a_reschedule(lender: Lender) -> None:
    refused = lender.reschedule(lender.lend(), grace={"principal": 1, "first_due": "2026-03-10"})
    assert refused == FIRST_DUE_IN_GRACE


@pytest.mark.parametrize(("extra", "is_within"), EXTRA_INSTALLMENTS.sides)
def test_a_loan_has_at_most_366_installments(lender: Lender, extra: int, is_within: bool) -> None:
    reply = lender.reschedule(lender.lend(), extra_installments=extra, dry_run=True)
    assert isinstance(reply, Refusal) is not is_within


def test_without_principal_or_installments_nothing_is_rescheduled(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(130)
    assert list(reasons(lender.reschedule(loan_id, capitalize_arrears=True))) == ["extra_installments"]
    assert lender.reschedule(loan_id, extra_installments=1) == NOTHING_TO_RESCHEDULE


@pytest.mark.parametrize(("times", "is_within"), RESCHEDULES.sides)
def test_a_loan_is_rescheduled_at_most_twelve_times(lender: Lender, times: int, is_within: bool) -> None:
    loan_id = lender.lend()
    replies = [lender.reschedule(loan_id, interestRate=5 + n) for n in range(times)]
    assert (replies[-1] != TOO_MANY_RESCHEDULES) is is_within


# --- crossed ----------------------------------------------------------------------------------------------------------


def test_a_repayment_from_before_a_reschedule_is_reversed(lender: Lender) -> None:
    """Its interest would have been in arrears without the repayment, and capitalized."""
    one, other = Lender(), Lender()
    loan_id, same = one.lend(), other.lend()
    for each in (one, other):
        each.pass_days(28)
    txn_ref = one.repay(loan_id).txn_ref
    for each, its in ((one, loan_id), (other, same)):
        each.pass_days(2)
        assert each.reschedule(its, capitalize_arrears=True, extra_installments=2).status == 200
        each.pass_days(10)
    assert one.reverse(txn_ref).status == 200
    assert lines_today(one, loan_id) == lines_today(other, same)
    assert one.balances() == other.balances()
    assert one.loan(loan_id).renewed == other.loan(same).renewed


def test_a_reschedule_between_two_repayments_of_which_the_first_is_lost(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(28)
    first = lender.repay(loan_id).txn_ref
    lender.reschedule(loan_id, extra_installments=2)
    lender.pass_days(31)
    second = lender.repay(loan_id)
    reply = lender.reverse(first)
    [anew] = reply.reallocated
    assert (anew.txn_ref, anew.amount) == (second.txn_ref, second.charged_amount)
    assert reply.data.state == "active_in_arrears"
    assert reply.data.period == 6
    assert [line.due for line in reply.data.schedule] == [line.due for line in second.data.schedule]


def test_a_loan_that_a_repayment_had_closed_before_is_open_when_it_was_rescheduled(lender: Lender) -> None:
    """The repayment that had closed the loan is reversed; what is reversed later leaves the reschedule."""
    loan_id = lender.lend()
    lender.pass_days(5)
    closing = lender.repay(loan_id, "1017.86").txn_ref
    assert lender.loan(loan_id).state == "closed_repaid"
    lender.reverse(closing)
    lender.pass_days(1)
    assert lender.reschedule(loan_id, extra_installments=2).data.period == 6
    lender.pass_days(60)
    paid = lender.repay(loan_id, "100.00").txn_ref
    assert lender.reverse(paid).data.period == 6


def test_a_rescheduled_loan_is_written_off_and_recovered(lender: Lender) -> None:
    loan_id = lender.lend()
    lender.pass_days(29)
    lender.reschedule(loan_id, capitalize_arrears=True, grace={"interest": 1, "capitalize": True})
    total = lender.write_off_parts(loan_id).data.written_off.total
    lender.repay(loan_id, total)
    assert lender.lending("recovered") == kobo(total)


# --- any run ----------------------------------------------------------------------------------------------------------

plans = st.fixed_dictionaries(
    {},
    optional={
        "extra_installments": st.integers(1, 3),
        "interestRate": st.sampled_from(["0", "3", "45.5"]),
        "grace": st.sampled_from([{"principal": 1}, {"interest": 1}, {"interest": 1, "capitalize": True}]),
        "capitalize_arrears": st.just(True),
    },
)
acts = st.lists(
    st.tuples(
        st.sampled_from(["repay", "charge", "waive", "part", "reschedule"]),
        st.integers(0, 40),
        st.integers(1, 100),
        plans,
        st.integers(0, 60),
        st.booleans(),
    ),
    min_size=1,
    max_size=7,
)


def take(lender: Lender, loan_id: str, what: str, size: int, plan: dict[str, Any], wait: int, moves: bool) -> str:
    """Returns the txnRef of a repayment, or "" of another act."""
    if what != "reschedule":
        return take_step(lender, loan_id, what, size)
    today = date.fromisoformat(lender.today)
    first_due = {"first_due": (today + timedelta(days=wait + 1)).isoformat()} if moves else {}
    lender.reschedule(loan_id, (today + timedelta(days=wait // 2)).isoformat(), **plan, **first_due)
    return ""


@without_deadline(80)
@given(terms, st.one_of(st.just({}), graces), agreed, acts, penalties)
def test_any_run_keeps_the_books_and_ends_at_zero(
    fields: dict[str, Any], grace: dict[str, Any], charges: list[dict[str, Any]], run: list[Any], penalty: str
) -> None:
    """The books, and that the acts give the installments, are checked after every act."""
    lender = Lender(penalty_rate=penalty)
    loan_id = lender.lend(**with_room(fields, grace), **({"charges": charges} if fields["amount"] > "9" else {}))
    repayments = []
    for what, days, *more in run:
        lender.pass_days(days)
        repayments.append(take(lender, loan_id, what, *more))
    reply = lender.repay(loan_id, dry_run=True)
    if not isinstance(reply, Refusal):
        repayments.append(lender.repay(loan_id, reply.explained[2].amount).txn_ref)
    assert sum(lender.owed(loan_id).values()) == 0
    for txn_ref in filter(None, repayments):
        assert lender.reverse(txn_ref).status == 200


@without_deadline(60)
@given(terms, st.one_of(st.just({}), graces), acts, penalties)
def test_a_repayment_reversed_at_once_leaves_the_loan_of_before(
    fields: dict[str, Any], grace: dict[str, Any], run: list[Any], penalty: str
) -> None:
    lender = Lender(penalty_rate=penalty)
    loan_id = lender.lend(**with_room(fields, grace))
    for what, days, *more in run:
        lender.pass_days(days)
        take(lender, loan_id, what, *more)
    before = lines_today(lender, loan_id), lender.loan(loan_id).state.startswith("active")
    txn_ref = take_step(lender, loan_id, "repay", 100)
    if txn_ref:
        assert lender.reverse(txn_ref).status == 200
        assert (lines_today(lender, loan_id), lender.loan(loan_id).state.startswith("active")) == before


@without_deadline(60)
@given(terms, acts, penalties, st.integers(0, 5))
def test_a_run_with_a_reversed_repayment_ends_as_the_run_without_it(
    fields: dict[str, Any], run: list[Any], penalty: str, which: int
) -> None:
    """Only acts that both runs can do count: what is refused in one is left out of both."""
    one, other = Lender(penalty_rate=penalty), Lender(penalty_rate=penalty)
    loan_id = one.lend(**fields)
    assert other.lend(**fields) == loan_id
    done: list[tuple[Any, str, str]] = []
    for step in run:
        what, days, size, plan, wait, moves = step
        one.pass_days(days)
        if what == "reschedule":
            taken = one.loan(loan_id).reschedules
            take(one, loan_id, what, size, plan, wait, moves)
            done.append((step, "rescheduled" if one.loan(loan_id).reschedules > taken else "", ""))
            continue
        shown = one.repay(loan_id, dry_run=True)
        if isinstance(shown, Refusal):
            done.append((step, "", ""))
            continue
        amount = text(max(1, kobo(shown.explained[2].amount) * min(size, 60) // 100))
        done.append((step, amount, one.repay(loan_id, amount).txn_ref))
    repayments = [txn_ref for _, _, txn_ref in done if txn_ref]
    if not repayments:
        return
    wrong = repayments[which % len(repayments)]
    if one.reverse(wrong).status != 200:
        return
    for (_, days, size, plan, wait, moves), amount, txn_ref in done:
        other.pass_days(days)
        if amount == "rescheduled":
            taken = other.loan(loan_id).reschedules
            take(other, loan_id, "reschedule", size, plan, wait, moves)
            if other.loan(loan_id).reschedules == taken:
                return
        elif txn_ref and txn_ref != wrong:
            assert other.repay(loan_id, amount).status == 200
    assert lines_today(one, loan_id) == lines_today(other, loan_id)
    assert one.loan(loan_id).renewed == other.loan(loan_id).renewed
