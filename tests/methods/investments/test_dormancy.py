"""Dormant savings in memory: when they are, what is refused, and how a payment or two parties reactivate them."""

from datetime import date
from typing import Any

import msgspec
import pytest

from kasuwa.core.callers import Caller
from kasuwa.core.decision import Context, Decision, LoadedRows, Needs, NeedsMore, Posting, PostingGroup, Refusal
from kasuwa.ledger import chart
from kasuwa.methods.investments.model import SAVINGS_DORMANT, UNKNOWN_SAVINGS, Savings, dormant_from, is_dormant
from kasuwa.methods.investments.reactivation_model import SavingsReactivation, reactivation_key
from kasuwa.methods.investments.rules.purposes import DEPOSIT_PURPOSE_RULES
from kasuwa.methods.investments.rules.reactivation import (
    ASKER_ENDED,
    NO_REACTIVATION_WAITS,
    NOT_DORMANT,
    OWN_REACTIVATION,
    REACTIVATION_WAITS,
)
from kasuwa.terms.savings import SavingsSettings
from kasuwa.transactions.second_party import COOLING_OFF
from kasuwa.transactions.transactions import NewTransaction, begin_transaction
from tests.methods.investments.books import MERCHANT_ID
from tests.methods.shares.society import BOARD, SECRETARY, Society
from tests.rule_context import with_terms
from tests.walk.bounds import REACTIVATION_HOURS

LONG: dict[str, Any] = {"period": 48}
NO_INTEREST = {"interestRate": "0", "interestFrequency": "annualized"}
DORMANT_ON = "2027-01-06"


class Sleepers(Society):
    """A member with savings of 500.00 that nobody moves from 2026-01-05 on."""

    def __init__(self, **fields: Any) -> None:
        super().__init__()
        terms = {"interestSettings": NO_INTEREST, **LONG, **fields}
        self.sleeping = self.open_savings("ADA", "500.00", **terms)
        self.savings_of["ADA"] = self.sleeping

    @property
    def savings_row(self) -> Savings:
        return self.savings(self.sleeping)

    @property
    def state_shown(self) -> str:
        return "dormant" if is_dormant(self.savings_row, self.today, self.merchant) else "awake"

    def draw(self, amount: str = "100.00", method: str = "cash", **fields: Any) -> Any:
        return self.cash_out(self.sleeping, amount, method, client="ADA", **fields)

    def pay_in(self, amount: int) -> None:
        """A payment of the client for a deposit succeeds."""
        rail, account = "rail:card:NGN", chart.savings(self.sleeping)
        paid = PostingGroup("PM1", SAVINGS_DORMANT, postings=(Posting(rail, account, amount, "payment"),))

        def end(context: Context, rows: LoadedRows) -> Decision | NeedsMore:
            begun = begin_transaction(context, NewTransaction(kind="payment", txn_ref="PM1", amount=amount))
            row = msgspec.structs.replace(begun, status="successful")
            ended = DEPOSIT_PURPOSE_RULES.on_answer(row, self.sleeping, context, rows)
            return ended if isinstance(ended, NeedsMore) else Decision(groups=(paid,), rows=ended.rows)

        needs = DEPOSIT_PURPOSE_RULES.needs(self.merchant, self.sleeping)
        assert isinstance(self.submit(Needs(needs.rows, (rail, account)), end), Decision)

    def reactivate(self, **fields: Any) -> Any:
        return self.ask("reactivate_savings", savings_id=self.sleeping, reason="came with her passport", **fields)

    def decide_reactivation(self, status: str = "approve", caller: Caller = BOARD, **fields: Any) -> Any:
        self.merchant = msgspec.structs.replace(self.merchant, caller=caller)
        reply = self.ask("decide_reactivation", savings_id=self.sleeping, status=status, **fields)
        self.merchant = msgspec.structs.replace(self.merchant, caller=SECRETARY)
        return reply

    def proposal(self, number: int = 1) -> SavingsReactivation:
        found = self.state.rows[reactivation_key(MERCHANT_ID, self.sleeping, number)]
        assert isinstance(found, SavingsReactivation)
        return found

    def list_steps(self) -> list[str]:
        payloads = [msgspec.json.decode(event.payload) for event in self.state.events if event.kind == "reactivation"]
        return [one["approval"] for one in payloads]


