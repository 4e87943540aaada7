"""Repayments ahead of their due dates: interest that is not earned yet is never taken, and what is left is computed
anew on the lower principal. (Contract: loans#request)"""

from datetime import timedelta
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Decision, Needs, PostingGroup
from kasuwa.methods.loans.model import MORE_THAN_OWED, LoanInstallment, repayment_posts
from kasuwa.terms.loan_schedule import LoanAmounts
from tests.hypothesis_settings import without_deadline
from tests.methods.loans.in_memory_lender import Lender
from tests.simulate.model_loans import Loan

METHODS = ["declining_equal_instalments", "equal_principal", "flat"]


def kobo(text: str) -> int:
    return int(text.replace(".", ""))


def text(minor: int) -> str:
    return f"{minor // 100}.{minor % 100:02d}"


def payoff_of(lender: Lender, loan_id: str) -> int:
    return kobo(lender.repay(loan_id, dry_run=True).explained[2].amount)


def shown(reply: Any) -> list[tuple[str, str, str]]:
    return [(line.principal, line.interest, line.paid) for line in reply.data.schedule]


@pytest.fixture
def lender() -> Lender:
    """The loan is paid out on 2026-01-31; February has 28 days."""
    return Lender()


# --- where money paid ahead goes --------------------------------------------------------------------------------------


def test_half_of_the_loan_paid_on_its_first_day_halves_every_installment(lender: Lender) -> None:
    loan_id = lender.lend()
    before = lender.repay(loan_id, dry_run=True).data
    after = lender.repay(loan_id, "500.00").data
    assert [line.due for line in after.schedule] == [line.due for line in before.schedule]
    assert [(line.total, line.paid) for line in after.schedule] == [
        ("657.74", "500.00"),
        ("157.74", "0.00"),
        ("157.74", "0.00"),
        ("157.73", "0.00"),
    ]
    assert (after.outstanding.principal, after.outstanding.interest) == ("500.00", "130.95")


def test_within_an_interval_the_earned_interest_is_paid_then_principal(lender: Lender) -> None:
    """14 of February's 28 days have earned half of 100.00; the other 14 earn on what is left."""
    loan_id = lender.lend()
    lender.pass_days(14)
    reply = lender.repay(loan_id, "250.00")
    assert (reply.allocation.interest, reply.allocation.principal) == ("50.00", "200.00")
    first = reply.data.schedule[0]
    assert (first.interest, first.paid) == ("90.00", "250.00")
    assert reply.data.outstanding.payoff == "800.00"
    lender.pass_days(7)
    assert payoff_of(lender, loan_id) == 80_000 + 2_000
    lender.pass_days(7)
    assert payoff_of(lender, loan_id) == 80_000 + 4_000


def test_two_payments_ahead_on_one_day_are_as_one(lender: Lender) -> None:
    one, two = (lender.lend() for _ in range(2))
    lender.pass_days(9)
    whole = lender.repay(one, "300.00")
    lender.repay(two, "120.00")
    assert shown(lender.repay(two, "180.00")) == shown(whole)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("days", [0, 9, 28, 40])
def test_one_kobo_short_of_the_payoff_leaves_one_kobo(lender: Lender, method: str, days: int) -> None:
    loan_id = lender.lend(method=method, tax_applied=True, tax_rate=10)
    lender.pass_days(days)
    after = lender.repay(loan_id, text(payoff_of(lender, loan_id) - 1)).data
    assert (after.outstanding.principal, after.outstanding.payoff) == ("0.01", "0.01")
    if method != "flat":
        assert after.outstanding.total == "0.01"
    assert lender.repay(loan_id, "0.01").data.state == "closed_repaid"


@pytest.mark.parametrize("method", METHODS)
def test_the_payoff_of_yesterday_leaves_only_the_interest_of_a_day(method: str) -> None:
    lender = Lender()
    loan_id = lender.lend(amount="100000.00", period=12, method=method)
    lender.pass_days(45)
    yesterday = payoff_of(lender, loan_id)
    lender.pass_days(1)
    a_day = payoff_of(lender, loan_id) - yesterday
    assert 0 < a_day < 40_000
    after = lender.repay(loan_id, text(yesterday)).data
    assert kobo(after.outstanding.payoff) == a_day
    if method != "flat":
        assert kobo(after.outstanding.total) < 2 * a_day


def test_at_a_flat_rate_interest_stays_until_the_payoff_drops_it(lender: Lender) -> None:
    loan_id = lender.lend(method="flat")
    reply = lender.repay(loan_id, "600.00")
    assert shown(reply) == [("700.00", "100.00", "600.00"), *[("100.00", "100.00", "0.00")] * 3]
    lender.pass_days(14)
    assert lender.repay(loan_id, "450.00").data.state == "closed_repaid"
    assert lender.lending("interest_earned") == 5_000


def test_all_penalties_are_paid_before_anything_that_is_due() -> None:
    lender = Lender(penalty_rate="1")
    loan_id = lender.lend()
    lender.pass_days(70)
    late = lender.repay(loan_id, dry_run=True).allocation
    assert kobo(late.penalty) > 0
    reply = lender.repay(loan_id, late.penalty)
    assert (reply.allocation.penalty, reply.allocation.interest, reply.allocation.principal) == (
        late.penalty,
        "0.00",
        "0.00",
    )


