"""Rules of guarantees: what is held, released, held again and called, and who owes whom.

Contract: loans#guarantees, loans#call
"""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.decision import Refusal
from kasuwa.methods.clients.model import ACCOUNTS_OPEN, UNKNOWN_CLIENT, refuse_leaving
from kasuwa.methods.guarantees.rules.call import BORROWER_INACTIVE, NOT_IN_ARREARS, NOTHING_HELD, share_out
from kasuwa.methods.guarantees.rules.claims import NOTHING_OWED
from kasuwa.methods.guarantees.rules.collateral import RETURNED, TOO_MUCH
from kasuwa.methods.guarantees.rules.pledge import (
    NOT_THE_GUARANTORS,
    NOTHING_TO_GUARANTEE,
    OWN_LOAN,
    RELEASED,
    TOO_MANY,
)
from kasuwa.methods.investments.model import SAVINGS_CLOSED, SAVINGS_DORMANT, UNKNOWN_SAVINGS, WALLET_INSUFFICIENT
from kasuwa.methods.loans.guarantee_model import (
    LENDING_GUARANTORS,
    MAX_COLLATERAL,
    MAX_GUARANTEES,
    UNKNOWN_COLLATERAL,
    UNKNOWN_GUARANTEE,
)
from kasuwa.methods.loans.model import UNKNOWN_LOAN, refuse_in_state
from kasuwa.methods.loans.rules.guarantor_holds import PLEDGE_INSUFFICIENT
from kasuwa.methods.loans.rules.reverse import PAID_BY_GUARANTORS
from tests.hypothesis_settings import without_deadline
from tests.methods.guarantees.guaranteed_lender import PLAIN, GuaranteedLender


@pytest.fixture
def lender() -> GuaranteedLender:
    lender = GuaranteedLender()
    lender.member("BOLA")
    return lender


def lend(lender: GuaranteedLender, pledge: str | None = "500.00", **changes: Any) -> str:
    """Lends 1,000.00 without interest in four months, half of it guaranteed."""
    loan_id = lender.lend(**{**PLAIN, **changes})
    if pledge is not None:
        reply = lender.pledge(loan_id, "BOLA", pledge)
        assert not isinstance(reply, Refusal), reply
    return loan_id


def late(lender: GuaranteedLender, pledge: str = "500.00", **changes: Any) -> str:
    """Returns a loan of which 250.00 is late."""
    loan_id = lend(lender, pledge, **changes)
    lender.pass_days(31)
    return loan_id


# --- pledging -----------------------------------------------------------------------------------------------


def test_what_is_pledged_stays_in_the_savings_and_cannot_be_taken_out(lender: GuaranteedLender) -> None:
    loan_id = lend(lender)
    shown = lender.pledge(loan_id, "BOLA", "100.00", dry_run=True)
    assert (shown.dry_run, shown.data.guarantee_id, lender.available("BOLA")) == (True, None, 500_00)
    assert (lender.account("BOLA").posted, lender.available("BOLA")) == (1000_00, 500_00)
    refused = lender.cash_out("BOLA", "500.01")
    assert refused.error_code == "savings_insufficient"
    assert lender.cash_out("BOLA", "500.00").balance == "0.00"
    assert lender.savings("BOLA").state == "active"
    assert lender.client("BOLA").open_accounts == 1


def test_the_same_money_is_not_pledged_twice(lender: GuaranteedLender) -> None:
    first, second = lend(lender, "700.00"), lend(lender, None)
    assert lender.pledge(second, "BOLA", "300.01") == PLEDGE_INSUFFICIENT
    assert lender.pledge(second, "BOLA", "300.00").data.held == "300.00"
    lender.repay(first)
    assert lender.pledge(second, "BOLA", "175.01") == PLEDGE_INSUFFICIENT
    assert lender.pledge(second, "BOLA", "175.00").data.held == "175.00"


