"""Standing orders in memory: their dates, payments to savings and thrifts, retries, ends, and every refusal."""

from datetime import date
from typing import Any

import msgspec
import pytest

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Decision, Refusal
from kasuwa.ledger import chart
from kasuwa.methods.clients.model import CLIENT_INACTIVE
from kasuwa.methods.investments.model import SAVINGS_CLOSED, UNKNOWN_SAVINGS
from kasuwa.methods.standing_orders.model import StandingOrder, order_key
from kasuwa.methods.standing_orders.rules.manage import (
    FIXED_SOURCE,
    INVALID_FROM_DATE,
    NO_MEMBER,
    OTHER_CLIENT,
    RUN_ORDER,
    SAME_SAVINGS,
    UNKNOWN_ORDER,
    UNKNOWN_TARGET,
)
from tests.methods.investments.books import MERCHANT_ID, InMemorySavings

NO_INTEREST = {"interestRate": "0", "interestFrequency": "annualized"}


class Orders(InMemorySavings):
    """A client with two savings that earn nothing, so that every figure is one of standing orders."""

    def __init__(self, deposit: str | None = "1000.00", day: str = "2026-01-05") -> None:
        super().__init__(day)
        self.source = self.open_savings("ADA", deposit, interestSettings=NO_INTEREST)
        self.target = self.open_savings("ADA", interestSettings=NO_INTEREST)

    def order(self, **fields: Any) -> Any:
        request = {"from": self.source, "to": self.target, "amount": "100.00", "frequency": "every_month"}
        return self.ask("standing_order", **{**request, "from_date": self.today.isoformat(), **fields})

    def made(self, **fields: Any) -> str:
        reply = self.order(**fields)
        assert not isinstance(reply, Refusal), reply
        return str(reply.data.order_id)

    def change(self, order_id: str, change: str, **fields: Any) -> Any:
        return self.ask("change_standing_order", order_id=order_id, change=change, **fields)

    def find(self, order_id: str) -> StandingOrder:
        found = self.state.rows[order_key(MERCHANT_ID, order_id)]
        assert isinstance(found, StandingOrder)
        return found

    def paid_on(self) -> list[str]:
        """Returns the days of the payments of all orders."""
        made = [one for one in self.transactions() if one.order_ref.startswith("SO")]
        return [lagos_day(one.created_at).isoformat() for one in made]

    def list_steps(self) -> list[tuple[str, str | None]]:
        """Returns step and next date of the events of orders."""
        payloads = [msgspec.json.decode(event.payload) for event in self.state.events if event.kind == "standing_order"]
        return [(one["step"], one.get("next_date")) for one in payloads]


@pytest.fixture
def orders() -> Orders:
    return Orders()


# --- making ---------------------------------------------------------------------------------------------------


def test_an_order_is_made_with_its_first_date(orders: Orders) -> None:
    reply = orders.order(from_date="2026-02-01")
    record = reply.data
    assert (record.state, record.next_date, record.pays, record.amount) == ("active", "2026-02-01", "savings", "100.00")
    assert (record.client_id, record.payments, record.paid, record.is_retry) == ("ADA", 0, "0.00", False)
    assert [job.due for job in orders.jobs(RUN_ORDER)] == [orders.find(record.order_id).next_at]


def test_a_dry_run_of_an_order_explains_its_dates(orders: Orders) -> None:
    reply = orders.order(from_date="2026-01-31", dry_run=True)
    assert (reply.data.order_id, reply.dry_run, orders.jobs(RUN_ORDER)) == (None, True, [])
    [figure] = reply.explained
    assert figure.amount == "100.00"
    assert "2026-01-31, 2026-02-28, 2026-03-31" in figure.how


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"from": "SVnobody"}, UNKNOWN_SAVINGS),
        ({"to": "SVnobody"}, UNKNOWN_TARGET),
        ({"from_date": "2026-01-04"}, INVALID_FROM_DATE),
        ({"from_date": "2036-01-06"}, INVALID_FROM_DATE),
    ],
)
def test_an_order_that_cannot_be_made_is_refused(orders: Orders, fields: dict[str, str], refusal: Refusal) -> None:
    assert orders.order(**fields) == refusal
    assert orders.jobs(RUN_ORDER) == []