@pytest.fixture
def asleep() -> Sleepers:
    made = Sleepers()
    made.advance_to(DORMANT_ON)
    return made


# --- when -----------------------------------------------------------------------------------------------------


def test_savings_are_dormant_the_day_after_twelve_months() -> None:
    sleepers = Sleepers()
    sleepers.advance_to("2027-01-05", 23)
    assert sleepers.state_shown == "awake"
    sleepers.advance_to(DORMANT_ON, 0)
    assert sleepers.state_shown == "dormant"


@pytest.mark.parametrize(("months", "day"), [(1, date(2026, 2, 6)), (6, date(2026, 7, 6)), (0, None)])
def test_the_months_are_a_setting_and_0_is_never(months: int, day: date | None) -> None:
    assert dormant_from(Sleepers().savings_row, months) == day


def test_savings_without_any_deposit_are_never_dormant() -> None:
    sleepers = Sleepers()
    empty = sleepers.open_savings("ADA", **LONG)
    sleepers.advance_to("2028-01-01")
    assert dormant_from(sleepers.savings(empty), 12) is None


def test_matured_savings_become_dormant_too() -> None:
    sleepers = Sleepers(period=3)
    sleepers.advance_to(DORMANT_ON)
    assert (sleepers.savings(sleepers.sleeping).state, sleepers.state_shown) == ("matured", "dormant")


def test_a_fixed_deposit_is_not_dormant_before_its_first_term_has_ended() -> None:
    sleepers = Sleepers(period=None, term_days=730, rollover="none")
    assert dormant_from(sleepers.savings_row, 12) == date(2029, 1, 6)


@pytest.mark.parametrize("method", ["cash", "transfer"])
def test_deposits_and_cash_outs_are_movements_of_the_client(method: str) -> None:
    sleepers = Sleepers()
    sleepers.advance_to("2026-06-01")
    assert sleepers.draw(method=method).status == 200
    assert sleepers.savings_row.moved_on == date(2026, 6, 1)
    sleepers.advance_to("2026-07-01")
    sleepers.deposit(sleepers.sleeping, "1.00")
    assert sleepers.savings_row.moved_on == date(2026, 7, 1)


def test_shares_paid_by_savings_are_a_movement_and_for_cash_are_none() -> None:
    sleepers = Sleepers()
    sleepers.deposit(sleepers.sleeping, "5000.00")
    sleepers.advance_to("2026-06-01")
    assert sleepers.buy("ADA", 1).status == 200
    assert sleepers.savings_row.moved_on == date(2026, 1, 5)
    assert sleepers.buy("ADA", 1, "savings").status == 200
    assert sleepers.savings_row.moved_on == date(2026, 6, 1)


def test_dividends_interest_and_thrifts_are_no_movements_of_the_client() -> None:
    sleepers = Sleepers(interestSettings={"interestRate": "12", "interestFrequency": "annualized"})
    sleepers.buy("ADA", 1)
    sleepers.start_plan([sleepers.open_savings("BOLA", "500.00"), sleepers.sleeping], "10.00")
    sleepers.advance_to("2026-06-01")
    sleepers.declare("10", sleepers.yesterday)
    sleepers.advance_to("2026-06-02")
    assert sleepers.balance(sleepers.sleeping) > 50_000
    assert sleepers.savings_row.moved_on == date(2026, 1, 5)


