"""Fixed deposits in memory: terms, rollover, forfeits and the events of ended terms. 36.5 % is a thousandth a day."""

from datetime import date
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.decision import Decision, Refusal
from kasuwa.core.money import format_minor
from kasuwa.methods.clients.model import client_key
from kasuwa.methods.investments.accrual import AccrualState, SavingsTerms, accrue_to
from tests.methods.investments.books import MERCHANT_ID, InMemorySavings

FIXED: dict[str, Any] = {"period": None, "term_days": 30}
# 1,000.00 for thirty days, and the tax on it.
EARNED, TAX = 3_000, 300


@pytest.fixture
def books() -> InMemorySavings:
    return InMemorySavings("2026-01-05")


def open_fixed(books: InMemorySavings, deposit: str | None = "1000.00", **fields: Any) -> str:
    request = {key: value for key, value in {**FIXED, **fields}.items() if value is not None}
    if client_key(MERCHANT_ID, "CL1") not in books.state.rows:
        books.client("CL1")
    reply = books.ask(
        "create_savings",
        name="Rent",
        client_id="CL1",
        interestSettings={"interestRate": "36.5", "interestFrequency": "annualized"},
        **request,
    )
    assert not isinstance(reply, Refusal), reply
    savings_id = str(reply.data.savings_id)
    if deposit is not None:
        assert books.deposit(savings_id, deposit).status == 200
    return savings_id


def events(books: InMemorySavings) -> list[dict[str, Any]]:
    payloads = [msgspec.json.decode(event.payload) for event in books.state.events if event.kind == "fixed_deposit"]
    return [
        {name: each[name] for name in ("step", "term", "interest", "tax", "chargedAmount", "balance")}
        for each in payloads
    ]


def test_a_fixed_deposit_shows_its_term_and_no_period(books: InMemorySavings) -> None:
    record = books.record(open_fixed(books))
    assert (record.term_days, record.rollover, record.period, record.unlocked) == (30, "none", 0, "0.00")
    assert record.matures_at == "2026-02-03T23:00:00.000Z"


def test_other_savings_say_nothing_of_terms(books: InMemorySavings) -> None:
    record = msgspec.json.decode(msgspec.json.encode(books.record(books.open_savings())))
    assert not {"term_days", "rollover", "unlocked"} & set(record)


def test_interest_is_posted_once_when_the_term_ends_and_none_after(books: InMemorySavings) -> None:
    savings_id = open_fixed(books, tax_applied=True)
    books.advance_to("2026-02-03")
    assert books.posted("interest") == []
    books.advance_to("2026-06-01")
    assert [amount for _, _, amount in books.posted("interest")] == [EARNED]
    assert (books.record(savings_id).state, books.balance(savings_id)) == ("matured", 100_000 + EARNED - TAX)
    assert not books.jobs("savings.")
    books.check()


def test_a_matured_deposit_is_taken_out_without_a_forfeit(books: InMemorySavings) -> None:
    savings_id = open_fixed(books)
    books.advance_to("2026-02-04")
    assert books.cash_out(savings_id, "1030.00").status == 200
    assert (books.savings(savings_id).state, books.open_accounts()) == ("closed", 0)


def test_breaking_it_early_forfeits_what_that_money_earned_in_the_term(books: InMemorySavings) -> None:
    savings_id = open_fixed(books)
    books.advance_to("2026-01-15")
    books.deposit(savings_id, "500.00")
    books.advance_to("2026-01-25")
    # 1,000.00 for twenty days and 500.00 for ten: the newest money goes first.
    assert books.record(savings_id).accrued_interest == "25.00"
    dry_run = books.cash_out(savings_id, "700.00", dry_run=True)
    assert {one.what: one.amount for one in dry_run.explained}["forfeited interest"] == "9.00"
    books.cash_out(savings_id, "700.00")
    assert books.record(savings_id).accrued_interest == "16.00"


def test_breaking_the_whole_closes_it_without_interest(books: InMemorySavings) -> None:
    savings_id = open_fixed(books, rollover="all")
    books.advance_to("2026-02-03")
    books.cash_out(savings_id, "1000.00")
    assert (books.savings(savings_id).state, books.open_accounts()) == ("closed", 0)
    books.advance_to("2026-06-01")
    assert books.posted("interest") == []
    assert (books.jobs("savings."), events(books)) == ([], [])
    books.check()


