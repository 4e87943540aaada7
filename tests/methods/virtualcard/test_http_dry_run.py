"""Dry runs of card actions over HTTP: they explain what the action then does, are refused as it is, and change nothing.

Contract: virtualcard#dry-run
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, to_minor_units
from tests.methods.virtualcard.card_client import BILLING, CardClient
from tests.running import Deployment
from tests.walk.test_tenancy import everything_of

NOW = "2026-01-05T09:30:00+01:00"
PREVIEW = "Nothing was changed: this is what would happen"


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=NOW)


def preview(card: CardClient, deployment: Deployment, action: str, **fields: Any) -> dict[str, str]:
    """Returns the figures of a dry run, after which everything of the merchant is as before."""
    before = everything_of(deployment, card.shop)
    body = card.ask(action, dry_run=True, **fields)
    assert (body["status"], body["message"], body["dry_run"]) == (200, PREVIEW, True), body
    assert everything_of(deployment, card.shop) == before
    return {figure["what"]: figure["amount"] for figure in body["explained"]}


def create(shop: MerchantClient, **fields: Any) -> Any:
    request = {"billing": BILLING, "amount": "100.00", "currency": "USD", **fields}
    return shop.put("virtualcard", action="create", **request).body


def test_a_card_is_explained_before_it_is_made(shop: MerchantClient, deployment: Deployment) -> None:
    before = everything_of(deployment, shop)
    shown = create(shop, dry_run=True, limits={"per_day": "5.00"})
    assert everything_of(deployment, shop) == before
    card = shown["card_data"]
    assert (card["reference"], card["maskedpan"], card["balance"]) == ("", "", "100.00")
    assert {"cardpan", "cvv"}.isdisjoint(card)
    assert (shown["limits"]["per_day"], shown["message"]) == ("5.00", PREVIEW)
    assert shown["explained"] == [
        {"what": "amount", "amount": "100.00", "how": "USD, from the wallet to the card"},
        {"what": "issuance fee", "amount": "2.00", "how": "USD, from the wallet, by the card tariff"},
        {"what": "VAT", "amount": "0.15", "how": "USD, 7.5% on the fee, from the wallet"},
        {"what": "wallet", "amount": "102.15", "how": "taken from the USD wallet"},
    ]
    spent = shop.wallet("USD").balance
    made = create(shop, limits={"per_day": "5.00"})
    assert spent - shop.wallet("USD").balance == 10_215
    assert {name for name in made["card_data"] if made["card_data"][name] != card.get(name)} == {
        "reference",
        "maskedpan",
        "cardpan",
        "cvv",
    }


@pytest.mark.parametrize(("action", "way"), [("fund", -1), ("withdraw", 1), ("terminate", 1)])
def test_a_movement_is_as_its_dry_run_shows(
    shop: MerchantClient, deployment: Deployment, action: str, way: int
) -> None:
    card = CardClient(shop, amount=100)
    fields = {} if action == "terminate" else {"amount": "20.00"}
    figures = preview(card, deployment, action, **fields)
    wallet = shop.wallet("USD").balance
    assert card.ask(action, **fields)["status"] == 200
    assert shop.wallet("USD").balance - wallet == way * to_minor_units(figures["wallet"])
    assert to_minor_units(figures["balance"]) == 10_000
    assert card.balance == to_minor_units(figures["balance after"])
    assert figures.get("status after", "active") == card.state


def test_a_change_of_state_or_limits_is_shown_with_what_is_now(shop: MerchantClient, deployment: Deployment) -> None:
    card = CardClient(shop, limits={"per_day": "5.00"})
    assert preview(card, deployment, "block") == {"status after": "blocked"}
    assert preview(card, deployment, "unblock") == {"status after": "active"}
    limits = {"per_day": "7.00", "velocity": [{"count": 2, "hours": 1}]}
    assert preview(card, deployment, "limits", limits=limits) == {
        "per_day": "7.00",
        "velocity": '[{"count":2,"hours":1}]',
    }
    assert preview(card, deployment, "limits", limits={}) == {"per_day": "none"}
    decider = {"decision_url": "https://shop.example/decide", "on_timeout": "approve"}
    assert preview(card, deployment, "decider", **decider) == decider
    assert preview(card, deployment, "get", reveal=True) == {}


def test_a_dispute_is_explained_before_it_is_filed(shop: MerchantClient, deployment: Deployment) -> None:
    card = CardClient(shop)
    bought = card.buy("40.00", merchant_name="Book Shop")["txnRef"]
    dispute = {"id": bought, "reason": "not received", "amount": "25.00"}
    assert preview(card, deployment, "dispute", **dispute) == {"amount": "25.00", "credited if won": "25.00"}
    filed = card.ask("dispute", **dispute)["data"]["dispute_id"]
    assert preview(card, deployment, "withdraw_dispute", dispute_id=filed) == {"state after": "withdrawn"}


def test_a_dry_run_is_refused_as_the_action_is(shop: MerchantClient) -> None:
    card, ended = CardClient(shop, amount=100), CardClient(shop, amount=10)
    ended.ask("terminate")
    nothing = {"reference": "KSW|GVC|1|none"}
    for action, fields in (
        ("create", {"billing": BILLING, "amount": "9999.00", "currency": "USD"}),
        ("create", {"billing": BILLING, "amount": "5.00", "currency": "USD", "card_type": "verve"}),
        ("fund", {"reference": card.reference, "amount": "9900.00"}),
        ("fund", {"reference": card.reference, "amount": "5.00", "currency": "NGN"}),
        ("withdraw", {"reference": card.reference, "amount": "100.01"}),
        ("terminate", {"reference": ended.reference}),
        ("block", nothing),
        ("unblock", nothing),
        ("limits", {**nothing, "limits": {"from_date": "2026-02-01", "to_date": "2026-01-01"}}),
        ("decider", {"reference": card.reference, "decision_url": "file:///etc/hosts"}),
        ("dispute", {"reference": card.reference, "id": "none", "reason": "not received"}),
        ("withdraw_dispute", {"dispute_id": "none"}),
    ):
        refused, tried = (shop.put("virtualcard", action=action, dry_run=dry, **fields).body for dry in (False, True))
        assert refused["status"] != 200, refused
        assert tried == refused


def test_a_dry_run_is_refused_if_the_wallet_is_short(shop: MerchantClient) -> None:
    while shop.wallet("USD").balance > 100_000:
        create(shop, amount="900.00")
    card = CardClient(shop, amount=5)
    amount = f"{shop.wallet('USD').balance / 100:.2f}"
    for dry_run in (True, False):
        assert card.ask("fund", amount=amount, dry_run=dry_run)["status"] == 301
        assert create(shop, amount=amount, dry_run=dry_run)["status"] == 301