def test_a_standing_order_is_no_movement_of_the_client() -> None:
    sleepers = Sleepers()
    target = sleepers.open_savings("ADA", **LONG)
    order: dict[str, Any] = {"from": sleepers.sleeping, "to": target, "amount": "10.00", "frequency": "every_month"}
    assert sleepers.ask("standing_order", **order, from_date="2026-06-01").data.state == "active"
    sleepers.advance_to("2026-06-01")
    assert sleepers.balance(target) == 1_000
    assert [sleepers.savings(one).moved_on for one in (sleepers.sleeping, target)] == [date(2026, 1, 5)] * 2


# --- what is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["cash", "transfer", "cashcode"])
@pytest.mark.parametrize("dry_run", [True, False])
def test_nothing_is_cashed_out_of_dormant_savings(asleep: Sleepers, method: str, dry_run: bool) -> None:
    assert asleep.draw(method=method, dry_run=dry_run) == SAVINGS_DORMANT
    assert asleep.balance(asleep.sleeping) == 50_000


def test_dormant_savings_buy_no_shares_and_make_no_orders(asleep: Sleepers) -> None:
    assert asleep.buy("ADA", 1, "savings") == SAVINGS_DORMANT
    target = asleep.open_savings("ADA", **LONG)
    order: dict[str, Any] = {"from": asleep.sleeping, "to": target, "amount": "10.00", "frequency": "every_month"}
    assert asleep.ask("standing_order", **order, from_date=asleep.today.isoformat()) == SAVINGS_DORMANT


@pytest.mark.parametrize("dry_run", [True, False])
def test_dormant_savings_join_no_thrift_plan(asleep: Sleepers, dry_run: bool) -> None:
    thrift_id = asleep.start_plan([], member_required=2)
    assert asleep.ask("subscribe", savings_id=asleep.sleeping, thrift_id=thrift_id, dry_run=dry_run) == SAVINGS_DORMANT
    asleep.pay_in(100)
    joined = asleep.ask("subscribe", savings_id=asleep.sleeping, thrift_id=thrift_id)
    assert (joined.data.position, asleep.savings_row.thrift_links.plans) == (1, (thrift_id,))


def test_a_standing_order_of_dormant_savings_fails_until_they_are_reactivated() -> None:
    sleepers = Sleepers()
    target = sleepers.open_savings("ADA", **LONG)
    order: dict[str, Any] = {"from": sleepers.sleeping, "to": target, "amount": "10.00", "frequency": "every_month"}
    sleepers.ask("standing_order", **order, from_date="2027-01-06")
    sleepers.advance_to("2027-01-06")
    steps = [msgspec.json.decode(event.payload) for event in sleepers.state.events if event.kind == "standing_order"]
    assert [(one["step"], one["reason"]) for one in steps] == [("failed", "the savings that pay are dormant")]
    sleepers.pay_in(100)
    sleepers.advance_to("2027-01-07")
    assert sleepers.balance(target) == 1_000


# --- reactivation -------------------------------------------------------------------------------------------------


def test_a_payment_of_the_client_reactivates_savings(asleep: Sleepers) -> None:
    asleep.pay_in(100)
    assert asleep.state_shown == "awake"
    assert asleep.draw().status == 200


def test_a_deposit_from_the_wallet_is_taken_and_reactivates_nothing(asleep: Sleepers) -> None:
    assert asleep.deposit(asleep.sleeping, "1.00").status == 200
    assert (asleep.balance(asleep.sleeping), asleep.state_shown) == (50_100, "dormant")
    assert asleep.draw() == SAVINGS_DORMANT


def test_dormant_savings_go_on_earning_interest() -> None:
    sleepers = Sleepers(interestSettings={"interestRate": "12", "interestFrequency": "annualized"})
    sleepers.advance_to(DORMANT_ON)
    before = sleepers.balance(sleepers.sleeping)
    sleepers.advance_to("2027-03-06")
    assert sleepers.balance(sleepers.sleeping) > before
    assert sleepers.state_shown == "dormant"