def test_a_guarantee_is_refused_unless_an_active_other_client_has_the_savings(lender: GuaranteedLender) -> None:
    loan_id, savings = lend(lender, None), lender.savings_of["BOLA"]
    lender.add_client("CHI", "inactive")
    lender.savings_of |= {"CHI": savings, "NOBODY": savings, "CL1": savings}
    assert lender.pledge("LN-none", "BOLA", "1.00") == UNKNOWN_LOAN
    assert lender.pledge(loan_id, "NOBODY", "1.00") == UNKNOWN_CLIENT
    assert lender.pledge(loan_id, "CHI", "1.00").error_code == "client_inactive"
    assert lender.pledge(loan_id, "CL1", "1.00") == OWN_LOAN
    lender.member("DAYO", "5.00")
    own = lender.savings_of["DAYO"]
    lender.savings_of["DAYO"] = savings
    assert lender.pledge(loan_id, "DAYO", "1.00") == NOT_THE_GUARANTORS
    lender.savings_of["DAYO"] = "SV-none"
    assert lender.pledge(loan_id, "DAYO", "1.00") == UNKNOWN_SAVINGS
    lender.savings_of["DAYO"] = own
    lender.cash_out("DAYO", "5.00")
    assert lender.pledge(loan_id, "DAYO", "1.00") == SAVINGS_CLOSED
    lender.repay(loan_id, "1000.00")
    assert lender.pledge(loan_id, "BOLA", "1.00") == refuse_in_state("closed_repaid", "guaranteed")


@pytest.mark.parametrize("dry_run", [True, False])
def test_dormant_savings_are_not_pledged(lender: GuaranteedLender, dry_run: bool) -> None:
    lender.pass_days(366)
    loan_id = lend(lender, None)
    assert lender.pledge(loan_id, "BOLA", "1.00", dry_run=dry_run) == SAVINGS_DORMANT
    assert (lender.loan(loan_id).guarantees, lender.available("BOLA")) == (0, 1000_00)


def test_a_loan_has_twenty_guarantees_at_most(lender: GuaranteedLender) -> None:
    loan_id = lend(lender, None)
    for _ in range(MAX_GUARANTEES):
        assert lender.pledge(loan_id, "BOLA", "1.00").data.held == "1.00"
    assert lender.pledge(loan_id, "BOLA", "1.00") == TOO_MANY
    lender.repay(loan_id, "1000.00")
    assert lender.available("BOLA") == 1000_00


def test_what_is_left_of_capitalized_arrears_is_not_guaranteed(lender: GuaranteedLender) -> None:
    loan_id = lend(lender, None, interestSettings={"interestRate": "10", "interestFrequency": "every_month"})
    lender.pass_days(31)
    lender.reschedule(loan_id, capitalize_arrears=True)
    assert lender.pledge(loan_id, "BOLA", "1.00", dry_run=True).data.held == "1.00"
    while lender.owed(loan_id)["principal"] > 100_00:
        lender.repay(loan_id, "50.00")
    assert lender.pledge(loan_id, "BOLA", "1.00") == NOTHING_TO_GUARANTEE


def test_a_loan_that_is_written_off_is_not_guaranteed_any_more(lender: GuaranteedLender) -> None:
    loan_id = late(lender, "1.00")
    lender.write_off(loan_id)
    assert lender.pledge(loan_id, "BOLA", "1.00") == refuse_in_state("closed_written_off", "guaranteed")


def test_a_loan_that_is_not_paid_out_yet_is_guaranteed_until_it_is_rejected(lender: GuaranteedLender) -> None:
    loan_id = lender.request(**PLAIN).data.loan_id
    assert lender.pledge(loan_id, "BOLA", "400.00").data.held == "400.00"
    assert lender.process(loan_id, "reject").data.state == "closed_rejected"
    assert lender.available("BOLA") == 1000_00
    assert lender.guarantee(loan_id).held == 0


# --- released and held again -------------------------------------------------------------------------------------


