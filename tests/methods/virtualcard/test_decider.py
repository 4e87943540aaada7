"""Tests of deciders: who is asked and what, what the answer means, and what happens while the decider thinks."""

from functools import partial
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision
from kasuwa.core.scenario import InjectedFault
from kasuwa.methods.virtualcard.card_decider import STORED_DECODER, CardDecider
from kasuwa.methods.virtualcard.model import CARD_TERMINATED, UNKNOWN_CARD
from kasuwa.methods.virtualcard.rules.decider import URL_NOT_ALLOWED
from kasuwa.methods.virtualcard.rules.issuer_port import decide_authorization, need_authorization
from kasuwa.rails.ports.decider import DeciderAnswer, DeciderQuestion
from kasuwa.rails.ports.issuer import PurchaseOrder
from kasuwa.terms.conversion import ExchangeRate
from tests.methods.virtualcard.in_memory_cards import InMemoryCards, dollars

URL, OTHER = "https://shop.example/decide", "https://shop.example/other"
OPERATIONS = {"card_purchase": "purchase", "card_authorize": "authorization"}
actions = pytest.mark.parametrize("action", OPERATIONS)


class Shop:
    """A card with 100.00 and the decider of all cards."""

    def __init__(self, **fields: Any) -> None:
        self.counter: InMemoryCards = dollars()
        self.card = self.counter.create(**fields)
        self.set(decision_url=URL)

    def set(self, **fields: Any) -> Any:
        return self.counter.ask("decider", **fields)

    def begin(self, action: str, amount: str = "40", **fields: Any) -> Any:
        """Returns the question about a purchase, or its reply if nobody is asked."""
        result = self.counter.submit(*self.counter.read(action, reference=self.card, amount=amount, **fields))
        assert isinstance(result, Decision)
        if result.question is not None:
            assert not result.changes_anything
            assert result.reply is None
            return result.question
        return result.reply

    def end(self, action: str, answer: DeciderAnswer, amount: str = "40", **fields: Any) -> Any:
        """Returns the reply to a purchase whose question was answered, or the next question."""
        needs, rule = self.counter.read(action, reference=self.card, amount=amount, **fields)
        result = self.counter.submit(needs, partial(rule, answer=answer))
        assert isinstance(result, Decision)
        return result.question if result.question is not None else result.reply

    @property
    def newest(self) -> Any:
        return self.counter.records(self.card)[-1]

    @property
    def money(self) -> tuple[int, int]:
        return self.counter.on_card(self.card), self.counter.held_on(self.card)


def reply(question: DeciderQuestion, approves: bool, **fields: Any) -> DeciderAnswer:
    return DeciderAnswer(question, "dec_1", approves, 35, **fields)


# --- setting one ----------------------------------------------------------------------------------------------------


def test_a_decider_is_set_shown_replaced_and_removed() -> None:
    shop = Shop()
    shown = shop.set(reference=shop.card, decision_url=OTHER, on_timeout="approve").data
    assert (shown.reference, shown.decision_url, shown.on_timeout) == (shop.card, OTHER, "approve")
    assert shop.counter.ask("get", reference=shop.card).decider.decision_url == OTHER
    assert shop.begin("card_purchase").url == OTHER
    removed = shop.set(reference=shop.card, decision_url="")
    assert (removed.message, removed.data.decision_url) == ("Nobody is asked from now on", None)
    general = shop.counter.ask("get", reference=shop.card).decider
    assert (general.reference, general.decision_url, general.on_timeout) == (msgspec.UNSET, URL, "decline")
    shop.set(decision_url="")
    assert shop.counter.ask("get", reference=shop.card).decider is msgspec.UNSET
    assert shop.begin("card_purchase").txn_status == "successful"


