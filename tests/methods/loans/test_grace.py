"""Grace periods: installments without principal or interest, and a first due date. (Contract: loans#grace)"""

from datetime import date, timedelta
from typing import Any

import numpy_financial
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Refusal
from kasuwa.terms.loan_schedule import Grace, LoanTerms, make_schedule
from tests.hypothesis_settings import without_deadline
from tests.methods.loans.in_memory_lender import BAD, Lender
from tests.methods.loans.test_charges import reasons, steps, take_step
from tests.methods.loans.test_repay import kobo, terms
from tests.methods.loans.test_reverse import lines_today, penalties
from tests.walk.bounds import FIRST_DUE_DAYS

SPREAD = {"interest": 2}
CAPITALIZED = {"interest": 2, "capitalize": True}


@pytest.fixture
def lender() -> Lender:
    """The loan is paid out on 2026-01-31: 1,000.00 at 10 % a month in five installments."""
    return Lender()


def shown(reply: Any) -> list[tuple[str, str, str]]:
    return [(line.principal, line.interest, line.total) for line in reply.data.schedule]


# --- schedules --------------------------------------------------------------------------------------------------------


def test_installments_without_principal_ask_for_interest_alone(lender: Lender) -> None:
    reply = lender.request(period=5, grace={"principal": 2})
    assert shown(reply) == [
        ("0.00", "100.00", "100.00"),
        ("0.00", "100.00", "100.00"),
        ("302.11", "100.00", "402.11"),
        ("332.32", "69.79", "402.11"),
        ("365.57", "36.56", "402.13"),
    ]
    assert [line.grace for line in reply.data.schedule[:3]] == ["principal", "principal", reply.data.schedule[4].grace]
    assert (reply.data.grace.principal, reply.data.grace.interest, reply.data.grace.capitalize) == (2, 0, False)


def test_interest_of_a_grace_is_spread_over_the_installments_after_it(lender: Lender) -> None:
    reply = lender.request(period=5, grace=SPREAD)
    assert shown(reply) == [
        ("0.00", "0.00", "0.00"),
        ("0.00", "0.00", "0.00"),
        ("302.11", "166.66", "468.77"),
        ("332.32", "136.46", "468.78"),
        ("365.57", "103.23", "468.80"),
    ]
    assert [line.grown for line in reply.data.schedule[:2]] == ["100.00", "100.00"]


def test_interest_that_is_capitalized_is_repaid_as_principal_and_earns_interest(lender: Lender) -> None:
    """1,000.00 and 100.00, then 110.00 of the 1,100.00: 1,210.00 in three installments."""
    reply = lender.request(period=5, grace=CAPITALIZED)
    assert shown(reply) == [
        ("0.00", "0.00", "0.00"),
        ("0.00", "0.00", "0.00"),
        ("365.56", "121.00", "486.56"),
        ("402.12", "84.44", "486.56"),
        ("442.32", "44.23", "486.55"),
    ]
    assert [line.grown for line in reply.data.schedule[:2]] == ["100.00", "110.00"]


def test_a_flat_loan_capitalizes_into_the_amount_that_its_interest_is_of(lender: Lender) -> None:
    reply = lender.request(period=4, method="flat", grace=CAPITALIZED)
    assert [line.grown for line in reply.data.schedule[:2]] == ["100.00", "110.00"]
    assert shown(reply)[2:] == [("605.00", "121.00", "726.00")] * 2


def test_a_later_first_due_date_earns_interest_for_its_days(lender: Lender) -> None:
    """59 days from 2026-01-31 to 2026-03-31, of which an interval has 31."""
    reply = lender.request(period=3, grace={"first_due": "2026-03-31"})
    assert [line.due for line in reply.data.schedule] == ["2026-03-31", "2026-04-30", "2026-05-31"]
    assert [line.interest for line in reply.data.schedule] == ["190.32", "69.79", "36.56"]
    assert [line.principal for line in reply.data.schedule] == ["302.11", "332.32", "365.57"]
    assert reply.data.grace.first_due == "2026-03-31"


def test_the_grace_is_explained(lender: Lender) -> None:
    figures = {figure.what: figure for figure in lender.request(period=5, grace=CAPITALIZED, dry_run=True).explained}
    assert figures["installment"].how == "1210.00 × r ÷ (1 − (1 + r)^−3), half up; r is 10 % every_month"
    assert figures["installment 2"].how == (
        "interest 10 % of 1100.00 = 110.00; becomes principal with its tax, 110.00; no principal: grace"
    )
    assert figures["capitalized"].amount == "210.00"
    spread = {figure.what: figure for figure in lender.request(period=5, grace=SPREAD, dry_run=True).explained}
    assert "and 66.66 of the grace" in spread["installment 3"].how


