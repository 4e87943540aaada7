"""Tests of authorizations: what they hold, every way they end, and what others do to the card meanwhile."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Refusal
from kasuwa.methods.virtualcard.model import balance_effect
from kasuwa.methods.virtualcard.rules.authorization import (
    HAS_EXPIRED,
    LIFE,
    TOO_MUCH_CAPTURED,
    UNKNOWN_AUTHORIZATION,
    WAS_CAPTURED,
    WAS_DECLINED,
    WAS_REVERSED,
)
from kasuwa.methods.virtualcard.rules.funding import CARD_INSUFFICIENT
from kasuwa.terms.conversion import ExchangeRate, ExchangeRates
from kasuwa.transactions.transactions import Transaction
from tests.methods.virtualcard.in_memory_cards import RATE, InMemoryCards, dollars, naira
from tests.rule_context import with_terms
from tests.walk.bounds import CARD_ABOVE, CARD_HOLD_LIFE


class Hotel:
    """A card with 100.00, and a shop that holds an amount on it."""

    def __init__(self, counter: InMemoryCards | None = None, **fields: Any) -> None:
        self.counter = dollars() if counter is None else counter
        self.reference = self.counter.create(**fields)
        self.held_ref = ""

    def hold(self, amount: str = "40", **fields: Any) -> Any:
        reply = self.counter.ask("card_authorize", reference=self.reference, amount=amount, **fields)
        self.held_ref = getattr(reply, "txn_ref", "")
        return reply

    def capture(self, amount: str | None = None) -> Any:
        sent = {} if amount is None else {"amount": amount}
        return self.counter.ask("card_capture", txnRef=self.held_ref, **sent)

    def reverse(self) -> Any:
        return self.counter.ask("card_reverse", txnRef=self.held_ref)

    @property
    def money(self) -> tuple[int, int]:
        """Returns how much is on the card, and how much of it is held. Its records add up to the difference."""
        posted, held = self.counter.on_card(self.reference), self.counter.held_on(self.reference)
        records = self.counter.records(self.reference)
        assert sum(balance_effect(one.narration, one.status, one.amount) for one in records) == posted - held
        return posted, held

    def events(self) -> list[tuple[str, str, str, int]]:
        shown = [(event, msgspec.json.decode(event.payload)) for event in self.counter.database.events]
        return [
            (event.kind, payload.get("state", payload["txnStatus"]), payload["chargedAmount"], event.object_seq)
            for event, payload in shown
        ]


# --- each end -------------------------------------------------------------------------------------------------------


def test_a_hold_lowers_the_balance_and_moves_nothing() -> None:
    hotel = Hotel()
    reply = hotel.hold()
    assert (reply.txn_status, reply.bank_message, hotel.money) == ("pending", "Approved", (10_000, 4_000))
    shown = hotel.counter.ask("get", reference=hotel.reference).card_data
    assert (shown.balance, shown.held) == ("60.00", "40.00")
    assert hotel.counter.ask("card_purchase", reference=hotel.reference, amount="60.01").txn_status == "failed"
    assert hotel.hold("60.01").txn_status == "failed"
    assert hotel.capture() is WAS_DECLINED
    assert hotel.counter.records(hotel.reference)[-1].decline_reason == "insufficient_funds"
    assert hotel.events()[-1] == ("card_authorization", "declined", "0.00", 1)


@pytest.mark.parametrize(("amount", "taken"), [(None, 4_000), ("25.50", 2_550), ("48", 4_800), ("0.01", 1)])
def test_a_capture_takes_its_amount_and_releases_the_hold(amount: str | None, taken: int) -> None:
    hotel = Hotel()
    hotel.hold()
    reply = hotel.capture(amount)
    assert (reply.txn_status, hotel.money) == ("successful", (10_000 - taken, 0))
    text = f"{taken / 100:.2f}"
    assert hotel.events() == [
        ("card_authorization", "authorized", "0.00", 1),
        ("card_purchase", "successful", text, 1),
        ("card_authorization", "captured", text, 2),
    ]
    assert hotel.capture() is WAS_CAPTURED
    assert hotel.reverse() is WAS_CAPTURED
    assert [job.kind for job in hotel.counter.jobs()] == ["virtualcard.monthly"]
    assert hotel.counter.ask("card_refund", txnRef=reply.txn_ref, amount=text).txn_status == "successful"
    assert hotel.money == (10_000, 0)


def test_a_capture_may_be_a_fifth_above_its_authorization_and_no_more() -> None:
    for amount, is_within in CARD_ABOVE.sides:
        hotel = Hotel()
        hotel.hold("40")
        assert (hotel.capture(amount) is not TOO_MUCH_CAPTURED) == is_within, amount


def test_a_capture_above_its_hold_needs_the_rest_on_the_card() -> None:
    hotel = Hotel()
    hotel.hold("90")
    assert hotel.capture("100.01") is CARD_INSUFFICIENT
    assert hotel.money == (10_000, 9_000)
    assert hotel.capture("100").txn_status == "successful"
    assert hotel.money == (0, 0)


def test_a_reversal_releases_the_hold_and_takes_nothing() -> None:
    hotel = Hotel()
    hotel.hold()
    assert (hotel.reverse().txn_status, hotel.money) == ("failed", (10_000, 0))
    assert [hotel.reverse(), hotel.capture()] == [WAS_REVERSED, WAS_REVERSED]
    assert hotel.events()[-1] == ("card_authorization", "reversed", "0.00", 2)
    assert hotel.counter.ask("card_refund", txnRef=hotel.held_ref).code == 104
    assert hotel.counter.ask("card_capture", txnRef="GP|CA|000000001|20260105A") is UNKNOWN_AUTHORIZATION


def test_an_authorization_expires_after_seven_days() -> None:
    for hours, is_within in CARD_HOLD_LIFE.sides:
        hotel = Hotel()
        hotel.hold()
        hotel.counter.pass_time(hotel.counter.now + timedelta(hours=hours))
        assert (hotel.capture() is not HAS_EXPIRED) == is_within, hours
    assert hotel.money == (10_000, 0)
    assert hotel.events()[-1] == ("card_authorization", "expired", "0.00", 2)


# --- limits ---------------------------------------------------------------------------------------------------------


def test_an_authorization_counts_for_the_limits_when_it_is_given() -> None:
    hotel = Hotel(limits={"per_day": "50", "velocity": [{"count": 2, "hours": 1}]})
    hotel.hold("40")
    hotel.reverse()
    assert hotel.hold("10.01").txn_status == "failed"
    hotel.hold("10")
    hotel.capture("5")
    assert hotel.counter.row(hotel.reference).spent_day == 5_000
    assert hotel.hold("0.01").bank_message == "Exceeds the card's limit of USD 50.00 for a day"
    assert Hotel(limits={"single_use": True}).hold().txn_status == "pending"


def test_what_is_captured_above_counts_and_is_not_declined_by_a_limit() -> None:
    hotel = Hotel(limits={"per_day": "40", "single_use": True})
    hotel.hold("40")
    assert hotel.capture("44").txn_status == "successful"
    assert hotel.counter.row(hotel.reference).spent_day == 4_400
    assert hotel.hold("1").bank_message == "The card was for one purchase, which was made"


# --- other currencies -----------------------------------------------------------------------------------------------


def test_a_capture_is_billed_at_the_rate_of_its_authorization() -> None:
    hotel = Hotel()
    hotel.hold("15000.01", currency="NGN")
    assert hotel.money == (10_000, 1_001)
    rates = ExchangeRates({"USD": ExchangeRate(RATE.buy * 2, RATE.sell * 2)})
    hotel.counter.merchant = with_terms(hotel.counter.merchant, rates)
    reply = hotel.capture("7500")
    assert hotel.money == (10_000 - 501, 0)
    hotel.counter.ask("card_refund", txnRef=reply.txn_ref)
    assert hotel.money == (10_000, 0)


# --- what others do meanwhile ---------------------------------------------------------------------------------------


def test_a_blocked_or_expired_card_pays_what_it_has_authorized() -> None:
    hotel = Hotel()
    hotel.hold()
    hotel.counter.ask("block", reference=hotel.reference)
    assert hotel.hold("1").txn_status == "failed"
    hotel.held_ref = next(row.txn_ref for row in hotel.counter.database.all(Transaction, 7) if row.status == "pending")
    assert hotel.capture().txn_status == "successful"
    assert hotel.money == (6_000, 0)


def test_what_is_held_cannot_be_withdrawn_or_paid_as_a_fee() -> None:
    hotel = Hotel()
    hotel.hold("99.50")
    assert hotel.counter.ask("withdraw", reference=hotel.reference, amount="0.51") is CARD_INSUFFICIENT
    hotel.counter.now += LIFE - timedelta(seconds=1)
    fee = next(job for job in hotel.counter.jobs() if job.kind == "virtualcard.monthly")
    hotel.counter.now = fee.due
    hotel.counter.run(fee)
    assert (hotel.money, hotel.counter.row(hotel.reference).unpaid) == ((10_000, 9_950), 1)
    assert hotel.capture().txn_status == "successful"


@pytest.mark.parametrize("make", [dollars, naira])
@pytest.mark.parametrize(
    ("end", "kept"), [("capture", 6_000), ("part", 9_000), ("reverse", 10_000), ("expire", 10_000)]
)
def test_what_a_hold_leaves_of_a_terminated_card_goes_to_the_wallet(make: Any, end: str, kept: int) -> None:
    hotel, control = Hotel(make()), Hotel(make())
    hotel.hold()
    hotel.counter.ask("terminate", reference=hotel.reference)
    assert hotel.money == (4_000, 4_000)
    if end == "expire":
        hotel.counter.pass_time(hotel.counter.now + LIFE)
    else:
        reply = hotel.reverse() if end == "reverse" else hotel.capture("10" if end == "part" else None)
        assert not isinstance(reply, Refusal)
    assert hotel.money == (0, 0)
    control.counter.ask("withdraw", reference=control.reference, amount=f"{kept // 100}")
    currency = "USD" if make is dollars else "NGN"
    assert hotel.counter.wallet(currency) == control.counter.wallet(currency)


def test_a_terminated_card_pays_no_more_than_it_holds() -> None:
    hotel = Hotel()
    hotel.hold()
    hotel.counter.ask("terminate", reference=hotel.reference)
    assert hotel.capture("40.01") is CARD_INSUFFICIENT
    assert hotel.capture("40").txn_status == "successful"


def test_a_hold_that_cannot_be_exchanged_is_tried_again_the_next_day() -> None:
    hotel = Hotel(naira())
    hotel.hold()
    hotel.counter.ask("terminate", reference=hotel.reference)
    known = hotel.counter.merchant
    hotel.counter.merchant = with_terms(known, ExchangeRates({}))
    hotel.counter.pass_time(hotel.counter.now + LIFE)
    assert hotel.money == (4_000, 4_000)
    hotel.counter.merchant = known
    hotel.counter.pass_days(1)
    assert hotel.money == (0, 0)
