"""Disputes of card purchases over HTTP: with a shop elsewhere, and in the books of both merchants with a shop here.

The books' invariants are checked after every test.
"""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.disputes.dispute_client import TOTAL, file_of
from tests.methods.investments import savers
from tests.methods.payment.test_http_issued import CardAndShop
from tests.methods.virtualcard.card_client import BILLING, CardClient
from tests.methods.virtualcard.test_http_races import ask_at_once
from tests.running import Deployment
from tests.webhooks.event_log import wait_until

PAID = 150_000
FULL = 2_000_000


def ask_dispute(card: CardClient, action: str, **fields: Any) -> Any:
    return card.shop.put("virtualcard", action=action, **fields).body


def file_dispute(card: CardClient, purchase: str, **fields: Any) -> Any:
    return card.ask("dispute", id=purchase, reason="not received", **fields)


def view(card: CardClient, filed: Any) -> Any:
    return ask_dispute(card, "view_dispute", dispute_id=filed["data"]["dispute_id"])["data"]


def steps_of(shop: MerchantClient, dispute_id: str) -> list[str]:
    lines = shop.put("resources", inquire="events", txnRef=dispute_id).body["data"]
    return [line["payload"]["step"] for line in reversed(lines)]


# --- a shop elsewhere -----------------------------------------------------------------------------------------------


def test_a_cardholder_wins_a_dispute_with_evidence(shop: MerchantClient) -> None:
    card = CardClient(shop)
    bought = card.buy("40.00", merchant_name="Book Shop")["txnRef"]
    evidence = {"explanation": "It never came.", "files": [file_of(b"%PDF-1.4\n")]}
    filed = file_dispute(card, bought, amount="25.00", evidence=evidence)
    assert (filed["status"], filed["message"], filed["data"]["state"]) == (200, "Dispute filed", "submitted")
    shown = view(card, filed)
    assert shown["evidence"] == {
        "explanation": "It never came.",
        "files": [{"name": "receipt.pdf", "media_type": "application/pdf", "size": 9}],
    }
    assert [line["dispute_id"] for line in card.records() if "dispute_id" in line] == [shown["dispute_id"]]
    won = shop.put("sandbox", action="card_dispute_outcome", dispute_id=shown["dispute_id"], outcome="won").body
    assert (won["data"]["state"], won["data"]["credited"], card.balance) == ("won", "25.00", 8_500)
    [refund] = [line for line in card.records() if line.get("refundOf") == bought]
    assert (refund["txnRef"], refund["amount"]) == (won["data"]["refundRef"], 25.0)
    assert steps_of(shop, shown["dispute_id"]) == ["submitted", "won"]
    listed = ask_dispute(card, "disputes", reference=card.reference, state="won")
    assert (listed["total"], listed["data"][0]["dispute_id"]) == (1, shown["dispute_id"])
    assert ask_dispute(card, "disputes", state="lost")["data"] == []
    explained = shop.put("sandbox", action="explain", txnRef=bought).body["data"]
    assert [line["said"] for line in explained if line["what"] == "dispute"] == ["submitted", "won"]


def test_a_dispute_of_another_merchant_is_not_found(open_shop: Callable[..., MerchantClient]) -> None:
    card, foreign = CardClient(open_shop()), CardClient(open_shop())
    bought = card.buy("40.00")["txnRef"]
    filed = file_dispute(card, bought)
    for action in ("view_dispute", "withdraw_dispute"):
        refused = ask_dispute(foreign, action, dispute_id=filed["data"]["dispute_id"])
        assert refused["message"] == "Invalid Dispute Reference"
    assert file_dispute(foreign, bought)["message"] == "Invalid Transaction Reference"


def test_of_disputes_at_once_one_is_filed(deployment: Deployment, shop: MerchantClient) -> None:
    card = CardClient(shop)
    request = {"reference": card.reference, "id": card.buy("40.00")["txnRef"], "reason": "not received"}
    replies = ask_at_once(deployment, shop, [("virtualcard", {"action": "dispute", **request})] * 4)
    assert sorted(reply["status"] for reply in replies) == [104, 104, 104, 200]
    assert ask_dispute(card, "disputes", reference=card.reference)["total"] == 1


def test_a_client_with_an_open_dispute_is_not_erased(shop: MerchantClient, deployment: Deployment) -> None:
    client_id = savers.enroll(shop)
    card = CardClient(shop, currency="NGN", amount="5000", client_id=client_id)
    evidence = {"explanation": "It never came.", "files": [file_of(b"%PDF-1.4\n")]}
    filed = file_dispute(card, card.buy("40.00")["txnRef"], evidence=evidence)
    card.ask("terminate")
    erase = ("client", "erase", shop.mid, client_id, "--yes")
    assert "still under way" in deployment.run_refused_command(*erase)
    exported = json.loads(deployment.run_command("client", "export", shop.mid, client_id))["records"]
    assert exported["card_dispute_evidence"][0]["explanation"] == "It never came."
    [holder] = exported["card_holder"]
    assert (holder["reference"], holder["holder"]["address"]) == (card.reference, BILLING["address"])
    ask_dispute(card, "withdraw_dispute", dispute_id=filed["data"]["dispute_id"])
    deployment.run_command(*erase)
    kept = view(card, filed)["evidence"]
    assert (kept["explanation"], kept["files"][0]["name"]) == (None, "")
    shown = card.get()
    assert (shown["name_on_card"], shown["address"], shown["status"]) == ("", "", "terminated")
    assert "card_holder" not in json.loads(deployment.run_command("client", "export", shop.mid, client_id))["records"]


