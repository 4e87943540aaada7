"""Tests of purchases and refunds: declines in order of precedence, reused order keys, amounts refunded."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import FieldError
from kasuwa.core.references import is_reference
from kasuwa.core.scenario import Scenario
from kasuwa.methods.virtualcard.rules.purchase import PURCHASE_DETAIL_DECODER
from kasuwa.methods.virtualcard.rules.refund import (
    PURCHASE_DECLINED,
    TOO_LITTLE_REFUNDED,
    TOO_MUCH,
    UNKNOWN_PURCHASE,
    prorate_refund,
)
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.issuer import PurchaseOrder, RefundOrder
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.conversion import ExchangeRates
from kasuwa.transactions.transactions import Transaction
from tests.engine.toy import WALL
from tests.methods.virtualcard.in_memory_cards import InMemoryCards, dollars, naira
from tests.rule_context import with_terms

LIMITS = {"per_transaction": "50", "per_day": "60", "per_month": "70", "categories": ["5411"]}


class Held:
    """A card with its secrets, and a shop that knows them."""

    def __init__(self, counter: InMemoryCards, **fields: Any) -> None:
        self.counter = counter
        self.reference = counter.create(**fields)
        shown = counter.ask("get", reference=self.reference, reveal=True).card_data
        self.pan, self.cvv, self.expiry = str(shown.cardpan), str(shown.cvv), str(shown.expiration)

    def order(self, **changes: Any) -> PurchaseOrder:
        ordinary = {"key": "GP0000009 one", "pan": self.pan, "expiry": self.expiry, "cvv": self.cvv}
        asked = {"amount": 1_000, "currency": "USD", "merchant_name": "Book Shop", "category": "5411"}
        return PurchaseOrder(**{**ordinary, **asked, **changes})

    def pay(self, **changes: Any) -> Answer:
        return self.counter.authorize(self.order(**changes), self.reference)

    @property
    def balance(self) -> int:
        return self.counter.on_card(self.reference)


def wrong(cvv: str) -> str:
    return f"{(int(cvv) + 1) % 1000:03d}"


# --- in order of precedence ---------------------------------------------------------------------------------------


def test_the_first_reason_that_applies_is_reported() -> None:
    counter = dollars()
    held = Held(counter, amount=55, limits=LIMITS)
    all_wrong = {"cvv": wrong(held.cvv), "currency": "GHS", "amount": 10_000, "category": "7995"}
    counter.now += timedelta(days=4 * 365)
    counter.ask("block", reference=held.reference)
    result: list[Answer] = []

    def ask(**mended: Any) -> None:
        result.append(held.pay(key=f"GP0000009 {len(result)}", **{**all_wrong, **mended}))

    ask(scenario=Scenario(rr="96"))
    ask()
    counter.ask("unblock", reference=held.reference)
    ask()
    counter.now = WALL
    ask(expiry="2028-12")
    ask()
    ask(cvv=held.cvv)
    right = {"cvv": held.cvv, "currency": "USD"}
    ask(**right)
    held.pay(key="first", amount=2_000)
    ask(**right, amount=5_000)
    counter.now += timedelta(days=1)
    held.pay(key="second", amount=1_000)
    ask(**right, amount=4_500)
    ask(**right, amount=4_000)
    ask(**right, amount=4_000, category="5411")
    ask(**right, amount=2_500, category="5411")
    assert [(answer.code, answer.message) for answer in result] == [
        ("96", "System malfunction"),
        ("62", "The card is blocked"),
        ("54", "Expired card"),
        ("54", "Expired card"),
        ("82", "CVV validation error"),
        ("57", "The card does not pay in this currency"),
        ("61", "Exceeds the card's limit of USD 50.00 for one transaction"),
        ("61", "Exceeds the card's limit of USD 60.00 for a day"),
        ("61", "Exceeds the card's limit of USD 70.00 for a month"),
        ("57", "The card may not be used in this category of shops"),
        ("51", "Insufficient funds"),
        ("00", "Approved"),
    ]
    assert held.balance == 0
    counter.ask("terminate", reference=held.reference)
    assert held.pay(key="last").code == "78"


def test_a_purchase_may_reach_a_limit_and_not_exceed_it() -> None:
    held = Held(dollars(), amount=200, limits={"per_transaction": "50", "per_day": "60", "per_month": "60"})
    assert held.pay(amount=5_000).status == orders.SUCCESSFUL
    assert held.pay(key="b", amount=1_001).code == "61"
    assert held.pay(key="c", amount=1_000).status == orders.SUCCESSFUL


def test_days_and_months_are_those_of_lagos() -> None:
    counter = dollars()
    counter.now = datetime(2026, 1, 31, 22, 59, 59, tzinfo=UTC)
    held = Held(counter, amount=500, limits={"per_day": "10", "per_month": "15"})
    assert held.pay().status == orders.SUCCESSFUL
    assert held.pay(key="b").code == "61"
    counter.now += timedelta(seconds=1)
    assert held.pay(key="c").status == orders.SUCCESSFUL
    counter.now += timedelta(days=1)
    assert held.pay(key="d").code == "61"
    assert held.pay(key="e", amount=500).status == orders.SUCCESSFUL
    card = counter.row(held.reference)
    assert (card.spent_on, card.spent_day, card.spent_month) == ("2026-02-02", 500, 1_500)


def test_what_is_declined_counts_for_no_limit() -> None:
    counter = dollars()
    held = Held(counter, amount=20, limits={"per_day": "40"})
    for n in range(5):
        assert held.pay(key=str(n), amount=3_000).code == "51"
    assert counter.row(held.reference).spent_day == 0


# --- the transaction ----------------------------------------------------------------------------------------------


def test_a_purchase_is_a_final_transaction_with_its_event_whatever_became_of_it() -> None:
    counter = dollars()
    held = Held(counter)
    paid, refused = held.pay(), held.pay(key="GP0000009 two", amount=99_999)
    rows = {row.txn_ref: row for row in counter.database.all(Transaction, 7)}
    for answer, status in ((paid, "successful"), (refused, "failed")):
        row = rows[answer.facts["txnRef"]]
        assert is_reference(row.txn_ref)
        assert (row.kind, row.status, row.final_at, row.code) == ("card_purchase", status, WALL, answer.code)
        assert PURCHASE_DETAIL_DECODER.decode(row.detail).card == held.reference
    events = [msgspec.json.decode(event.payload) for event in counter.database.events]
    assert [(e["txnStatus"], e["chargedAmount"]) for e in events] == [("successful", "10.00"), ("failed", "0.00")]
    assert [(p.debit, p.credit, p.reference) for p in counter.database.postings[-1:]] == [
        (counter.row(held.reference).account, "rail:issuer:USD", paid.facts["txnRef"])
    ]


@pytest.mark.parametrize("first", [{}, {"amount": 99_999}], ids=["paid", "declined"])
def test_the_same_order_again_is_answered_as_it_was_and_moves_nothing(first: dict[str, Any]) -> None:
    counter = dollars()
    held = Held(counter)
    answer = held.pay(**first)
    counter.ask("fund", reference=held.reference, amount=2000)
    before = counter.database.contents()
    assert held.pay(**first) == answer
    assert counter.database.contents() == before


@pytest.mark.parametrize("change", [{"amount": 1_001}, {"currency": "NGN"}, {"merchant_name": "Other"}])
def test_another_order_under_a_used_key_is_a_duplicate(change: dict[str, Any]) -> None:
    counter = dollars()
    held = Held(counter)
    held.pay()
    before = counter.database.contents()
    assert (held.pay(**change).status, held.pay(**change).code) == (orders.FAILED, "94")
    assert counter.database.contents() == before


def test_a_card_that_is_not_here_is_not_found() -> None:
    counter = dollars()
    held = Held(counter)
    assert counter.authorize(held.order(), "KSW|GVC|1|x").status == orders.NOT_FOUND


# --- other currencies ---------------------------------------------------------------------------------------------


def test_a_purchase_in_the_other_currency_goes_through_the_positions() -> None:
    counter = dollars()
    held = Held(counter)
    assert held.pay(amount=1_500_001, currency="NGN").status == orders.SUCCESSFUL
    account = counter.row(held.reference).account
    assert [(p.debit, p.credit, p.amount) for p in counter.database.postings[-2:]] == [
        (account, "fx:position:USD", 1_001),
        ("fx:position:NGN", "rail:issuer:NGN", 1_500_001),
    ]
    counter.merchant = with_terms(counter.merchant, ExchangeRates())
    assert held.pay(key="b", amount=1_500, currency="NGN").code == "57"


def test_a_saved_card_pays_without_its_cvv_and_an_empty_one_is_wrong() -> None:
    held = Held(dollars())
    assert held.pay(cvv="").code == "82"
    assert held.pay(key="b", cvv=None).status == orders.SUCCESSFUL


def test_a_shop_may_look_at_a_card_and_ask_for_nothing() -> None:
    held = Held(dollars())
    before = held.balance
    assert held.pay(amount=0).status == orders.SUCCESSFUL
    assert held.pay(key="b", amount=0, currency="NGN").status == orders.SUCCESSFUL
    assert held.pay(key="c", amount=0, cvv=wrong(held.cvv)).code == "82"
    assert held.balance == before


# --- refunds ------------------------------------------------------------------------------------------------------


def refund_order(**changes: Any) -> RefundOrder:
    return RefundOrder(**{"key": "GP0000009 back", "purchase_key": "GP0000009 one", "amount": 400, **changes})


def test_a_refund_with_a_scripted_decline_moves_nothing_and_can_be_retried() -> None:
    counter = dollars()
    held = Held(counter)
    held.pay()
    left = held.balance
    assert counter.refund(refund_order(scenario=Scenario(rr="05"))).code == "05"
    assert held.balance == left
    assert counter.refund(refund_order()).status == orders.SUCCESSFUL


def test_a_refund_goes_back_the_same_way_once_under_its_key() -> None:
    counter = dollars()
    held = Held(counter)
    held.pay()
    first = counter.refund(refund_order())
    assert (first.status, held.balance) == (orders.SUCCESSFUL, 9_400)
    before = counter.database.contents()
    assert counter.refund(refund_order()) == first
    assert counter.refund(refund_order(amount=401)).code == "94"
    assert counter.refund(refund_order(purchase_key="other")).code == "94"
    assert counter.database.contents() == before
    assert counter.refund(refund_order(key="b", amount=601)).code == "13"
    assert counter.refund(refund_order(key="c", amount=600)).status == orders.SUCCESSFUL
    assert held.balance == 10_000
    event = counter.database.events[-1]
    assert (event.object, event.object_seq) == (counter.database.events[0].reference, 3)


def test_what_cannot_be_given_back_is_refused() -> None:
    counter = dollars()
    held = Held(counter)
    bad = counter.ask("card_purchase", reference=held.reference, amount="500").txn_ref
    good = counter.ask("card_purchase", reference=held.reference, amount="5").txn_ref
    assert counter.ask("card_refund", txnRef="GP|CP|000000001|20260105A") is UNKNOWN_PURCHASE
    assert counter.ask("card_refund", txnRef=bad) is PURCHASE_DECLINED
    assert counter.ask("card_refund", txnRef=good, amount="5.01") is TOO_MUCH
    assert TOO_MUCH.field_errors == (
        FieldError("amount", "above zero, and not more than is left of the purchase", "refund_too_large"),
    )
    assert counter.ask("card_refund", txnRef=good).txn_status == "successful"
    assert counter.ask("card_refund", txnRef=good) is TOO_MUCH


def test_a_refund_below_the_smallest_unit_of_the_card_is_refused() -> None:
    counter = dollars()
    held = Held(counter)
    bought = counter.ask("card_purchase", reference=held.reference, amount="15000", currency="NGN").txn_ref
    before = counter.database.contents()
    for amount in ("0.01", "14.99"):
        assert counter.ask("card_refund", txnRef=bought, amount=amount) is TOO_LITTLE_REFUNDED
    assert counter.ask("card_refund", txnRef=bought, amount="15000.01") is TOO_MUCH
    assert counter.database.contents() == before
    assert counter.ask("card_refund", txnRef=bought, amount="15").txn_status == "successful"


def test_what_comes_back_after_the_end_goes_to_the_wallet_and_not_to_the_card() -> None:
    for counter, gained in ((dollars(), {"USD": 1_000}), (naira(), {"NGN": 1_500_000})):
        held = Held(counter)
        held.pay()
        counter.ask("terminate", reference=held.reference)
        before = {currency: counter.wallet(currency) for currency in gained}
        assert counter.refund(refund_order(amount=1_000)).status == orders.SUCCESSFUL
        assert {currency: counter.wallet(currency) - was for currency, was in before.items()} == gained
        assert held.balance == 0


def test_a_blocked_card_takes_back_what_it_paid() -> None:
    counter = dollars()
    held = Held(counter)
    held.pay()
    counter.ask("block", reference=held.reference)
    assert counter.refund(refund_order(amount=1_000)).status == orders.SUCCESSFUL
    assert held.balance == 10_000


@pytest.mark.parametrize(("billed", "whole"), [(1_001, 1_500_001), (7, 3), (1, 10), (10, 10)])
def test_parts_of_a_bill_add_up_to_it_and_are_never_ahead_of_it(billed: int, whole: int) -> None:
    done, given = 0, 0
    for asked in [1] * min(whole, 5) + [whole - min(whole, 5)]:
        part = prorate_refund(billed, whole, done, asked)
        done, given = done + asked, given + part
        assert given * whole <= billed * done
    assert given == billed