def test_all_of_it_rolls_over_and_earns_on_the_interest(books: InMemorySavings) -> None:
    savings_id = open_fixed(books, rollover="all", tax_applied=True)
    books.advance_to("2026-03-06")
    first = 100_000 + EARNED - TAX
    interest = [amount for _, _, amount in books.posted("interest")]
    assert interest == [EARNED, (first * 30 + 500) // 1000]
    record = books.record(savings_id)
    assert (record.state, record.unlocked) == ("active", "0.00")
    assert record.matures_at == "2026-04-04T23:00:00.000Z"
    assert [(one["step"], one["term"]) for one in events(books)] == [("rolled_over", 1), ("rolled_over", 2)]


def test_the_principal_rolls_over_and_its_interest_stays_outside(books: InMemorySavings) -> None:
    savings_id = open_fixed(books, rollover="principal", tax_applied=True)
    books.advance_to("2026-04-06")
    assert [amount for _, _, amount in books.posted("interest")] == [EARNED] * 3
    record = books.record(savings_id)
    assert (record.balance, record.unlocked) == ("1081.00", "81.00")


def test_interest_of_a_term_that_is_posted_later_has_an_event_of_the_savings(books: InMemorySavings) -> None:
    books = InMemorySavings("2026-01-05", wallet=100_000)
    open_fixed(books, tax_applied=True)
    books.advance_to("2026-02-04")
    books.fund(EARNED)
    books.advance_to("2026-02-06")
    assert [(one["step"], one["interest"], one["chargedAmount"]) for one in events(books)] == [
        ("matured", "30.00", "0.00")
    ]
    [late] = [msgspec.json.decode(event.payload) for event in books.state.events if event.kind == "savings"]
    assert (late["step"], late["interest"], late["tax"], late["chargedAmount"]) == (
        "interest_posted",
        "30.00",
        "3.00",
        "27.00",
    )


def test_unlocked_interest_is_taken_out_first_and_forfeits_nothing(books: InMemorySavings) -> None:
    savings_id = open_fixed(books, rollover="principal")
    books.advance_to("2026-02-14")
    assert books.record(savings_id).accrued_interest == "10.00"
    assert books.cash_out(savings_id, "20.00").balance == "1010.00"
    record = books.record(savings_id)
    assert (record.accrued_interest, record.unlocked) == ("10.00", "10.00")
    books.cash_out(savings_id, "110.00")
    record = books.record(savings_id)
    assert (record.accrued_interest, record.unlocked, record.balance) == ("9.00", "0.00", "900.00")
    books.advance_to("2026-03-06")
    # 900.00 for thirty days, of which 100.00 of the ten first were forfeited and taken.
    assert books.record(savings_id).balance == "927.00"


def test_interest_that_the_wallet_cannot_pay_joins_the_term_later(books: InMemorySavings) -> None:
    savings_id = open_fixed(books, rollover="principal")
    books.spend(books.wallet)
    books.advance_to("2026-02-05")
    assert events(books) == [
        {
            "step": "rolled_over",
            "term": 1,
            "interest": "30.00",
            "tax": "0.00",
            "chargedAmount": "0.00",
            "balance": "1000.00",
        }
    ]
    books.fund(100_000)
    books.advance_to("2026-02-06")
    record = books.record(savings_id)
    assert (record.balance, record.unlocked) == ("1030.00", "30.00")
    assert len(events(books)) == 1


def test_the_event_of_a_term_tells_what_it_earned(books: InMemorySavings) -> None:
    open_fixed(books, tax_applied=True)
    books.advance_to("2026-02-05")
    assert events(books) == [
        {
            "step": "matured",
            "term": 1,
            "interest": "30.00",
            "tax": "3.00",
            "chargedAmount": "27.00",
            "balance": "1027.00",
        }
    ]


def test_an_empty_deposit_does_not_roll_over(books: InMemorySavings) -> None:
    savings_id = open_fixed(books, None, rollover="all")
    books.advance_to("2026-02-04")
    assert (books.savings(savings_id).state, books.open_accounts(), books.jobs("savings.")) == ("closed", 0, [])


def test_a_deposit_that_is_pending_at_maturity_joins_the_new_term(books: InMemorySavings) -> None:
    savings_id = open_fixed(books, None, rollover="all")
    asked = books.decide("deposit", savings_id=savings_id, payment_method="bank_transfer", amount="1000.00")
    assert isinstance(asked, Decision)
    job = books.jobs("savings.")[0]
    books.book.clock_fixed_at = job.due
    books.step(job)
    record = books.record(savings_id)
    assert (record.state, record.matures_at) == ("pending", "2026-03-05T23:00:00.000Z")
    assert books.savings(savings_id).pending_deposits == 1


def test_what_rolls_over_can_be_changed_until_the_term_ends(books: InMemorySavings) -> None:
    savings_id = open_fixed(books, rollover="all")
    books.advance_to("2026-02-10")
    assert books.ask("set_rollover", savings_id=savings_id, rollover="none", dry_run=True).data.rollover == "none"
    assert books.record(savings_id).rollover == "all"
    reply = books.ask("set_rollover", savings_id=savings_id, rollover="none")
    assert (reply.data.rollover, reply.data.matures_at) == ("none", "2026-03-05T23:00:00.000Z")
    repeated = books.decide("set_rollover", savings_id=savings_id, rollover="none")
    assert (repeated.reply, repeated.changes_anything) == (reply, False)
    books.advance_to("2026-06-01")
    assert books.record(savings_id).state == "matured"
    assert len(books.posted("interest")) == 2


@pytest.mark.parametrize(("rollover", "begins"), [("none", "0.00"), ("principal", "1000.00"), ("all", "1027.00")])
def test_a_dry_run_explains_what_the_end_of_the_term_brings(books: InMemorySavings, rollover: str, begins: str) -> None:
    savings_id = open_fixed(books, tax_applied=True)
    books.advance_to("2026-01-15")
    reply = books.ask("set_rollover", savings_id=savings_id, rollover=rollover, dry_run=True)
    assert {one.what: one.amount for one in reply.explained} == {
        "principal": "1000.00",
        "interest": "30.00",
        "tax": "3.00",
        "balance after": "1027.00",
        "new term": begins,
    }
    books.ask("set_rollover", savings_id=savings_id, rollover=rollover)
    books.advance_to("2026-02-04")
    record = books.record(savings_id)
    in_term = 0 if record.state == "matured" else books.balance(savings_id) - books.savings(savings_id).unlocked
    assert (record.balance, format_minor(in_term)) == ("1027.00", begins)


def test_unlocked_interest_joins_the_term_after_a_change_to_all(books: InMemorySavings) -> None:
    savings_id = open_fixed(books, rollover="principal")
    books.advance_to("2026-02-10")
    books.ask("set_rollover", savings_id=savings_id, rollover="all")
    books.advance_to("2026-03-06")
    assert (books.record(savings_id).balance, books.record(savings_id).unlocked) == ("1060.00", "0.00")
    books.advance_to("2026-04-05")
    assert books.record(savings_id).balance == "1091.80"


def test_a_change_of_rollover_is_refused_where_none_can_follow(books: InMemorySavings) -> None:
    ordinary, matured, closed = books.open_savings(), open_fixed(books), open_fixed(books, None)
    books.cash_out(closed, "0")
    books.advance_to("2026-02-04")

    def refuse(savings_id: str) -> str:
        reply = books.ask("set_rollover", savings_id=savings_id, rollover="all")
        assert isinstance(reply, Refusal)
        return reply.message

    assert refuse("SVnobody") == "Invalid Savings Reference"
    assert refuse(ordinary) == "savings_id: not a fixed deposit"
    assert refuse(closed) == "The savings are closed"
    assert refuse(matured).startswith("The fixed deposit has matured")


def test_a_fixed_deposit_joins_no_thrift_plan(books: InMemorySavings) -> None:
    plan: dict[str, Any] = {"name": "Esusu", "amount": "100.00", "frequency": "every_month", "member_required": 2}
    thrift_id = books.ask("create_plan", start_date="2026-01-05", **plan).data.thrift_id
    refused = books.ask("subscribe", savings_id=open_fixed(books), thrift_id=thrift_id)
    assert isinstance(refused, Refusal)
    assert "a fixed deposit takes no part" in refused.message


@pytest.mark.parametrize(
    ("fields", "field", "reason"),
    [
        ({"term_days": 0}, "term_days", "from 1 to 3650"),
        ({"term_days": 3651}, "term_days", "from 1 to 3650"),
        ({"period": 3}, "period", "leave it out"),
        ({"term_days": None}, "period", "required"),
        ({"term_days": None, "period": 3, "rollover": "all"}, "rollover", "only with term_days"),
    ],
)
def test_terms_that_do_not_fit_are_refused(
    books: InMemorySavings, fields: dict[str, Any], field: str, reason: str
) -> None:
    books.client()
    request = {
        "name": "x",
        "client_id": "CL1",
        "interestSettings": {"interestRate": "1", "interestFrequency": "annualized"},
        "term_days": 30,
        **fields,
    }
    refused = books.ask("create_savings", **{key: value for key, value in request.items() if value is not None})
    assert isinstance(refused, Refusal)
    assert [(one.field, reason in one.reason) for one in refused.field_errors] == [(field, True)]


def test_terms_are_counted_in_days_across_a_leap_day(books: InMemorySavings) -> None:
    books = InMemorySavings("2027-12-31")
    savings_id = open_fixed(books, rollover="all", term_days=60)
    assert books.record(savings_id).matures_at == "2028-02-28T23:00:00.000Z"
    books.advance_to("2028-02-29")
    assert [amount for _, _, amount in books.posted("interest")] == [6_000]
    assert books.record(savings_id).matures_at == "2028-04-28T23:00:00.000Z"


@given(
    st.integers(0, 500_000_000),
    st.dates(date(2023, 1, 1), date(2028, 12, 31)),
    st.integers(1, 400),
    st.lists(st.integers(0, 500), min_size=1, max_size=8),
)
def test_terms_looked_at_on_any_days_earn_what_whole_terms_earn(
    annual: int, opened: date, term_days: int, gaps: list[int]
) -> None:
    """However often the deposit is looked at, each term's interest is that of its days, rounded once."""
    terms = SavingsTerms(annual, "10", opened, 1, term_days, rolls_over=True)
    state, day = AccrualState(0, opened, 0), opened.toordinal()
    for gap in gaps:
        day += gap
        state = accrue_to(state, terms, 12_345_678, date.fromordinal(day))
    ended, rest = divmod(day - opened.toordinal(), term_days)
    exact = 12_345_678 * annual * term_days
    each = (2 * exact + 36_500_000_000) // (2 * 36_500_000_000)
    assert (state.months_closed, state.due_interest) == (ended, ended * each)
    assert state.accrued_units == 12_345_678 * annual * rest