def test_the_same_decider_again_changes_nothing() -> None:
    shop = Shop()
    result = shop.counter.submit(*shop.counter.read("decider", decision_url=URL))
    assert isinstance(result, Decision)
    assert not result.changes_anything
    result = shop.counter.submit(*shop.counter.read("decider", reference=shop.card, decision_url=""))
    assert isinstance(result, Decision)
    assert not result.changes_anything


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "https://localhost/decide",
        "http://10.0.0.8/",
        "http://169.254.169.254/latest/meta-data",
        "https://[::1]/",
        "https://user:password@shop.example/",
        "ftp://shop.example/",
        "shop.example",
        "https://intranet/",
        "https://2130706433/",
    ],
)
def test_an_url_that_points_inward_is_refused(url: str) -> None:
    shop = Shop()
    assert shop.set(decision_url=url) is URL_NOT_ALLOWED
    [row] = shop.counter.database.all(CardDecider, 7)
    assert row.url == URL


def test_a_decider_of_no_card_or_a_terminated_one_is_refused() -> None:
    shop = Shop()
    assert shop.set(reference="KSW|GVC|1|none", decision_url=URL) is UNKNOWN_CARD
    shop.counter.ask("terminate", reference=shop.card)
    assert shop.set(reference=shop.card, decision_url=URL) is CARD_TERMINATED
    assert shop.counter.refuse("decider") == ["decision_url"]
    assert sorted(shop.counter.refuse("decider", decision_url=5, on_timeout="later")) == ["decision_url", "on_timeout"]


# --- a purchase -----------------------------------------------------------------------------------------------------


@actions
def test_a_decider_is_asked_after_the_cards_own_rules(action: str) -> None:
    shop = Shop(limits={"per_transaction": "50", "countries": ["NG"]})
    question = shop.begin(action, merchant_name="Hotel", category="7011", country="ng", merchant_id="H1")
    assert question == DeciderQuestion(
        url=URL,
        on_timeout="decline",
        operation=OPERATIONS[action],  # type: ignore[arg-type]
        card=shop.card,
        amount=4_000,
        currency="USD",
        shop_amount=4_000,
        shop_currency="USD",
        merchant_name="Hotel",
        merchant_id="H1",
        category="7011",
        country="NG",
        channel="online",
    )
    declined = shop.begin(action, "50.01", country="NG")
    assert (declined.txn_status, shop.newest.decline_reason, shop.newest.decision) == (
        "failed",
        "over_transaction_limit",
        None,
    )


@actions
def test_an_approved_purchase_keeps_the_answer(action: str) -> None:
    shop = Shop()
    answer = reply(shop.begin(action), approves=True, reason="within the budget")
    done = shop.end(action, answer)
    assert done.txn_status in ("successful", "pending")
    assert shop.money == ((6_000, 0) if action == "card_purchase" else (10_000, 4_000))
    stored = STORED_DECODER.decode(shop.newest.decision)
    assert (stored.id, stored.ms, stored.approves, stored.reason) == ("dec_1", 35, True, "within the budget")


@actions
@pytest.mark.parametrize(
    ("fault", "reason", "code"), [(None, "declined_by_merchant", "05"), ("timeout", "no_decision", "91")]
)
def test_a_declined_purchase_says_who_declined_it(action: str, fault: Any, reason: str, code: str) -> None:
    shop = Shop()
    declined = shop.end(action, reply(shop.begin(action), approves=False, fault=fault))
    assert (declined.txn_status, shop.money) == ("failed", (10_000, 0))
    assert shop.newest.decline_reason == reason
    event = msgspec.json.decode(shop.counter.database.events[-1].payload)
    assert event["declineReason"] == reason
    [row] = [
        one for one in shop.counter.rows() if getattr(one, "txn_ref", "") == declined.txn_ref and hasattr(one, "code")
    ]
    assert row.code == code


@actions
def test_a_missing_answer_approves_if_that_was_set(action: str) -> None:
    shop = Shop()
    shop.set(decision_url=URL, on_timeout="approve")
    question = shop.begin(action)
    assert question.on_timeout == "approve"
    done = shop.end(action, reply(question, approves=True, fault="unreachable"))
    assert done.txn_status in ("successful", "pending")
    assert STORED_DECODER.decode(shop.newest.decision).fault == "unreachable"


