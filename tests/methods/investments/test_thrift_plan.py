"""The rules of thrift: who may join, when cycles fall, what they move, and who owes whom."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.decision import Decision
from kasuwa.core.money import format_minor
from kasuwa.ledger import chart
from kasuwa.methods.investments.model import SAVINGS_CLOSED, UNKNOWN_PLAN, UNKNOWN_SAVINGS
from kasuwa.methods.investments.rules.thrift_plan import NOT_OPEN, PLAN_FULL, SUBSCRIBED
from kasuwa.transactions.transactions import SUCCESSFUL
from tests.hypothesis_settings import without_deadline
from tests.methods.investments.books import InMemorySavings
from tests.walk.bounds import CYCLE_WAITS

ORACLE = json.loads((Path(__file__).parents[2] / "data" / "schedule_oracles.json").read_text())["thrift"]
PLAN: dict[str, Any] = {
    "name": "Esusu",
    "amount": "100.00",
    "frequency": "every_month",
    "member_required": "3",
    "start_date": "2026-02-01",
}


def three(books: InMemorySavings, *deposits: str | None) -> list[str]:
    """Savings that earn nothing, so that a figure of a test is what thrift made it."""
    nothing = {"interestRate": "0", "interestFrequency": "annualized"}
    return [books.open_savings(f"CL{n}", deposit, interestSettings=nothing) for n, deposit in enumerate(deposits, 1)]


# --- a plan -------------------------------------------------------------------------------------------------


def test_a_plan_is_open_until_it_is_full_and_its_day_has_come() -> None:
    books = InMemorySavings("2026-01-05")
    plan = books.ask("create_plan", **PLAN).data
    assert plan.thrift_id.startswith("TH")
    assert (plan.state, plan.members, plan.member_required, plan.cycle) == ("open", 0, 3, 0)
    assert (plan.start_date, plan.next_date, plan.amount) == ("2026-02-01", "2026-02-01", "100.00")
    for savings_id in three(books, "300.00", "300.00", "300.00"):
        reply = books.ask("subscribe", savings_id=savings_id, thrift_id=plan.thrift_id)
    assert (reply.data.position, reply.data.payout_date) == (3, "2026-04-01")
    assert books.plan(plan.thrift_id).state == "open"
    books.advance_to("2026-02-01", 0)
    assert books.plan(plan.thrift_id).state == "running"
    assert books.plan(plan.thrift_id).cycle == 1


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"start_date": "2026-01-04"}, "start_date"),
        ({"start_date": "2036-01-06"}, "start_date"),
        ({"start_date": "01-02-2026"}, "start_date"),
        ({"member_required": "1"}, "member_required"),
        ({"member_required": 501}, "member_required"),
        ({"member_required": "five"}, "member_required"),
        ({"frequency": "annualized"}, "frequency"),
        ({"amount": "0.50"}, "amount"),
        ({"name": ""}, "name"),
    ],
)
def test_a_wrong_field_of_a_plan_is_named(wrong: dict[str, Any], field: str) -> None:
    reply = InMemorySavings("2026-01-05").ask("create_plan", **{**PLAN, **wrong})
    assert [fault.field for fault in reply.field_errors] == [field]


def test_a_plan_may_start_today() -> None:
    assert InMemorySavings("2026-01-05").ask("create_plan", **{**PLAN, "start_date": "2026-01-05"}).status == 200


def test_a_client_who_may_not_join_gets_the_reason() -> None:
    books = InMemorySavings("2026-01-05")
    first, second, third = three(books, "100.00", "100.00", "100.00")
    thrift_id = books.ask("create_plan", **{**PLAN, "member_required": 2}).data.thrift_id

    def join(savings_id: str, plan: str = thrift_id) -> Any:
        return books.ask("subscribe", savings_id=savings_id, thrift_id=plan)

    assert join(first, "THnobody") == UNKNOWN_PLAN
    assert join("SVnobody") == UNKNOWN_SAVINGS
    assert join(first).data.position == 1
    assert join(first) == SUBSCRIBED
    assert join(second).data.position == 2
    assert join(third) == PLAN_FULL
    books.advance_to("2026-02-01")
    assert join(third) == NOT_OPEN.fill(state="running", what="nobody can join it any more")
    books.advance_to("2026-04-01")
    assert join(third).message == "The plan is completed; nobody can join it any more"


def test_closed_savings_do_not_join() -> None:
    books = InMemorySavings("2026-01-05")
    savings_id = books.open_savings(period=1)
    books.advance_to("2026-02-05")
    thrift_id = books.ask("create_plan", **{**PLAN, "start_date": "2026-03-01"}).data.thrift_id
    assert books.ask("subscribe", savings_id=savings_id, thrift_id=thrift_id) == SAVINGS_CLOSED


def test_a_dry_subscription_shows_the_place_and_what_it_costs_and_takes_none() -> None:
    books = InMemorySavings("2026-01-05")
    [savings_id] = three(books, "100.00")
    thrift_id = books.ask("create_plan", **PLAN).data.thrift_id
    reply = books.ask("subscribe", savings_id=savings_id, thrift_id=thrift_id, dry_run=True)
    assert (reply.dry_run, reply.data.position, reply.data.payout_date) == (True, 1, "2026-02-01")
    assert [(figure.what, figure.amount) for figure in reply.explained] == [
        ("contribution", "100.00"),
        ("contributions", "300.00"),
        ("pot", "300.00"),
    ]
    assert books.plan(thrift_id).members == 0
    assert books.savings(savings_id).detail == "{}"


def test_a_plan_is_cancelled_before_it_runs_and_not_after() -> None:
    books = InMemorySavings("2026-01-05")
    members = three(books, "300.00", "300.00", "300.00")
    thrift_id = books.start_plan(members, start_date="2026-02-01")
    assert books.ask("cancel_plan", thrift_id=thrift_id).data.state == "cancelled"
    assert books.savings(members[0]).thrift_links.plans == ()
    assert books.jobs("thrift") == []
    assert books.ask("cancel_plan", thrift_id=thrift_id).message.startswith("The plan is cancelled")
    books.advance_to("2026-02-02")
    assert books.posted("thrift") == []
    other = books.start_plan(members)
    assert books.ask("cancel_plan", thrift_id=other).message.startswith("The plan is running")
    assert books.ask("cancel_plan", thrift_id="THnobody") == UNKNOWN_PLAN


# --- cycles -------------------------------------------------------------------------------------------------


def test_the_plan_of_the_reference_model_runs_through_the_books() -> None:
    books = InMemorySavings("2026-01-05", wallet=100_000_000)
    members = three(books, *["50000.00"] * 5)
    terms = ORACLE["plan"]
    thrift_id = books.start_plan(members, terms["amount"], start_date=terms["start_date"])
    for cycle in ORACLE["cycles"]:
        assert str(books.plan(thrift_id).next_date) == cycle["date"]
        books.advance_to(cycle["date"], 0)
        balances = [books.balance(savings_id) // 100 - 50_000 for savings_id in members]
        assert balances == list(cycle["balances_after"].values())
        books.check()
    assert books.plan(thrift_id).state == "completed"
    assert [line.payout_date for line in books.members(thrift_id)] == [one["date"] for one in ORACLE["cycles"]]
    for line in books.members(thrift_id):
        assert (line.contributed, line.received, line.owed) == ("50000.00", "50000.00", "0.00")
    assert books.jobs("thrift") == []


def test_a_cycle_is_one_posting_group() -> None:
    books = InMemorySavings("2026-01-05")
    books.start_plan(three(books, "300.00", "300.00", "300.00"))
    books.advance_to("2026-01-05")
    groups = {posting.group_seq for posting in books.state.postings if posting.kind.startswith("thrift")}
    assert len(groups) == 1
    kinds = [posting.kind for posting in books.state.postings][-4:]
    assert kinds == ["thrift contribution", "thrift contribution", "thrift payout", "thrift contribution"]


@pytest.mark.parametrize("of_others", ["100.00", None], ids=["others pay", "all are short"])
def test_the_statement_of_a_recipient_without_money_is_never_below_zero(of_others: str | None) -> None:
    books = InMemorySavings("2026-01-05")
    recipient, *others = three(books, None, of_others, of_others)
    thrift_id = books.start_plan([recipient, *others])
    books.advance_to("2026-01-08")
    left = 20_000 if of_others else 0
    account = chart.savings(recipient)
    own = [posting for posting in books.state.postings if account in (posting.debit, posting.credit)]
    assert [(one.kind, one.credit_after if one.credit == account else one.debit_after) for one in own] == [
        ("thrift payout", left + 10_000),
        ("thrift contribution", left),
    ]
    [line, *_] = books.members(thrift_id)
    assert (line.contributed, line.received) == ("100.00", format_minor(left + 10_000))
    books.check()


def test_each_payout_has_an_event_with_what_is_owed_and_repaid() -> None:
    books = InMemorySavings("2026-01-05")
    thrift_id = books.start_plan(three(books, "300.00", "30.00", "300.00"))
    books.advance_to("2026-03-05")
    payouts = [event for event in books.state.events if event.kind == "thrift_payout"]
    assert [(event.reference, event.object_seq) for event in payouts] == [(f"{thrift_id}:{n}", n) for n in (1, 2, 3)]
    names = ("savings_id", "client_id", "cycle", "cycles", "chargedAmount", "owed", "repaid")
    shown = [tuple(msgspec.json.decode(event.payload)[name] for name in names) for event in payouts]
    members = [line.savings_id for line in books.members(thrift_id)]
    assert shown == [
        (members[0], "CL1", 1, 3, "230.00", "70.00", "0.00"),
        (members[1], "CL2", 2, 3, "300.00", "0.00", "70.00"),
        (members[2], "CL3", 3, 3, "300.00", "0.00", "0.00"),
    ]


def test_a_plan_that_fills_late_begins_on_the_day_it_fills() -> None:
    books = InMemorySavings("2026-01-05")
    first, second, third = three(books, "300.00", "300.00", "300.00")
    thrift_id = books.ask("create_plan", **{**PLAN, "frequency": "every_week"}).data.thrift_id
    for savings_id in (first, second):
        books.ask("subscribe", savings_id=savings_id, thrift_id=thrift_id)
    books.advance_to("2026-02-10")
    assert (books.plan(thrift_id).state, books.jobs("thrift")) == ("open", [])
    books.ask("subscribe", savings_id=third, thrift_id=thrift_id)
    assert books.plan(thrift_id).state == "running"
    books.advance_to("2026-02-10")
    assert [line.payout_date for line in books.members(thrift_id)] == ["2026-02-10", "2026-02-17", "2026-02-24"]
    assert books.plan(thrift_id).cycle == 1


def test_contributions_forfeit_no_interest() -> None:
    books = InMemorySavings("2026-01-05")
    members = [books.open_savings(f"CL{n}", "1000.00") for n in (1, 2)]
    books.start_plan(members, "500.00", start_date="2026-01-15")
    books.advance_to("2026-01-15")
    assert [books.record(savings_id).accrued_interest for savings_id in members] == ["10.00", "10.00"]
    books.advance_to("2026-01-16")
    assert [books.record(savings_id).accrued_interest for savings_id in members] == ["11.50", "10.50"]


def test_a_job_that_is_run_twice_pays_once() -> None:
    books = InMemorySavings("2026-01-05")
    thrift_id = books.start_plan(three(books, "300.00", "300.00", "300.00"))
    [job] = books.jobs("thrift")
    books.advance_to("2026-01-05")
    before = (len(books.state.postings), books.members(thrift_id), books.jobs("thrift"))
    for _ in range(2):
        assert books.step(job) == Decision()
    assert (len(books.state.postings), books.members(thrift_id), books.jobs("thrift")) == before


# --- who is short -------------------------------------------------------------------------------------------


def test_a_cycle_waits_three_days_for_who_is_short() -> None:
    books = InMemorySavings("2026-01-05")
    members = three(books, "300.00", "300.00", "99.99")
    thrift_id = books.start_plan(members)
    books.advance_to("2026-01-05")
    assert (books.posted("thrift"), books.plan(thrift_id).tries) == ([], 1)
    assert books.plan(thrift_id).next_date == books.today.replace(day=6)
    books.advance_to("2026-01-07")
    assert books.posted("thrift") == []
    books.deposit(members[2], "1.00")
    books.advance_to("2026-01-08", 0)
    assert [amount for _, _, amount in books.posted("thrift payout")] == [30_000]
    assert books.members(thrift_id)[0].payout_date == "2026-01-08"
    # The plan keeps the days it began with.
    assert str(books.plan(thrift_id).next_date) == "2026-02-05"


def test_after_three_days_the_cycle_pays_what_it_has_and_the_rest_is_owed() -> None:
    books = InMemorySavings("2026-01-05")
    members = three(books, "300.00", "300.00", "30.00")
    thrift_id = books.start_plan(members)
    for (day, hour), is_within in CYCLE_WAITS.sides:
        books.advance_to(day, hour)
        assert [amount for _, _, amount in books.posted("thrift payout")] == ([] if is_within else [23_000]), day
    lines = books.members(thrift_id)
    assert [(line.contributed, line.received, line.owed) for line in lines] == [
        ("100.00", "230.00", "0.00"),
        ("100.00", "0.00", "0.00"),
        ("30.00", "0.00", "70.00"),
    ]
    books.check()


def test_a_debt_is_taken_first_from_the_debtors_next_deposits() -> None:
    books = InMemorySavings("2026-01-05")
    members = three(books, "300.00", "300.00", "30.00")
    thrift_id = books.start_plan(members)
    books.advance_to("2026-01-08")
    dry = books.deposit(members[2], "50.00", dry_run=True)
    assert [(figure.what, figure.amount) for figure in dry.explained][2] == ("thrift debt", "50.00")
    reply = books.deposit(members[2], "50.00")
    assert (reply.balance, dry.balance) == ("0.00", "0.00")
    assert books.deposit(members[2], "50.00").balance == "30.00"
    assert books.posted("thrift debt") == [
        (chart.savings(members[2]), chart.savings(members[0]), 5_000),
        (chart.savings(members[2]), chart.savings(members[0]), 2_000),
    ]
    lines = books.members(thrift_id)
    assert [(line.contributed, line.received, line.owed) for line in lines][::2] == [
        ("100.00", "300.00", "0.00"),
        ("100.00", "0.00", "0.00"),
    ]
    assert books.savings(members[2]).thrift_links.debts == ()


def test_a_debt_is_taken_out_of_the_debtors_own_pot() -> None:
    books = InMemorySavings("2026-01-05")
    members = three(books, "300.00", None, "300.00")
    thrift_id = books.start_plan(members)
    books.advance_to("2026-02-05")
    assert books.members(thrift_id)[1].owed == "0.00"
    assert [books.balance(savings_id) for savings_id in members] == [40_000, 10_000, 10_000]
    assert books.record(members[1]).state == "active"
    books.check()


def test_a_daily_plan_that_was_kept_waiting_catches_up() -> None:
    books = InMemorySavings("2026-01-05")
    members = three(books, "300.00", "300.00", None)
    thrift_id = books.start_plan(members, frequency="every_day")
    books.advance_to("2026-01-07")
    books.deposit(members[2], "300.00")
    books.advance_to("2026-01-08")
    assert books.plan(thrift_id).state == "completed"
    assert [str(line.payout_date) for line in books.members(thrift_id)] == ["2026-01-08"] * 3
    assert [books.balance(savings_id) for savings_id in members] == [30_000] * 3


def test_a_cycle_that_is_due_with_the_postponed_one_runs_after_it_and_once() -> None:
    """The job is known by its time: two cycles of the same time could not be told apart."""
    books = InMemorySavings("2026-01-05")
    members = three(books, "300.00", "300.00", None)
    books.start_plan(members, frequency="every_day")
    books.advance_to("2026-01-05")
    books.deposit(members[2], "300.00")
    [postponed] = books.jobs("thrift")
    books.state.rows[postponed.key] = None
    books.advance_to("2026-01-06")
    books.state.rows[postponed.key] = postponed
    books.step(postponed)
    [following] = books.jobs("thrift")
    assert following.due > postponed.due
    paid = len(books.posted("thrift payout"))
    assert books.step(postponed) == Decision()
    assert len(books.posted("thrift payout")) == paid == 1


def test_savings_in_a_plan_or_in_debt_do_not_close() -> None:
    books = InMemorySavings("2026-01-05")
    nothing = {"interestRate": "0", "interestFrequency": "annualized"}
    members = [books.open_savings(f"CL{n}", "100.00", interestSettings=nothing, period=1) for n in (1, 2)]
    thrift_id = books.start_plan(members, start_date="2026-02-10")
    books.advance_to("2026-02-09")
    for n, savings_id in enumerate(members, 1):
        books.cash_out(savings_id, "100.00", client=f"CL{n}")
    assert [books.record(savings_id).state for savings_id in members] == ["matured", "matured"]
    books.advance_to("2026-03-20")
    assert books.plan(thrift_id).state == "completed"
    # Each owes the other, so neither is over; the one deposit settles its own debt alone.
    assert [books.record(savings_id).state for savings_id in members] == ["matured", "matured"]
    assert [line.owed for line in books.members(thrift_id)] == ["100.00", "100.00"]
    books.deposit(members[0], "100.00")
    assert (books.balance(members[0]), books.balance(members[1])) == (0, 10_000)


def test_a_plan_that_ends_closes_the_empty_savings_that_waited_for_it() -> None:
    books = InMemorySavings("2026-01-05")
    nothing = {"interestRate": "0", "interestFrequency": "annualized"}
    members = [books.open_savings(f"CL{n}", "100.00", interestSettings=nothing, period=1) for n in (1, 2)]
    books.start_plan(members, start_date="2026-02-10")
    books.advance_to("2026-02-10")
    books.cash_out(members[0], "100.00", client="CL1")
    books.advance_to("2026-03-10")
    assert [books.record(savings_id).state for savings_id in members] == ["closed", "matured"]
    assert (books.open_accounts("CL1"), books.open_accounts("CL2")) == (0, 1)


def test_savings_that_a_debt_is_owed_to_stay_open_until_it_is_repaid() -> None:
    books = InMemorySavings("2026-01-05")
    nothing = {"interestRate": "0", "interestFrequency": "annualized"}
    debtor = books.open_savings("CL1", "100.00", interestSettings=nothing)
    creditor = books.open_savings("CL2", "100.00", interestSettings=nothing, period=1)
    thrift_id = books.start_plan([debtor, creditor], frequency="every_week")
    books.advance_to("2026-01-05")
    books.cash_out(debtor, "200.00")
    books.advance_to("2026-01-20")
    assert books.members(thrift_id)[0].owed == "100.00"
    assert books.balance(creditor) == 0
    books.advance_to("2026-02-05")
    assert (books.record(creditor).state, books.open_accounts("CL2")) == ("matured", 1)
    [fault] = books.cash_out(creditor, "0", client="CL2").field_errors
    assert "thrift debts are owed to them" in fault.reason
    assert books.deposit(debtor, "500.00").balance == "400.00"
    assert (books.balance(creditor), books.savings(creditor).receivable) == (10_000, 0)
    assert books.cash_out(creditor, "100.00", client="CL2").status == 200
    assert (books.record(creditor).state, books.open_accounts("CL2")) == ("closed", 0)


# --- any run ------------------------------------------------------------------------------------------------

steps = st.lists(
    st.one_of(
        st.tuples(st.just("in"), st.integers(0, 3), st.integers(100, 50_000)),
        st.tuples(st.just("out"), st.integers(0, 3), st.integers(100, 50_000)),
        st.tuples(st.just("wait"), st.integers(1, 20), st.just(0)),
    ),
    max_size=25,
)


@without_deadline(60)
@given(st.integers(2, 4), st.sampled_from(["every_day", "every_week", "every_month"]), steps)
def test_over_any_run_money_is_conserved_and_everyone_receives_once(
    size: int, frequency: str, run: list[tuple[str, int, int]]
) -> None:
    books = InMemorySavings("2026-01-31")
    members = three(books, *[None] * size)
    thrift_id = books.start_plan(members, frequency=frequency)
    for what, who, amount in run:
        if what == "wait":
            day = books.today.fromordinal(books.today.toordinal() + who)
            books.advance_to(day.isoformat())
        elif what == "in":
            books.deposit(members[who % size], format_minor(amount))
        else:
            books.cash_out(members[who % size], format_minor(amount), client=f"CL{who % size + 1}")
        books.check()
    books.advance_to("2027-06-01")
    books.check()
    plan, lines = books.plan(thrift_id), books.members(thrift_id)
    assert plan.state == "completed"
    payouts = [credit for _, credit, _ in books.posted("thrift payout")]
    assert payouts == [chart.savings(savings_id) for savings_id in members]
    whole, owed = size * 10_000, [0] * size
    for savings_id, line in zip(members, lines, strict=True):
        debts = books.savings(savings_id).thrift_links.debts
        assert format_minor(sum(debt.amount for debt in debts)) == line.owed
        assert format_minor(whole - sum(debt.amount for debt in debts)) == line.contributed
        for debt in debts:
            owed[debt.creditor_position - 1] += debt.amount
    assert [line.received for line in lines] == [format_minor(whole - missing) for missing in owed]
    assert {row.status for row in books.transactions()} <= {SUCCESSFUL}