@given(
    st.integers(10**4, 10**9),
    st.sampled_from(["0.5", "2", "10"]),
    st.integers(2, 24),
    st.integers(1, 23),
    st.booleans(),
)
def test_the_installments_after_a_grace_are_those_of_numpy_financial(
    amount: int, rate: str, period: int, grace: int, capitalize: bool
) -> None:
    """After a capitalizing grace the future value of the amount is amortized; after a principal grace it is the
    amount. The level installment is the payment of it; both to a kobo for every installment of the grace."""
    grace = min(grace, period - 1)
    agreed = Grace(grace, grace, True) if capitalize else Grace(grace)
    lines = make_schedule(LoanTerms(amount, rate, "every_month", period, grace=agreed), date(2026, 1, 31))
    interval = float(rate) / 100
    grown = numpy_financial.fv(interval, grace, 0, -amount) if capitalize else amount
    assert abs(lines[grace - 1].balance - grown) <= grace
    level = numpy_financial.pmt(interval, period - grace, -lines[grace - 1].balance)
    assert all(abs(line.total - level) <= 1 for line in lines[grace:-1])
    assert sum(line.principal for line in lines) == lines[grace - 1].balance


# --- in force ---------------------------------------------------------------------------------------------------------


def test_capitalized_interest_is_principal_from_its_due_date_on(lender: Lender) -> None:
    loan_id = lender.lend(period=5, grace=CAPITALIZED, tax_applied=True, tax_rate="7.5")
    assert lender.owed(loan_id)["principal"] == 100_000
    lender.pass_days(27)
    assert lender.owed(loan_id)["principal"] == 100_000
    lender.pass_days(1)
    assert lender.today == "2026-02-28"
    assert lender.owed(loan_id)["principal"] == 110_750
    assert (lender.lending("interest_earned"), lender.lending("tax_earned")) == (10_000, 750)
    assert lender.lending("principal") == -110_750
    lender.pass_days(31)
    assert lender.owed(loan_id)["principal"] == 122_656
    assert lender.loan(loan_id).state == "active"


def test_nothing_is_late_in_a_grace(lender: Lender) -> None:
    loan_id = lender.lend(period=5, grace=SPREAD)
    lender.pass_days(80)
    assert lender.loan(loan_id).state == "active"
    lender.pass_days(10)
    assert lender.loan(loan_id).state == "active_in_arrears"


@pytest.mark.parametrize(
    ("grace", "owed"), [({"principal": 2}, "1080.65"), (SPREAD, "1180.65"), (CAPITALIZED, "1188.71")]
)
def test_who_pays_off_within_a_grace_pays_the_interest_that_has_grown(
    lender: Lender, grace: dict[str, Any], owed: str
) -> None:
    """After 28 days of the first interval and 25 of 31 of the second: 100.00 and 80.65 of 1,000.00, or 88.71 of
    1,100.00. With interest alone, the first installment has been paid."""
    loan_id = lender.lend(period=5, grace=grace)
    lender.pass_days(28)
    if "interest" not in grace:
        lender.repay(loan_id)
    lender.pass_days(25)
    reply = lender.repay(loan_id, owed)
    assert reply.data.state == "closed_repaid"
    assert sum(lender.owed(loan_id).values()) == 0


def test_interest_of_a_grace_can_be_paid_before_it_is_asked_for(lender: Lender) -> None:
    loan_id = lender.lend(period=5, grace=SPREAD)
    lender.pass_days(28)
    reply = lender.repay(loan_id, "100.00")
    assert (reply.allocation.interest, reply.allocation.principal) == ("100.00", "0.00")
    assert [line.paid for line in reply.data.schedule] == ["0.00", "0.00", "66.66", "33.34", "0.00"]
    after = lender.repay(loan_id, "500.00")
    assert after.allocation.principal == "500.00"
    assert [line.interest for line in after.data.schedule] == ["0.00", "0.00", "133.32", "84.90", "34.95"]


def test_paying_interest_that_would_be_capitalized_leaves_less_principal(lender: Lender) -> None:
    loan_id = lender.lend(period=5, grace=CAPITALIZED)
    lender.pass_days(14)
    reply = lender.repay(loan_id, "50.00")
    assert (reply.allocation.interest, reply.allocation.principal) == ("50.00", "0.00")
    assert [line.grown for line in reply.data.schedule[:2]] == ["50.00", "105.00"]
    assert sum(kobo(line.principal) for line in reply.data.schedule) == 115_500
    lender.pass_days(14)
    assert lender.owed(loan_id)["principal"] == 105_000


def test_a_loan_is_written_off_within_a_capitalizing_grace(lender: Lender) -> None:
    loan_id = lender.lend(period=5, grace=CAPITALIZED)
    reply = lender.write_off_parts(loan_id)
    assert (reply.data.written_off.principal, reply.data.written_off.interest) == ("1000.00", "459.67")
    assert lender.repay(loan_id, reply.data.written_off.total).data.outstanding.total == "0.00"
    assert lender.lending("recovered") == kobo(reply.data.written_off.total)


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_all_faults_of_a_grace_are_named_at_once(lender: Lender) -> None:
    faults = reasons(lender.request(grace={"principal": 4, "interest": 5, "capitalize": True}))
    assert list(faults) == ["grace"]
    assert ".interest: at most principal" in faults["grace"]
    assert ".principal: less than the 4 installments" in faults["grace"]
    assert ".capitalize: only with interest" in reasons(lender.request(grace={"capitalize": True}))["grace"]


