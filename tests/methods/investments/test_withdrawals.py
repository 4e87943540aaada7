"""Money that leaves savings: what it forfeits, the whole balance, thrift debts first, and money that comes back.
(Contract: investments#savings, investments#thrift)"""

from typing import Any

import pytest

from kasuwa.core.decision import Decision, Refusal
from kasuwa.ledger import chart
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.transactions import FAILED
from tests.methods.investments.books import InMemorySavings

DECLINED = Answer(FAILED, "05", "Do not honour")


@pytest.fixture
def books() -> InMemorySavings:
    return InMemorySavings()


def refused(outcome: Any) -> Refusal:
    assert isinstance(outcome, Refusal), outcome
    return outcome


# --- what is forfeited: 36.5 % a year is a thousandth of the balance a day --------------------------------------------


def test_cashing_out_a_deposit_of_the_same_day_forfeits_nothing(books: InMemorySavings) -> None:
    savings_id = books.open_savings(deposit="1000.00")
    books.advance_to("2026-01-15")
    assert books.record(savings_id).accrued_interest == "10.00"
    books.deposit(savings_id, "5000.00")
    books.cash_out(savings_id, "5000.00")
    assert books.record(savings_id).accrued_interest == "10.00"


def test_what_came_last_goes_first_with_what_it_earned(books: InMemorySavings) -> None:
    savings_id = books.open_savings(deposit="1000.00")
    books.advance_to("2026-01-15")
    books.deposit(savings_id, "500.00")
    books.advance_to("2026-01-25")
    assert books.record(savings_id).accrued_interest == "25.00"
    dry = books.cash_out(savings_id, "600.00", dry_run=True)
    assert [figure.amount for figure in dry.explained if figure.what == "forfeited interest"] == ["7.00"]
    books.cash_out(savings_id, "600.00")
    assert books.record(savings_id).accrued_interest == "18.00"


def test_interest_that_was_posted_is_not_forfeited_and_earns_from_its_own_day(books: InMemorySavings) -> None:
    savings_id = books.open_savings(deposit="1000.00")
    books.advance_to("2026-02-10")
    assert books.balance(savings_id) == 103_100
    assert books.record(savings_id).accrued_interest == "5.16"
    books.cash_out(savings_id, "1000.00")
    assert books.record(savings_id).accrued_interest == "0.16"


def test_a_contribution_to_a_thrift_plan_takes_the_newest_money_and_forfeits_nothing(books: InMemorySavings) -> None:
    one, two = books.open_savings(deposit="1000.00"), books.open_savings("CL2", deposit="1000.00")
    books.advance_to("2026-01-10")
    books.deposit(one, "100.00")
    books.advance_to("2026-01-15")
    books.start_plan([two, one])
    books.advance_to("2026-01-15", 10)
    assert books.balance(one) == 100_000
    assert books.record(one).accrued_interest == "10.50"
    books.cash_out(one, "500.00")
    assert books.record(one).accrued_interest == "5.50"


# --- how much can be taken --------------------------------------------------------------------------------------------


def test_a_balance_below_the_minimum_is_taken_out_whole_and_closes_the_savings(books: InMemorySavings) -> None:
    savings_id = books.open_savings(deposit="100.00")
    books.cash_out(savings_id, "99.50")
    assert refused(books.cash_out(savings_id, "0.30")).field_errors[0].field == "amount"
    reply = books.cash_out(savings_id, "0.50")
    assert (reply.status, reply.balance) == (200, "0.00")
    assert (books.savings(savings_id).state, books.open_accounts()) == ("closed", 0)


def test_two_ids_that_differ_are_refused(books: InMemorySavings) -> None:
    one, two = books.open_savings(deposit="100.00"), books.open_savings(deposit="100.00")
    refusal = refused(books.cash_out(one, "10.00", saving_id=two))
    assert refusal.code == 104
    assert [fault.field for fault in refusal.field_errors] == ["savings_id"]
    assert books.cash_out(one, "10.00", saving_id=one).status == 200
    assert (books.balance(one), books.balance(two)) == (9_000, 10_000)


def test_a_cash_out_of_the_whole_closes_early_and_forfeits_the_running_month(books: InMemorySavings) -> None:
    savings_id = books.open_savings(deposit="1000.00")
    books.advance_to("2026-01-20")
    books.cash_out(savings_id, "400.00")
    assert books.savings(savings_id).state == "active"
    books.cash_out(savings_id, "600.00")
    record = books.record(savings_id)
    assert (record.state, record.accrued_interest, books.open_accounts()) == ("closed", "0.00", 0)
    books.advance_to("2027-02-01")
    assert books.balance(savings_id) == 0
    assert refused(books.deposit(savings_id, "10.00")).message == "The savings are closed"


def test_a_transfer_of_the_whole_closes_only_when_the_bank_has_paid(books: InMemorySavings) -> None:
    savings_id = books.open_savings(deposit="1000.00")
    assert books.cash_out(savings_id, "1000.00", "transfer", answer=DECLINED).txn_status == FAILED
    assert (books.savings(savings_id).state, books.balance(savings_id)) == ("active", 100_000)
    assert books.cash_out(savings_id, "1000.00", "transfer").txn_status == "successful"
    assert books.savings(savings_id).state == "closed"