# --- a shop of this deployment --------------------------------------------------------------------------------------


@pytest.fixture
def setup(deployment: Deployment, open_shop: Callable[..., MerchantClient]) -> CardAndShop:
    return CardAndShop(deployment, open_shop(), open_shop(name="Ada Stores"))


def purchase_of(setup: CardAndShop) -> str:
    records = [line for line in setup.card.records() if line["narration"] == "Card Purchase"]
    return str(records[-1]["txnRef"])


def filed_with(setup: CardAndShop, **fields: Any) -> tuple[Any, Any]:
    """Pays, and disputes the purchase. Returns the cardholder's dispute and the shop's."""
    setup.pay()
    filed = file_dispute(setup.card, purchase_of(setup), **fields)
    assert filed["status"] == 200, filed

    def at_shop() -> Any:
        return setup.client.pay(action="disputes")["data"]

    wait_until("the shop has a dispute", lambda: bool(at_shop()))
    [opened] = at_shop()
    return filed, opened


def is_cardholders(setup: CardAndShop, filed: Any, state: str) -> bool:
    return bool(view(setup.card, filed)["state"] == state)


def state_at_shop(setup: CardAndShop, opened: Any) -> str:
    return str(setup.client.pay(action="dispute", dispute_id=opened["dispute_id"])["data"]["state"])


def test_a_dispute_reaches_the_shop_and_its_end_the_card(setup: CardAndShop) -> None:
    filed, opened = filed_with(setup, amount="900.00")
    assert (opened["amount"], opened["reason"], opened["state"]) == ("900.00", "not received", "needs_response")
    dispute_id = filed["data"]["dispute_id"]
    refused = setup.card.shop.put("sandbox", action="card_dispute_outcome", dispute_id=dispute_id, outcome="won").body
    assert refused["message"].startswith("The shop is a merchant here")
    setup.client.pay(action="dispute_respond", dispute_id=opened["dispute_id"], accept=True)
    wait_until("the card has its money", lambda: setup.card.balance == FULL - 60_000)
    assert view(setup.card, filed)["state"] == "won"
    assert steps_of(setup.card.shop, dispute_id) == ["submitted", "won"]
    assert setup.clearing() == (-60_000, 60_000)


def test_a_dispute_that_nobody_answers_is_won(setup: CardAndShop) -> None:
    filed, opened = filed_with(setup)
    before = setup.client.shop.wallet()
    setup.client.shop.advance(hours=169)
    wait_until("the dispute is won", lambda: view(setup.card, filed)["state"] == "won")
    assert state_at_shop(setup, opened) == "expired"
    assert setup.client.shop.wallet().balance == before.balance - TOTAL
    assert (setup.card.balance, setup.clearing()) == (FULL, (0, 0))


def test_a_shop_wins_by_evidence_and_loses_it_again(setup: CardAndShop) -> None:
    filed, opened = filed_with(setup)
    respond = {"action": "dispute_respond", "dispute_id": opened["dispute_id"]}
    assert setup.client.pay(**respond, evidence={"explanation": "Delivered."})["data"]["state"] == "under_review"
    for outcome, state, balance in (("won", "lost", FULL - PAID), ("lost", "won", FULL), ("won", "lost", FULL - PAID)):
        decided = {"dispute_id": opened["dispute_id"], "outcome": outcome}
        assert setup.client.shop.put("sandbox", action="dispute_outcome", **decided).body["status"] == 200
        wait_until(f"the cardholder's is {state}", partial(is_cardholders, setup, filed, state))
        assert setup.card.balance == balance
    assert file_dispute(setup.card, purchase_of(setup))["message"].endswith("that is final")


def test_a_withdrawal_ends_the_shops_dispute(setup: CardAndShop) -> None:
    filed, opened = filed_with(setup)
    withdrawn = ask_dispute(setup.card, "withdraw_dispute", dispute_id=filed["data"]["dispute_id"])
    assert withdrawn["data"]["state"] == "withdrawn"
    wait_until("the shop's dispute has ended", lambda: state_at_shop(setup, opened) == "won")
    assert (view(setup.card, filed)["state"], setup.card.balance) == ("withdrawn", FULL - PAID)
    assert setup.client.refund(opened["txnRef"], "1500.00")["txnStatus"] == "successful"
    assert (setup.card.balance, setup.clearing()) == (FULL, (0, 0))


def test_a_card_terminated_meanwhile_leaves_the_money_to_the_wallet(setup: CardAndShop) -> None:
    _, opened = filed_with(setup)
    setup.card.ask("terminate")
    before = setup.card.shop.wallet().balance
    setup.client.pay(action="dispute_respond", dispute_id=opened["dispute_id"], accept=True)
    wait_until("the wallet has it", lambda: setup.card.shop.wallet().balance == before + PAID)
    assert setup.clearing() == (0, 0)


def test_what_the_shop_had_disputed_already_closes_the_dispute(setup: CardAndShop) -> None:
    paid = setup.pay()["txnRef"]
    assert setup.client.shop.put("sandbox", action="dispute", txnRef=paid, reason="fraudulent").body["status"] == 200
    filed = file_dispute(setup.card, purchase_of(setup))
    wait_until("the dispute is closed", lambda: view(setup.card, filed)["state"] == "closed")
    assert "Nothing is left to dispute" in view(setup.card, filed)["outcome"]