def test_an_order_may_begin_in_ten_years(orders: Orders) -> None:
    assert orders.order(from_date="2036-01-05").data.state == "active"


def test_savings_do_not_pay_themselves(orders: Orders) -> None:
    assert orders.order(to=orders.source) == SAME_SAVINGS


def test_an_order_does_not_pay_another_client(orders: Orders) -> None:
    other = orders.open_savings("BOLA", "10.00")
    assert orders.order(to=other) == OTHER_CLIENT


def test_a_fixed_deposit_pays_no_orders(orders: Orders) -> None:
    fixed = orders.open_savings("ADA", "10.00", period=None, term_days=30)
    assert orders.order(**{"from": fixed}) == FIXED_SOURCE
    assert orders.order(to=fixed).data.pays == "savings"


@pytest.mark.parametrize("side", ["from", "to"])
def test_closed_savings_have_no_orders(orders: Orders, side: str) -> None:
    closed = orders.open_savings("ADA", "10.00", interestSettings=NO_INTEREST)
    orders.cash_out(closed, "10.00", client="ADA")
    assert orders.order(**{side: closed}) == SAVINGS_CLOSED


def test_a_client_who_is_not_active_makes_no_orders(orders: Orders) -> None:
    orders.client("ADA", status="inactive")
    assert orders.order() == CLIENT_INACTIVE.fill(status="inactive")


# --- paying ---------------------------------------------------------------------------------------------------


def test_an_order_pays_on_each_of_its_dates(orders: Orders) -> None:
    order_id = orders.made(from_date="2026-01-10")
    orders.advance_to("2026-03-20")
    assert orders.paid_on() == ["2026-01-10", "2026-02-10", "2026-03-10"]
    assert (orders.balance(orders.source), orders.balance(orders.target)) == (70_000, 30_000)
    order = orders.find(order_id)
    assert (order.payments, order.paid, order.missed, order.next_due) == (3, 30_000, 0, date(2026, 4, 10))
    assert {one.order_ref for one in orders.transactions() if one.order_ref.startswith("SO")} == {order_id}
    orders.check()


def test_an_order_of_today_pays_at_once(orders: Orders) -> None:
    orders.made()
    orders.advance_to("2026-01-05")
    assert orders.paid_on() == ["2026-01-05"]


def test_an_order_of_the_31st_pays_at_the_end_of_shorter_months() -> None:
    orders = Orders("1000.00", "2026-01-31")
    orders.made()
    orders.advance_to("2026-05-01")
    assert orders.paid_on() == ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]


@pytest.mark.parametrize(
    ("frequency", "days"),
    [
        ("every_day", ["2026-01-05", "2026-01-06", "2026-01-07"]),
        ("every_week", ["2026-01-05", "2026-01-12", "2026-01-19"]),
        ("every_four_weeks", ["2026-01-05", "2026-02-02", "2026-03-02"]),
    ],
)
def test_an_order_pays_at_its_frequency(orders: Orders, frequency: str, days: list[str]) -> None:
    orders.made(frequency=frequency)
    orders.advance_to(days[-1])
    assert orders.paid_on() == days


def test_a_job_that_runs_twice_pays_once(orders: Orders) -> None:
    orders.made()
    [job] = [msgspec.structs.replace(one) for one in orders.jobs(RUN_ORDER)]
    first, second = orders.step(job), orders.step(job)
    assert isinstance(first, Decision)
    assert first.groups
    assert second == Decision()
    assert orders.balance(orders.target) == 10_000


def test_dates_that_a_worker_missed_are_paid_one_by_one(orders: Orders) -> None:
    orders.made(frequency="every_week")
    orders.book.clock_fixed_at = orders.now.replace(month=2, day=1)
    orders.advance_to("2026-02-01", 10)
    assert len(orders.paid_on()) == 4
    assert orders.jobs(RUN_ORDER)[0].due.isoformat() == "2026-02-01T23:00:00+00:00"