# --- against the model ------------------------------------------------------------------------------------------------

PERCENTS = ["0", "0.5", "3", "24", "99.999999"]
FREQUENCIES = ["annualized", "every_month", "every_four_weeks", "every_week", "every_day"]

loans = st.fixed_dictionaries(
    {
        "amount": st.integers(100, 10**10),
        "rate": st.sampled_from(PERCENTS),
        "frequency": st.sampled_from(FREQUENCIES),
        "period": st.integers(1, 9),
        "method": st.sampled_from(METHODS),
        "tax": st.sampled_from(["0", "7.5", "33.33"]),
    }
)
# Days that pass, and what is then paid in thousandths of the payoff; None is the usual amount.
runs = st.lists(st.tuples(st.integers(0, 50), st.none() | st.integers(0, 1_000)), max_size=10)


def lend_both(lender: Lender, terms: dict[str, Any]) -> tuple[str, Loan]:
    loan_id = lender.lend(
        amount=text(terms["amount"]),
        interestSettings={"interestRate": terms["rate"], "interestFrequency": terms["frequency"]},
        period=terms["period"],
        method=terms["method"],
        tax_applied=True,
        tax_rate=terms["tax"],
    )
    each = Fraction(terms["rate"]) / 100 / (12 if terms["frequency"] == "annualized" else 1)
    model = Loan(
        "l",
        1,
        terms["amount"],
        each,
        terms["frequency"],
        terms["period"],
        terms["method"],
        Fraction(terms["tax"]) / 100,
    )
    model.pay_out(lagos_day(lender.now))
    return loan_id, model


@without_deadline(150)
@given(loans, runs)
def test_any_order_of_repayments_agrees_with_the_model_to_the_kobo(
    terms: dict[str, Any], run: list[tuple[int, int | None]]
) -> None:
    lender = Lender()
    loan_id, model = lend_both(lender, terms)
    for days, thousandths in run:
        lender.pass_days(days)
        today = lagos_day(lender.now)
        payoff = payoff_of(lender, loan_id)
        assert payoff == model.payoff(today)
        amount = model.default_repayment(today) if thousandths is None else max(1, payoff * thousandths // 1_000)
        reply = lender.repay(loan_id, None if thousandths is None else text(amount))
        paid = model.repay(amount, today)
        assert kobo(reply.charged_amount) == amount
        assert (reply.allocation.interest, reply.allocation.tax, reply.allocation.principal) == (
            text(paid.interest),
            text(paid.tax),
            text(paid.principal),
        )
        if not model.is_owed:
            assert reply.data.state == "closed_repaid"
            return
        outstanding = reply.data.outstanding
        assert [kobo(getattr(outstanding, part)) for part in ("principal", "interest", "tax", "payoff")] == [
            *(model.owed(part) for part in ("principal", "interest", "tax")),
            model.payoff(today),
        ]


@without_deadline(100)
@given(loans, st.integers(0, 200), st.integers(1, 1_000))
def test_paying_ahead_never_takes_more_interest_than_waiting(
    terms: dict[str, Any], days: int, thousandths: int
) -> None:
    """A repayment covers only interest earned by that day, and the payoff falls by exactly the amount."""
    lender = Lender()
    loan_id, model = lend_both(lender, terms)
    lender.now += timedelta(days=days)
    today, payoff = lagos_day(lender.now), payoff_of(lender, loan_id)
    amount = max(1, payoff * thousandths // 1_001)
    earned = sum(model.payoff_of(line, today)[0] for line in model.lines)
    reply = lender.repay(loan_id, text(amount))
    assert kobo(reply.allocation.interest) <= earned
    assert kobo(reply.data.outstanding.payoff) == payoff - amount


# --- loans of before --------------------------------------------------------------------------------------------------


def pay_interest_ahead(lender: Lender, loan_id: str) -> None:
    """Writes rows as older versions did: the interest of the first two installments was paid on the first day."""
    first, second = lender.lines(loan_id)[:2]
    rows = tuple(msgspec.structs.replace(line, paid_interest=line.interest) for line in (first, second))
    posts = repayment_posts(loan_id, LoanAmounts(interest=first.interest + second.interest))
    group = PostingGroup("GP1", MORE_THAN_OWED, postings=posts)
    names = tuple({name for post in posts for name in (post.debit, post.credit)})
    seen = tuple((LoanInstallment, row.key) for row in rows)
    lender.loans_of_before.add(loan_id)
    lender.submit(Needs(seen, names), lambda context, seen: Decision(groups=(group,), rows=rows))


@pytest.mark.parametrize("method", METHODS)
def test_interest_that_was_paid_ahead_before_counts_towards_its_installment(lender: Lender, method: str) -> None:
    loan_id = lender.lend(method=method)
    pay_interest_ahead(lender, loan_id)
    lender.pass_days(10)
    assert payoff_of(lender, loan_id) == 100_000
    after = lender.repay(loan_id, "400.00").data
    assert (after.outstanding.principal, after.outstanding.payoff) == ("600.00", "600.00")
    lender.pass_days(18)
    assert payoff_of(lender, loan_id) == 60_000
    assert lender.repay(loan_id, "600.00").data.state == "closed_repaid"
