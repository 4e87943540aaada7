"""Controls of a card over HTTP: shown, declined with a code, told in the event, and exact with 50 purchases at once."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.virtualcard.card_client import CardClient
from tests.methods.virtualcard.test_http_races import Asked, ask_at_once
from tests.running import Deployment

CONTROLS: dict[str, Any] = {
    "per_day": "500.00",
    "blocked_categories": ["7995", "5411"],
    "merchants": ["Book Shop"],
    "countries": ["ng"],
    "velocity": [{"count": 2, "hours": 24}, {"amount": "80", "hours": 1}],
    "single_use": False,
    "from_date": "2026-01-05",
    "to_date": "2026-02-05",
    "channels": ["online"],
}
SHOWN = {
    "per_transaction": None,
    "per_day": "500.00",
    "per_month": None,
    "categories": [],
    "blocked_categories": ["5411", "7995"],
    "merchants": ["Book Shop"],
    "countries": ["NG"],
    "velocity": [{"count": 2, "hours": 24}, {"amount": "80.00", "hours": 1}],
    "from_date": "2026-01-05",
    "to_date": "2026-02-05",
    "channels": ["online"],
}
AT_ONCE = 50


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now="2026-01-05T09:30:00+01:00")


def test_controls_are_shown_as_they_apply_and_absent_where_none_is_set(shop: MerchantClient) -> None:
    card = CardClient(shop, limits=CONTROLS)
    assert card.ask("get")["limits"] == SHOWN
    assert card.ask("limits", limits={"per_day": "1"})["data"] == {
        "per_transaction": None,
        "per_day": "1.00",
        "per_month": None,
        "categories": [],
    }


def test_the_reason_of_a_decline_is_in_the_record_and_in_the_event(shop: MerchantClient) -> None:
    card = CardClient(shop, limits=CONTROLS)
    good: dict[str, Any] = {"merchant_name": "Book Shop", "country": "NG"}
    assert card.buy("50", **good)["txnStatus"] == "successful"
    declined = card.buy("40", **good)
    assert declined["bank_message"] == "Exceeds the card's limit of USD 80.00 in 1 hour"
    newest, first = card.records(limit=2)
    assert newest["declineReason"] == "velocity_amount"
    assert "declineReason" not in first
    [event] = shop.put("resources", inquire="events", txnRef=declined["txnRef"]).body["data"]
    assert event["payload"]["declineReason"] == "velocity_amount"
    shop.advance(hours=1)
    assert card.buy("40", **good)["txnStatus"] == "successful"
    assert card.buy("1", **good)["bank_message"] == "Exceeds the card's limit of 2 purchases in 24 hours"


def test_every_fault_of_the_limits_is_named(shop: MerchantClient) -> None:
    card = CardClient(shop)
    limits = {
        "velocity": [{"hours": 0}],
        "countries": ["NGA"],
        "channels": ["fax"],
        "from_date": "soon",
        "single_use": "maybe",
    }
    body = card.ask("limits", limits=limits)
    assert body["status"] == 104
    assert {error["field"] for error in body["errors"]} == {
        "limits.velocity.0.hours",
        "limits.countries.0",
        "limits.channels.0",
        "limits.from_date",
        "limits.single_use",
    }
    assert "limits" not in card.ask("get")


@pytest.mark.parametrize(
    ("limits", "paid"),
    [
        ({"velocity": [{"count": 7, "hours": 1}]}, 7),
        ({"velocity": [{"amount": "20.99", "hours": 1}]}, 10),
        ({"single_use": True}, 1),
        ({"per_day": "12"}, 6),
    ],
)
def test_limits_are_exact_with_fifty_purchases_at_once(
    shop: MerchantClient, deployment: Deployment, limits: dict[str, Any], paid: int
) -> None:
    card = CardClient(shop, amount=500, limits=limits)
    purchase = {"action": "card_purchase", "reference": card.reference, "amount": "2.00"}
    asked: list[Asked] = [("sandbox", purchase)] * AT_ONCE
    replies = ask_at_once(deployment, shop, asked)
    assert sorted(reply["txnStatus"] for reply in replies) == ["failed"] * (AT_ONCE - paid) + ["successful"] * paid
    assert card.balance == 50_000 - paid * 200
