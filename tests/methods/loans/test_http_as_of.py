"""Every day of any loans, as it was answered on that day: the portfolio, and the sums of each loan's statement.

Contract: loans#portfolio, loans#statement
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hypothesis_settings import without_deadline
from tests.methods.loans.lending_client import START, LendingClient
from tests.methods.loans.test_http_portfolio import PLAIN, WITH_INTEREST, computed, portfolio, shown
from tests.methods.loans.test_repay import kobo
from tests.running import NEWEST, Deployment, Deployments

CAPITALIZED = {**WITH_INTEREST, "period": 5, "grace": {"interest": 2, "capitalize": True}}
CHARGED = {**WITH_INTEREST, "charges": [{"name": "Late", "percent": "2", "when": "late"}]}
loans = st.lists(st.sampled_from([PLAIN, WITH_INTEREST, CAPITALIZED, CHARGED]), min_size=1, max_size=3)
# After how many days, on which loan, what is done, and the naira of it or which repayment is reversed.
acts = st.lists(
    st.tuples(
        st.integers(1, 45),
        st.integers(0, 2),
        st.sampled_from(["repay", "repay", "reverse", "charge", "reschedule", "write_off", "pay_off"]),
        st.integers(1, 500),
    ),
    min_size=2,
    max_size=6,
)


@pytest.fixture(scope="module")
def server(deployments: Deployments) -> Deployment:
    return deployments.for_version(NEWEST)


def act(bank: LendingClient, loan_id: str, what: str, size: int, repaid: list[str]) -> None:
    """Does one act. What is refused changes nothing."""
    if what == "reverse":
        if repaid:
            bank.loans("reverse", txnRef=repaid[size % len(repaid)], reason="recalled")
    elif what == "charge":
        bank.loans("charge", loan_id=loan_id, name="Letter", amount=f"{size}.00")
    elif what == "reschedule":
        bank.loans("reschedule", loan_id=loan_id, extra_installments=1 + size % 3, reason="The harvest failed")
    elif what == "write_off":
        bank.loans("write_off", loan_id=loan_id, reason="gone")
    else:
        amount = bank.view(loan_id)["outstanding"]["payoff"] if what == "pay_off" else f"{size}.00"
        reply = bank.repay(loan_id, amount=amount)
        repaid += [reply["txnRef"]] if reply["status"] == 200 else []


def owed(bank: LendingClient, loan_id: str) -> dict[str, int]:
    """Returns the parts that a loan owes without its penalties, which are posted in the night."""
    outstanding = bank.view(loan_id)["outstanding"]
    return {part: kobo(outstanding[part]) for part in ("principal", "interest", "tax")}


def owed_by_statement(bank: LendingClient, loan_id: str, moment: str) -> dict[str, int]:
    sums = dict.fromkeys(("principal", "interest", "tax"), 0)
    for line in bank.loans("statement", loan_id=loan_id, limit=100)["data"]:
        if line["part"] in sums and line["dateCreated"] <= moment:
            sums[line["part"]] += kobo(line["amount"])
    return sums


@without_deadline(5)
@given(loans, acts)
def test_any_day_of_any_loans_is_what_it_was_answered_on_that_day(
    server: Deployment, terms: list[dict[str, Any]], run: list[tuple[int, int, str, int]]
) -> None:
    shop = server.open_shop(now=START)
    bank = LendingClient(shop.connection, shop.mid, shop.key)
    loan_ids = [bank.lend(**one) for one in terms]
    repaid: list[str] = []
    answered, owed_then = {}, {}
    for days, which, what, size in run:
        bank.advance(hours=24 * days)
        act(bank, loan_ids[which % len(loan_ids)], what, size, repaid)
        moment = bank.now()
        day = moment[:10]
        answered[day] = portfolio(bank)
        assert shown(answered[day]) == computed(bank, loan_ids)
        # What falls due at midnight in Lagos has the time of the evening before, in UTC.
        owed_then[moment] = [owed(bank, loan_id) for loan_id in loan_ids]
    bank.advance(hours=24 * 45)
    assert {day: portfolio(bank, day) for day in answered} == answered
    owed_since = {moment: [owed_by_statement(bank, loan_id, moment) for loan_id in loan_ids] for moment in owed_then}
    assert owed_since == owed_then
    assert server.broken_invariants([shop.mid]) == []
    shop.connection.close()
