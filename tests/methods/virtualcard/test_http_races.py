"""One card and 64 clients at once: nothing is lost, nothing is below zero, and after the end nothing moves.

Guarded protections, each taken away once to see these tests fail:
    the state is looked at in the decision that moves the money   (without it a terminated card is funded)
    a card's account has a floor                                  (without it withdrawals overdraw)
    a purchase looks at the balance under the merchant's lock     (without it the floor refuses what should be declined)
    the line of a purchase counts what came back of it            (without it every refund is paid)
"""

import threading
from collections.abc import Callable
from typing import Any

from tests.merchant_client import MerchantClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment

CLIENTS = 64
LOWEST = """
    select least(min(case when debit = $2 then debit_after end), min(case when credit = $2 then credit_after end))
    from posting p join merchant m using (merchant_id) where m.mid = $1
"""
Asked = tuple[str, dict[str, Any]]


def ask_at_once(deployment: Deployment, shop: MerchantClient, asked: list[Asked]) -> list[Any]:
    """Everybody is connected before anybody asks."""
    start, replies = threading.Barrier(len(asked)), [None] * len(asked)

    def ask(place: int, method: str, fields: dict[str, Any]) -> None:
        with deployment.connect() as wire:
            own = MerchantClient(wire, shop.mid, shop.key)
            own.connection.send("GET", "/healthz")
            start.wait()
            replies[place] = own.put(method, **fields).body

    crowd = [threading.Thread(target=ask, args=(n, *one)) for n, one in enumerate(asked)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    return replies


def lowest(deployment: Deployment, card: CardClient) -> int:
    account = f"card:{card.reference[-22:]}:{card.data['currency']}"
    return int(deployment.fetch(LOWEST, card.shop.mid, account)[0][0])


def mixed(card: CardClient, n: int) -> Asked:
    named = {"reference": card.reference}
    return [
        ("virtualcard", {"action": "fund", "amount": "10.00", **named}),
        ("virtualcard", {"action": "withdraw", "amount": "20.00", **named}),
        ("sandbox", {"action": "card_purchase", "amount": "15.00", **named}),
        ("virtualcard", {"action": "block" if n % 8 == 3 else "unblock", **named}),
    ][n % 4]


def moved(asked: list[Asked], replies: list[Any]) -> int:
    """Returns the amount that the acknowledged requests moved onto the card, in cents."""
    signs = {"fund": 1_000, "withdraw": -2_000, "card_purchase": -1_500}
    total = 0
    for (_, fields), reply in zip(asked, replies, strict=True):
        if reply["status"] == 200 and reply.get("txnStatus") != "failed":
            total += signs.get(fields["action"], 0)
    return total


def test_whatever_is_asked_at_once_the_card_has_what_was_acknowledged(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop = open_shop()
    card = CardClient(shop, amount=100)
    for _ in range(3):
        before = card.balance
        asked = [mixed(card, n) for n in range(CLIENTS)]
        replies = ask_at_once(deployment, shop, asked)
        assert {reply["status"] for reply in replies} <= {200, 104, 301}
        assert card.balance == before + moved(asked, replies)
    assert lowest(deployment, card) >= 0


def test_after_termination_nothing_moves(open_shop: Callable[..., MerchantClient], deployment: Deployment) -> None:
    shop = open_shop()
    for _ in range(3):
        card = CardClient(shop, amount=100)
        asked = [mixed(card, n) for n in range(CLIENTS)]
        asked[40] = asked[41] = ("virtualcard", {"action": "terminate", "reference": card.reference})
        replies = ask_at_once(deployment, shop, asked)
        assert sorted(reply["status"] for reply in replies[40:42]) == [104, 200]
        assert (card.balance, card.state) == (0, "terminated")
        assert lowest(deployment, card) >= 0
        listed = card.record_summaries(limit=200)
        last = next(n for n, line in enumerate(listed) if line[3] == "Successful")
        assert listed[last] == ("Card Termination", (10_000 + moved(asked, replies)) / 100, 0.0, "Successful")


def test_a_balance_is_spent_once(open_shop: Callable[..., MerchantClient], deployment: Deployment) -> None:
    shop = open_shop()
    card = CardClient(shop, amount=100)
    asked: list[Asked] = [
        ("sandbox", {"action": "card_purchase", "reference": card.reference, "amount": "7.00"})
    ] * CLIENTS
    replies = ask_at_once(deployment, shop, asked)
    assert sum(reply["txnStatus"] == "successful" for reply in replies) == 14
    assert card.balance == 200


def test_a_purchase_is_given_back_once(open_shop: Callable[..., MerchantClient], deployment: Deployment) -> None:
    shop = open_shop()
    card = CardClient(shop, amount=100)
    txn_ref = card.buy("30.00")["txnRef"]
    asked: list[Asked] = [("sandbox", {"action": "card_refund", "txnRef": txn_ref, "amount": "4.00"})] * 32
    replies = ask_at_once(deployment, shop, asked)
    assert sorted(reply["status"] for reply in replies) == [104] * 25 + [200] * 7
    replies.sort(key=lambda reply: int(reply["status"]))
    assert card.balance == 7_000 + 2_800


def test_cards_made_at_once_are_cards_of_their_own(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop = open_shop()
    template = CardClient(shop, amount=10)
    billing = {"address": "a", "name": "b", "city": "c", "state": "d", "postal_code": 1}
    asked: list[Asked] = [
        ("virtualcard", {"action": "create", "billing": billing, "amount": 10, "currency": "USD"})
    ] * CLIENTS
    made = [reply["card_data"] for reply in ask_at_once(deployment, shop, asked)] + [template.data]
    assert len({card["cardpan"] for card in made}) == len({card["reference"] for card in made}) == CLIENTS + 1
    assert shop.wallet("USD").balance == 1_000_000 - (CLIENTS + 1) * 1_215