def test_the_hold_follows_the_principal_that_is_not_repaid(lender: GuaranteedLender) -> None:
    loan_id = lend(lender)
    lender.repay(loan_id, "333.33")
    assert lender.guarantee(loan_id).held == 333_34  # rounded up: 500 × 666.67 ÷ 1,000
    lender.repay(loan_id, "666.67")
    assert (lender.loan(loan_id).state, lender.available("BOLA")) == ("closed_repaid", 1000_00)


def test_a_reversed_repayment_is_held_again(lender: GuaranteedLender) -> None:
    loan_id = lend(lender)
    paid = lender.repay(loan_id, "1000.00")
    assert lender.available("BOLA") == 1000_00
    lender.reverse(paid.txn_ref, dry_run=True)
    assert lender.available("BOLA") == 1000_00
    lender.reverse(paid.txn_ref)
    assert (lender.guarantee(loan_id).held, lender.guarantee(loan_id).short) == (500_00, 0)


def test_what_the_savings_no_longer_have_is_short_and_is_not_taken_later(lender: GuaranteedLender) -> None:
    loan_id = lend(lender)
    first = lender.repay(loan_id, "500.00")
    second = lender.repay(loan_id, "200.00")
    lender.cash_out("BOLA", "800.00")
    assert lender.guarantee(loan_id).held == 150_00
    lender.reverse(first.txn_ref)
    assert (lender.guarantee(loan_id).held, lender.guarantee(loan_id).short) == (200_00, 200_00)
    lender.deposit("BOLA", "1000.00")
    lender.repay(loan_id, "100.00")
    assert (lender.guarantee(loan_id).held, lender.guarantee(loan_id).short) == (200_00, 150_00)
    lender.reverse(second.txn_ref)
    assert (lender.guarantee(loan_id).held, lender.guarantee(loan_id).short) == (300_00, 150_00)


def test_two_guarantees_on_the_same_savings_share_what_there_is(lender: GuaranteedLender) -> None:
    loan_id = lend(lender, "500.00")
    lender.pledge(loan_id, "BOLA", "500.00")
    paid = lender.repay(loan_id, "1000.00")
    lender.cash_out("BOLA", "300.00")
    lender.reverse(paid.txn_ref)
    holds = [(lender.guarantee(loan_id, n).held, lender.guarantee(loan_id, n).short) for n in (1, 2)]
    assert holds == [(500_00, 0), (200_00, 300_00)]


def test_savings_that_were_closed_meanwhile_guarantee_nothing_any_more(lender: GuaranteedLender) -> None:
    loan_id = lend(lender)
    paid = lender.repay(loan_id, "1000.00")
    lender.cash_out("BOLA", "1000.00")
    assert (lender.savings("BOLA").state, lender.client("BOLA").open_accounts) == ("closed", 0)
    lender.reverse(paid.txn_ref)
    assert (lender.guarantee(loan_id).held, lender.guarantee(loan_id).short) == (0, 500_00)


def test_principal_that_is_written_off_stays_guaranteed(lender: GuaranteedLender) -> None:
    loan_id = late(lender)
    lender.write_off_parts(loan_id, "principal")
    assert lender.guarantee(loan_id).held == 500_00
    lender.repay(loan_id)
    assert lender.guarantee(loan_id).held == 375_00
    lender.write_off(loan_id)
    assert lender.guarantee(loan_id).held == 375_00


def test_a_release_is_for_good(lender: GuaranteedLender) -> None:
    loan_id = lend(lender)
    paid = lender.repay(loan_id, "100.00")
    guarantee_id = lender.guarantee(loan_id).guarantee_id
    assert lender.release(guarantee_id, dry_run=True).data.state == "released"
    assert lender.available("BOLA") == 550_00
    assert lender.release(guarantee_id).data.held == "0.00"
    assert lender.available("BOLA") == 1000_00
    assert lender.release(guarantee_id) == RELEASED
    lender.reverse(paid.txn_ref)
    assert lender.available("BOLA") == 1000_00
    assert lender.release("GU-none") == UNKNOWN_GUARANTEE