@pytest.mark.parametrize(("days", "is_within"), FIRST_DUE_DAYS.sides)
def test_the_first_due_date_is_a_day_from_tomorrow_on_within_a_year(lender: Lender, days: int, is_within: bool) -> None:
    day = (lagos_day(lender.now) + timedelta(days=days)).isoformat()
    reply = lender.request(grace={"first_due": day})
    if is_within:
        assert reply.data.schedule[0].due == day
    else:
        assert list(reasons(reply)) == ["grace.first_due"]


def test_a_loan_is_not_approved_after_its_first_due_date(lender: Lender) -> None:
    loan_id = lender.request(grace={"first_due": "2026-02-10"}).data.loan_id
    lender.pass_days(10)
    refusal = lender.process(loan_id)
    assert isinstance(refusal, Refusal)
    assert refusal.error_code == "first_due_passed"
    assert lender.process(loan_id, "cancel", bank=BAD).data.state == "closed_withdrawn"


# --- any run ----------------------------------------------------------------------------------------------------------

graces = st.one_of(
    st.builds(lambda n: {"principal": n}, st.integers(1, 4)),
    st.builds(lambda n, more: {"principal": n + more, "interest": n}, st.integers(1, 3), st.integers(0, 2)),
    st.builds(lambda n: {"interest": n, "capitalize": True}, st.integers(1, 3)),
    st.builds(lambda days: {"first_due": (date(2026, 2, 1) + timedelta(days=days)).isoformat()}, st.integers(0, 90)),
)


def with_room(fields: dict[str, Any], grace: dict[str, Any]) -> dict[str, Any]:
    """Returns terms with as many installments after the grace as the terms have."""
    without_principal = int(grace.get("principal", grace.get("interest", 0)))
    return {**fields, "grace": grace, "period": fields["period"] + without_principal}


@without_deadline(80)
@given(terms, graces, steps, penalties)
def test_any_run_with_a_grace_keeps_the_books_and_ends_at_zero(
    fields: dict[str, Any], grace: dict[str, Any], run: list[tuple[str, int, int]], penalty: str
) -> None:
    """The books, and that the acts give the installments, are checked after every act."""
    lender = Lender(penalty_rate=penalty)
    loan_id = lender.lend(**with_room(fields, grace))
    repayments = []
    for what, days, size in run:
        lender.pass_days(days)
        repayments.append(take_step(lender, loan_id, what, size))
    shown = lender.repay(loan_id, dry_run=True)
    if not isinstance(shown, Refusal):
        owed = shown.explained[2].amount
        assert kobo(owed) <= sum(lender.owed(loan_id).values()) or lender.loan(loan_id).state.startswith("closed")
        lender.repay(loan_id, owed)
    assert sum(lender.owed(loan_id).values()) == 0
    for txn_ref in filter(None, repayments):
        assert lender.reverse(txn_ref).status == 200


@without_deadline(60)
@given(terms, graces, steps, penalties)
def test_a_repayment_reversed_at_once_leaves_the_loan_of_before(
    fields: dict[str, Any], grace: dict[str, Any], run: list[tuple[str, int, int]], penalty: str
) -> None:
    lender = Lender(penalty_rate=penalty)
    loan_id = lender.lend(**with_room(fields, grace))
    for what, days, size in run:
        lender.pass_days(days)
        take_step(lender, loan_id, what, size)
    before = lines_today(lender, loan_id), lender.loan(loan_id).state.startswith("active")
    txn_ref = take_step(lender, loan_id, "repay", 100)
    if txn_ref:
        assert lender.reverse(txn_ref).status == 200
        assert (lines_today(lender, loan_id), lender.loan(loan_id).state.startswith("active")) == before


@without_deadline(40)
@given(terms, graces, st.lists(st.integers(0, 40), min_size=2, max_size=6))
def test_the_payoff_never_falls_and_is_the_same_however_often_it_is_computed(
    fields: dict[str, Any], grace: dict[str, Any], waits: list[int]
) -> None:
    lender, other = Lender(), Lender()
    loan_id = lender.lend(**with_room(fields, grace))
    assert other.lend(**with_room(fields, grace)) == loan_id
    figures = []
    for days in waits:
        lender.pass_days(days)
        other.now += timedelta(days=days)
        figures.append(kobo(lender.repay(loan_id, dry_run=True).explained[2].amount))
        assert kobo(other.repay(loan_id, dry_run=True).explained[2].amount) == figures[-1]
    assert figures == sorted(figures)
