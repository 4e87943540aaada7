"""Disputes of payments with a card that was issued here, in another merchant's shop: the books of both merchants.

The books' invariants are checked after every test.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.disputes.dispute_client import TOTAL, dispute_of, events_of, open_dispute
from tests.methods.payment.test_http_issued import CardAndShop
from tests.running import Deployment
from tests.webhooks.event_log import wait_until

PAID = 150_000
FULL = 2_000_000


@pytest.fixture
def setup(deployment: Deployment, open_shop: Callable[..., MerchantClient]) -> CardAndShop:
    return CardAndShop(deployment, open_shop(), open_shop(name="Ada Stores"))


def decide(setup: CardAndShop, opened: Any, outcome: str) -> Any:
    request = {"action": "dispute_outcome", "dispute_id": opened["data"]["dispute_id"], "outcome": outcome}
    return setup.client.shop.put("sandbox", **request).body


def dispute_payment(setup: CardAndShop, **fields: Any) -> Any:
    opened = open_dispute(setup.client, setup.pay()["txnRef"], **fields)
    assert opened["status"] == 200, opened
    return opened


def lose(setup: CardAndShop, opened: Any, ending: str) -> None:
    if ending == "accepted":
        setup.client.pay(action="dispute_respond", dispute_id=opened["data"]["dispute_id"], accept=True)
    elif ending == "expired":
        setup.client.shop.advance(hours=200)
    else:
        decide(setup, opened, "lost")


@pytest.mark.parametrize("ending", ["lost", "accepted", "expired"])
def test_a_lost_dispute_gives_the_card_its_money(setup: CardAndShop, ending: str) -> None:
    opened = dispute_payment(setup)
    before = setup.client.shop.wallet().balance
    lose(setup, opened, ending)
    assert dispute_of(setup.client, opened)["state"] == ending
    wait_until("the card has its money", lambda: setup.card.balance == FULL)
    assert setup.card.record_summaries()[0] == ("Card Refund", 1500.0, 0.0, "Successful")
    assert setup.client.shop.wallet().balance == before - TOTAL
    assert setup.clearing() == (0, 0)


def test_a_dispute_that_is_won_leaves_the_card_as_it_is(setup: CardAndShop) -> None:
    decide(setup, dispute_payment(setup), "won")
    assert (setup.card.balance, setup.clearing()) == (FULL - PAID, (-PAID, PAID))


def test_what_is_left_of_a_partly_refunded_payment_goes_to_the_card(setup: CardAndShop) -> None:
    paid = setup.pay()["txnRef"]
    setup.client.refund(paid, "600.00")
    opened = open_dispute(setup.client, paid)
    assert opened["data"]["amount"] == "900.00"
    decide(setup, opened, "lost")
    assert (setup.card.balance, setup.clearing()) == (FULL, (0, 0))


def test_two_disputes_of_one_payment_each_pay_their_part(setup: CardAndShop) -> None:
    paid = setup.pay()["txnRef"]
    for amount in ("1000.00", "500.00"):
        decide(setup, open_dispute(setup.client, paid, amount=amount), "lost")
    assert (setup.card.balance, setup.clearing()) == (FULL, (0, 0))


def test_the_money_of_a_terminated_card_goes_to_its_merchants_wallet(setup: CardAndShop) -> None:
    opened = dispute_payment(setup)
    setup.card.ask("terminate")
    before = setup.card.shop.wallet().balance
    decide(setup, opened, "lost")
    assert setup.card.shop.wallet().balance == before + PAID
    assert setup.clearing() == (0, 0)


def test_a_card_in_dollars_gets_what_it_paid(deployment: Deployment, open_shop: Any) -> None:
    setup = CardAndShop(deployment, open_shop(), open_shop(), currency="USD", amount=100)
    opened = dispute_payment(setup)
    assert setup.card.balance == 10_000 - 100
    decide(setup, opened, "lost")
    assert (setup.card.balance, setup.clearing()) == (10_000, (0, 0))
    decide(setup, opened, "won")
    assert (setup.card.balance, setup.clearing()) == (10_000 - 100, (-PAID, PAID))


# --- a late win ----------------------------------------------------------------------------------------------------


def test_a_late_win_takes_the_money_back_from_the_card(setup: CardAndShop) -> None:
    opened = dispute_payment(setup)
    shop = setup.client.shop
    before = shop.wallet().balance
    decide(setup, opened, "lost")
    won = decide(setup, opened, "won")
    assert (won["message"], won["data"]["state"]) == ("Dispute won: the money is yours again", "won")
    assert events_of(setup.client, opened["data"]["dispute_id"]) == ["opened", "lost", "won"]
    assert shop.wallet().balance == before
    assert (setup.card.balance, setup.clearing()) == (FULL - PAID, (-PAID, PAID))
    assert setup.client.refund(opened["data"]["txnRef"], "1500.00")["txnStatus"] == "successful"
    assert (setup.card.balance, setup.clearing()) == (FULL, (0, 0))


def test_a_dispute_that_is_lost_again_pays_the_card_again(setup: CardAndShop) -> None:
    opened = dispute_payment(setup)
    for outcome in ("lost", "won", "lost"):
        assert decide(setup, opened, outcome)["status"] == 200
    assert decide(setup, opened, "lost")["message"] == "The dispute has ended"
    assert (setup.card.balance, setup.clearing()) == (FULL, (0, 0))


def test_what_the_card_has_spent_meanwhile_is_owed_by_its_merchant(setup: CardAndShop) -> None:
    opened = dispute_payment(setup)
    decide(setup, opened, "lost")
    shop = setup.card.shop
    purchase = {"reference": setup.card.data["reference"], "amount": "19000.00", "merchant_name": "Elsewhere"}
    assert shop.put("sandbox", action="card_purchase", **purchase).body["txnStatus"] == "successful"
    before = shop.wallet().balance
    decide(setup, opened, "won")
    assert setup.card.balance == 0
    shop.advance(hours=2)
    wait_until("the debt is collected", lambda: shop.wallet().balance == before - (PAID - 100_000))
    assert setup.clearing()[0] == -PAID


def test_a_late_win_after_the_card_was_terminated_is_owed_by_its_merchant(setup: CardAndShop) -> None:
    opened = dispute_payment(setup)
    setup.card.ask("terminate")
    before = setup.card.shop.wallet().balance
    decide(setup, opened, "lost")
    decide(setup, opened, "won")
    setup.card.shop.advance(hours=2)
    wait_until("the debt is collected", lambda: setup.card.shop.wallet().balance == before)
    assert setup.clearing() == (-PAID, PAID)