@actions
def test_two_purchases_that_each_fit_but_not_both_are_not_both_approved(action: str) -> None:
    """Both are asked about before either is decided."""
    for fields, reason in (({}, "insufficient_funds"), ({"limits": {"per_day": "100"}}, "over_daily_limit")):
        shop = Shop(**fields, amount="200" if fields else "100")
        first, second = shop.begin(action, "60"), shop.begin(action, "60.00")
        assert shop.end(action, reply(first, approves=True), "60").txn_status != "failed"
        assert shop.end(action, reply(second, approves=True), "60").txn_status == "failed"
        assert shop.newest.decline_reason == reason
        assert STORED_DECODER.decode(shop.newest.decision).approves


@actions
def test_a_card_that_is_blocked_while_the_decider_thinks_pays_nothing(action: str) -> None:
    shop = Shop()
    question = shop.begin(action)
    shop.counter.ask("block", reference=shop.card)
    assert shop.end(action, reply(question, approves=True)).txn_status == "failed"
    assert (shop.newest.decline_reason, shop.money) == ("card_blocked", (10_000, 0))


@actions
def test_an_answer_counts_for_exactly_what_was_asked(action: str) -> None:
    shop = Shop()
    question = shop.begin(action, "10000", currency="NGN")
    rates = {"USD": ExchangeRate(160_000, 170_000)}
    changed = InMemoryCards(wallets={}, exchange=rates).merchant
    shop.counter.merchant = changed
    again = shop.end(action, reply(question, approves=True), "10000", currency="NGN")
    assert isinstance(again, DeciderQuestion)
    assert again.amount != question.amount
    shop.set(decision_url=OTHER)
    elsewhere = shop.end(action, reply(again, approves=True), "10000", currency="NGN")
    assert elsewhere.url == OTHER
    assert shop.end(action, reply(elsewhere, approves=True), "10000", currency="NGN").txn_status != "failed"


@actions
def test_a_decider_that_is_removed_while_it_thinks_decides_nothing(action: str) -> None:
    shop = Shop()
    question = shop.begin(action)
    shop.set(decision_url="")
    assert shop.end(action, reply(question, approves=False)).txn_status != "failed"


def test_a_simulated_decline_of_the_issuer_asks_nobody() -> None:
    shop = Shop()
    fault = (InjectedFault("issuer", "decline", 1),)
    counter = shop.counter
    needs, rule = counter.read("card_purchase", reference=shop.card, amount="1")
    result = counter.submit(
        needs, lambda context, rows: rule(msgspec.structs.replace(context, injected_faults=fault), rows)
    )
    assert isinstance(result, Decision)
    assert result.reply.txn_status == "failed"


# --- the port -------------------------------------------------------------------------------------------------------


def test_an_order_of_the_port_is_asked_about_and_its_repeat_is_not() -> None:
    shop = Shop()
    order = PurchaseOrder("GP0000009 1", "", "2029-01", None, 1_000, "USD", "Book Shop")
    order = msgspec.structs.replace(order, expiry=shop.counter.row(shop.card).expiration)
    needs = need_authorization(order, shop.card, shop.counter.merchant)
    asked = shop.counter.submit(needs, partial(decide_authorization, order, shop.card))
    assert isinstance(asked, Decision)
    assert (asked.question.country, asked.question.merchant_name) == ("NG", "Book Shop")
    assert not asked.changes_anything
    answer = reply(asked.question, approves=True)
    rule = partial(decide_authorization, order, shop.card, answer=answer)
    done, again = shop.counter.submit(needs, rule), shop.counter.submit(needs, partial(rule, answer=None))
    assert isinstance(done, Decision)
    assert isinstance(again, Decision)
    assert done.reply == again.reply
    assert (done.reply.code, again.question, again.changes_anything) == ("00", None, False)