@pytest.mark.parametrize("method", ["transfer", "cashcode"])
def test_a_fee_that_the_wallet_does_not_cover_is_named(method: str) -> None:
    books = InMemorySavings(wallet=100_000)
    savings_id = books.open_savings(deposit="1000.00")
    for dry_run in (True, False):
        refusal = refused(books.cash_out(savings_id, "500.00", method, dry_run=dry_run))
        assert refusal.code == 301
        assert refusal.message.startswith(f"The wallet does not cover the fee of this {method}")


# --- thrift debts -----------------------------------------------------------------------------------------------------


def owe(books: InMemorySavings, savings_id: str) -> int:
    return sum(debt.amount for debt in books.savings(savings_id).thrift_links.debts)


def test_money_that_comes_back_from_a_failed_cash_out_settles_debts_first(books: InMemorySavings) -> None:
    """The cash-out is pending at the bank when the cycle is due. The member is short for three days and owes. Then the
    cash-out fails."""
    debtor, other = books.open_savings(deposit="150.00"), books.open_savings("CL2", deposit="1000.00")
    sent = books.decide("cashout", savings_id=debtor, client_id="CL1", amount="150.00", method="transfer")
    assert isinstance(sent, Decision)
    assert sent.follow_up is not None
    job = sent.follow_up
    books.state.rows[job.key] = None  # kept from running by itself
    books.start_plan([other, debtor])
    books.state.rows[job.key] = job
    held_back = books.jobs("disburse")
    for one in held_back:
        books.state.rows[one.key] = None
    books.advance_to("2026-01-09")
    assert owe(books, debtor) == 10_000
    for one in held_back:
        books.state.rows[one.key] = one
    books.step(held_back[0], DECLINED)
    assert owe(books, debtor) == 0
    assert books.balance(debtor) == 5_000
    assert refused(books.cash_out(debtor, "150.00")).code == 301
    books.check()


def test_two_debts_and_money_for_one_repay_the_older(books: InMemorySavings) -> None:
    debtor = books.open_savings()
    first, second = books.open_savings("CL2", deposit="500.00"), books.open_savings("CL3", deposit="500.00")
    books.start_plan([first, debtor])
    books.advance_to("2026-01-09")
    books.start_plan([second, debtor])
    books.advance_to("2026-01-13")
    assert [debt.creditor for debt in books.savings(debtor).thrift_links.debts] == [first, second]
    had = books.balance(first), books.balance(second)
    books.deposit(debtor, "100.00")
    assert (books.balance(first), books.balance(second)) == (had[0] + 10_000, had[1])
    assert [debt.creditor for debt in books.savings(debtor).thrift_links.debts] == [second]
    books.deposit(debtor, "30.00")
    assert (books.balance(second), owe(books, debtor)) == (had[1] + 3_000, 7_000)


def test_money_held_for_an_open_cashcode_is_not_a_members_to_contribute(books: InMemorySavings) -> None:
    member, other = books.open_savings(deposit="100.00"), books.open_savings("CL2", deposit="1000.00")
    code = books.cash_out(member, "60.00", "cashcode")
    assert code.status == 200
    thrift_id = books.start_plan([other, member])
    books.advance_to("2026-01-05", 12)
    assert books.plan(thrift_id).cycle == 0, "the member is short: the cycle waits"
    books.advance_to("2026-01-06", 8)
    assert books.plan(thrift_id).cycle == 0
    books.check()


def test_interest_of_a_debtor_goes_to_its_debts_before_it_can_be_taken_out(books: InMemorySavings) -> None:
    debtor, other = books.open_savings(deposit="100.00"), books.open_savings("CL2", deposit="500.00")
    books.advance_to("2026-01-20")
    books.start_plan([other, debtor], amount="200.00")
    books.advance_to("2026-02-05")
    owed, available = owe(books, debtor), books.balance(debtor)
    assert 0 < available < owed
    refusal = refused(books.cash_out(debtor, f"{available / 100:.2f}"))
    assert (refusal.code, "goes to thrift debts first" in refusal.message) == (301, True)
    assert books.balance(debtor) == available


def test_all_that_debts_leave_can_be_taken_out_and_no_more(books: InMemorySavings) -> None:
    debtor, other = books.open_savings(deposit="50.00"), books.open_savings("CL2", deposit="500.00")
    books.start_plan([other, debtor])
    books.advance_to("2026-01-09")
    assert (owe(books, debtor), books.balance(debtor)) == (5_000, 0)
    books.account(chart.savings(debtor)).posted += 25_000  # as interest, of which no debt was repaid yet
    assert refused(books.cash_out(debtor, "200.01")).code == 301
    assert not isinstance(books.cash_out(debtor, "200.00"), Refusal)
    assert (owe(books, debtor), books.balance(debtor)) == (0, 0)