# --- calling ------------------------------------------------------------------------------------------------


def test_a_call_pays_what_is_due_and_the_borrower_owes_the_guarantor(lender: GuaranteedLender) -> None:
    loan_id, wallet = late(lender), lender.wallet()
    shown = lender.call(loan_id, dry_run=True)
    assert (shown.dry_run, shown.amount, shown.explained[0].how) == (
        True,
        "250.00",
        "paid on the loan: principal 250.00",
    )
    assert lender.account("BOLA").posted == 1000_00
    reply = lender.call(loan_id)
    assert (reply.amount, reply.allocation.principal, reply.data.state) == ("250.00", "250.00", "active")
    [shown] = reply.guarantees
    assert (shown.state, shown.held, shown.called, shown.owed) == ("active", "250.00", "250.00", "250.00")
    assert lender.wallet() == wallet + 250_00
    assert (lender.account("BOLA").posted, lender.available("BOLA")) == (750_00, 500_00)
    assert lender.balance(LENDING_GUARANTORS) == -250_00
    assert lender.client().open_accounts == 2
    assert lender.call(loan_id) == NOT_IN_ARREARS


def test_a_call_is_refused_unless_the_loan_is_late_and_savings_are_held(lender: GuaranteedLender) -> None:
    assert lender.call("LN-none") == UNKNOWN_LOAN
    requested = lender.request(**PLAIN).data.loan_id
    assert lender.call(requested) == refuse_in_state("pending_approval", "paid by guarantors")
    loan_id = lend(lender, None)
    assert lender.call(loan_id) == NOT_IN_ARREARS
    lender.pass_days(31)
    assert lender.call(loan_id) == NOTHING_HELD
    lender.pledge(loan_id, "BOLA", "100.00")
    assert lender.call(loan_id, guarantee_id="GU-none") == UNKNOWN_GUARANTEE
    assert lender.call(loan_id, amount="100.01").field_errors[0].reason == "at most 100.00, which is due and held"
    lender.pledge(loan_id, "BOLA", "900.00")
    assert lender.call(loan_id, amount="250.01").field_errors[0].reason == "at most 250.00, which is due and held"


def test_two_guarantors_are_called_at_once_in_proportion(lender: GuaranteedLender) -> None:
    lender.member("CHI")
    loan_id = late(lender, "300.00")
    lender.pledge(loan_id, "CHI", "100.00")
    reply = lender.call(loan_id, amount="99.99")
    assert [one.called for one in reply.guarantees] == ["74.99", "25.00"]
    assert lender.client().open_accounts == 3
    one = lender.guarantee(loan_id, 2).guarantee_id
    reply = lender.call(loan_id, guarantee_id=one)
    assert [one.called for one in reply.guarantees] == ["74.99", "100.00"]
    assert lender.guarantee(loan_id, 2).held == 0


@pytest.mark.parametrize(("amount", "holds"), [(1, [1, 1, 1]), (7, [3, 3, 3]), (9, [3, 3, 3]), (5, [0, 9]), (0, [4])])
def test_a_call_is_shared_out_to_the_kobo(amount: int, holds: list[int]) -> None:
    parts = share_out(amount, holds)
    assert sum(parts) == amount
    assert all(0 <= part <= held for part, held in zip(parts, holds, strict=True))


def test_a_guarantor_answers_for_the_amount_and_no_more(lender: GuaranteedLender) -> None:
    loan_id = late(lender, "300.00")
    lender.call(loan_id)
    assert (lender.guarantee(loan_id).called, lender.guarantee(loan_id).held) == (250_00, 50_00)
    lender.pass_days(31)
    lender.call(loan_id)
    assert (lender.guarantee(loan_id).called, lender.guarantee(loan_id).held) == (300_00, 0)
    assert lender.call(loan_id) == NOTHING_HELD


