"""The rules of savings: what is refused, what moves, and what a year brings."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Refusal
from kasuwa.core.money import format_minor
from kasuwa.ledger import chart
from kasuwa.methods.investments.model import (
    SAVINGS_CLOSED,
    SAVINGS_INSUFFICIENT,
    UNKNOWN_SAVINGS,
    WALLET,
    WALLET_INSUFFICIENT,
)
from kasuwa.methods.investments.rules import cash_out
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.transactions import FAILED
from tests.methods.investments.books import APPROVED, InMemorySavings, midnight
from tests.methods.investments.test_accrual import BY_HAND

RATE_OF_NONE = {"interestRate": "0", "interestFrequency": "annualized"}
DECLINED = Answer(orders.FAILED, "51", "No sufficient funds")
IN_PROGRESS = Answer(orders.UNKNOWN, "09", "Request processing in progress")


# --- closing savings that are empty -------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["cash", "transfer", "cashcode"])
def test_savings_that_nothing_was_paid_into_are_closed_by_taking_nothing(method: str) -> None:
    books = InMemorySavings()
    savings_id = books.open_savings()
    shown = books.cash_out(savings_id, "0", method, dry_run=True)
    assert (shown.dry_run, books.record(savings_id).state, books.open_accounts()) == (True, "pending", 1)
    reply = books.cash_out(savings_id, "0.00", method)
    assert (reply.status, reply.balance, reply.message) == (200, "0.00", cash_out.CLOSED_EMPTY)
    assert (books.record(savings_id).state, books.open_accounts()) == ("closed", 0)
    assert books.cash_out(savings_id, "0", method) == SAVINGS_CLOSED
    assert books.transactions() == []
    books.advance_to("2027-03-01")
    assert books.posted("interest") == []


@pytest.mark.parametrize("reason", ["they hold money", "they take part in a thrift plan", "interest on them"])
def test_savings_that_something_keeps_open_are_not_closed_by_taking_nothing(reason: str) -> None:
    books = InMemorySavings()
    savings_id = books.open_savings(deposit="1000.00" if "thrift" not in reason else None)
    if "thrift" in reason:
        books.start_plan([savings_id, books.open_savings("CL2")], start_date="2026-06-01")
    if "interest" in reason:
        books.spend(books.wallet)
        books.advance_to("2026-02-06")
        assert books.cash_out(savings_id, "1000.00").status == 200
    refused = books.cash_out(savings_id, "0")
    assert isinstance(refused, Refusal)
    [fault] = refused.field_errors
    assert fault.field == "amount"
    assert reason in fault.reason
    assert books.record(savings_id).state != "closed"


# --- opening ------------------------------------------------------------------------------------------------


def test_savings_are_opened_pending_with_their_terms_and_count_for_their_client() -> None:
    books = InMemorySavings("2026-01-31")
    savings_id = books.open_savings(tax_applied=True, tax_rate="7.5", period="6")
    record = books.record(savings_id)
    assert savings_id.startswith("SV")
    assert (record.state, record.balance, record.accrued_interest) == ("pending", "0.00", "0.00")
    assert (record.tax_applied, record.tax_rate, record.period) == (True, "7.5", 6)
    assert record.opened_at == "2026-01-31T08:00:00.000Z"
    assert record.matures_at == "2026-07-30T23:00:00.000Z"
    assert books.open_accounts() == 1


def test_the_default_tax_rate_is_ten_percent() -> None:
    books = InMemorySavings()
    record = books.record(books.open_savings(tax_applied=True))
    assert (record.tax_applied, record.tax_rate) == (True, "10")


@pytest.mark.parametrize("status", ["pending_approval", "inactive", "rejected", "exited", "blacklisted"])
def test_only_an_active_client_may_save(status: str) -> None:
    books = InMemorySavings()
    books.client("CL2", status)
    settings = {"interestRate": "1", "interestFrequency": "every_day"}
    reply = books.ask("create_savings", name="x", client_id="CL2", interestSettings=settings, period=1)
    assert (reply.code, status in reply.message) == (104, True)
    assert books.open_accounts("CL2") == 0


def test_an_unknown_client_may_not_save() -> None:
    reply = InMemorySavings().ask(
        "create_savings",
        name="x",
        client_id="CL9",
        interestSettings={"interestRate": "1", "interestFrequency": "every_day"},
        period=1,
    )
    assert (reply.code, reply.message) == (104, "Invalid Client Reference")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": ""}, "name"),
        ({"period": 0}, "period"),
        ({"period": 601}, "period"),
        ({"period": "1.5"}, "period"),
        ({"tax_rate": 101}, "tax_rate"),
        ({"tax_applied": "yes"}, "tax_applied"),
        (
            {"interestSettings": {"interestRate": "-1", "interestFrequency": "annualized"}},
            "interestSettings.interestRate",
        ),
        (
            {"interestSettings": {"interestRate": "1", "interestFrequency": "hourly"}},
            "interestSettings.interestFrequency",
        ),
        ({"interestSettings": {"interestRate": "1"}}, "interestSettings.interestFrequency"),
    ],
)
def test_a_wrong_field_is_named_by_its_path(wrong: dict[str, Any], field: str) -> None:
    books = InMemorySavings()
    books.client()
    fields = {
        "name": "x",
        "client_id": "CL1",
        "interestSettings": {"interestRate": "1", "interestFrequency": "annualized"},
        "period": 1,
    }
    reply = books.ask("create_savings", **{**fields, **wrong})
    assert [fault.field for fault in reply.field_errors] == [field]


# --- deposits -----------------------------------------------------------------------------------------------


def test_a_deposit_from_the_wallet_is_a_final_transaction_with_its_event() -> None:
    books = InMemorySavings()
    savings_id = books.open_savings()
    reply = books.deposit(savings_id, "1500.00")
    assert (reply.txn_status, reply.balance, reply.message) == ("successful", "1500.00", "Deposit Successful")
    assert reply.txn_ref.startswith("GP|SD|")
    assert books.record(savings_id).state == "active"
    assert books.posted("savings deposit") == [(WALLET, chart.savings(savings_id), 150_000)]
    [row] = books.transactions()
    [event] = books.state.events
    assert (row.kind, row.status, row.fee) == ("deposit", "successful", 0)
    assert '"paymentMethod":"wallet"' in event.payload
    assert '"chargedAmount":"1500.00"' in event.payload
    assert "orderRef" not in event.payload


def test_a_deposit_that_the_wallet_does_not_cover_is_refused_and_leaves_nothing() -> None:
    books = InMemorySavings(wallet=149_999)
    savings_id = books.open_savings()
    assert books.deposit(savings_id, "1500.00") == WALLET_INSUFFICIENT
    assert books.deposit(savings_id, "1500.00", dry_run=True) == WALLET_INSUFFICIENT
    assert (books.wallet, books.record(savings_id).state, books.transactions()) == (149_999, "pending", [])


def test_what_is_not_savings_is_answered_by_its_kind() -> None:
    books = InMemorySavings()
    assert books.deposit("SVnobody", "5.00") == UNKNOWN_SAVINGS
    assert books.cash_out("SVnobody", "5.00") == UNKNOWN_SAVINGS


@pytest.mark.parametrize("amount", ["0.99", "10000000.01", "0", "-5", "1e5"])
def test_amounts_keep_to_the_limits(amount: str) -> None:
    books = InMemorySavings()
    savings_id = books.open_savings(deposit="5.00")
    for reply in (books.deposit(savings_id, amount), books.cash_out(savings_id, amount)):
        assert [fault.field for fault in reply.field_errors] == ["amount"]


def test_a_dry_deposit_says_every_figure_and_changes_nothing() -> None:
    books = InMemorySavings()
    savings_id = books.open_savings(deposit="100.00")
    before = (len(books.state.postings), books.balance(savings_id), books.book.last_number)
    reply = books.deposit(savings_id, "50.00", dry_run=True)
    assert (reply.dry_run, reply.balance) == (True, "150.00")
    assert [(figure.what, figure.amount) for figure in reply.explained] == [
        ("balance", "100.00"),
        ("amount", "50.00"),
        ("balance after", "150.00"),
    ]
    assert (len(books.state.postings), books.balance(savings_id), books.book.last_number) == before


# --- cash-outs ----------------------------------------------------------------------------------------------


def test_cash_goes_back_to_the_wallet_of_who_paid_it_over_the_counter() -> None:
    books = InMemorySavings()
    savings_id = books.open_savings(deposit="1000.00")
    reply = books.cash_out(savings_id, "400.00")
    assert (reply.status, reply.balance, reply.txn_status) == (200, "600.00", "successful")
    assert reply.txn_ref.startswith("GP|CO|")
    assert books.posted("savings cash-out") == [(chart.savings(savings_id), WALLET, 40_000)]
    assert '"paymentMethod":"cash"' in books.state.events[-1].payload


def test_the_contracts_own_spelling_is_read_too() -> None:
    books = InMemorySavings()
    savings_id = books.open_savings(deposit="1000.00")
    assert books.ask("cashout", saving_id=savings_id, client_id="CL1", amount="1.00", method="cash").status == 200
    reply = books.ask("cashout", client_id="CL1", amount="1.00", method="cash")
    assert [(fault.field, fault.reason) for fault in reply.field_errors] == [("savings_id", "required")]


def test_only_the_owner_takes_money_out() -> None:
    books = InMemorySavings()
    savings_id = books.open_savings(deposit="1000.00")
    for other in (books.client("CL2"), "CL-nobody"):
        assert books.cash_out(savings_id, "1.00", client=other) == cash_out.NOT_THE_OWNER


def test_more_than_there_is_is_refused() -> None:
    books = InMemorySavings()
    savings_id = books.open_savings(deposit="1000.00")
    assert books.cash_out(savings_id, "1000.01") == SAVINGS_INSUFFICIENT
    assert books.cash_out(savings_id, "1000.01", "transfer") == SAVINGS_INSUFFICIENT
    assert books.cash_out(savings_id, "1000.01", dry_run=True) == SAVINGS_INSUFFICIENT
    assert books.balance(savings_id) == 100_000


def test_a_transfer_is_held_and_taken_when_the_bank_has_paid_it() -> None:
    books = InMemorySavings()
    savings_id = books.open_savings(deposit="20000.00")
    wallet = books.wallet
    reply = books.cash_out(savings_id, "15000.00", "transfer", answer=IN_PROGRESS)
    assert (reply.txn_status, reply.balance) == ("pending", "5000.00")
    assert books.account(chart.savings(savings_id)).held == 1_500_000
    [job] = books.jobs("disburse")
    assert books.step(job, APPROVED).reply.txn_status == "successful"
    assert (books.balance(savings_id), books.account(chart.savings(savings_id)).held) == (500_000, 0)
    assert wallet - books.wallet == 2_688
    assert books.posted("transfer") == [
        (chart.savings(savings_id), "rail:bank:NGN", 1_500_000),
        (WALLET, "income:transfer:NGN", 2_500),
        (WALLET, "tax:vat:NGN", 188),
    ]


@pytest.mark.parametrize(("ending", "left"), [(APPROVED, "600.00"), (DECLINED, "1000.00")])
def test_a_request_that_a_call_back_finishes_first_replies_with_the_balance(ending: Answer, left: str) -> None:
    books = InMemorySavings()
    savings_id = books.open_savings(deposit="1000.00")
    books.cash_out(savings_id, "400.00", "transfer", answer=IN_PROGRESS)
    [job] = books.jobs("disburse")
    ended = books.step(job, ending)
    waited = books.step(job, IN_PROGRESS)
    assert (waited.reply, waited.reply.balance) == (ended.reply, left)
    assert (waited.rows, waited.groups, waited.notices) == ((), (), ())


def test_a_transfer_that_fails_returns_to_the_savings_with_its_interest() -> None:
    books = InMemorySavings()
    savings_id = books.open_savings(deposit="1000.00")
    books.advance_to("2026-01-15")
    reply = books.cash_out(savings_id, "400.00", "transfer", answer=DECLINED)
    assert (reply.txn_status, reply.balance, reply.message) == (
        FAILED,
        "1000.00",
        "The beneficiary's bank: No sufficient funds",
    )
    assert books.record(savings_id).accrued_interest == "10.00"
    assert books.account(chart.savings(savings_id)).held == 0


def test_a_client_without_a_bank_account_cannot_be_sent_money() -> None:
    books = InMemorySavings()
    books.client("CL2", bankAccount=None)
    savings_id = books.open_savings("CL2", deposit="1000.00")
    reply = books.cash_out(savings_id, "400.00", "transfer", client="CL2")
    assert (reply.code, "bankAccount" in reply.message) == (104, True)
    assert books.cash_out(savings_id, "400.00", client="CL2").status == 200


def test_a_transfer_needs_the_wallet_for_its_fee() -> None:
    books = InMemorySavings(wallet=100_000)
    savings_id = books.open_savings(deposit="1000.00")
    for dry_run in (True, False):
        reply = books.cash_out(savings_id, "400.00", "transfer", dry_run=dry_run)
        assert isinstance(reply, Refusal)
        assert reply.code == 301
    assert books.account(chart.savings(savings_id)).held == 0


# --- interest -------------------------------------------------------------------------------------------------


def test_what_is_taken_before_maturity_loses_what_it_earned_since_the_last_posting() -> None:
    books = InMemorySavings("2026-01-05")
    savings_id = books.open_savings(deposit="1000.00")
    books.advance_to("2026-01-15")
    reply = books.cash_out(savings_id, "250.00", dry_run=True)
    assert [(figure.what, figure.amount) for figure in reply.explained] == [
        ("balance", "1000.00"),
        ("amount", "250.00"),
        ("accrued interest", "10.00"),
        ("forfeited interest", "2.50"),
        ("balance after", "750.00"),
    ]
    assert books.record(savings_id).accrued_interest == "10.00"
    books.cash_out(savings_id, "250.00")
    assert books.record(savings_id).accrued_interest == "7.50"
    books.advance_to("2026-02-05")
    # 7.50, and 0.75 for each end of day from the 15th on.
    assert books.posted("interest") == [(WALLET, chart.savings(savings_id), 750 + 21 * 75)]


def test_interest_is_posted_at_midnight_in_lagos_with_its_tax() -> None:
    books = InMemorySavings("2026-01-05")
    savings_id = books.open_savings(deposit="1000.00", tax_applied=True)
    [job] = books.jobs("savings")
    assert job.due == midnight("2026-02-05")
    books.advance_to("2026-02-04", 23)
    assert books.ran == []
    books.advance_to("2026-02-05", 0)
    assert books.ran == ["savings.post_interest"]
    assert books.posted("interest") == [(WALLET, chart.savings(savings_id), 3_100)]
    assert books.posted("withholding") == [(chart.savings(savings_id), "tax:withholding:NGN", 310)]
    assert (books.balance(savings_id), books.record(savings_id).accrued_interest) == (102_790, "0.00")


def test_a_year_comes_out_as_worked_out_by_hand() -> None:
    books = InMemorySavings("2026-01-31")
    savings_id = books.open_savings(
        deposit="100000.00",
        interestSettings={"interestRate": "12", "interestFrequency": "annualized"},
        tax_applied=True,
        tax_rate=10,
    )
    books.advance_to("2027-03-01")
    interest = [format_minor(amount) for _, _, amount in books.posted("interest")]
    tax = [format_minor(amount) for _, _, amount in books.posted("withholding")]
    assert list(zip(interest, tax, strict=True)) == [(line[3], line[4]) for line in BY_HAND]
    record = books.record(savings_id)
    assert (record.balance, record.state, record.accrued_interest) == ("111350.89", "matured", "0.00")
    assert books.jobs() == []
    books.check()


def test_interest_that_the_wallet_does_not_cover_is_tried_each_day_and_not_lost() -> None:
    books = InMemorySavings("2026-01-05", wallet=100_000)
    savings_id = books.open_savings(deposit="1000.00", tax_applied=True)
    books.advance_to("2026-02-07")
    assert books.ran == ["savings.post_interest"] * 3
    assert books.posted("interest") == []
    # Taken out after its month was closed, the money loses what it earned since, and no more.
    books.cash_out(savings_id, "10.00")
    books.spend(books.wallet)
    assert books.record(savings_id).accrued_interest == "32.98"
    books.fund(3_100)
    books.advance_to("2026-02-08")
    assert [amount for _, _, amount in books.posted("interest")] == [3_100]
    assert [amount for _, _, amount in books.posted("withholding")] == [310]
    assert books.wallet == 0
    [job] = books.jobs("savings")
    assert job.due == midnight("2026-03-05")


def test_a_wallet_that_covers_some_pays_some() -> None:
    books = InMemorySavings("2026-01-05", wallet=350_000)
    first = books.open_savings(deposit="1000.00")
    second = books.open_savings(deposit="2000.00")
    books.spend(books.wallet - 6_200)
    books.advance_to("2026-02-05")
    assert books.posted("interest") == [(WALLET, chart.savings(first), 3_100)]
    assert books.record(second).accrued_interest == "62.00"
    books.fund(6_200)
    books.advance_to("2026-02-06")
    assert books.posted("interest")[1:] == [(WALLET, chart.savings(second), 6_200)]


def test_a_job_that_is_run_twice_posts_once() -> None:
    books = InMemorySavings("2026-01-05")
    books.open_savings(deposit="1000.00")
    [job] = books.jobs("savings")
    books.advance_to("2026-02-05")
    [again] = books.jobs("savings")
    postings = len(books.state.postings)
    assert books.step(job).groups == ()
    assert len(books.state.postings) == postings
    assert books.jobs("savings") == [again]


def test_a_late_job_changes_no_figure() -> None:
    on_time, late = InMemorySavings("2026-01-05"), InMemorySavings("2026-01-05")
    found = [books.open_savings(deposit="1000.00") for books in (on_time, late)]
    on_time.advance_to("2026-02-05")
    late.book.clock_fixed_at = midnight("2026-02-09")
    late.cash_out(found[1], "500.00")
    late.advance_to("2026-02-09")
    assert [amount for _, _, amount in late.posted("interest")] == [
        amount for _, _, amount in on_time.posted("interest")
    ]


def test_sheets_hold_so_many_and_each_has_its_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kasuwa.methods.investments.rules.post_interest.MAX_SAVINGS_PER_BATCH", 2)
    books = InMemorySavings("2026-01-05")
    found = [books.open_savings(deposit="1000.00") for _ in range(5)]
    assert len(books.jobs("savings")) == 3
    books.advance_to("2026-02-05")
    assert {credit for _, credit, _ in books.posted("interest")} == {chart.savings(one) for one in found}
    assert len(books.posted("interest")) == 5
    books.advance_to("2026-02-06")
    books.open_savings()
    assert len(books.jobs("savings")) == 4


# --- events -------------------------------------------------------------------------------------------------


def events(books: InMemorySavings) -> list[tuple[str, ...]]:
    payloads = [msgspec.json.decode(event.payload) for event in books.state.events if event.kind == "savings"]
    return [tuple(each[name] for name in ("step", "interest", "tax", "chargedAmount")) for each in payloads]


def test_each_posting_of_interest_has_an_event_and_the_last_says_matured() -> None:
    books = InMemorySavings("2026-01-05")
    savings_id = books.open_savings(deposit="1000.00", period=2, tax_applied=True)
    books.open_savings(period=2, deposit="1000.00", interestSettings=RATE_OF_NONE)
    books.advance_to("2026-02-05")
    assert events(books) == [("interest_posted", "31.00", "3.10", "27.90")]
    books.advance_to("2026-04-05")
    assert sorted(events(books)[1:]) == [("matured", "0.00", "0.00", "0.00"), ("matured", "28.78", "2.88", "25.90")]
    rows = [event for event in books.state.events if event.kind == "savings" and event.object == savings_id]
    assert [(row.reference, row.object_seq) for row in rows] == [(f"{savings_id}:1", 1), (f"{savings_id}:2", 2)]


def test_interest_that_the_wallet_does_not_cover_has_its_event_when_it_is_posted() -> None:
    books = InMemorySavings("2026-01-05", wallet=100_000)
    books.open_savings(deposit="1000.00", period=1)
    books.advance_to("2026-02-06")
    assert events(books) == [("matured", "31.00", "0.00", "0.00")]
    books.fund(3_100)
    books.advance_to("2026-02-08")
    assert events(books)[1:] == [("interest_posted", "31.00", "0.00", "31.00")]


def test_savings_that_close_as_they_mature_have_no_event() -> None:
    books = InMemorySavings("2026-01-05")
    books.open_savings(period=1)
    books.advance_to("2026-02-06")
    assert events(books) == []


# --- the end ------------------------------------------------------------------------------------------------


def test_savings_mature_earn_no_more_and_close_when_emptied() -> None:
    books = InMemorySavings("2026-01-05")
    savings_id = books.open_savings(deposit="1000.00", period=1)
    books.advance_to("2026-02-05", 0)
    record = books.record(savings_id)
    assert (record.state, record.balance) == ("matured", "1031.00")
    assert books.jobs() == []
    books.advance_to("2026-06-01")
    assert books.record(savings_id).accrued_interest == "0.00"
    assert books.cash_out(savings_id, "31.00").balance == "1000.00"
    assert books.open_accounts() == 1
    books.cash_out(savings_id, "1000.00", "transfer")
    assert books.record(savings_id).state == "closed"
    assert books.open_accounts() == 0
    assert books.deposit(savings_id, "5.00") == SAVINGS_CLOSED
    assert books.cash_out(savings_id, "5.00") == SAVINGS_CLOSED


def test_savings_emptied_early_are_closed_and_leave_their_batch_at_maturity() -> None:
    books = InMemorySavings("2026-01-05")
    savings_id = books.open_savings(deposit="1000.00", period=2)
    books.cash_out(savings_id, "1000.00")
    assert (books.record(savings_id).state, books.open_accounts()) == ("closed", 0)
    books.advance_to("2026-03-05", 0)
    assert books.record(savings_id).state == "closed"
    assert books.open_accounts() == 0
    assert books.jobs() == []


def test_savings_nobody_ever_paid_into_close_when_they_mature() -> None:
    books = InMemorySavings("2026-01-05")
    savings_id = books.open_savings(period=1)
    books.advance_to("2026-02-05", 0)
    assert (books.record(savings_id).state, books.open_accounts()) == ("closed", 0)


def test_matured_savings_wait_for_interest_the_wallet_owes_them() -> None:
    books = InMemorySavings("2026-01-05", wallet=100_000)
    savings_id = books.open_savings(deposit="1000.00", period=1)
    books.advance_to("2026-02-05")
    books.cash_out(savings_id, "1000.00", "cash")
    assert books.record(savings_id).state == "matured"
    books.advance_to("2026-02-06")
    assert (books.record(savings_id).balance, books.jobs()) == ("31.00", [])
    books.cash_out(savings_id, "31.00")
    assert books.record(savings_id).state == "closed"
