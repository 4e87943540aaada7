"""Tests of a card's controls: each declines with a code of its own, and what counts up to them."""

from datetime import timedelta
from typing import Any

import pytest

from kasuwa.methods.virtualcard.card_limits import RECENT_DECODER, CardUsage
from tests.methods.virtualcard.in_memory_cards import InMemoryCards, dollars
from tests.walk.bounds import CARD_VELOCITY_AMOUNT, CARD_VELOCITY_COUNT, CARD_WINDOW


class Spender:
    """A card with limits, and a shop that charges it."""

    def __init__(self, limits: dict[str, Any], *, amount: str = "1000") -> None:
        self.counter: InMemoryCards = dollars()
        self.reference = self.counter.create(amount=amount, limits=limits)

    def buy(self, amount: str = "1", **fields: Any) -> str | None:
        """Returns the code of the reason that the card declined for, or None if it paid."""
        self.counter.ask("card_purchase", reference=self.reference, amount=amount, **fields)
        return self.counter.records(self.reference)[-1].decline_reason

    def set_limits(self, **limits: Any) -> None:
        self.counter.ask("limits", reference=self.reference, limits=limits)

    def usage(self) -> list[CardUsage]:
        return self.counter.database.all(CardUsage, 7)


# --- each control ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "allowed", "declined", "reason"),
    [
        ({"categories": ["5411"]}, {"category": "5411"}, {}, "category_not_allowed"),
        ({"blocked_categories": ["7995"]}, {}, {"category": "7995"}, "category_blocked"),
        (
            {"categories": ["7995", "5411"], "blocked_categories": ["7995"]},
            {"category": "5411"},
            {"mcc": "7995"},
            "category_blocked",
        ),
        ({"merchants": ["Book Shop"]}, {"merchant_name": " book SHOP"}, {"merchant_name": "B"}, "merchant_not_allowed"),
        ({"merchants": ["M-77"]}, {"merchant_name": "B", "merchant_id": "m-77"}, {}, "merchant_not_allowed"),
        ({"blocked_merchants": ["Casino"]}, {}, {"merchant_name": "CASINO"}, "merchant_blocked"),
        ({"blocked_merchants": ["M-77"]}, {"merchant_id": "M-7"}, {"merchant_id": "M-77"}, "merchant_blocked"),
        ({"countries": ["ng", "GH"]}, {"country": "Ng"}, {"country": "US"}, "country_not_allowed"),
        ({"countries": ["NG"]}, {"country": "NG"}, {}, "country_not_allowed"),
        ({"channels": ["online"]}, {}, {"channel": "atm"}, "channel_not_allowed"),
        ({"channels": ["atm", "contactless"]}, {"channel": "atm"}, {}, "channel_not_allowed"),
        ({"per_transaction": "5"}, {"amount": "5"}, {"amount": "5.01"}, "over_transaction_limit"),
    ],
)
def test_each_control_allows_and_declines(
    limits: dict[str, Any], allowed: dict[str, Any], declined: dict[str, Any], reason: str
) -> None:
    spender = Spender(limits)
    assert spender.buy(**allowed) is None
    assert spender.buy(**declined) == reason


def test_a_card_pays_from_its_first_day_to_its_last() -> None:
    spender = Spender({"from_date": "2026-01-07", "to_date": "2026-01-08"})
    reasons = []
    for _ in range(5):
        reasons.append(spender.buy())
        spender.counter.now += timedelta(days=1)
    today = spender.counter.now - timedelta(days=5)
    days = [(today + timedelta(days=number)).date().isoformat() for number in range(5)]
    expected = [
        "not_yet_valid" if day < "2026-01-07" else "no_longer_valid" if day > "2026-01-08" else None for day in days
    ]
    assert reasons == expected
    assert set(expected) >= {None, "no_longer_valid"}


# --- single use -----------------------------------------------------------------------------------------------------