def test_a_call_can_close_the_loan_and_its_borrower_stays_for_the_guarantor(lender: GuaranteedLender) -> None:
    loan_id = late(lender, "1000.00", period=1)
    assert lender.call(loan_id).data.state == "closed_repaid"
    assert (lender.client().open_accounts, lender.savings("BOLA").state) == (1, "active")
    guarantee_id = lender.guarantee(loan_id).guarantee_id
    assert lender.pay_guarantor(guarantee_id, "400.00").data.owed == "600.00"
    assert lender.client().open_accounts == 1
    assert lender.pay_guarantor(guarantee_id, "600.00", "waived").data.state == "ended"
    assert (lender.client().open_accounts, lender.savings("BOLA").claims) == (0, 0)
    assert lender.account("BOLA").posted == 400_00


def test_a_written_off_loan_is_recovered_from_its_guarantors(lender: GuaranteedLender) -> None:
    loan_id = late(lender)
    lender.write_off(loan_id)
    reply = lender.call(loan_id)
    assert (reply.amount, reply.data.state, reply.data.written_off.total) == ("500.00", "closed_written_off", "500.00")
    assert lender.lending("recovered") == 500_00
    assert lender.call(loan_id) == NOTHING_HELD


def test_a_call_cannot_be_reversed_and_stays_when_an_earlier_repayment_is(lender: GuaranteedLender) -> None:
    loan_id = lend(lender)
    paid = lender.repay(loan_id, "100.00")
    lender.pass_days(31)
    called = lender.call(loan_id)
    assert lender.reverse(called.txn_ref) == PAID_BY_GUARANTORS
    lender.reverse(paid.txn_ref)
    guarantee = lender.guarantee(loan_id)
    assert (guarantee.called, guarantee.held, guarantee.owed) == (225_00, 275_00, 225_00)


def test_a_call_before_maturity_forfeits_interest_and_keeps_the_savings_open() -> None:
    lender = GuaranteedLender()
    lender.member("BOLA", "1000.00", interestSettings={"interestRate": "36.5", "interestFrequency": "annualized"})
    loan_id = lend(lender, "1000.00", period=1)
    lender.pass_days(29)
    earned = lender.savings("BOLA").accrued
    lender.call(loan_id)
    assert lender.savings("BOLA").state == "active"
    assert lender.savings("BOLA").accrued <= earned


def test_a_borrower_who_left_does_not_owe_guarantors(lender: GuaranteedLender) -> None:
    loan_id = lend(lender)
    lender.write_off(loan_id)
    assert refuse_leaving(lender.client()) is None
    active = lender.client()
    for status in ("inactive", "exited", "blacklisted"):
        lender.database.rows[active.key] = msgspec.structs.replace(active, status=status)
        refusal = BORROWER_INACTIVE.fill(status=status)
        assert lender.call(loan_id) == lender.call(loan_id, dry_run=True) == refusal
    assert (lender.client().open_accounts, lender.guarantee(loan_id).held) == (0, 500_00)
    assert lender.release(lender.guarantee(loan_id).guarantee_id).data.state == "released"
    assert lender.available("BOLA") == 1000_00


def test_a_written_off_loan_is_called_while_its_borrower_is_active(lender: GuaranteedLender) -> None:
    loan_id = lend(lender)
    lender.write_off(loan_id)
    assert lender.call(loan_id).amount == "500.00"
    assert refuse_leaving(lender.client()) == ACCOUNTS_OPEN


# --- paying the guarantor -----------------------------------------------------------------------------------