def test_two_parties_reactivate_savings(asleep: Sleepers) -> None:
    asked = asleep.reactivate()
    assert (asked.data.state, asked.data.dormant_since) == ("dormant", DORMANT_ON)
    waiting = asked.data.waiting_reactivation
    assert (waiting.reason, waiting.proposed_by) == ("came with her passport", "key 1 (secretary)")
    approved = asleep.decide_reactivation()
    assert (approved.message, approved.data.state) == ("Savings Reactivated", "active")
    assert approved.data.dormant_since is msgspec.UNSET
    assert (asleep.proposal().state, asleep.proposal().decided_by) == ("approved", "key 2 (board)")
    assert asleep.list_steps() == ["waiting", "approved"]
    assert asleep.draw().status == 200


def test_nobody_approves_their_own_reactivation(asleep: Sleepers) -> None:
    asleep.reactivate()
    assert asleep.decide_reactivation(caller=SECRETARY) == OWN_REACTIVATION
    fresh = msgspec.structs.replace(BOARD, is_cooling_off=True)
    assert asleep.decide_reactivation(caller=fresh) == COOLING_OFF
    assert (asleep.state_shown, asleep.proposal().state) == ("dormant", "waiting")


def test_a_reactivation_of_an_ended_key_is_only_rejected(asleep: Sleepers) -> None:
    asleep.reactivate()
    asleep.ended = frozenset({SECRETARY})
    assert asleep.decide_reactivation() == ASKER_ENDED
    assert asleep.decide_reactivation("reject").message == "Reactivation Rejected"
    assert (asleep.proposal().state, asleep.state_shown, asleep.list_steps()) == (
        "rejected",
        "dormant",
        ["waiting", "rejected"],
    )


def test_a_rejected_reactivation_can_be_asked_for_again(asleep: Sleepers) -> None:
    asleep.reactivate()
    assert asleep.reactivate() == REACTIVATION_WAITS
    asleep.decide_reactivation("reject", SECRETARY)
    assert asleep.decide_reactivation() == NO_REACTIVATION_WAITS
    assert asleep.reactivate().data.waiting_reactivation.reason == "came with her passport"
    assert asleep.decide_reactivation().message == "Savings Reactivated"
    assert (asleep.proposal(1).state, asleep.proposal(2).state) == ("rejected", "approved")


@REACTIVATION_HOURS.tries
def test_a_reactivation_waits_72_hours(asleep: Sleepers, value: int, is_within: bool) -> None:
    asleep.reactivate()
    asleep.advance_to("2027-01-09", value - 63)
    reply = asleep.decide_reactivation()
    assert (reply != NO_REACTIVATION_WAITS) == is_within


def test_savings_that_are_not_dormant_are_not_reactivated() -> None:
    sleepers = Sleepers()
    assert sleepers.reactivate() == NOT_DORMANT
    assert sleepers.decide_reactivation() == NOT_DORMANT
    assert sleepers.ask("reactivate_savings", savings_id="SVnobody", reason="none") == UNKNOWN_SAVINGS


def test_a_payment_ends_the_wait_for_a_reactivation(asleep: Sleepers) -> None:
    asleep.reactivate()
    asleep.pay_in(100)
    assert asleep.decide_reactivation() == NOT_DORMANT


def test_dry_runs_of_a_reactivation_change_nothing(asleep: Sleepers) -> None:
    reply = asleep.reactivate(dry_run=True)
    assert (reply.dry_run, asleep.savings_row.reactivations) == (True, 0)
    asleep.reactivate()
    reply = asleep.decide_reactivation(dry_run=True)
    assert (reply.data.state, asleep.proposal().state, asleep.state_shown) == ("active", "waiting", "dormant")


def test_nothing_is_ever_dormant_for_a_merchant_that_wants_none() -> None:
    sleepers = Sleepers()
    sleepers.merchant = with_terms(sleepers.merchant, SavingsSettings(dormancy_months=0))
    sleepers.advance_to("2029-12-31")
    assert not isinstance(sleepers.draw(), Refusal)
