"""Authorizations of a card over HTTP: listed, told in events, ended by one of many at once, and what is in the way."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, without_codes
from tests.methods.virtualcard.card_client import CardClient
from tests.methods.virtualcard.test_http_races import Asked, ask_at_once
from tests.running import Deployment

AT_ONCE = 48


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now="2026-01-05T09:30:00+01:00")


def hold(card: CardClient, amount: str, **fields: Any) -> Any:
    sent = {"reference": card.reference, "amount": amount, **fields}
    return card.shop.put("sandbox", action="card_authorize", **sent).body


def capture(card: CardClient, txn_ref: str, **fields: Any) -> Any:
    return card.shop.put("sandbox", action="card_capture", txnRef=txn_ref, **fields).body


def events_of(shop: MerchantClient, txn_ref: str) -> list[Any]:
    return [line["payload"] for line in shop.put("resources", inquire="events", txnRef=txn_ref).body["data"]]


def test_an_authorization_is_held_captured_and_listed(shop: MerchantClient) -> None:
    card = CardClient(shop)
    held = hold(card, "40", merchant_name="Hotel")
    assert (held["txnStatus"], held["bank_message"], card.balance) == ("pending", "Approved", 6_000)
    assert card.get()["held"] == "40.00"
    [pending] = shop.put("resources", inquire="transactions", kind="card_authorization").body["data"]
    assert (pending["txnRef"], pending["txnStatus"]) == (held["txnRef"], "pending")
    purchase = capture(card, held["txnRef"], amount="44.00")
    assert (purchase["txnStatus"], card.balance, "held" in card.get()) == ("successful", 5_600, False)
    newest = card.records(limit=3)
    assert [(line["narration"], line["effect"]) for line in newest] == [
        ("Card Purchase", -44.0),
        ("Card Authorization Released", 40.0),
        ("Card Authorization", -40.0),
    ]
    assert newest[0]["authorizationRef"] == held["txnRef"]
    assert "refundOf" not in newest[0]
    assert events_of(shop, purchase["txnRef"])[0]["authorizationRef"] == held["txnRef"]
    refund = card.refund(purchase["txnRef"])
    assert (refund["txnStatus"], card.balance) == ("successful", 10_000)
    assert card.records(limit=1)[0]["refundOf"] == purchase["txnRef"]


def test_a_declined_authorization_says_why(shop: MerchantClient) -> None:
    card = CardClient(shop, limits={"countries": ["NG"]})
    declined = hold(card, "40", country="US")
    assert declined["message"] == "Declined: the card's issuer says: The card may not be used in this country"
    assert card.records(limit=1)[0]["declineReason"] == "country_not_allowed"
    [event] = events_of(shop, declined["txnRef"])
    assert (event["state"], event["declineReason"], event["amount"]) == ("declined", "country_not_allowed", "40.00")


def test_an_authorization_expires_and_is_not_captured_any_more(shop: MerchantClient) -> None:
    card = CardClient(shop)
    held = hold(card, "40")
    assert shop.advance(days=7)["ran"]["virtualcard"] == 1
    assert card.balance == 10_000
    assert without_codes(capture(card, held["txnRef"])) == {
        "status": 104,
        "message": "The authorization has expired; it holds nothing any more",
    }


def test_what_is_held_stays_when_the_card_is_blocked_emptied_and_terminated(shop: MerchantClient) -> None:
    card = CardClient(shop)
    before = shop.wallet("USD").balance
    first, second = hold(card, "40")["txnRef"], hold(card, "30")["txnRef"]
    assert card.ask("withdraw", amount="30.01")["status"] == 301
    card.ask("block")
    assert hold(card, "1")["bank_message"] == "The card is blocked"
    assert card.ask("terminate")["status"] == 200
    assert (card.balance, card.get()["held"], shop.wallet("USD").balance) == (0, "70.00", before + 3_000)
    assert capture(card, first, amount="25")["txnStatus"] == "successful"
    assert shop.wallet("USD").balance == before + 4_500
    assert shop.put("sandbox", action="card_reverse", txnRef=second).body["txnStatus"] == "failed"
    assert shop.wallet("USD").balance == before + 7_500
    assert (card.balance, "held" in card.get()) == (0, False)


def test_of_captures_and_reversals_at_once_one_is_done(shop: MerchantClient, deployment: Deployment) -> None:
    for _ in range(3):
        card = CardClient(shop)
        held = hold(card, "40")["txnRef"]
        actions = ("card_capture", "card_reverse")
        asked: list[Asked] = [("sandbox", {"action": actions[n % 2], "txnRef": held}) for n in range(AT_ONCE)]
        replies = ask_at_once(deployment, shop, asked)
        done = [reply for reply in replies if reply["status"] == 200]
        assert len(done) == 1
        assert {reply["status"] for reply in replies} == {200, 104}
        assert card.balance == (6_000 if done[0]["txnStatus"] == "successful" else 10_000)


def test_holds_at_once_never_exceed_the_card(shop: MerchantClient, deployment: Deployment) -> None:
    card = CardClient(shop)
    asked: list[Asked] = [
        ("sandbox", {"action": "card_authorize", "reference": card.reference, "amount": "7.00"})
    ] * AT_ONCE
    replies = ask_at_once(deployment, shop, asked)
    assert sorted(reply["txnStatus"] for reply in replies) == ["failed"] * (AT_ONCE - 14) + ["pending"] * 14
    assert (card.balance, card.get()["held"]) == (200, "98.00")


def test_the_rail_has_no_callback_for_an_authorization(shop: MerchantClient) -> None:
    card = CardClient(shop)
    held = hold(card, "40")["txnRef"]
    reply = shop.put("sandbox", action="settle", txnRef=held, outcome="successful").body
    assert (reply["status"], card.get()["held"]) == (104, "40.00")