def test_a_card_of_a_single_use_pays_once_from_when_it_is_set() -> None:
    spender = Spender({})
    assert spender.buy() is None
    spender.set_limits(single_use=True)
    assert spender.buy("2000") == "insufficient_funds"
    assert [spender.buy(), spender.buy()] == [None, "single_use_spent"]
    spender.set_limits(single_use=True, per_day="500")
    assert spender.buy() == "single_use_spent"
    spender.set_limits()
    assert spender.buy() is None
    spender.set_limits(single_use=True)
    assert [spender.buy(), spender.buy()] == [None, "single_use_spent"]


# --- velocity -------------------------------------------------------------------------------------------------------


def test_purchases_are_counted_within_hours_that_end_with_each_purchase() -> None:
    for count, is_within in CARD_VELOCITY_COUNT.sides:
        spender = Spender({"velocity": [{"count": 3, "hours": 2}]})
        reasons = [spender.buy() for _ in range(count)]
        assert (reasons[-1] is None) == is_within, count
        assert reasons[:3] == [None] * min(3, count)
    assert reasons[-1] == "velocity_count"
    spender.counter.now += timedelta(hours=2) - timedelta(milliseconds=1)
    assert spender.buy() == "velocity_count"
    spender.counter.now += timedelta(milliseconds=1)
    assert spender.buy() is None


def test_amounts_are_added_up_within_hours() -> None:
    for amount, is_within in CARD_VELOCITY_AMOUNT.sides:
        spender = Spender({"velocity": [{"amount": "50", "hours": 24}]})
        assert spender.buy("30") is None
        assert (spender.buy(amount) is None) == is_within, amount
    spender.counter.now += timedelta(hours=24)
    assert spender.buy("50") is None
    assert spender.buy("0.01") == "velocity_amount"


def test_all_rules_of_a_velocity_apply_and_what_is_over_is_forgotten() -> None:
    spender = Spender({"velocity": [{"count": 1, "hours": 1}, {"amount": "10", "hours": 3}]})
    assert [spender.buy("4"), spender.buy("4")] == [None, "velocity_count"]
    spender.counter.now += timedelta(hours=1)
    assert spender.buy("4") is None
    spender.counter.now += timedelta(hours=1)
    assert [spender.buy("2.01"), spender.buy("2")] == ["velocity_amount", None]
    spender.counter.now += timedelta(hours=2)
    assert spender.buy("8") is None
    [usage] = spender.usage()
    assert [one.amount for one in RECENT_DECODER.decode(usage.recent)] == [200, 800]


def test_neither_declined_purchases_nor_refunds_change_what_was_spent() -> None:
    spender = Spender({"velocity": [{"count": 2, "amount": "20", "hours": 1}]})
    txn_ref = spender.counter.ask("card_purchase", reference=spender.reference, amount="15").txn_ref
    assert spender.buy("6") == "velocity_amount"
    spender.counter.ask("card_refund", txnRef=txn_ref)
    assert spender.buy("6") == "velocity_amount"
    assert spender.buy("5") is None
    assert spender.buy("0.01") == "velocity_count"


def test_a_card_with_a_velocity_pays_a_bounded_number_of_purchases() -> None:
    spender = Spender({"velocity": [{"amount": "900", "hours": 1}]})
    reasons = [spender.buy("0.01") for _ in range(CARD_WINDOW.beyond[-1])]
    for number, is_within in CARD_WINDOW.sides:
        assert (reasons[number - 1] is None) == is_within, number
    assert reasons[-1] == "velocity_count"


def test_a_card_without_such_limits_has_no_usage() -> None:
    spender = Spender({"per_day": "50"})
    assert spender.buy() is None
    assert spender.usage() == []


def test_limits_in_conflict_are_refused_by_name() -> None:
    spender = Spender({})
    for limits, field in (
        ({"velocity": [{"count": 1, "hours": 1}, {"hours": 1}]}, "limits.velocity"),
        ({"from_date": "2026-02-02", "to_date": "2026-02-01"}, "limits.to_date"),
        ({"channels": ["post"]}, "limits.channels.0"),
        ({"velocity": [{"count": 0, "hours": 745}]}, "limits.velocity.0.count"),
        ({"merchants": ["a;b"]}, "limits.merchants.0"),
    ):
        assert field in spender.counter.refuse("limits", reference=spender.reference, limits=limits)