def test_a_guarantor_is_repaid_into_the_savings(lender: GuaranteedLender) -> None:
    loan_id = late(lender)
    lender.call(loan_id)
    guarantee_id, wallet = lender.guarantee(loan_id).guarantee_id, lender.wallet()
    assert lender.pay_guarantor(guarantee_id, "250.01").field_errors[0].reason == "at most 250.00, which is owed"
    assert lender.pay_guarantor(guarantee_id, "250.00", dry_run=True).data.owed == "0.00"
    reply = lender.pay_guarantor(guarantee_id, "250.00")
    assert (reply.message, reply.data.owed, lender.wallet()) == ("Guarantor Repaid", "0.00", wallet - 250_00)
    assert (lender.account("BOLA").posted, lender.balance(LENDING_GUARANTORS)) == (1000_00, 0)
    assert lender.pay_guarantor(guarantee_id, "1.00") == NOTHING_OWED
    assert lender.pay_guarantor("GU-none", "1.00") == UNKNOWN_GUARANTEE


def test_a_wallet_that_is_short_does_not_repay_a_guarantor(lender: GuaranteedLender) -> None:
    loan_id = late(lender)
    lender.call(loan_id)
    guarantee_id = lender.guarantee(loan_id).guarantee_id
    lender.lend(amount=str(lender.wallet() // 100 - 100))
    assert lender.pay_guarantor(guarantee_id, "250.00") == WALLET_INSUFFICIENT
    assert lender.pay_guarantor(guarantee_id, "250.00", "waived").message == "Claim Waived"


FIXED: dict[str, Any] = {
    "period": None,
    "term_days": 60,
    "interestSettings": {"interestRate": "36.5", "interestFrequency": "annualized"},
}


def pledge_fixed_deposit_twice(name: str) -> tuple[GuaranteedLender, str]:
    """Returns a lender and a loan, 250.00 of which is late: two parts of a fixed deposit guarantee it, which has 1.00
    of interest a day for 1,000.00, and 0.13 for 130.00 that came 10 days later."""
    lender = GuaranteedLender()
    lender.member(name, **FIXED)
    loan_id = lender.lend(**PLAIN)
    lender.pass_days(10)
    lender.deposit(name, "130.00")
    for _ in range(2):
        assert lender.pledge(loan_id, name, "200.00").data.held == "200.00"
    lender.pass_days(21)
    return lender, loan_id


@pytest.mark.parametrize("calls", [({},), ({"amount": "125.00"}, {"amount": "125.00"}), "each"])
def test_two_guarantees_of_one_fixed_deposit_forfeit_what_one_does(calls: Any) -> None:
    """250.00 is called: 130.00 was there for 21 days and 120.00 for 31, which loses 2.73 and 3.72 of the 33.73."""
    lender, loan_id = pledge_fixed_deposit_twice("BOLA")
    if calls == "each":
        ids = [lender.guarantee(loan_id, n).guarantee_id for n in (1, 2)]
        calls = [{"guarantee_id": one, "amount": "125.00"} for one in ids]
    for one in calls:
        assert not isinstance(lender.call(loan_id, **one), Refusal)
    assert [lender.guarantee(loan_id, n).called for n in (1, 2)] == [125_00, 125_00]
    assert (lender.account("BOLA").posted, lender.savings("BOLA").accrued) == (880_00, 27_28)


@pytest.mark.parametrize("is_open", [True, False])
def test_a_claim_that_is_waived_has_an_event_of_the_loan(lender: GuaranteedLender, is_open: bool) -> None:
    loan_id = late(lender)
    lender.call(loan_id)
    if not is_open:
        lender.repay(loan_id, "750.00")
    guarantee_id, before = lender.guarantee(loan_id).guarantee_id, len(lender.database.events)
    lender.pay_guarantor(guarantee_id, "100.00", "waived", dry_run=True)
    assert len(lender.database.events) == before
    lender.pay_guarantor(guarantee_id, "100.00", "waived")
    lender.pay_guarantor(guarantee_id, "150.00", "waived")
    payloads = [msgspec.json.decode(one.payload) for one in lender.database.events[before:]]
    assert [(one["step"], one["chargedAmount"]) for one in payloads] == [
        ("guarantor_waived", "100.00"),
        ("guarantor_waived", "150.00"),
    ]
    assert {one["outstanding"] for one in payloads} == {"750.00" if is_open else "0.00"}
    assert (lender.loan(loan_id).events, lender.balance(LENDING_GUARANTORS)) == (len(lender.loan_events(loan_id)), 0)


# --- any order ----------------------------------------------------------------------------------------------

ACTS = st.sampled_from(["repay", "reverse", "call", "cash out", "deposit", "pledge", "release", "pay", "wait", "off"])


@without_deadline(max_examples=60)
@given(acts=st.lists(st.tuples(ACTS, st.integers(1, 60_000)), max_size=14))
def test_in_any_order_guarantees_hold_what_they_should_and_nothing_is_lost(acts: list[tuple[str, int]]) -> None:
    """The books are checked after every act (`GuaranteedLender.check_books`); money of members goes to the wallet and
    back, and nowhere else."""
    lender = GuaranteedLender(penalty_rate="0.5")
    lender.member("BOLA")
    lender.member("CHI")
    loan_id = lend(lender, "600.00")
    lender.pledge(loan_id, "CHI", "300.00")
    paid: list[str] = []
    total = lender.wallet() + lender.account("BOLA").posted + lender.account("CHI").posted
    for act, number in acts:
        amount, name = f"{number / 100:.2f}", "BOLA" if number % 2 else "CHI"
        guarantee_id = lender.guarantee(loan_id, 1 + number % 2).guarantee_id
        if act == "repay":
            reply = lender.repay(loan_id, amount)
            paid += [] if isinstance(reply, Refusal) else [reply.txn_ref]
        elif act == "reverse" and paid:
            lender.reverse(paid.pop(number % len(paid)))
        elif act == "call":
            lender.call(loan_id, amount=amount if number % 3 else None)
        elif act == "cash out":
            lender.cash_out(name, amount)
        elif act == "deposit":
            lender.deposit(name, amount)
        elif act == "pledge":
            lender.pledge(loan_id, name, amount)
        elif act == "release":
            lender.release(guarantee_id)
        elif act == "pay":
            lender.pay_guarantor(guarantee_id, amount, "wallet" if number % 3 else "waived")
        elif act == "wait":
            lender.pass_days(number % 40)
        elif act == "off":
            lender.write_off_parts(loan_id, *([] if number % 5 else ["principal"]))
    assert lender.wallet() + lender.account("BOLA").posted + lender.account("CHI").posted == total
    called = sum(lender.guarantee(loan_id, n).called for n in range(1, lender.loan(loan_id).guarantees + 1))
    acts_of_loan = [lender.act(loan_id, n) for n in range(1, lender.loan(loan_id).acts + 1)]
    assert called == sum(one.amount for one in acts_of_loan if one.kind == "guarantee")


# --- collateral ---------------------------------------------------------------------------------------------


def test_collateral_is_recorded_until_there_is_too_much_and_given_back_once(lender: GuaranteedLender) -> None:
    loan_id = lend(lender, None)
    fields = {"loan_id": loan_id, "description": "A tricycle", "value": "850000.00"}
    assert lender.ask("collateral", fields | {"loan_id": "LN-none"}) == UNKNOWN_LOAN
    made = [lender.ask("collateral", fields).data.collateral_id for _ in range(MAX_COLLATERAL)]
    assert lender.ask("collateral", fields) == TOO_MUCH
    assert lender.ask("return_collateral", {"collateral_id": made[0], "dry_run": True}).data.state == "returned"
    assert lender.ask("return_collateral", {"collateral_id": made[0]}).data.state == "returned"
    assert lender.ask("return_collateral", {"collateral_id": made[0]}) == RETURNED
    assert lender.ask("return_collateral", {"collateral_id": "CT-none"}) == UNKNOWN_COLLATERAL
    lender.repay(loan_id, "1000.00")
    assert lender.ask("collateral", fields) == refuse_in_state("closed_repaid", "secured")