def test_a_payment_forfeits_interest_and_keeps_the_savings_open() -> None:
    orders = Orders(None)
    orders.source = orders.open_savings("ADA", "100.00")
    orders.made(from_date="2026-01-15")
    orders.advance_to("2026-01-15")
    assert (orders.balance(orders.source), orders.savings(orders.source).state) == (0, "active")
    assert orders.record(orders.source).accrued_interest == "0.00"


def test_thrift_debts_of_the_savings_come_first(orders: Orders) -> None:
    poor = orders.open_savings("ADA", interestSettings=NO_INTEREST)
    rich = orders.open_savings("BOLA", "500.00", interestSettings=NO_INTEREST)
    orders.start_plan([rich, poor], "60.00")
    orders.advance_to("2026-01-09")
    assert orders.savings(poor).thrift_links.debts[0].amount == 6_000
    order_id = orders.made(to=poor)
    orders.advance_to("2026-01-09", 12)
    assert (orders.balance(poor), orders.balance(rich)) == (4_000, 56_000)
    assert orders.find(order_id).paid == 10_000
    orders.check()


# --- short savings ----------------------------------------------------------------------------------------------


def test_a_short_payment_is_tried_after_1_3_and_7_days() -> None:
    orders = Orders("30.00")
    order_id = orders.made()
    orders.advance_to("2026-01-20")
    assert orders.list_steps() == [
        ("failed", "2026-01-06"),
        ("failed", "2026-01-08"),
        ("failed", "2026-01-12"),
        ("missed", "2026-02-05"),
    ]
    order = orders.find(order_id)
    assert (order.payments, order.missed, order.is_retry, order.reason) == (
        0,
        1,
        False,
        "the savings do not cover the amount",
    )
    assert orders.balance(orders.source) == 3_000


def test_a_retry_pays_once_the_savings_cover_it_and_the_dates_stay() -> None:
    orders = Orders("30.00")
    order_id = orders.made()
    orders.advance_to("2026-01-07")
    assert orders.find(order_id).is_retry
    orders.deposit(orders.source, "100.00")
    orders.advance_to("2026-02-04")
    assert orders.paid_on() == ["2026-01-08"]
    order = orders.find(order_id)
    assert (order.next_due, order.missed, order.reason, order.is_retry) == (date(2026, 2, 5), 0, "", False)


def test_no_retry_reaches_the_next_date() -> None:
    orders = Orders("30.00")
    order_id = orders.made(frequency="every_day")
    orders.advance_to("2026-01-07")
    assert orders.list_steps() == [("missed", "2026-01-06"), ("missed", "2026-01-07"), ("missed", "2026-01-08")]
    assert orders.find(order_id).missed == 3


def test_money_that_is_held_pays_nothing(orders: Orders) -> None:
    orders.cash_out(orders.source, "950.00", "cashcode", client="ADA")
    order_id = orders.made()
    orders.advance_to("2026-01-05")
    assert (orders.find(order_id).is_retry, orders.account(chart.savings(orders.source)).held) == (True, 95_000)


# --- thrifts ----------------------------------------------------------------------------------------------------


def test_an_order_pays_the_savings_that_take_part_in_a_plan(orders: Orders) -> None:
    friend = orders.open_savings("BOLA", "500.00", interestSettings=NO_INTEREST)
    plan = orders.start_plan([friend, orders.target], start_date="2026-01-10")
    order_id = orders.made(to=plan, from_date="2026-01-09")
    assert (orders.find(order_id).pays, orders.find(order_id).target_savings) == ("thrift", orders.target)
    orders.advance_to("2026-03-10")
    assert orders.paid_on() == ["2026-01-09", "2026-02-09"]
    assert (orders.find(order_id).state, orders.find(order_id).reason) == ("ended", "the thrift plan is completed")
    assert orders.list_steps() == [("ended", None)]


def test_a_plan_that_draws_on_the_paying_savings_needs_no_order(orders: Orders) -> None:
    friend = orders.open_savings("BOLA", "500.00")
    plan = orders.start_plan([friend, orders.source])
    assert orders.order(to=plan) == NO_MEMBER


def test_a_plan_that_is_over_is_not_paid(orders: Orders) -> None:
    plan = str(
        orders.ask(
            "create_plan",
            name="Esusu",
            amount="5.00",
            frequency="every_month",
            member_required=2,
            start_date="2026-02-01",
        ).data.thrift_id
    )
    orders.ask("cancel_plan", thrift_id=plan)
    refusal = orders.order(to=plan)
    assert refusal.error_code == "thrift_plan_not_open"


# --- pausing, resuming, cancelling, ending ------------------------------------------------------------------------


def test_a_paused_order_leaves_its_dates_out(orders: Orders) -> None:
    order_id = orders.made(from_date="2026-01-10")
    orders.advance_to("2026-01-20")
    paused = orders.change(order_id, "pause").data
    assert (paused.state, paused.next_date, orders.jobs(RUN_ORDER)) == ("paused", None, [])
    orders.advance_to("2026-04-02")
    resumed = orders.change(order_id, "resume").data
    assert (resumed.state, resumed.next_date) == ("active", "2026-04-10")
    orders.advance_to("2026-04-10")
    assert orders.paid_on() == ["2026-01-10", "2026-04-10"]


def test_a_retry_is_given_up_by_a_pause() -> None:
    orders = Orders("30.00")
    order_id = orders.made()
    orders.advance_to("2026-01-05")
    orders.change(order_id, "pause")
    orders.advance_to("2026-01-06")
    resumed = orders.change(order_id, "resume").data
    assert (resumed.next_date, resumed.is_retry) == ("2026-02-05", False)


def test_a_cancelled_order_pays_no_more(orders: Orders) -> None:
    order_id = orders.made(from_date="2026-01-10")
    assert orders.change(order_id, "cancel").data.state == "cancelled"
    orders.advance_to("2026-02-20")
    assert orders.paid_on() == []
    refusal = orders.change(order_id, "resume")
    assert (refusal.error_code, refusal.message) == (
        "standing_order_state",
        "The standing order is cancelled; nothing can be changed any more",
    )


def test_the_same_change_again_changes_nothing(orders: Orders) -> None:
    order_id = orders.made(from_date="2026-01-10")
    before = orders.find(order_id)
    assert orders.change(order_id, "resume").data.state == "active"
    assert orders.find(order_id) == before


@pytest.mark.parametrize("change", ["pause", "cancel"])
def test_a_dry_run_of_a_change_changes_nothing(orders: Orders, change: str) -> None:
    order_id = orders.made(from_date="2026-01-10")
    reply = orders.change(order_id, change, dry_run=True)
    assert (reply.dry_run, reply.data.next_date) == (True, None)
    assert (orders.find(order_id).state, len(orders.jobs(RUN_ORDER))) == ("active", 1)


def test_an_unknown_order_is_not_changed(orders: Orders) -> None:
    assert orders.change("SOnobody", "pause") == UNKNOWN_ORDER


@pytest.mark.parametrize("side", ["source", "target"])
def test_an_order_ends_with_the_savings_on_either_side(side: str) -> None:
    orders = Orders("100.00")
    order_id = orders.made(from_date="2026-01-10")
    savings_id = getattr(orders, side)
    if side == "target":
        orders.deposit(savings_id, "1.00")
    orders.cash_out(savings_id, "100.00" if side == "source" else "1.00", client="ADA")
    assert orders.savings(savings_id).state == "closed"
    orders.advance_to("2026-01-10")
    order = orders.find(order_id)
    assert (order.state, order.next_at, order.events) == ("ended", None, 1)
    assert orders.jobs(RUN_ORDER) == []
    assert orders.list_steps() == [("ended", None)]
